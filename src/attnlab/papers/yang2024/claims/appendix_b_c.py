"""Appendices B and C: the printed gradients and the printed dynamical system."""

from attnlab.claims import Control, Part, Reading, Source
from attnlab.evidence.laws import AtMost, Equal
from attnlab.evidence.statement import statement
from attnlab.papers.yang2024.scalars import initial

ROUNDING = 1e-12
WHY = (
    "1e-12 is ours: some thousands of roundings of a double, which sums of this length collect; a "
    "difference cannot tell more than its own error."
)
BEYOND = "Random parameters at c0 = 3, where the softmax is far from uniform; none were ascended."

APPENDIX_B = statement(
    "yang2024.appendix_b", "identity", title="The gradients of the four matrices",
    statement="The right-hand sides of gradient flow that appendix B gives for W, W_V, W_K and "
              "W_Q are minus the gradients of the training loss.",
    source=Source("B", "the four updates", 16), stated="equality",
    measured="The formulas, written out term by term, against automatic differentiation of the "
             "model's definition, and against central differences in units of their own error.",
    why=WHY,
    parts=(Part("against autodiff", "gradients", initial.GRADIENT_ERROR, Equal(0.0, ROUNDING)),
           Part("against differences", "gradients", initial.GRADIENT_DIFFERENCE, AtMost(1.0)),
           Part("our engine against autodiff", "gradients", initial.ENGINE_ERROR,
                Equal(0.0, ROUNDING), reading="our fast route")),
    readings=(
        Reading("as printed", "appendix B, term by term"),
        Reading("our fast route", "the order of summation that the runs take is ours; appendix B "
                "does not speak of it", allowed=False),
    ),
    controls=(Control("uncentred", "the softmax derivative without the subtracted mean",
                      part="against autodiff", changes={"formula": "uncentred"}),),
    positive={
        f"{kind}_error_{name}": error
        for kind, error in (("printed", 1e-15), ("engine", 1e-15), ("difference", 0.1))
        for name in initial.MATRICES
    },
    notes=BEYOND,
)  # fmt: skip

APPENDIX_C = statement(
    "yang2024.appendix_c", "identity", title="The closed dynamical system (lemmas C.1 to C.4)",
    statement="Along gradient flow the neurons' outputs on words, the products of neurons, and "
              "the Grams of values, scores, queries and keys change at the rates that appendix C "
              "gives, for samples in which no word is repeated.",
    source=Source("C", "Lemmas C.1 to C.4, (6), (7)", 16), stated="equality",
    measured="The formulas, written out place by place, against the derivative of each variable "
             "along the flow of the model's definition by automatic differentiation, and against "
             "central differences in units of their own error.",
    why=WHY,
    parts=(Part("against the flow", "system", initial.SYSTEM_ERROR, Equal(0.0, ROUNDING)),
           Part("against differences", "system", initial.SYSTEM_DIFFERENCE, AtMost(1.0))),
    controls=(Control("first terms", "the second sum of each equation left out",
                      part="against the flow", changes={"formula": "first_terms"}),),
    positive={
        **{f"system_error_{kind}": 1e-15 for kind in initial.VARIABLES},
        **{f"system_difference_{kind}": 0.1 for kind in initial.VARIABLES},
    },
    notes="C.1 ranges over the neurons, not over the embedding, as the print's index says; C.2's "
          f"set U is read as the signals and the common token. {BEYOND}",
)  # fmt: skip
