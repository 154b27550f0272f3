"""Findings of ours: the tightened theorems, and what the figures show."""

from attnlab.claims import Control, Part, Source
from attnlab.evidence.laws import ROUNDING, AtLeast, AtMost, Between, Equal, Power
from attnlab.evidence.statement import statement
from attnlab.papers.deora2023.claims import section_4, section_6_1, section_6_2
from attnlab.papers.deora2023.hypotheses import theorem_hypotheses
from attnlab.papers.deora2023.scalars import promises
from attnlab.papers.deora2023.scalars.margins import WRONG_LINEAR_RULE, WRONG_ORDER_RULE
from attnlab.papers.deora2023.scalars.words import scalar

SHUFFLED = Control("shuffled labels", "the labels are fair coins", changes={"labels": "shuffled"})
BOUND = AtMost(1 + ROUNDING)
STABLE = scalar("apart_over_bound")


def _several(cell) -> bool:
    return cell.H >= 10


DISTINCT = "a thousand random heads that all differ (H = 1000, T = 24, K = 20)"
TIGHTENED_1 = statement(
    "deora2023.finding_tightened_theorem_1", "finding",
    title="Theorem 1 under tightened conditions", source=Source("4.1", "Theorem 1"),
    stated="ours: the bounds of Theorem 1, under weaker conditions",
    statement="Theorem 1's bounds hold under conditions with our sharp betas, 169/24 in place of "
        "18 and, for equal heads, no head moving farther than D over the root of their number; "
        "beta_2 at the iterates stays below our rho.",
    measured=f"On {section_6_1.PATHS}, and on {DISTINCT}: the theorem's quotients, (4) over the "
        "loss at the start, and beta_2 over our rho.",
    why="The theorem's own bounds.",
    parts=(*section_4.theorem_1_parts("paths", "distinct"),
        *(Part(f"says something [{study}]", study, promises.PROMISED_LOSS, AtMost(1.0))
            for study in ("paths", "distinct")),
        Part("rho_k [paths]", "paths", scalar("rho_k_over_rho_symmetric"), BOUND),
        Part("rho_k [distinct]", "distinct", scalar("rho_k_over_rho_sharp"), BOUND)),
    controls=(*section_4.rate_controls("paths"),
        Control("a thousandth of rho", "our rho over 1000", part="rho_k [paths]",
            law=AtMost(0.001)),
        Control("below a thousandth", "(4) is below a thousandth of the start's loss",
            part="says something [distinct]", law=AtMost(0.001))),
    positive={**section_4.RATE_VALUES, "loss_bound": 0.3, "target_start_loss": 0.7},
    hypotheses=theorem_hypotheses(1),
    notes="Not the paper's theorem: its own constants ask for 10^2 to 10^6 times as many heads and "
        "10^4 times as many steps, see theorem_1. The proof is in docs/deora2023.md. T = 24 was "
        "taken so that (4) says something with a thousand heads: fewer places need more of them. "
        "That weights move by 4D says as much here as descent does (0.9 to 1.4 of it): no part.",
)  # fmt: skip

TIGHTENED_2 = statement(
    "deora2023.finding_tightened_theorem_2", "finding",
    title="Theorem 2 under tightened conditions", source=Source("4.2", "Theorem 2"),
    stated="ours: the bounds of Theorem 2, under weaker conditions",
    statement="Under our conditions for equal heads (14.43 in place of 72) the expected gap is "
        "below (4/n)(2 K L(theta) + 9 D^2/(4 eta)), and the mean leave-one-out distance below its "
        "bound.",
    measured=f"{section_6_2.BOTH}. Gap, leave-one-out gap and mean distance over their bounds.",
    why="The theorem's own bounds. (5) is below the loss at the start from n = 1,000 on.",
    parts=(*section_4.gap_parts("atoms", "noisy"),
        *(Part(f"stability [{s}]", s, STABLE, AtMost(1.0)) for s in ("atoms", "noisy")),
        Part("says something", "atoms", promises.PROMISED_GAP, AtMost(1.0), cells=lambda c: c.n >=
            1000, path="n at least 1,000")),
    controls=(*section_4.gap_controls("atoms"),
        Control("stability like 1/n^2", "1/n^2 in place of 1/n", part="stability [atoms]",
            scalar=scalar("apart_over_bound_squared")),
        Control("below a thousandth", "(5) is below a thousandth of it", part="says something",
            law=AtMost(0.001))),
    positive={**section_4.GAP_VALUES, "apart_over_bound_squared": 10.0, "gap_bound": 0.3,
        "target_start_loss": 0.7},
    hypotheses=theorem_hypotheses(2),
    notes="Not the paper's theorem, see theorem_2. The gap is a thousandth of its bound.",
)  # fmt: skip

