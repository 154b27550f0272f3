"""Runs on drawn samples without training: the data, the first phase, and Proposition 3."""

from dataclasses import replace

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from attnlab.core import Key, Result
from attnlab.data.batch import Batch
from attnlab.data.token_mixture import directions
from attnlab.engines import explicit_heads
from attnlab.papers.deora2023.runs.samples import draw_batch, host_random, oracle_direction
from attnlab.papers.deora2023.runs.targets import paper_attention
from attnlab.papers.deora2023.settings.bounds import ImpossibilitySettings
from attnlab.papers.deora2023.settings.mixture import ExpressivitySettings, MixtureSettings
from attnlab.papers.deora2023.theory import impossibility, margins

OUTPUTS = ("full", "pooled", "last")
DELTA = 0.1
ATTENDED = 512
"""Drawn samples that attention is looked at on; of atoms, all."""


def describe_data(cell: MixtureSettings, key: Key) -> Result:
    """Assumptions 1 and 3 on every draw: largest sizes over their bounds."""
    sizes = cell.mixture()
    pool = draw_batch(cell, key)
    X, y = np.asarray(pool.tokens), np.asarray(pool.labels)
    roles = np.asarray(pool.roles)
    mu_plus, mu_minus, nu = directions(sizes)
    others = X[roles == 0]
    z = others - nu[(others @ nu.T).argmax(axis=1)]
    relevant = np.where(y[:, None, None] > 0, mu_plus, mu_minus)
    longest = np.linalg.norm(X, axis=2).max()
    values = {
        "longest_over_R": longest / sizes.R,
        "longest_over_formula": longest / sizes.longest,
        "longest_over_S": longest / sizes.S,
        "relevant_share_error": float(np.abs(roles.mean(axis=1) - cell.zeta).max()),
        "relevant_token_error": float(
            np.abs(np.where(roles[..., None] == 1, X - relevant, 0)).max()
        ),
        "label_share": float((y > 0).mean()),
        "wrong_labels": float((np.abs(y) != 1).sum()),
    }
    for name, size, bound in (
        ("along_mu", np.abs(z @ np.stack([mu_plus, mu_minus]).T).max(), sizes.Z_mu),
        ("along_nu", np.abs(z @ nu.T).max(), sizes.Z_nu / sizes.M),
        ("noise_norm", np.linalg.norm(z, axis=1).max(), sizes.Z),
    ):
        values[f"{name}_over_bound"] = float(size / bound) if bound > 0 else float(size)
    return Result(values)


def first_step(cell: MixtureSettings, key: Key) -> Result:
    """Lemma 2: one step from zero, by the engine, for each decoder."""
    batch = draw_batch(cell, key)
    w = jnp.asarray(_first_weights(cell, key, len(batch.labels)))
    points = replace(batch, weights=w)
    moves = {name: np.asarray(x) for name, x in _first_step(points).items()}
    oracle = oracle_direction(cell)
    u_star = 4 * oracle / cell.zeta
    v = moves["full"][0]
    coefficient = {
        name: float(moves[name].reshape(-1, cell.d)[-1] @ u_star / (u_star @ u_star) / cell.zeta)
        for name in OUTPUTS
    }
    p = float(np.linalg.norm(v - oracle))
    sizes = cell.mixture()
    bound = margins.first_phase_bound(sizes.R, cell.n1, DELTA)
    printed = margins.printed_first_phase_bound(cell.S, cell.Z, cell.d, cell.n1, DELTA)
    return Result(
        {
            "coefficient": coefficient["full"],
            "pooled_coefficient": coefficient["pooled"] / cell.T,
            "last_coefficient": coefficient["last"],
            "attention_moved": float(moves["W"]),
            "places_differ": float(np.abs(moves["full"] - v).max()),
            "p_norm": p,
            "p_over_bound": p / bound,
            "p_over_printed": p / printed,
        }
    )


def _first_weights(cell: MixtureSettings, key: Key, count: int) -> np.ndarray:
    """The weights of phase 1: equal on its n1 samples; of atoms, drawn counts over n1."""
    if cell.points == "atoms":
        drawn = host_random(key, "atoms").multinomial(cell.n1, np.full(count, 1 / count))
        return drawn / cell.n1
    w = np.zeros(count)
    w[: cell.n1] = 1 / cell.n1
    return w


