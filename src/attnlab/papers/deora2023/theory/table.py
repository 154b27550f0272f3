"""Every bound and condition of the paper for given sizes: `attnlab bounds deora2023`.

Two chains lead from the data to a number of heads. `proposition_2` is the paper's own: B_2, B_Phi
and half of gamma_* from Proposition 2. `instance` takes what this mixture has without noise in
the first phase: balanced signs (so no output at the start), the margin gamma_* itself, and the
norm that the heads really have. Rows are computed in 30 digits of mpmath, whose exponents do not
overflow; a value beyond a float is shown as inf with its power of ten in the text.
"""

from dataclasses import asdict, dataclass

from attnlab.core import Bound, ConstantKind
from attnlab.data.mixture_sizes import MixtureSizes
from attnlab.papers.deora2023.settings.bounds import BoundsSettings, require_bounds
from attnlab.papers.deora2023.theory import conditions, margins, smoothness
from attnlab.papers.deora2023.theory.conditions import PROOFS, GoodStart, Target
from attnlab.papers.deora2023.theory.real import Real, log

DIGITS = 30


@dataclass(frozen=True)
class _Numbers:
    """The sizes as numbers of mpmath, with what follows from them."""

    T: Real
    d: Real
    M: Real
    n: Real
    n1: Real
    S: Real
    zeta: Real
    Z_mu: Real
    Z_nu: Real
    Z: Real
    H: Real
    K: Real
    eta: Real
    delta: Real
    epsilon: Real
    R: Real


def rows(sizes: BoundsSettings) -> tuple[Bound, ...]:
    """All rows."""
    require_bounds(sizes)
    import mpmath

    from attnlab.papers.deora2023.theory.impossibility import feasible

    mixture = MixtureSizes(
        sizes.T, sizes.d, sizes.M, sizes.S, sizes.zeta, sizes.Z_mu, sizes.Z_nu, sizes.Z
    )
    with mpmath.workdps(DIGITS):
        plain = {name: mpmath.mpf(value) for name, value in asdict(sizes).items()}
        x = _Numbers(**plain, R=mpmath.mpf(mixture.R))
        P = margins.first_phase_bound(x.R, x.n1, x.delta)
        gamma = margins.gamma_star(x, P)
        return (
            *_margin_rows(x, P),
            *_good_start_rows(x, P, gamma),
            *_chain_rows("proposition_2", x, _proposition_2(x, P)),
            *_chain_rows("instance", x, _instance(x)),
            *_smoothness_rows(x),
            *_informative_rows(mixture, float(x.K)),
            _row(
                "section_5_3.feasible",
                float(feasible(max(float(x.n), 3.0))),
                "whether any C, p, S, H make Proposition 3 a target (1) or none (0), constants one",
            ),
        )


def _proposition_2(x: _Numbers, P: Real) -> GoodStart | None:
    gamma = margins.gamma_star(x, P) / 2
    if gamma <= 0:
        return None
    B_2 = max(1, x.T**0.5 * (x.S + P))
    B_Phi = max(1, x.T * x.R * (x.S + P) * (2 * log(x.n / x.delta)) ** 0.5)
    return GoodStart(B_2, B_Phi, gamma)


def _instance(x: _Numbers) -> GoodStart | None:
    gamma = margins.gamma_star(x)
    if gamma <= 0:
        return None
    return GoodStart(x.T**0.5 * x.zeta * 2**0.5 * x.S / 4, x.R * 0, gamma)


def _row(
    name: str,
    value: Real,
    meaning: str,
    *,
    constant: ConstantKind = "given",
    threshold: float | None = None,
    met: bool | None = None,
) -> Bound:
    """A row; a number that no float holds is told as a power of ten."""
    import mpmath

    number = float(value)
    if abs(number) == float("inf"):
        meaning += f" [10^{float(mpmath.log10(abs(value))):.1f}]"
    return Bound(name, number, meaning, constant, threshold, met)


def _condition(name: str, have: Real, needed: Real, meaning: str, at_least: bool = True) -> Bound:
    short = needed / have if at_least else have / needed
    met = bool(short <= 1)
    if not met:
        meaning += f"; short by a factor of {float(short):.3g}"
    return _row(name, have, meaning, threshold=float(needed), met=met)


def _unknown(name: str, have: Real, needed: Real, meaning: str) -> Bound:
    text = f"{meaning}, at constant one (quotient {float(have / needed):.3g})"
    return _row(name, have, text, constant="unknown", threshold=float(needed))