TIGHTENED_COROLLARY = statement(
    "deora2023.finding_tightened_corollary_2", "finding",
    title="Rates of loss and gap under tightened conditions", source=Source("4.3", "Corollary 2"),
    stated="log^2(K)/K and 1/n; ours: exponents -1",
    statement="Under our conditions for equal heads the training loss falls at least as fast as "
        "1/K, which is faster than the log^2(K)/K of Corollary 2, and the generalisation gap like "
        "1/n.",
    measured="10^12 heads at our step for Theorem 2, K = 30 to 3,000: the exponent of the last "
        "loss in K, and the loss over (4); noise-free samples: the exponent of the leave-one-out "
        "gap in n.",
    why="Ours: 0.15 in K (log^2 K alone is an exponent of 0.3 to 0.6 here), 0.1 in n.",
    parts=(Part("loss", "steps", scalar("loss_over_bound"), AtMost(1.0)),
        Part("exponent in K", "steps", scalar("last_loss"), Power("K", -1.0, "at_most", 0.15)),
        Part("exponent in n", "atoms", scalar("leave_one_out_gap"), Power("n", -1.0))),
    controls=(Control("1/K^2", "a loss like 1/K^2", part="exponent in K", law=Power("K", -2.0,
            "at_most", 0.15)),
        Control("1/sqrt(n)", "a gap like n^-1/2", part="exponent in n", law=Power("n", -0.5))),
    hypotheses=theorem_hypotheses(2),
)  # fmt: skip

DRAWN_DATA = statement(
    "deora2023.finding_drawn_data", "finding", title="Drawn data obey Assumptions 1 and 3",
    source=Source("5", "Assumption 3"),
    stated="R = sqrt(S^2 + Z^2 + 2 Z_nu/M); ours: our draws obey it",
    statement="No drawn token is longer than sqrt(S^2 + Z^2 + 2 Z_nu/M), the noise stays within "
        "its bounds along the patterns and in length, and labels are equally likely.",
    measured="4,096 samples a draw, three kinds of noise: largest sizes over their bounds.",
    why="The assumption's bounds, up to rounding. Ours: the share of labels to 0.02.",
    parts=(Part("longest token", "data", scalar("longest_over_formula"), BOUND),
        Part("along mu", "data", scalar("along_mu_over_bound"), BOUND),
        Part("along nu", "data", scalar("along_nu_over_bound"), BOUND),
        Part("length", "data", scalar("noise_norm_over_bound"), BOUND),
        Part("labels", "data", scalar("label_share"), Equal(0.5, 0.02, "mean"))),
    controls=(Control("R = S", "no token is longer than S", part="longest token",
            scalar=scalar("longest_over_S")),
        Control("half the noise", "half of Z_mu", part="along mu", law=AtMost(0.5)),
        Control("uneven labels", "three labels +1 in five", part="labels", law=Equal(0.6, 0.02,
            "mean"))),
    positive={"longest_over_S": 1.1, "along_mu_over_bound": 1.0},
)  # fmt: skip

MARGIN_RULE = statement(
    "deora2023.finding_margin_order", "finding", title="When the margins are in the paper's order",
    source=Source("5.3", "after equation 11"), stated="ours: two rules",
    why="Never: the rules are exact.",
    statement="Without noise gamma_attn >= gamma_* exactly if S^3 <= 4 sqrt(M+1)/(zeta^2 sqrt(T)), "
        "and gamma_* >= gamma_lin exactly if the attention term of (7) is not negative.",
    measured="The formulas at P = 0 over S and zeta: how often a rule fails.",
    parts=(Part("attention and NTK", "margin_formulas", scalar("order_rule_fails"), AtMost(0.0)),
        Part("NTK and linear", "margin_formulas", scalar("linear_rule_fails"), AtMost(0.0))),
    controls=(Control("zeta for zeta^2", "the first rule with zeta in place of zeta^2",
            part="attention and NTK", scalar=WRONG_ORDER_RULE),
        Control("always", "gamma_* is never below gamma_lin", part="NTK and linear",
            scalar=WRONG_LINEAR_RULE)),
    positive={"order_rule_fails": 0.0, "linear_rule_fails": 0.0, "gamma_star": 0.9, "gamma_linear":
        1.0},
)  # fmt: skip

