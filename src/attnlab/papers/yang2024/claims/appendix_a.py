"""Appendix A: the trend that Figure 1 shows."""

from dataclasses import replace

from attnlab.claims import Control, Part, Reading, Source
from attnlab.evidence.laws import AtLeast, AtMost, Share
from attnlab.evidence.statement import statement
from attnlab.papers.yang2024.claims.common import FROZEN, drawn_hypotheses
from attnlab.papers.yang2024.scalars import examples
from attnlab.papers.yang2024.scalars import samples as s

MATCHING, LITERAL = "matching initialisation", "literal initialisation"
_SHOWN = (
    ("scores part", s.LEAST_SCORE_CHANGE, AtLeast(1e-300)),
    ("scores hardly move in phase 1", s.EARLY_PART, AtMost(0.25, owner="ours", trivial=1.0)),
    ("losses with one signal rise first", s.ONE_SIGNAL_PEAK,
     AtLeast(1.01, owner="ours", trivial=1.0)),
    ("all losses fall in phase 2", s.LATE_FALL, AtMost(1.0)),
)  # fmt: skip
FIGURE_1 = statement("yang2024.figure_1", "figure",
    title="The two phases at the paper's own sizes",
    statement="In 30,000 steps of descent the scores hardly move in phase 1; in phase 2 those "
    "between the two signals rise and those of the common token against a signal fall. The loss "
    "of samples with one signal first rises, then falls; in phase 2 all types' losses fall.",
    source=Source("A", "Figure 1"),
    stated="scores flat in phase 1, then apart; losses of types 2 and 3 rise, then all fall",
    measured="The share of runs that show each, phase 1 ending when every sample is correct.",
    why="Ours: a share of 0.8 of the runs; a quarter of a score's whole change for hardly moving; "
    "one per cent for a rise.",
    readings=(
        Reading(MATCHING, "appendix A names Kaiming's scheme, as a linear layer's default has it"),
        Reading(LITERAL, "appendix A names Kaiming's scheme; section 2 has a of +-1")),
    parts=tuple(
        Part(f"{name}, {reading}", "appendix_a", scalar, Share(inside, 0.8), reading,
             lambda cell, scheme=scheme: cell.weights == scheme, reading)
        for reading, scheme in ((MATCHING, "linear_default"), (LITERAL, "kaiming_normal"))
        for name, scalar, inside in _SHOWN
    ),
    controls=(replace(FROZEN, part=f"scores part, {MATCHING}"),
        Control("both signals too", "the loss of samples with both signals rises first too",
            f"losses with one signal rise first, {MATCHING}", scalar=s.BOTH_SIGNALS_PEAK)),
    positive=examples.figure_1(), hypotheses=drawn_hypotheses,
    notes="With a = +-1 phase 1 ends after about ten steps; with a linear layer's default scheme, "
    "a included, after about 1,700, which is what the printed picture shows. 61 random words for "
    "160 places break Assumption 2.3, and m < m1 Condition 1: shown, and no gate.",
)  # fmt: skip
