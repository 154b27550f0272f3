"""What the figures show, as claims of our own."""

from attnlab.papers.deora2023.claims.conditions import theorem_hypotheses
from attnlab.papers.deora2023.claims.parts import (
    ROUNDING,
    SHUFFLED,
    Every,
    Mean,
    Part,
    Power,
    claim,
)


def _several(cell) -> bool:
    return cell.H >= 10


LOSS_OVER_HEADS = claim(
    "loss_over_heads",
    title="More heads do not train faster",
    statement=(
        "At a fixed step size the training loss after K steps does not fall with the number of "
        "heads: the landscape gets more convex, and training lazier."
    ),
    measured="The exponent in H of the last loss, H = 1 to 10^6: at least -0.02.",
    parts=(
        Part(
            "exponent",
            "heads",
            Power("last_loss", "H", 0.0, "at_least", tolerance=0.02),
        ),
    ),
    positive={},
    wrong=(("falls like 1/sqrt(H)", "exponent", Power("last_loss", "H", -0.5, tolerance=0.02)),),
    notes="Our finding; the paper has no such statement.",
)

CONVEXITY = claim(
    "convexity",
    title="Weak convexity over the number of heads",
    statement="The largest -lambda_min/L along training falls like 1/sqrt(H).",
    measured="Its exponent in H, from 10 heads on: -1/2 within 0.1; at the start within 0.05.",
    parts=(
        Part("along training", "heads", Power("largest_concavity", "H", -0.5), _several),
        Part(
            "at the start",
            "heads",
            Power("start_concavity", "H", -0.5, tolerance=0.05),
            _several,
        ),
    ),
    positive={},
    wrong=(
        ("exponent -1", "along training", Power("largest_concavity", "H", -1.0)),
        ("exponent -1/4", "along training", Power("largest_concavity", "H", -0.25)),
    ),
)

MARGINS = claim(
    "margins",
    title="Margins over sparsity and signal",
    statement=(
        "Without noise: a linear model's margin is gamma_lin, which grows like zeta; gamma_* is at "
        "most the largest NTK margin; and the margin of trained heads, over the length of their "
        "decoders, is above the linear one, below gamma_attn, and grows more slowly with zeta "
        "than gamma_lin."
    ),
    measured=(
        "Two heads trained for 20,000 steps, zeta = 1/4, 1/2, 3/4 and S = 1, 2. The linear SVM "
        "over gamma_lin (1 within 0.1), gamma_* over the NTK-SVM (at most 1, certified), the "
        "trained margin over gamma_lin (above 1) and over gamma_attn (at most 1), and its exponent "
        "in zeta (at most 0.5, ours; gamma_lin has 1)."
    ),
    parts=(
        Part("linear", "margins", Mean("linear_over_formula", 1.0, tolerance=0.1)),
        Part("gamma_* below NTK", "margins", Every("star_over_tangent", 1 + ROUNDING)),
        Part("certificate", "margins", Every("tangent_gap", ROUNDING)),
        Part("above linear", "margins", Every("trained_over_linear", 1.0, "at_least")),
        Part("below attention", "margins", Every("margin_over_attention", 1 + ROUNDING)),
        Part(
            "flat in zeta",
            "margins",
            Power("last_decoder_margin", "zeta", 0.5, "at_most", tolerance=0.0),
        ),
    ),
    positive={
        "linear_over_formula": 1.0,
        "star_over_tangent": 0.7,
        "tangent_gap": 1e-15,
        "trained_over_linear": 1.5,
        "margin_over_attention": 0.8,
    },
    exponents={"last_decoder_margin": 0.2},
    wrong=(
        ("below linear", "above linear", Every("trained_over_linear", 1.0)),
        ("beyond attention", "below attention", Every("margin_over_attention", 1.0, "at_least")),
    ),
    changes=(SHUFFLED,),
)

ATTENTION_MASS = claim(
    "attention_mass",
    title="Heads of sign +1 attend to relevant places",
    statement=(
        "In phase 2 heads of sign +1 move their attention to relevant places, and more so than "
        "heads of sign -1."
    ),
    measured=(
        "The mean attention on relevant places of sign +1 at the end minus at the start, and the "
        "difference of that between the signs, for 10 to 10^6 heads: above 0 in every run."
    ),
    parts=(
        Part("sign +1", "heads", Every("plus_mass_gain", 0.0, "at_least"), _several),
        Part("difference", "heads", Every("mass_difference", 0.0, "at_least"), _several),
    ),
    positive={"plus_mass_gain": 0.1, "mass_difference": 0.1},
    wrong=(("signs exchanged", "difference", Every("mass_difference", 0.0)),),
    changes=(SHUFFLED,),
)

REQUIRED_HEADS = claim(
    "required_heads",
    title="What Theorem 1 demands, by constants",
    statement=(
        "The paths of 10^7 and 10^8 heads meet Theorem 1 with tight constants for equal heads, and "
        "are far from what section 6.1's own constants demand."
    ),
    measured=(
        "The H demanded over the H of the run: at most 1 with symmetric constants, at least 1000 "
        "with corrected ones."
    ),
    parts=(
        Part("symmetric", "paths", Every("heads_symmetric_over_H", 1.0)),
        Part("corrected", "paths", Every("heads_corrected_over_H", 1e3, "at_least")),
    ),
    positive={"heads_symmetric_over_H": 0.3, "heads_corrected_over_H": 1e6},
    wrong=(("corrected is met", "corrected", Every("heads_corrected_over_H", 1.0)),),
)

STABILITY = claim(
    "stability",
    title="Stability over the number of samples",
    statement="The mean leave-one-out distance falls like 1/n and stays below its bound.",
    measured="Its exponent in n on noise-free samples (-1 within 0.05), and over the bound.",
    parts=(
        Part("exponent", "atoms", Power("mean_apart", "n", -1.0, tolerance=0.05)),
        Part("over bound", "atoms", Every("apart_over_bound", 1.0)),
    ),
    positive={"apart_over_bound": 0.01},
    wrong=(("1/sqrt(n)", "exponent", Power("mean_apart", "n", -0.5, tolerance=0.05)),),
    hypotheses=theorem_hypotheses(2),
)

TRENDS = (
    LOSS_OVER_HEADS,
    CONVEXITY,
    MARGINS,
    ATTENTION_MASS,
    REQUIRED_HEADS,
    STABILITY,
)
