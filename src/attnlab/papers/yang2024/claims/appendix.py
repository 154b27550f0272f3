"""Appendices B and C: the printed gradients and the printed dynamical system."""

from dataclasses import dataclass

import numpy as np

from attnlab.core import Claim, Control, Effect, Measurement, Reading, Record, Records
from attnlab.evidence.intervals import decide_at_most
from attnlab.papers.yang2024.settings import GradientSettings, SystemSettings

MATRICES = ("W", "W_V", "W_K", "W_Q")


@dataclass(frozen=True)
class GradientLaw:
    """How far a formula may be from autodiff, and from a difference in units of its own error."""

    autodiff: float = 1e-12
    difference: float = 1.0


def measure(records: Records, law: GradientLaw) -> Measurement:
    """The largest errors over all runs and matrices. Rounding is all there is: no interval."""
    worst = {
        kind: max(float(records.column(f"{kind}_error_{name}").max()) for name in MATRICES)
        for kind in ("printed", "difference", "engine")
    }
    printed = Effect("largest relative error against autodiff", *[worst["printed"]] * 3)
    difference = Effect("largest error / error of the difference", *[worst["difference"]] * 3)
    engine = Effect("largest relative error of the fast route", *[worst["engine"]] * 3)
    return Measurement(
        (
            Reading("against autodiff", _within(printed, law.autodiff), printed),
            Reading("against differences", _within(difference, law.difference), difference),
            Reading("our engine against autodiff", _within(engine, law.autodiff), engine),
        )
    )


def _within(effect: Effect, bound: float):
    return decide_at_most(effect.low, effect.high, bound)


def positive() -> Records:
    """Runs with errors of rounding size."""
    values = {
        f"{kind}_error_{name}": np.float64(error)
        for kind, error in (("printed", 1e-15), ("engine", 1e-15), ("difference", 0.1))
        for name in MATRICES
    }
    return Records(
        Record("yang2024.gradients", GradientSettings(), seed, values) for seed in range(8)
    )


KINDS = ("outputs", "neurons", "values", "scores", "queries", "keys")


def measure_system(records: Records, law: GradientLaw) -> Measurement:
    """The largest errors of the printed system over all runs and kinds of variables."""
    exact = {kind: float(records.column(f"system_error_{kind}").max()) for kind in KINDS}
    steps = {kind: float(records.column(f"system_difference_{kind}").max()) for kind in KINDS}
    printed = Effect("largest relative error against the flow", *[max(exact.values())] * 3)
    difference = Effect("largest error / error of the difference", *[max(steps.values())] * 3)
    worst = max(exact, key=lambda kind: exact[kind])
    return Measurement(
        (
            Reading("against the flow", _within(printed, law.autodiff), printed, f"worst: {worst}"),
            Reading("against differences", _within(difference, law.difference), difference),
        )
    )


def positive_system() -> Records:
    """Runs with errors of rounding size."""
    values = {f"system_error_{kind}": np.float64(1e-15) for kind in KINDS}
    values |= {f"system_difference_{kind}": np.float64(0.1) for kind in KINDS}
    return Records(Record("yang2024.system", SystemSettings(), seed, values) for seed in range(8))


APPENDIX = (
    Claim(
        id="yang2024.appendix_c",
        title="The closed dynamical system (lemmas C.1 to C.4)",
        statement=(
            "Along gradient flow the neurons' outputs on words, the products of neurons, and the "
            "Grams of values, scores, queries and keys change at the rates that appendix C gives, "
            "for samples in which no word is repeated."
        ),
        measured=(
            "The formulas, written out place by place, against the derivative of each variable "
            "along the flow of the model's definition by automatic differentiation (relative "
            "error at most 1e-12), and against central differences (at most their own error)."
        ),
        studies=("yang2024.system",),
        measure=measure_system,
        law=GradientLaw(),
        controls=(
            Control(
                "first terms",
                "the second sum of each equation left out",
                changes={"formula": "first_terms"},
            ),
        ),
        positive=positive_system,
        readings=(
            ("against the flow", "the formulas against automatic differentiation"),
            ("against differences", "the formulas against central differences"),
        ),
        notes=(
            "C.1 ranges over the neurons, not over the embedding, as the print's index says; C.2's "
            "set U is read as the signals and the common token."
        ),
    ),
    Claim(
        id="yang2024.appendix_b",
        title="The gradients of the four matrices",
        statement=(
            "The right-hand sides of gradient flow that appendix B gives for W, W_V, W_K and W_Q "
            "are minus the gradients of the training loss."
        ),
        measured=(
            "The formulas, written out term by term, against automatic differentiation of the "
            "model's definition (relative error at most 1e-12) and against central differences "
            "(at most the difference's own error)."
        ),
        studies=("yang2024.gradients",),
        measure=measure,
        law=GradientLaw(),
        controls=(
            Control(
                "uncentred",
                "the softmax derivative without the subtracted mean",
                changes={"formula": "uncentred"},
            ),
        ),
        positive=positive,
        readings=(
            ("against autodiff", "the formulas against automatic differentiation"),
            ("against differences", "the formulas against central differences"),
            ("our engine against autodiff", "the fast route that the runs take"),
        ),
    ),
)
