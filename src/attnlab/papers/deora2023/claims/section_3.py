"""Section 3: Lemma 1, Proposition 1 and Corollary 1."""

from attnlab.claims import Control, Part, Reading, Source, Trivial
from attnlab.evidence.laws import ROUNDING, AtMost, stored
from attnlab.evidence.statement import statement
from attnlab.papers.deora2023.scalars.curvature import WEAK_OVER_SMOOTH_TRAINED
from attnlab.papers.deora2023.scalars.words import scalar

FORMULAS = {
    "gradient_U": "gradient in U",
    "gradient_W": "gradient in W",
    "mixed": "mixed derivative",
    "hessian_W": "second derivative in W",
}
LOSS_PARTS = {
    "self_bounded": "|grad L| over beta_1 L",
    "smooth": "|Hess L| over beta_2",
    "weakly_convex": "-lambda_min over beta_3 L/sqrt(H)",
}
BOUND = AtMost(1 + ROUNDING)
EXACT = AtMost(1e-13, owner="ours", trivial=0.0)
PAPERS = Reading("the paper's constants", "the statement itself; beta_3 with sqrt(T d), see notes")
SHARP = Reading("sharp constants", "ours: the print has larger ones", allowed=False)

LEMMA_1 = statement(
    "deora2023.lemma_1", "identity", title="Gradient and Hessian of one head",
    source=Source("3", "Lemma 1"), stated="the four formulas",
    statement="The gradients of a head's output in U and W, the derivative of the first along W "
        "and the second derivative in W are the four formulas of the lemma, with the softmax "
        "derivative diag(phi) - phi phi'.",
    measured="Each formula, term by term at random parameters, against automatic differentiation "
        "(relative error) and against central differences (over their own error).",
    why="Ours: 1e-13 is some hundred roundings of sums of this length; a difference is told from a "
        "formula to its own error. The points are random: an equality of polynomials in the "
        "weights and softmax values that holds there holds everywhere.",
    parts=(*(Part(f"{words}: autodiff", "formulas", stored(f"autodiff_error_{f}",
            f"relative error of the {words}"), EXACT) for f, words in FORMULAS.items()),
        *(Part(f"{words}: differences", "formulas", stored(f"difference_error_{f}",
            f"error of the {words} over that of differences"), AtMost(1.0, owner="ours",
            trivial=0.0)) for f, words in FORMULAS.items())),
    controls=(Control("printed softmax derivative", "phi' = diag(phi) - v v', as the notation has "
        "it (erratum 1, false; a single symbol of an extracted text, so it could be the "
        "extraction)", changes={"softmax": "printed"}),),
)  # fmt: skip


def _model_part(name: str, key: str, words: str, study: str, reading: str) -> Part:
    return Part(name, study, stored(key, f"{words} over its bound"), BOUND, reading)


PROPOSITION_1 = statement(
    "deora2023.proposition_1", "bound", title="Bounds on the gradient and the Hessian of one head",
    source=Source("3", "Proposition 1"), stated="at most the two bounds, constants 2, 1, 6 and 2",
    statement="The gradient of a head's output is at most 2 |X|^2 sum_t |X u_t|_inf + sqrt(T) |X| "
        "long, |X| the longest token, and the spectral norm of its Hessian is at most the bound "
        "with 6d, the longest token and the largest entry of X.",
    measured="Measured over bound at random parameters and tokens, at those found by ascending "
        "that quotient (and four others), and at trained heads on samples of the mixture.",
    readings=(Reading("as printed", "the statement itself"),
        SHARP,
        Reading("pooled decoder", "ours: the paper says that pooling is covered and prints no "
            "bound for it; with U = 1 u' the gradient in u is up to T |X| long", allowed=False)),
    parts=(*(_model_part(what + where + sharp, f"{key}_{what.lower()}_{variant}", what, study, name)
            for what in ("gradient", "Hessian")
            for key, study, where in (("model", "ascent", ""), ("trained", "heads", ", trained"))
            for variant, sharp, name in (("printed", "", "as printed"),
                                         ("sharp", ", sharp", SHARP.name))),
        _model_part("pooled gradient", "pooled_gradient", "gradient in u", "ascent",
            "pooled decoder")),
    controls=tuple(Control(f"{what} without U", "the bound without its term in the decoder",
        part=what, scalar=stored(f"model_{what.lower()}_without_decoder",
        f"{what} over the last term")) for what in ("gradient", "Hessian")),
    positive={f"model_{what}_without_decoder": 5.0 for what in ("gradient", "hessian")},
    trivial=Trivial("nothing: neither is bounded without the weights' and tokens' sizes"),
    notes="Erratum 9 is withdrawn: no pooled bound with sqrt(T) is printed; ours stands aside.",
)  # fmt: skip


def _loss_parts(study: str, where: str, variant: str, reading: Reading) -> tuple[Part, ...]:
    return tuple(
        Part(f"{words}, {where}" + (", sharp" if reading is SHARP else ""), study,
             stored(f"{key}_{variant}", words), BOUND, reading.name)
        for key, words in LOSS_PARTS.items()
    )  # fmt: skip


COROLLARY_1 = statement(
    "deora2023.corollary_1", "bound", title="The loss is self-bounded, smooth and weakly convex",
    source=Source("3", "Corollary 1"), stated="at most beta_1 L, beta_2 and beta_3 L/sqrt(H)",
    statement="|grad L| <= beta_1 L, |Hess L| <= beta_2, and the smallest eigenvalue of the "
        "Hessian is at least -beta_3 L / sqrt(H): the more heads, the less negative.",
    measured="The three quotients at every record of training with 1 to 10^6 heads (eigenvalues "
        "exact, by collapsed heads), at ascended parameters (H = 1), and at eight random heads "
        "before and after training (Lanczos with its residual; our sharp betas, the smaller ones).",
    why="Quotients at most 1: the paper's. Ours: Lanczos has converged at 1e-6 of the norm.",
    readings=(PAPERS, SHARP),
    parts=(*_loss_parts("heads", "training", "corrected", PAPERS),
        *_loss_parts("ascent", "ascended", "corrected", PAPERS),
        *_loss_parts("heads", "training", "sharp", SHARP),
        *_loss_parts("ascent", "ascended", "sharp", SHARP),
        *(Part(f"{words}, explicit heads, {when}", "explicit_heads", stored(f"{when}_{key}", words),
            BOUND) for key, words in LOSS_PARTS.items() for when in ("start", "trained")),
        *(Part(f"Lanczos, {when}", "explicit_heads", stored(f"{when}_residual",
            "residual of the Ritz vector"), AtMost(1e-6, owner="ours", trivial=0.0))
            for when in ("start", "trained"))),
    controls=(Control("1/H in place of 1/sqrt(H)", "with our sharp beta_3, the smaller one",
            part="-lambda_min over beta_3 L/sqrt(H), training",
            scalar=scalar("weakly_convex_square")),
        Control("a thousandth of beta_1", "self-boundedness with beta_1/1000",
            part="|grad L| over beta_1 L, training", law=AtMost(0.001))),
    positive={"weakly_convex_square": 30.0},
    trivial=Trivial("what smoothness says of the smallest eigenvalue, -beta_2",
        WEAK_OVER_SMOOTH_TRAINED, "heads"),
    notes="The print has sqrt(T) d in beta_3; the proof gives sqrt(T d) (erratum 11, loose: what "
        "holds here holds there). It calls the eigenvalue less positive where less negative is "
        "meant (erratum 20, wording). How it falls with H is the claim convexity.",
)  # fmt: skip

SECTION_3 = (LEMMA_1, PROPOSITION_1, COROLLARY_1)
