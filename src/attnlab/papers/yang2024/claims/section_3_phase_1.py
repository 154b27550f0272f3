"""Section 3, Theorem 3.1: the end of the first phase, and how its quantities scale with m."""

from attnlab.claims import Control, Fitted, Part, Reading, Source
from attnlab.evidence.laws import AtLeast, Power, Share
from attnlab.evidence.statement import statement
from attnlab.papers.yang2024.claims import paths as p
from attnlab.papers.yang2024.claims.common import (
    HIDDEN,
    PROBABILITY,
    SHUFFLED,
    TOLERANCE_WHY,
    drawn_hypotheses,
)
from attnlab.papers.yang2024.claims.phase_2 import COUPLED_SIZES
from attnlab.papers.yang2024.scalars import phase_1 as scalars
from attnlab.papers.yang2024.scalars.examples import STARTED, series

DETECTED = Reading(
    "T1 detected",
    "the theorem asks for some T1 at which every sample is correct: the first from which on all "
    "stay so is one",
)
DEFINED = Reading(
    "T1 defined", "Definition E.2 with Theorem E.26: T1 = C_T1/(s1^2 m m1), C_T1 large enough"
)
POSITIVE = Share(AtLeast(0.0), PROBABILITY)
POWERS = {"value_change": -1.0, "score_change": -1.5, "key_change": -2.0, "query_change": -2.0}


def _parts(which: str) -> tuple[Part, ...]:
    """Everything that the theorem says of T1, at one T1, along the paths."""
    align, loss = scalars.alignment(which), scalars.at_end(which, "loss", "loss")
    name = (lambda words: words) if which == DEFINED.name else (lambda words: f"{words}, detected")
    return p.joined(
        p.early(name("all correct"), scalars.at_end(which, "smallest_margin", "least margin"),
                AtLeast(-1e-9)),
        p.early(name("T1"), scalars.end(which), p.tilde(-1.0)),
        p.early(name("outputs of signals"), align, p.plain("at_least")),
        p.early(name("loss"), loss, p.plain("equal")),
        *(p.early(name(scalars.CHANGES[key]), scalars.largest_change(which, key), p.tilde(power))
          for key, power in POWERS.items()),
    )  # fmt: skip


_DRAWN = tuple(
    Part(name, "drawn_path", scalar, law, path=COUPLED_SIZES)
    for name, scalar, law in (
        ("signals aligned, drawn", scalars.alignment("T1 defined"), POSITIVE),
        ("T1 over its limit, drawn", scalars.END_OVER_LIMIT, Power("m", 0.0, "at_most")),
        ("change of neurons' products, drawn",
         scalars.largest_change("T1 defined", "neuron_gram_change"), Power("m", -1.0, "at_most")),
    )
)  # fmt: skip

THEOREM_3_1 = statement(
    "yang2024.theorem_3_1", "scaling", title="Phase 1: the MLP aligns, everything else stays",
    statement="With high probability there is a time T1 = O~(1/m) at which the linear MLP is "
              "aligned with the signals (G(mu_1), G(mu_2) at least and G(mu_3) at most a constant "
              "away from 0), every training sample is correct, the loss is still of order 1, and "
              "up to which neuron and value correlations have moved by O~(1/m), scores by "
              "O~(m^-3/2), key and query correlations by O~(m^-2).",
    source=Source("3", "Theorem 3.1", 5),
    stated="T1 = O~(1/m); changes O~(m^-1), O~(m^-1), O~(m^-3/2), O~(m^-2), O~(m^-2)",
    measured=p.ALONG + "At T1 as defined (twice the limit's tau_1) and as detected (from which on "
             "every sample is correct): exponents of T1 and of the largest change of each kind of "
             "variable in m, of G on signals and of the loss in log m. Single neurons from drawn "
             "weights at coupled sizes.",
    why=f"{p.WHY} Drawn: {TOLERANCE_WHY} A share of 0.9 of the runs stands for high probability "
        "(ours).",
    parts=(*_parts(DEFINED.name), *_parts(DETECTED.name), *_DRAWN),
    readings=p.EARLY,
    controls=(
        Control("shuffled labels", SHUFFLED.description, "signals aligned, drawn",
                changes=SHUFFLED.changes),
        p.wrong("values move less", "change of values' products", p.tilde(-1.5), at="k = 2"),
        p.wrong("scores move less", "change of scores", p.tilde(-2.0), at="k = 2"),
        p.wrong("T1 is shorter", "T1", p.tilde(-1.5), at="k = 2"),
        p.wrong("the loss falls", "loss", p.plain("equal", -2.0), at="k = 2"),
    ),
    positive={
        **STARTED,
        "signal_outputs": series(0.0, 0.7, 0.7, -0.7),
        "smallest_margin": series(0.0, 0.2),
        "loss": series(0.0, 0.4),
        **{key: series(power) for key, power in {**POWERS, "neuron_gram_change": -1.0}.items()},
    },
    hypotheses=drawn_hypotheses,
    constants=(
        Fitted("C_T1 = T1 s1^2 m m1 as detected", "drawn_path",
               scalars.end_in_units("T1 detected")),
        Fitted("c: least of G(mu_1), G(mu_2), -G(mu_3) at the detected T1", "drawn_path",
               scalars.alignment("T1 detected")),
        HIDDEN,
    ),
    notes="The exponents of the changes are those of the formal Theorem E.28; Theorem 3.1 says "
          "close to their initial values. C_T1 of the defined T1 is twice the limit's tau_1 "
          "(ours). Both T1 are parts of every reading. Drawn, T1 is "
          "taken over the limit's at its n and L, which still grow there (set after -0.91 [-1.00, "
          "-0.82] for T1 itself). Earlier, only m varied.",
)  # fmt: skip
