"""Section 3, Theorem 3.1: the end of the first phase, and how its quantities scale with m."""

from attnlab.claims import Control, Fitted, Part, Reading, Source
from attnlab.evidence.laws import AtLeast, Power, Share
from attnlab.evidence.statement import statement
from attnlab.papers.yang2024.claims.common import (
    CONSTANT,
    HIDDEN,
    KEPT,
    OVER_WIDTHS,
    PROBABILITY,
    SHUFFLED,
    TOLERANCE_WHY,
    drawn_hypotheses,
)
from attnlab.papers.yang2024.scalars import first_phase as scalars
from attnlab.papers.yang2024.scalars.fixtures import STARTED, series

DETECTED = Reading(
    "T1 detected",
    "the theorem asks for some T1 at which every sample is correct: the first from which on all "
    "stay so is one",
)
DEFINED = Reading(
    "T1 defined", "Definition E.2 with Theorem E.26: T1 = C_T1/(s1^2 m m1), C_T1 large enough"
)
BY_MEANS = Reading(
    "T1 by type means",
    "the second item of the theorem asks for every sample, which type means do not give",
    allowed=False,
)
POSITIVE = Share(AtLeast(0.0), PROBABILITY)
POWERS = {
    "neuron_gram_change": -1.0,
    "value_change": -1.0,
    "score_change": -1.5,
    "key_change": -2.0,
    "query_change": -2.0,
}


def _parts(reading: Reading) -> tuple[Part, ...]:
    """Everything that the theorem says of T1, at one T1."""
    which = reading.name
    correct = (
        (scalars.end(which), POSITIVE)
        if reading is DETECTED
        else (scalars.at_end(which, "smallest_margin", "least margin"), POSITIVE)
    )
    laws = {
        "all samples correct": correct,
        "signals aligned": (scalars.alignment(which), POSITIVE),
        "T1": (scalars.end(which), Power("m", -1.0, "at_most")),
        "outputs of signals": (scalars.alignment(which), KEPT),
        "loss": (scalars.at_end(which, "loss", "loss"), CONSTANT),
        **{
            scalars.CHANGES[key]: (scalars.largest_change(which, key), Power("m", p, "at_most"))
            for key, p in POWERS.items()
        },
    }
    if reading is DEFINED:
        del laws["T1"]  # its order is the definition's own
    return tuple(
        Part(f"{name}, {which}", "phase_1", scalar, law, reading=which, path=OVER_WIDTHS)
        for name, (scalar, law) in laws.items()
    )


THEOREM_3_1 = statement(
    "yang2024.theorem_3_1", "scaling", title="Phase 1: the MLP aligns, everything else stays",
    statement="With high probability there is a time T1 = O~(1/m) at which the linear MLP is "
              "aligned with the signals (G(mu_1), G(mu_2) at least and G(mu_3) at most a constant "
              "away from 0), every training sample is correct, the loss is still of order 1, and "
              "up to which neuron and value correlations have moved by O~(1/m), scores by "
              "O~(m^-3/2), key and query correlations by O~(m^-2).",
    source=Source("3", "Theorem 3.1", 5),
    stated="T1 = O~(1/m); changes O~(m^-1), O~(m^-1), O~(m^-3/2), O~(m^-2), O~(m^-2)",
    measured="Gradient flow at widths up to 2^20: exponents in m of T1, of the largest change of "
             "each kind of variable up to T1, of G on signals and of the loss at T1.",
    why=f"{TOLERANCE_WHY} A share of 0.9 of the runs stands for high probability (ours).",
    parts=tuple(part for r in (DETECTED, DEFINED, BY_MEANS) for part in _parts(r)),
    readings=(DETECTED, DEFINED, BY_MEANS),
    controls=(
        SHUFFLED,
        Control("values move less", "value correlations move by m^-3/2",
                part="change of values' products, T1 detected", law=Power("m", -1.5, "at_most")),
        Control("scores move less", "scores move by m^-2",
                part="change of scores, T1 defined", law=Power("m", -2.0, "at_most")),
        Control("T1 is shorter", "T1 = O(m^-3/2)",
                part="T1, T1 detected", law=Power("m", -1.5, "at_most")),
    ),
    positive={
        **STARTED,
        "signal_outputs": series(0.0, 0.7, 0.7, -0.7),
        "smallest_margin": series(0.0, 0.2),
        "loss": series(0.0, 0.4), **{key: series(power) for key, power in POWERS.items()},
    },
    hypotheses=drawn_hypotheses,
    constants=(
        Fitted("C_T1 = T1 s1^2 m m1 as detected", "phase_1", scalars.end_in_units("T1 detected")),
        Fitted("c: least of G(mu_1), G(mu_2), -G(mu_3) at the detected T1", "phase_1",
               scalars.alignment("T1 detected")),
        HIDDEN,
    ),
    notes="The exponents of the changes are those of the formal Theorem E.28; Theorem 3.1 says "
          "close to their initial values. C_T1 of the defined T1 is twice the limit's tau_1 "
          "(ours).",
)  # fmt: skip
