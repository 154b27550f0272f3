"""Segments between points (Proposition 4), and the global margin by ascent (section 7)."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array

from attnlab.core import Key, Result
from attnlab.data.batch import Batch
from attnlab.engines import collapsed_heads
from attnlab.engines.heads import HeadsEngine
from attnlab.engines.heads_arithmetic import (
    largest_decoder,
    length,
    minus,
    plus,
    scaled,
)
from attnlab.models.multihead import Heads, outputs
from attnlab.numerics.random import normal, stream_key
from attnlab.numerics.segment import largest_on_segment
from attnlab.papers.deora2023.runs.samples import draw
from attnlab.papers.deora2023.runs.targets import features_of, paper_direction
from attnlab.papers.deora2023.settings.landscape import GlobalMarginSettings, SegmentSettings
from attnlab.papers.deora2023.theory.margins import gamma_attention, gamma_scale
from attnlab.papers.deora2023.theory.smoothness import beta_3
from attnlab.probes.tangent_kernel import LENGTH, tangent_margin
from attnlab.training.descent import PlainStep, descend
from attnlab.training.inputs import Inputs, compiled

DIRECTIONS = 32
STEPS = 400
ETA = 1.0
POINTS_BETWEEN = 21
"""Of the grid on a segment; its best place is refined."""
RESTARTS = 4


def segments(cell: SegmentSettings, key: Key) -> Result:
    """The largest growth of the loss within segments, and how close their ends are in (18)."""
    drawn = draw(cell, key)
    counts = jnp.asarray([np.ceil(cell.H / 2), np.floor(cell.H / 2)])
    engine = collapsed_heads.engine(drawn.train, jnp.asarray(drawn.v), counts)
    found = _segments(
        compiled(cell),
        engine,
        stream_key(key, "directions"),
        jnp.asarray(cell.mixture().R),
        _attending_head(cell),
    )
    return Result({name: float(x) for name, x in found.items()})


def _attending_head(cell: SegmentSettings) -> Heads:
    """A solution on one head: ten times U_* and ten times the W_opt that saturates at 0.1."""
    sizes = cell.mixture()
    w = paper_direction(sizes)
    U, W = w[: cell.T * cell.d].reshape(cell.T, cell.d), w[cell.T * cell.d :]
    return Heads(
        jnp.asarray(10 * U / cell.S),
        jnp.asarray(gamma_scale(sizes, 0.1) * W.reshape(cell.d, cell.d)),
    )


@eqx.filter_jit
def _segments(
    inputs: Inputs, engine: HeadsEngine, key: Array, R: Array, attending: Heads
) -> dict[str, Array]:
    exchanged = inputs.pair.is_("exchanged")
    trained = descend(engine, engine.zero(), PlainStep(ETA), jnp.asarray([0, STEPS])).state
    T, d = inputs.T, inputs.d
    shape_U, shape_W = engine.start.U.shape, engine.start.W.shape
    of_U, of_W = jax.random.split(key)
    random = Heads(
        normal(of_U, (DIRECTIONS, *shape_U), 1.0), normal(of_W, (DIRECTIONS, *shape_W), 1.0)
    )
    # Half of the segments leave the start, half a trained model; the first goes uphill.
    begin = Heads(
        *(
            jnp.where((jnp.arange(DIRECTIONS) % 2 == 0).reshape(-1, *(1,) * s.ndim), s, 0.0)
            for s in trained
        )
    )

    # A head that attends to relevant places, and its negative: swapped, they meet at zero.
    pair = Heads(*(jnp.stack([x, -x]) - s for x, s in zip(attending, engine.start, strict=True)))
    other = Heads(*(jnp.stack([-x, x]) - s for x, s in zip(attending, engine.start, strict=True)))

    def of_segment(state: Heads, direction: Heads, uphill: Array) -> tuple[Array, Array, Array]:
        _, field = engine.loss_and_field(state)
        direction = Heads(
            *(jnp.where(uphill, -f, x) for f, x in zip(field, direction, strict=True))
        )
        direction = scaled(direction, 1 / length(direction, engine))

        def closeness(r: Array) -> Array:
            end = plus(state, scaled(direction, r))
            m = jnp.maximum(largest_decoder(state, engine), largest_decoder(end, engine))
            return 2 * beta_3("sharp", T, d, R, m) * r**2 / jnp.sqrt(engine.H)

        # (18) with equality, by a few fixed-point steps from below.
        r = jnp.asarray(1e-3)
        r = jax.lax.fori_loop(0, 60, lambda _, r: r / jnp.sqrt(closeness(r)), r)
        end = plus(state, scaled(direction, r))
        end = Heads(*(jnp.where(exchanged, x, y) for x, y in zip(other, end, strict=True)))
        state = Heads(*(jnp.where(exchanged, x, y) for x, y in zip(pair, state, strict=True)))
        gap = minus(end, state)
        most = largest_on_segment(
            lambda a: engine.loss(plus(state, scaled(gap, a))), POINTS_BETWEEN
        )
        first, last = engine.loss(state), engine.loss(end)
        m = jnp.maximum(largest_decoder(state, engine), largest_decoder(end, engine))
        close = 2 * beta_3("sharp", T, d, R, m) * length(gap, engine) ** 2 / jnp.sqrt(engine.H)
        return most / jnp.maximum(first, last), close, first

    uphill = jnp.arange(DIRECTIONS) == 0
    growth, close, first = jax.vmap(of_segment)(begin, random, uphill)
    return {
        "growth": growth.max(),
        "growth_over_bound": growth.max() / (4 / 3),
        "closeness_18": close.max(),
        "least_closeness_18": close.min(),
        "trained_loss": first.min(),
    }


# --- the global margin (section 7's third question) ----------------------------------------------


def global_margin(cell: GlobalMarginSettings, key: Key) -> Result:
    """Ascend min_i y_i Phi over parameters of one length; the NTK margin is beside it."""
    drawn = draw(cell, key)
    best = np.asarray(_ascend(compiled(cell), drawn.train, stream_key(key, "init")))
    tangent = tangent_margin(features_of(drawn), drawn.labels)
    return Result(
        {
            "global_margin": float(best.max()),
            "restart_spread": float(best.max() - best.min()),
            "tangent_margin": LENGTH * tangent.margin,
            "tangent_gap": tangent.gap,
            "global_over_tangent": (
                float(best.max()) / (LENGTH * tangent.margin) if tangent.margin else np.inf
            ),
            "global_over_attention": float(best.max()) / gamma_attention(cell.mixture()),
        }
    )


@eqx.filter_jit
def _ascend(inputs: Inputs, points: Batch, key: Array) -> Array:
    T, d, heads, size, steps = inputs.T, inputs.d, inputs.H, inputs.length, inputs.steps
    rule = optax.adam(0.02)

    def normalised(x: Heads) -> Heads:
        return Heads(*(size * p / jnp.sqrt(jnp.sum(x.U**2) + jnp.sum(x.W**2)) for p in x))

    def margins(x: Heads) -> Array:
        return points.labels * outputs(
            normalised(x), jnp.full(heads, heads**-0.5), points.vectors()
        )

    def soft_minimum(x: Heads, sharpness: Array) -> Array:
        return jax.scipy.special.logsumexp(-sharpness * margins(x)) / sharpness

    def from_start(key: Array) -> Array:
        of_U, of_W = jax.random.split(key)
        x = Heads(normal(of_U, (heads, T, d), 1.0), normal(of_W, (heads, d, d), 1.0))

        def step(k: Array, carry):
            x, memory, best = carry
            # A soft minimum that hardens: its gradient reaches all samples first.
            sharpness = 5.0 * 200.0 ** (k / steps)
            gradient = jax.grad(soft_minimum)(x, sharpness)
            move, memory = rule.update(gradient, memory, x)
            x = jax.tree.map(jnp.add, x, move)
            return x, memory, jnp.maximum(best, margins(x).min())

        begin = (x, rule.init(x), margins(x).min())
        return jax.lax.fori_loop(0, steps, step, begin)[2]

    return jax.lax.map(from_start, jax.random.split(key, RESTARTS))
