r"""Paths of descent beside a target: the steps of section 6.1's proof, one by one.

`walk` keeps a path state by state, so that (13) to (17) and the iterates' bounds are evaluated at
every step. On a segment $[\theta_k,\theta]$ the largest loss stands on the right of every
inequality and is taken at five points, which makes the check stricter; the smallest eigenvalue
stands on the left of (15) and is sought by `numerics.segment`. `long_walk` goes on for as many
steps as a theorem needs to say something and keeps a thousand records and the sum of all losses.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from attnlab.core import Key, Result
from attnlab.engines.heads import HeadsEngine
from attnlab.engines.heads_arithmetic import (
    inner,
    largest_decoder,
    length,
    minus,
    plus,
    scaled,
)
from attnlab.models.multihead import Heads, HeadsView
from attnlab.numerics.segment import largest_on_segment
from attnlab.papers.deora2023.runs.path_summary import (
    LongPath,
    Path,
    PathSeries,
    lost_in_rounding,
    summarise,
    summarise_long,
)
from attnlab.papers.deora2023.runs.preparation import beside_target
from attnlab.papers.deora2023.runs.samples import draw
from attnlab.papers.deora2023.runs.targets import Instance, points_of, target_values
from attnlab.papers.deora2023.settings.training import GuaranteedSettings, PathSettings
from attnlab.probes.head_curvature import curvature
from attnlab.training.descent import PlainStep, descend
from attnlab.training.summed import Summed
from attnlab.training.trajectory import Trajectory, overflow

EVERY = 20
"""Curvature along the segment to the target is taken at every so many steps."""
ALPHAS = (0.0, 0.25, 0.5, 0.75, 1.0)
COARSE, SECTIONS = 5, 8
"""Of the search for the smallest eigenvalue on a segment: a place costs a whole spectrum."""
RECORDS = 1001
"""Of a long path, at most; of a short one every step."""


def walk(cell: PathSettings, key: Key) -> Result:
    """Descend beside the target and evaluate every inequality of section 6.1."""
    instance = beside_target(cell, key, draw(cell, key))
    D, eta = jnp.asarray(instance.target.D), jnp.asarray(instance.eta)
    walked = _walk(
        instance.engine, instance.direction, D, eta, jnp.asarray(cell.K), cell.padded_steps
    )
    path = Path(*(np.asarray(x) for x in walked))
    values = target_values(instance)
    along = {"times": np.arange(cell.K + 1), "loss": path.loss[: cell.K + 1]}
    trouble = overflow(along) or lost_in_rounding(path, instance.eta, cell.K)
    if trouble:
        return Result({**values, "losses": along["loss"]}, diverged=trouble)
    return Result({**values, **summarise(path, instance.target, instance.eta, EVERY)})


@eqx.filter_jit
def _walk(
    engine: HeadsEngine, direction: Heads, D: Array, eta: Array, K: Array, longest: int
) -> PathSeries[Array]:
    target = scaled(direction, D)
    states = states_of(engine, eta, K, longest)
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

    def least(state: Heads) -> Array:
        gap = minus(target, state)

        def concavity(a: Array) -> Array:
            view = engine.view(plus(state, scaled(gap, a)))
            return -curvature(view, points, engine.output).smallest

        return -largest_on_segment(concavity, COARSE, SECTIONS)

    some = Heads(*(x[::EVERY] for x in states))
    return PathSeries(
        *jax.lax.map(at, states),
        segment_lambda=jax.lax.map(least, some),
        target_loss=engine.loss(target),
    )


def keep_state(t: Array, view: HeadsView, args: None) -> dict[str, Array]:
    """The probe of a path that is kept: how far each head has moved."""
    del t, args
    return {"U": view.moved.U, "W": view.moved.W}


def states_of(engine: HeadsEngine, eta: Array, K: Array, longest: int) -> Heads:
    """The states of the first K steps and, from there to the longest, the last one again."""
    record_at = jnp.minimum(jnp.arange(longest + 1), K.astype(int))
    path = descend(engine, engine.zero(), PlainStep(eta), record_at, keep_state)
    return Heads(path.values["U"], path.values["W"])


def long_walk(cell: GuaranteedSettings, key: Key) -> Result:
    """The theorem over many steps: a thousand records, and the exact mean of all losses."""
    instance = beside_target(cell, key, draw(cell, key), any_start=True)
    records = min(RECORDS, cell.K + 1)
    record_at = np.round(np.linspace(0, cell.K, records)).astype(np.int64)
    found = _long_walk(
        instance.engine,
        scaled(instance.direction, instance.target.D),
        jnp.asarray(instance.eta),
        jnp.asarray(record_at),
    )
    values = {**target_values(instance), **_at_start(instance)}
    if not found.complete:
        return Result(values, diverged=found.why)
    seen = LongPath(*(np.asarray(found.values[name]) for name in LongPath._fields))
    if not (seen.loss > 0).all():
        why = f"the loss became 0 within {cell.K} steps of {instance.eta:.3g}"
        return Result(values, diverged=why)
    some = slice(None, None, max(records // 20, 1))
    kept = {"times": record_at[some].astype(float), "losses": seen.loss[some]}
    return Result({**values, **kept, **summarise_long(seen, instance.target, instance.eta)})


def _at_start(instance: Instance) -> dict[str, float]:
    """B_Phi and B_2 of Definition 1 as this start has them."""
    engine = instance.engine
    outputs = jnp.abs(engine.margins(engine.zero()))
    return {
        "start_output": float(outputs.max()),
        "start_decoder": float(largest_decoder(engine.zero(), engine)),
    }


@eqx.filter_jit
def _long_walk(engine: HeadsEngine, target: Heads, eta: Array, record_at: Array) -> Trajectory:
    whole = Summed(engine)
    start = whole.begin(engine.zero())
    return descend(whole, start, PlainStep(eta), record_at, _distances, (engine, target))


def _distances(t: Array, view, args: tuple[HeadsEngine, Heads]) -> dict[str, Array]:
    """How far the heads are from start and target, the longest one, and the losses so far."""
    del t
    (heads, total), (engine, target) = view, args
    return {
        "sum": total,
        "from_start": length(heads.moved, engine),
        "from_target": length(minus(target, heads.moved), engine),
        "decoder_norm": largest_decoder(heads.moved, engine),
    }