LOSS_OVER_HEADS = statement(
    "deora2023.loss_over_heads", "finding", title="More heads do not train faster",
    source=Source("3", "after Corollary 1"), stated="ours: the loss does not fall with H",
    statement="At a fixed step size the training loss after K steps does not fall with the number "
        "of heads: the landscape gets more convex, and training lazier.",
    measured="The exponent in H of the last loss, H = 1 to 10^6.",
    why="Ours: an exponent of -0.02 would be a quarter less loss over these six decades.",
    parts=(Part("exponent", "heads", scalar("last_loss"), Power("H", 0.0, "at_least", 0.02)),),
    controls=(Control("falls like 1/sqrt(H)", "exponent -1/2", part="exponent", law=Power("H", -0.5,
        tolerance=0.02)),),
)  # fmt: skip

CONVEXITY = statement(
    "deora2023.convexity", "finding", title="Weak convexity over the number of heads",
    source=Source("3", "Corollary 1 (3)"), stated="at most of order H^-1/2; ours: exponent -1/2",
    headline="The loss over H heads: -lambda_min/L goes like H^{value} {interval} along training.",
    statement="The largest -lambda_min/L along training falls like 1/sqrt(H).",
    measured="Its exponent in H, from 10 heads on, along training and at the start.",
    why="Ours: told to 0.1 and 0.05; 1/H and H^-1/4 are 0.5 and 0.25 away.",
    parts=(Part("along training", "heads", scalar("largest_concavity"), Power("H", -0.5),
            cells=_several, path="H at least 10"),
        Part("at the start", "heads", scalar("start_concavity"), Power("H", -0.5, tolerance=0.05),
            cells=_several, path="H at least 10")),
    controls=tuple(Control(f"exponent {name}", "another power of H", part="along training",
        law=Power("H", exponent)) for name, exponent in (("-1", -1.0), ("-1/4", -0.25))),
)  # fmt: skip

MARGINS = statement(
    "deora2023.margins", "finding", title="Margins over sparsity and signal",
    source=Source("5.3", "margins"), stated="ours: the table of margins",
    statement="Without noise: a linear model's margin is gamma_lin, which grows like zeta; gamma_* "
        "is at most the largest NTK margin; and the margin of trained heads, over the length of "
        "their decoders, is above the linear one, below gamma_attn, and grows more slowly with "
        "zeta than gamma_lin.",
    measured="Two heads trained for 20,000 steps, zeta = 1/4, 1/2, 3/4 and S = 1, 2: quotients of "
        "margins, and the exponent of the trained one in zeta.",
    why="Ours: the linear margin to 0.1, flat is an exponent of at most 1/2 (gamma_lin has 1).",
    parts=(Part("linear", "margins", scalar("linear_over_formula"), Equal(1.0, 0.1, "mean")),
        Part("gamma_* below NTK", "margins", scalar("star_over_tangent"), BOUND),
        Part("certificate", "margins", scalar("tangent_gap"), AtMost(ROUNDING)),
        Part("above linear", "margins", scalar("trained_over_linear"), AtLeast(1.0)),
        Part("below attention", "margins", scalar("margin_over_attention"), BOUND),
        Part("flat in zeta", "margins", scalar("last_decoder_margin"), Power("zeta", 0.5, "at_most",
            0.0))),
    controls=(SHUFFLED,
        Control("as steep as gamma_lin", "a trained margin like zeta", part="flat in zeta",
            law=Power("zeta", 1.0, tolerance=0.1))),
    positive={"trained_over_linear": 1.5, "tangent_gap": 1e-15, "last_decoder_margin": lambda cell,
        random: cell.zeta ** 0.2 * random.uniform(0.99, 1)},
)  # fmt: skip

ATTENTION_MASS = statement(
    "deora2023.attention_mass", "finding", title="Heads of sign +1 attend to relevant places",
    source=Source("5.3", "attention"), stated="ours: both are positive",
    why="A direction: above 0 in every run.",
    statement="In phase 2 heads of sign +1 move their attention to relevant places, and more so "
        "than heads of sign -1.",
    measured="The mean attention on relevant places of sign +1 at the end minus at the start, and "
        "the difference of that between the signs, for 10 to 10^6 heads, in every run.",
    parts=(Part("sign +1", "heads", scalar("plus_mass_gain"), AtLeast(0.0), cells=_several),
        Part("difference", "heads", scalar("mass_difference"), AtLeast(0.0), cells=_several)),
    controls=(SHUFFLED,),
)  # fmt: skip

