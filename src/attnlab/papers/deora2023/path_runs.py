r"""Whole paths of descent beside a target: the steps of section 6.1's proof, one by one.

A path of at most `LONGEST` steps is kept state by state, so that (13) to (17), Proposition 4 and
the iterates' bounds are evaluated at every step. On a segment $[\theta_k,\theta]$ losses and
eigenvalues are taken at five points; a maximum over them can only be smaller than the true one,
which makes every check here stricter, never weaker.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from attnlab.core import Key, Result
from attnlab.models.multihead import Heads
from attnlab.papers.deora2023.drawing import draw
from attnlab.papers.deora2023.engines.arithmetic import (
    inner,
    largest_decoder,
    length,
    minus,
    plus,
    scaled,
)
from attnlab.papers.deora2023.engines.heads import HeadsEngine
from attnlab.papers.deora2023.settings import TrainingSettings
from attnlab.papers.deora2023.starts import sign_counts
from attnlab.papers.deora2023.summaries.path import summarise, summarise_long
from attnlab.papers.deora2023.targets import points_of, prepare, target_values
from attnlab.probes.head_curvature import curvature

LONGEST = 100
EVERY = 20
"""Curvature along the segment to the target is taken at every so many steps."""
ALPHAS = (0.0, 0.25, 0.5, 0.75, 1.0)


class Path(NamedTuple):
    """A path as arrays over its steps 0..LONGEST; after K it stands still."""

    loss: Float[Array, " k"]
    gradient: Float[Array, " k"]
    from_start: Float[Array, " k"]
    from_target: Float[Array, " k"]
    decoder_norm: Float[Array, " k"]
    along: Float[Array, " k"]
    """<grad L_k, theta - theta_k>."""
    segment_loss: Float[Array, "k a"]
    segment_lambda: Float[Array, "c a"]
    segment_hessian: Float[Array, "c a"]
    target_loss: Float[Array, ""]


def walk(cell: TrainingSettings, key: Key) -> Result:
    """Descend beside the target and evaluate every inequality of section 6.1."""
    drawn = draw(cell, key)
    instance = prepare(cell, drawn, sign_counts(cell, key))
    D, eta = jnp.asarray(instance.target.D), jnp.asarray(instance.eta)
    path = _walk(instance.engine, instance.direction, D, eta, jnp.asarray(cell.K))
    arrays = {name: np.asarray(x) for name, x in path._asdict().items()}
    values = target_values(instance)
    return Result({**values, **summarise(arrays, instance.target, instance.eta, EVERY, ALPHAS)})


@eqx.filter_jit
def _walk(engine: HeadsEngine, direction: Heads, D: Array, eta: Array, K: Array) -> Path:
    target = scaled(direction, D)

    states = descend_all(engine, eta, K)
    points = points_of(engine)

    def at(state: Heads) -> tuple[Array, ...]:
        loss, field = engine.loss_and_field(state)
        gap = minus(target, state)
        between = jax.vmap(lambda a: plus(state, scaled(gap, a)))(jnp.asarray(ALPHAS))
        return (
            loss,
            length(field, engine),
            length(state, engine),
            length(gap, engine),
            largest_decoder(state, engine),
            -inner(field, gap, engine),
            jax.vmap(engine.loss)(between),
        )

    def curved(pair: tuple[Heads, Array]) -> tuple[Array, Array]:
        state, a = pair
        view = engine.view(plus(state, scaled(minus(target, state), a)))
        found = curvature(view, points, engine.output)
        return found.smallest, found.norm

    some = Heads(*(x[::EVERY] for x in states))
    count = some.W.shape[0]
    repeated = Heads(*(jnp.repeat(x, len(ALPHAS), axis=0) for x in some))
    smallest, norm = jax.lax.map(curved, (repeated, jnp.tile(jnp.asarray(ALPHAS), count)))
    shape = (count, len(ALPHAS))
    everywhere = jax.lax.map(at, states)
    return Path(
        *everywhere,
        segment_lambda=smallest.reshape(shape),
        segment_hessian=norm.reshape(shape),
        target_loss=engine.loss(target),
    )


def descend_all(engine: HeadsEngine, eta: Array, K: Array) -> Heads:
    """The states of the first K steps and, from there to LONGEST, the last one again."""

    def step(state: Heads, k: Array) -> tuple[Heads, Heads]:
        _, moved = engine.step(state, jnp.where(k < K, eta, 0.0))
        return moved, state

    last, before = jax.lax.scan(step, engine.zero(), jnp.arange(LONGEST))
    return Heads(*(jnp.concatenate([x, y[None]]) for x, y in zip(before, last, strict=True)))


def long_walk(cell: TrainingSettings, key: Key) -> Result:
    """The same theorem over many steps: only what every step adds to is kept."""
    drawn = draw(cell, key)
    instance = prepare(cell, drawn, sign_counts(cell, key))
    found = _long_walk(
        instance.engine,
        instance.direction,
        jnp.asarray(instance.target.D),
        jnp.asarray(instance.eta),
        jnp.asarray(cell.K),
    )
    arrays = {name: float(x) for name, x in found.items()}
    values = target_values(instance)
    return Result({**values, **summarise_long(arrays, instance.target, instance.eta)})


@eqx.filter_jit
def _long_walk(
    engine: HeadsEngine, direction: Heads, D: Array, eta: Array, K: Array
) -> dict[str, Array]:
    target = scaled(direction, D)
    first, field = engine.loss_and_field(engine.zero())
    start = {
        "sum": jnp.zeros(()),
        "descent": jnp.asarray(jnp.inf),
        "from_start": jnp.zeros(()),
        "from_target": length(target, engine),
        "decoder_norm": largest_decoder(engine.zero(), engine),
    }

    def step(_: Array, carry):
        state, loss, field, seen = carry
        state = plus(state, scaled(field, eta))
        after, next_field = engine.loss_and_field(state)
        promised = eta / 2 * length(field, engine) ** 2
        seen = {
            "sum": seen["sum"] + after,
            "descent": jnp.minimum(seen["descent"], (loss - after) / promised),
            "from_start": jnp.maximum(seen["from_start"], length(state, engine)),
            "from_target": jnp.maximum(seen["from_target"], length(minus(target, state), engine)),
            "decoder_norm": jnp.maximum(seen["decoder_norm"], largest_decoder(state, engine)),
        }
        return state, after, next_field, seen

    _, last, _, seen = jax.lax.fori_loop(0, K, step, (engine.zero(), first, field, start))
    return {**seen, "first": first, "last": last, "target": engine.loss(target)}
