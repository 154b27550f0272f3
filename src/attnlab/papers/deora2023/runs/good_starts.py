r"""Properties of a start: P1-P3, the margins there, realisability, and random starts."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from attnlab.core import Key, Result
from attnlab.engines import collapsed_heads, explicit_heads
from attnlab.engines.heads import HeadsEngine
from attnlab.models.multihead import Heads, head_norms
from attnlab.numerics.max_margin import max_margin
from attnlab.numerics.random import stream_key
from attnlab.papers.deora2023.runs.samples import Drawn, draw, host_random
from attnlab.papers.deora2023.runs.targets import features_of, losses_at, paper_direction, spread
from attnlab.papers.deora2023.settings.starts import InitialisationSettings
from attnlab.papers.deora2023.theory import conditions, margins
from attnlab.papers.deora2023.theory.conditions import GoodStart
from attnlab.papers.deora2023.theory.real import log
from attnlab.probes.tangent_kernel import (
    LENGTH,
    tangent_gram,
    tangent_margin,
    tangent_margin_of_gram,
)

SIGN_DRAWS = 200
BLOCK = 64
"""Random heads that are drawn at once."""


def good_start(cell: InitialisationSettings, key: Key) -> Result:
    """P1, P2 and P3 after phase 1, the margins there, and Proposition 7's target."""
    drawn = draw(cell, key)
    sizes = cell.mixture()
    T, y = cell.T, drawn.labels
    features = features_of(drawn)
    direction = paper_direction(sizes)
    size = T * cell.d
    along = y * (features @ direction)
    flipped = np.r_[direction[:size], -direction[size:]]
    of_minus = y * (np.c_[features[:, :size], -features[:, size:]] @ flipped)
    tangent = tangent_margin(features, y)
    linear = max_margin(drawn.tokens.reshape(len(y), -1), y)
    star = margins.gamma_star(sizes, drawn.p_norm)
    lemma = (
        drawn.p_norm if cell.n1 == 0 else margins.first_phase_bound(sizes.R, cell.n1, cell.delta)
    )
    return Result(
        {
            "p_norm": drawn.p_norm,
            "along_theta_star": float(along.min()),
            "gamma_star": star,
            "star_minus_along": star - float(along.min()),
            "doubled_star_minus_along": star + margins.attention_term(sizes) - float(along.min()),
            "sign_spread": float(np.abs(along - of_minus).max()),
            "tangent_margin": LENGTH * tangent.margin,
            "tangent_gap": tangent.gap,
            "along_over_tangent": (
                float(along.min()) / (LENGTH * tangent.margin) if tangent.margin else np.inf
            ),
            "linear_margin": linear.margin,
            "gamma_linear": margins.gamma_linear(sizes),
            "gamma_linear_fixed": margins.gamma_linear_fixed(sizes),
            "gamma_attention": margins.gamma_attention(sizes),
            "linear_over_formula": linear.margin / margins.gamma_linear(sizes),
            "along_gain": float(along.min()) - margins.gamma_linear(sizes),
            "along_gain_over_formula": (float(along.min()) - margins.gamma_linear(sizes))
            / margins.attention_term(sizes),
            **_gradient_errors(drawn, features),
            **_bounds(cell, key, drawn, lemma, float(along.min())),
        }
    )


def linear_model(cell: InitialisationSettings, key: Key) -> Result:
    """The largest margin of a linear model that sees every place, over both formulas."""
    drawn = draw(cell, key, first_phase=False)
    sizes = cell.mixture()
    found = max_margin(drawn.tokens.reshape(len(drawn.labels), -1), drawn.labels)
    return Result(
        {
            "linear_margin": found.margin,
            "linear_gap": found.gap,
            "linear_over_formula": found.margin / margins.gamma_linear(sizes),
            "linear_over_fixed_formula": found.margin / margins.gamma_linear_fixed(sizes),
        }
    )


def _gradient_errors(drawn: Drawn, features: np.ndarray) -> dict[str, float]:
    """Section 5.2's gradient of W, with phi'(0) = (I - 11'/T)/T and, as printed, without 1/T."""
    X = drawn.tokens
    _, T, d = X.shape
    centring = np.eye(T) - np.ones((T, T)) / T
    stated = np.einsum("ntc,d,nsd,sr,nre->nce", X, drawn.v, X, centring / T, X)
    exact = features[:, T * d :].reshape(-1, d, d)
    size = np.linalg.norm(exact)
    return {
        "start_gradient_error": float(np.linalg.norm(stated - exact) / size),
        "start_gradient_error_printed": float(np.linalg.norm(T * stated - exact) / size),
    }


def start_bounds(cell: Any, P: float) -> tuple[float, float]:
    """B_2 of P1 and B_Phi of P2, |p| being at most P."""
    tail = log(cell.n / cell.delta)
    B_2 = max(1.0, cell.T**0.5 * (cell.S + P))
    return B_2, max(1.0, cell.T * cell.mixture().R * (cell.S + P) * (2 * tail) ** 0.5)