def _margin_rows(x: _Numbers, P: Real) -> tuple[Bound, ...]:
    star = margins.gamma_star(x, P)
    return (
        _row("assumption_3.R", x.R, "the longest a token can be, at least 1"),
        _row("lemma_2.P", P, "bound on |p| with probability 1-delta (corrected: given)"),
        _row(
            "lemma_2.P_printed",
            margins.printed_first_phase_bound(x.S, x.Z, x.d, x.n1, x.delta),
            "equation 6 at C = 1",
            constant="unknown",
        ),
        _row("lemma_2.coefficient", x.zeta / 4, "of u_* in U after phase 1 (printed: zeta/2)"),
        _row("margins.gamma_lin", margins.gamma_linear(x), "third term of (7)"),
        _row("margins.gamma_lin_fixed", margins.gamma_linear_fixed(x), "relevant places fixed"),
        _row("margins.attention_term", margins.attention_term(x), "first term of (7)"),
        _row("margins.gamma_star", star, "(7) with P as above"),
        _row("margins.gamma_star_P0", margins.gamma_star(x), "(7) with P = 0"),
        _row("margins.gamma_attn", margins.gamma_attention(x), "saturated attention, |U| = 1"),
        _row(
            "proposition_3.gamma_attn",
            margins.gamma_attention(x, x.epsilon),
            "(11) at epsilon",
        ),
        _row("proposition_3.Gamma", margins.gamma_scale(x, x.epsilon), "needed scale of W_opt"),
        _row(
            "proposition_3.Gamma_section_7",
            margins.gamma_scale(x, x.epsilon, power=1),
            "section 7's print, 1/S: false for S < 1",
        ),
        _condition(
            "proposition_3.noise",
            max(x.Z_mu, x.Z_nu),
            x.S**2 / 8,
            "Z_mu = Z_nu at most S^2/8",
            at_least=False,
        )
        if max(x.Z_mu, x.Z_nu) > 0
        else _row("proposition_3.noise", 0, "Z_mu = Z_nu at most S^2/8: no noise"),
        _condition(
            "margins.order",
            x.S,
            margins.largest_S_for_order(x),
            "gamma_attn >= gamma_* (noise-free) needs S at most this; the print says always",
            at_least=False,
        ),
    )


def _good_start_rows(x: _Numbers, P: Real, gamma: Real) -> tuple[Bound, ...]:
    start = _proposition_2(x, P)
    if start is None:
        return (
            _row(
                "proposition_2.gamma",
                gamma / 2,
                "P3: gamma_*/2 is not positive: Proposition 2 says nothing here; raise n1 or S, "
                "or lower the noise",
                threshold=0.0,
                met=False,
            ),
        )
    spread = (2 * log(x.n / x.delta)) ** 0.5
    needed = (x.R**4 * x.T * (x.S + P) / (2 * start.gamma) * spread) ** 2
    return (
        _row("proposition_2.B_2", start.B_2, "P1: bound on a head's norm"),
        _row("proposition_2.B_Phi", start.B_Phi, "P2: bound on outputs, probability 1-delta"),
        _row("proposition_2.gamma", start.gamma, "P3: gamma_*/2", threshold=0.0, met=True),
        _unknown("proposition_2.heads", x.H, needed, "P3's H (not needed: sign(alpha) cancels)"),
    )


def _chain_rows(chain: str, x: _Numbers, start: GoodStart | None) -> tuple[Bound, ...]:
    if start is None:
        return ()
    bounded = GoodStart(max(start.B_2, 1), max(start.B_Phi, 1), start.gamma)
    target = conditions.target_of(start, x.T, x.d, x.R, x.H, x.K)
    found = [
        _row(f"{chain}.g_0", target.D, "D: distance of a target with loss 1/K (corrected)"),
        _row(
            f"{chain}.g_0_printed",
            conditions.printed_target_distance(start, 1 / x.K),
            "g_0(1/K) as printed, without sqrt(2): false",
        ),
        _unknown(
            f"{chain}.corollary_2.heads_printed",
            x.H,
            conditions.printed_corollary_heads(bounded, x.T, x.d, x.R, x.K),
            "Corollary 2's H",
        ),
        _unknown(
            f"{chain}.theorem_1.heads_printed",
            x.H,
            conditions.printed_heads_needed(target),
            "(3)",
        ),
        _unknown(
            f"{chain}.theorem_1.step_printed",
            x.eta,
            1 / conditions.theorem_smoothness(target),
            "1/rho of Theorem 1",
        ),
    ]
    loss, gap = conditions.corollary_bounds(start, x.eta, x.K, x.n)
    found += [
        _unknown(
            f"{chain}.corollary_2.step_printed",
            x.eta,
            1 / conditions.printed_corollary_smoothness(bounded, x.T, x.d, x.R, x.K),
            "1/rho(K) of Corollary 2",
        ),
        _row(
            f"{chain}.corollary_2.loss", loss, "Corollary 2: bound on the loss at eta (corrected)"
        ),
        _row(f"{chain}.corollary_2.gap", gap, "Corollary 2: bound on the gap at eta (corrected)"),
    ]
    if start.B_Phi > 0:
        needed = conditions.realisable_heads(start, x.T, x.d, x.R, x.H, 1 / x.K)
        found.append(
            _condition(f"{chain}.proposition_7.heads", x.H, needed, "H for a target of loss 1/K")
        )
    for proof in PROOFS:
        # Balanced signs: two groups of H/2 equal heads.
        own = Target(**{**asdict(target), "least_count": x.H / 2})
        for theorem in (1, 2):
            found.append(
                _condition(
                    f"{chain}.theorem_{theorem}.heads_{proof}",
                    x.H,
                    conditions.heads_needed(own, proof, theorem),
                    f"H of Theorem {theorem}, {proof} constants",
                )
            )
        limits = [conditions.largest_step(own, proof, theorem) for theorem in (1, 2)]
        for theorem, limit in zip((1, 2), limits, strict=True):
            name = f"{chain}.theorem_{theorem}.step_{proof}"
            found.append(
                _condition(name, x.eta, limit, f"eta of Theorem {theorem}", at_least=False)
            )
        first, second = (min(x.eta, limit) for limit in limits)
        gap = conditions.gap_bound(own, second, x.n)
        found += [
            _row(
                f"{chain}.theorem_1.loss_{proof}",
                conditions.loss_bound(own, first),
                "(4): bound on the mean training loss at the allowed step",
            ),
            _row(
                f"{chain}.theorem_2.gap_{proof}",
                gap,
                "(5): bound on the generalisation gap at the allowed step",
            ),
            _row(
                f"{chain}.theorem_2.samples_{proof}",
                x.n * gap / log(2.0),
                "n above which (5) is below log 2, the loss of no model at all",
            ),
        ]
    return tuple(found)