@eqx.filter_jit
def _first_step(points: Batch) -> dict[str, Array]:
    """The step of size sqrt(H) from zero of a single head, and how far W moved."""
    T, d = points.kept.shape[1], points.dimension
    moves, attention = {}, []
    for output in OUTPUTS:
        engine = explicit_heads.engine(points, explicit_heads.zero_heads(1, T, d, output), output)
        _, field = engine.loss_and_field(engine.zero())
        moves[output] = field.U[0]
        attention.append(jnp.abs(field.W).max())
    return {**moves, "W": jnp.stack(attention).max()}


def attend(cell: ExpressivitySettings, key: Key) -> Result:
    """Equation 8 and Proposition 3 on drawn samples, by the definitions."""
    sizes = cell.mixture()
    batch = draw_batch(cell, key)
    some = slice(None if cell.points == "atoms" else ATTENDED)
    X, y = np.asarray(batch.tokens)[some], np.asarray(batch.labels, float)[some]
    relevant = np.asarray(batch.roles)[some] == 1
    W_star = paper_attention(*directions(sizes))
    logits = X @ W_star @ X.transpose(0, 2, 1)
    on = np.broadcast_to(relevant[:, None, :], logits.shape)
    slack = max(margins.relevant_logit_slack(sizes), 1e-12 * cell.S**4)
    bound = max(margins.irrelevant_logit_bound(sizes), 1e-12 * cell.S**4)
    norm = cell.S**2 * np.sqrt(2 * (cell.M + 1))
    Gamma = cell.Gamma_factor * margins.gamma_scale(sizes, cell.epsilon, cell.Gamma_power)
    scaled = Gamma / norm * logits
    P = np.exp(scaled - scaled.max(axis=-1, keepdims=True))
    P /= P.sum(axis=-1, keepdims=True)
    irrelevant = np.where(on, 0, P).sum(axis=-1)
    mu_plus, mu_minus, _ = directions(sizes)
    U_opt = np.outer(np.ones(cell.T), mu_plus - mu_minus) / (cell.S * np.sqrt(2 * cell.T))
    output = y * np.einsum("td,nts,nsd->n", U_opt, P, X)
    promised = margins.gamma_attention(sizes, cell.epsilon)
    gap = logits[on].min() - logits[~on].max()
    return Result(
        {
            "relevant_logit_error": float(np.abs(logits[on] - cell.S**4).max() / slack),
            "irrelevant_logit": float(np.abs(logits[~on]).max() / bound),
            "logit_gap": float(gap),
            "optimal_logit_gap": float(gap / norm),
            "mass_over_epsilon": float(irrelevant.max() / cell.epsilon),
            "margin_over_promised": float(output.min() / promised),
            "margin_equality_error": float(output.max() / promised - 1),
            "Gamma": float(Gamma),
        }
    )


def compare_margins(cell: MixtureSettings, key: Key) -> Result:
    """The paper's margins as formulas, and whether their order is as it says."""
    del key
    sizes = cell.mixture()
    star, linear = margins.gamma_star(sizes), margins.gamma_linear(sizes)
    attention = margins.gamma_attention(sizes)
    clean = replace(sizes, Z_mu=0.0, Z_nu=0.0, Z=0.0)
    clean_order = margins.gamma_attention(clean) >= margins.gamma_star(clean)
    return Result(
        {
            "gamma_star": star,
            "gamma_linear": linear,
            "gamma_attention": attention,
            "attention_over_star": attention / star,
            "star_over_linear": star / linear,
            "order_rule_fails": float(
                clean_order != (margins.largest_S_for_order(sizes) >= cell.S)
            ),
            "linear_rule_fails": float((star >= linear) != (margins.attention_term(sizes) >= 0)),
        }
    )


def search_scaling(cell: ImpossibilitySettings, key: Key) -> Result:
    """Section 5.3: whether any C, p, S and H meet all conditions, by two routes."""
    del key
    return Result(
        {
            "feasible": float(impossibility.feasible(cell.n, cell.c, cell.power)),
            "grid_points": float(impossibility.searched(cell.n, cell.c, cell.power)),
        }
    )