def _bounds(
    cell: InitialisationSettings, key: Key, drawn: Drawn, P: float, gamma: float
) -> dict[str, float]:
    sizes = cell.mixture()
    T, R = cell.T, sizes.R
    B_2, B_Phi = start_bounds(cell, P)
    per_head = np.abs(T * drawn.tokens.mean(axis=1) @ drawn.v).max()
    plus = host_random(key, "signs").binomial(int(min(cell.H, 2**62)), 0.5, SIGN_DRAWS)
    largest = np.abs(2 * plus - cell.H) / np.sqrt(cell.H) * per_head
    counts = collapsed_heads.head_counts(0.8, cell.H, False)
    # P1-P3 as this start has them, so that the target is no farther than it need be.
    at_start = abs(counts[0] - counts[1]) / np.sqrt(cell.H) * per_head
    start = GoodStart(B_2, max(1.0, at_start), gamma)
    far = conditions.printed_target_distance(start, cell.epsilon)
    engine = collapsed_heads.engine(drawn.train, jnp.asarray(drawn.v), jnp.asarray(counts))
    direction = spread(paper_direction(sizes), engine, np.array(collapsed_heads.SIGNS))
    _, loss = np.asarray(losses_at(engine, direction, jnp.asarray(far)))
    return {
        "B_2": B_2,
        "head_over_B_2": float(T**0.5 * np.linalg.norm(drawn.v)) / B_2,
        "B_Phi": B_Phi,
        "exceeds_B_Phi": float((largest > B_Phi).mean()),
        "output_over_B_Phi": float(np.quantile(largest, 0.99)) / B_Phi,
        "exceeds_head_spread": float((largest > per_head).mean()),
        "target_loss_over_epsilon": float(loss) / cell.epsilon,
        "target_distance_over_g_0": far * 2**0.5 / conditions.target_distance(start, cell.epsilon),
        "target_distance_over_printed": 2**0.5 * far / far,
        "target_head_over_g": _target_head(engine, direction, far)
        / (B_2 + 2**0.5 * far / np.sqrt(cell.H)),
        "realisable_heads_over_H": float(
            conditions.realisable_heads(start, T, cell.d, R, cell.H, cell.epsilon) / cell.H
        ),
    }


def _target_head(engine: HeadsEngine, direction: Heads, far: float) -> float:
    """The largest norm of a head of the target."""
    heads = engine.parameters(Heads(*(far * x for x in direction)))
    return float(np.asarray(head_norms(heads)).max())


# --- random starts (section 7's first question) -------------------------------------------------


def random_start(cell: InitialisationSettings, key: Key) -> Result:
    """The largest NTK margin of heads with normal entries, beside phase 1's."""
    drawn = draw(cell, key)
    tokens = jnp.asarray(drawn.tokens)
    scale, H = jnp.asarray(cell.scale), jnp.asarray(int(cell.H))
    gram = np.asarray(_random_gram(tokens, stream_key(key, "init"), scale, H))
    if not np.isfinite(gram).all():
        return Result({}, diverged="the kernel at the start is infinite or nan; lower scale")
    found = tangent_margin_of_gram(gram, drawn.labels)
    after = tangent_margin(features_of(drawn), drawn.labels)
    linear = margins.gamma_linear(cell.mixture())
    return Result(
        {
            "random_margin": LENGTH * found.margin,
            "random_gap": found.gap,
            "separable": float(found.separable),
            "phase_1_margin": LENGTH * after.margin,
            "random_over_phase_1": found.margin / after.margin if after.margin else np.inf,
            "random_over_linear": LENGTH * found.margin / linear,
            "linear_over_random": linear / (LENGTH * found.margin) if found.margin else np.inf,
        },
        # Quotients by a margin that inseparable data do not have.
        absent=frozenset(
            name
            for name, margin in (("random_over_phase_1", after), ("linear_over_random", found))
            if not margin.margin
        ),
    )


@eqx.filter_jit
def _random_gram(tokens: Array, key: Array, scale: Array, H: Array) -> Array:
    """The kernel of H heads, drawn in blocks of a fixed number, so that H is data."""
    n, T, d = tokens.shape

    def add_block(block: Array, total: Array) -> Array:
        # The first block has the key itself: few heads are drawn as if there were one block.
        own = jax.random.wrap_key_data(
            jnp.where(
                block == 0,
                jax.random.key_data(key),
                jax.random.key_data(jax.random.fold_in(key, block)),
            )
        )
        heads = explicit_heads.random_heads(own, BLOCK, T, d, scale)

        def add(k: Array, total: Array) -> Array:
            one = Heads(heads.U[k][None], heads.W[k][None])
            return total + (block * BLOCK + k < H) * tangent_gram(one, tokens)

        return jax.lax.fori_loop(0, BLOCK, add, total)

    blocks = (H + BLOCK - 1) // BLOCK
    return jax.lax.fori_loop(0, blocks, add_block, jnp.zeros((n, n))) / H