def _informative_rows(mixture: MixtureSizes, K: float) -> tuple[Bound, ...]:
    """From which K, S, H and n on the bounds say something (section 6.1's constants)."""
    from attnlab.papers.deora2023.theory import informative

    found = []
    promises: dict[informative.Promise, str] = {
        "theorem_1": "(4)",
        "corollary_2": "Corollary 2's bound",
    }
    for promise, words in promises.items():
        find = informative.theorem_1 if promise == "theorem_1" else informative.corollary_2
        S, best = informative.best_strength(mixture, promise)
        try:
            here = find(mixture)
        except ArithmeticError:  # rho is beyond a float: no number of steps is enough
            here = informative.NOWHERE
        for name, value, meaning in (
            (
                "steps",
                here.steps,
                f"K from which {words} is below log 2 at these sizes, many heads",
            ),
            ("heads", here.heads, "H asked for there"),
            ("S", S, "S at which that K is smallest, noise in proportion to S^2"),
            ("steps_at_S", best.steps, "K there"),
            ("heads_at_S", best.heads, "H there"),
        ):
            found.append(_row(f"informative.{promise}.{name}", value, meaning))
    for name, meaning, of in (
        ("section_6_1.steps", "K from which 4D says something", informative.iterates),
        (
            "theorem_2.samples",
            f"n from which (5) after K = {K:g} steps is below log 2, at the best target",
            lambda sizes: informative.samples(sizes, K),
        ),
    ):
        try:
            value = of(mixture)
        except ArithmeticError:
            value = informative.NOWHERE.steps
        found.append(_row(f"informative.{name}", value, meaning))
    return tuple(found)


def _smoothness_rows(x: _Numbers) -> tuple[Bound, ...]:
    m = x.T**0.5 * x.zeta * 2**0.5 * x.S / 4
    found = [_row("corollary_1.m", m, "norm of a head after phase 1 at p = 0")]
    for variant in smoothness.VARIANTS:
        b = smoothness.betas(variant, x.T, x.d, x.R, m, x.H)
        found += [
            _row(f"corollary_1.beta_1_{variant}", b.one, "|grad L| <= beta_1 L"),
            _row(f"corollary_1.beta_2_{variant}", b.two, "|Hess L| <= beta_2"),
            _row(f"corollary_1.beta_3_{variant}", b.three, "lambda_min >= -beta_3 L/sqrt(H)"),
            _row(
                f"proposition_4.radius_{variant}",
                (x.H**0.5 / (2 * b.three)) ** 0.5,
                "(18): how far apart two points of this norm may be",
            ),
            _row(
                f"proposition_1.gradient_{variant}",
                smoothness.gradient_bound(x.T, x.R, x.T**0.5 * x.R * m, variant),
                "bound on a head's gradient, every |X u_t| at its largest",
            ),
            _row(
                f"proposition_1.hessian_{variant}",
                smoothness.hessian_bound(x.T, x.d, x.R, x.R, x.T**0.5 * x.R * m, variant),
                "bound on a head's Hessian, every |X u_t| at its largest",
            ),
        ]
    found.append(
        _row("corollary_1.beta_1_pooled", smoothness.pooled_beta_1(x.T, x.R, m), "pooled decoder")
    )
    return tuple(found)
