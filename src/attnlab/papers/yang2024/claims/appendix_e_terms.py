"""Lemma E.7, Corollary E.10 and Lemma E.11: the terms of a neuron's rate, one by one."""

from typing import Any

from attnlab.claims import Control, Part, Source
from attnlab.evidence.laws import AtMost, Power, Share, stored
from attnlab.evidence.statement import statement
from attnlab.papers.yang2024.claims.common import (
    BOUNDED,
    HIDDEN,
    PROBABILITY,
    TOLERANCE_WHY,
    drawn_hypotheses,
)

SIZES = "m from 2^10 to 2^18 with n = 24, 48, L = 4, 5 and m1 = 64, 80"
_MEASURED = (
    f"Gradient flow from drawn weights ({SIZES}) up to the T1 from which on every sample is "
    "correct: "
)
_SHARED: dict[str, Any] = {"hypotheses": drawn_hypotheses, "constants": (HIDDEN,)}


def _part(name: str, key: str, words: str, law: Power | Share = BOUNDED) -> Part:
    return Part(name, "neuron_terms", stored(f"{key}_over_bound", words), law, path=SIZES)


def _falls(part: str, power: float) -> Control:
    """A control: the quotient falls like a power of m."""
    return Control(f"smaller by m^{-power:g}", f"{part}: the power {power:g} of m", part,
                   law=Power("m", power, "at_most"))  # fmt: skip


_E7 = ("sample_output_change", "change of a neuron's output on a sample over its bound")
E7 = statement("yang2024.lemma_e7", "scaling",
    title="How much a neuron's output on a sample moves in phase 1",
    statement="In phase 1 what a neuron makes of the attended value at a place of a sample changes "
    "by at most O~(L R_P s0 s1 sqrt(m)) + 4 R/L, with R the neurons' movement on signals and R_P "
    "that of the attention.",
    source=Source("E.2", "Lemma E.7", 27), stated="O~(L R_P s0 s1 sqrt(m)) + 4 R/L",
    measured=_MEASURED + "the largest change over neurons, samples and places, over the bound with "
    "R and R_P as they come out and constant one in its first term; and how it goes with m.",
    why=f"{TOLERANCE_WHY} The constant one and the share of 0.9 of the runs are ours.",
    parts=(_part("as stated", *_E7,
            Share(AtMost(1.0, owner="ours", trivial=0.0), PROBABILITY)),
        _part("growth with m", *_E7)),
    controls=(Control("bound over 5", "a fifth of the bound", "as stated",
            law=Share(AtMost(0.2), PROBABILITY)),
        _falls("growth with m", -0.5)),
    positive={"sample_output_change_over_bound": 0.7}, **_SHARED,
    notes="Its last sentence, that the bound is below s0 s1 sqrt(m/L), asks for constants of "
    "Condition 1 that are not given: with R of order 1/m1 it needs m1 of order 1/c0^2.",
)  # fmt: skip

E10 = statement("yang2024.corollary_e10", "scaling",
    title="The term of values in a neuron's rate on a signal",
    statement="In phase 1 the part of a neuron's rate on a target signal that comes from the "
    "values of other words is at most L O~(s0^2 sqrt(m)).",
    source=Source("E.3", "Corollary E.10", 28), stated="L O~(s0^2 sqrt(m))",
    measured=_MEASURED + "the largest such part over L s0^2 sqrt(m), over m.", why=TOLERANCE_WHY,
    parts=(_part("values", "value_term", "term of values over its bound"),),
    controls=(_falls("values", -1.0),), **_SHARED,
    notes="At these widths much of the term is the values' own movement, of order 1/m, which the "
    "bound has room for.",
)  # fmt: skip

E11 = statement("yang2024.lemma_e11", "scaling",
    title="The term of other neurons in a neuron's rate on a signal",
    statement="In phase 1 the part of a neuron's rate on a target signal that comes from the other "
    "neurons is at most O~(s1^2 sqrt(m m1)) times the share of samples that hold the signal.",
    source=Source("E.4", "Lemma E.11", 29), stated="(N_mu/n) O~(s1^2 sqrt(m m1))",
    measured=_MEASURED + "the largest such part over s1^2 sqrt(m m1) N_mu/n, over m.",
    why=TOLERANCE_WHY,
    parts=(_part("neurons", "neuron_term", "term of other neurons over its bound"),),
    controls=(_falls("neurons", -0.5),), **_SHARED,
    notes="Its proof ends with another factor L, which cancels against the attention's 1/L. The "
    "widths went to 2^15 first, which left 0.05 [-0.07, 0.16]; 2^11, 2^14, 2^16 and 2^18 are new.",
)  # fmt: skip

TERMS = (E7, E10, E11)