REQUIRED_HEADS = statement(
    "deora2023.required_heads", "finding", title="What Theorem 1 demands, by constants",
    source=Source("4.1", "equation 3"), stated="ours: H demanded by either",
    statement="Paths of 10^8 heads meet Theorem 1 with tight constants for equal heads by far, and "
        "miss what section 6.1's own constants demand for the same targets.",
    measured="The H demanded over the H of the run, with our constants and with section 6.1's.",
    why="Met is at most 1, missed is at least 1. Ours: by far is a tenth.",
    parts=(Part("ours", "paths", scalar("heads_symmetric_over_H"), AtMost(0.1, owner="ours",
            trivial=0.0)),
        Part("section 6.1", "paths", scalar("heads_corrected_over_H"), AtLeast(1.0))),
    controls=(Control("section 6.1's are met", "section 6.1's constants in place of ours",
            part="ours", scalar=scalar("heads_corrected_over_H")),
        Control("ours are missed too", "ours in place of section 6.1's", part="section 6.1",
            scalar=scalar("heads_symmetric_over_H"))),
)  # fmt: skip

WHEN_INFORMATIVE = statement(
    "deora2023.finding_when_informative", "finding",
    title="From which number of steps on the theorems say something",
    source=Source("4.1", "Theorem 1; 4.3, Corollary 2"),
    stated="ours: K from which a bound on the loss is below log 2",
    statement="With section 6.1's constants (4) is below log 2 from some K between 10^5 and 10^10 "
        "on, by the mixture, that weights move by 4D says something beyond 10^6, and Corollary 2's "
        "bound beyond 10^8; with our constants for equal heads (4) does within 10^4 steps.",
    measured="Mixtures with T = 2 to 16 and every zeta, d = 3, M = 1, no noise, heads without end: "
        "the smallest K over targets and 61 signals S (ours: at S = 1), by the calculator.",
    why="Powers of ten (ours) around what the search finds; the smallest of all are 1.9 10^5, "
        "2.7 10^6 and 7.5 10^8.",
    parts=(Part("Theorem 1", "search", scalar("theorem_1_steps"), Between(1e5, 1e10,
            owner="ours", trivial=0.0)),
        Part("Corollary 2", "search", scalar("corollary_2_steps"), AtLeast(1e8, owner="ours",
            trivial=0.0)),
        Part("iterates", "search", scalar("iterates_steps"), AtLeast(1e6, owner="ours",
            trivial=0.0)),
        Part("tightened", "search", scalar("tightened_steps"), AtMost(1e4, owner="ours",
            trivial=0.0))),
    controls=(Control("ours for section 6.1's", "our constants in its place", part="Theorem 1",
            scalar=scalar("tightened_steps")),
        Control("Theorem 1's for Corollary 2's", "the best target in place of g_0",
            part="Corollary 2", scalar=scalar("theorem_1_steps")),
        Control("section 6.1's for ours", "its constants in place of ours", part="tightened",
            scalar=scalar("theorem_1_steps"))),
    positive={"theorem_1_steps": 2e6, "corollary_2_steps": 1e10, "tightened_steps": 100.0,
        "iterates_steps": 1e7},
    notes="The runs of theorem_1 are where K is nearly smallest: T = 6 and 4, S = 1. `attnlab "
        "bounds deora2023` answers for other sizes. Powers of ten were chosen after the search.",
)  # fmt: skip

STABILITY = statement(
    "deora2023.stability", "finding", title="Stability over the number of samples",
    source=Source("6.2", "mean stability"), stated="at most of order 1/n; ours: exponent -1",
    why="Ours: the exponent is told to 0.05.",
    statement="The mean leave-one-out distance falls like 1/n and stays below its bound.",
    measured="Its exponent in n on noise-free samples, and the distance over its bound.",
    parts=(Part("exponent", "atoms", scalar("mean_apart"), Power("n", -1.0, tolerance=0.05)),
        Part("over bound", "atoms", STABLE, AtMost(1.0))),
    controls=(Control("1/sqrt(n)", "exponent -1/2", part="exponent", law=Power("n", -0.5,
        tolerance=0.05)),),
    hypotheses=theorem_hypotheses(2),
)  # fmt: skip

FINDINGS = (
    TIGHTENED_1, TIGHTENED_2, TIGHTENED_COROLLARY, DRAWN_DATA, MARGIN_RULE, LOSS_OVER_HEADS,
    CONVEXITY, MARGINS, ATTENTION_MASS, REQUIRED_HEADS, STABILITY, WHEN_INFORMATIVE,
)  # fmt: skip
