"""From a cell to an engine that is ready to train: signs, start, step size."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from attnlab.core import Key
from attnlab.engines import collapsed_heads, explicit_heads
from attnlab.engines.heads import HeadsEngine
from attnlab.numerics.random import stream_key
from attnlab.papers.deora2023.runs.samples import Drawn, uniform_number
from attnlab.papers.deora2023.runs.targets import Instance, make_engine, prepare, target_values
from attnlab.papers.deora2023.settings.training import GuaranteedSettings, TrainingSettings
from attnlab.papers.deora2023.theory.conditions import loss_bound
from attnlab.papers.deora2023.theory.smoothness import betas


def sign_counts(cell: TrainingSettings, key: Key) -> np.ndarray:
    """How many heads have each sign."""
    return collapsed_heads.head_counts(
        uniform_number(key, "signs"), cell.H, cell.signs == "balanced"
    )


def engine_and_step(
    cell: TrainingSettings, key: Key, drawn: Drawn, counts: np.ndarray
) -> tuple[HeadsEngine, float, dict[str, float]]:
    """The engine, the step size and, where the step is the theorem's, its numbers."""
    if cell.start == "phase_1":
        if cell.eta > 0:
            return make_engine(cell, drawn, counts), cell.eta, {}
        instance = prepare(cell, drawn, counts)
        bound = loss_bound(instance.target, instance.eta)
        return instance.engine, instance.eta, {**target_values(instance), "loss_bound": bound}
    heads = int(cell.H) if cell.engine == "weights" else 2
    if cell.start == "random":
        engine = random_engine(cell, key, drawn)
    else:
        zero = explicit_heads.zero_heads(heads, cell.T, cell.d, cell.output)
        engine = explicit_heads.engine(drawn.train, zero, cell.output)
        if cell.engine == "collapsed_heads":
            engine = eqx.tree_at(
                lambda e: (e.counts, e.H), engine, (jnp.asarray(counts), jnp.asarray(cell.H))
            )
    size = np.asarray(engine.start.U).reshape(heads, -1)
    m = float(np.sqrt((size**2).sum(axis=1).max()))
    eta = cell.eta or 1 / betas("sharp", cell.T, cell.d, cell.mixture().R, m + 1, cell.H).two
    return engine, float(eta), {}


def random_engine(cell: TrainingSettings, key: Key, drawn: Drawn) -> HeadsEngine:
    """Heads that all differ, with normal entries."""
    draw = eqx.filter_jit(explicit_heads.random_heads)
    scale, heads = jnp.asarray(cell.scale), int(cell.H)
    start = draw(stream_key(key, "init"), heads, cell.T, cell.d, scale, cell.output)
    return explicit_heads.engine(drawn.train, start, cell.output)


def beside_target(cell: GuaranteedSettings, key: Key, drawn: Drawn, *, any_start=False) -> Instance:
    """A run beside a target of the theorem, from phase 1 or, with `any_start`, random heads."""
    random = any_start and cell.start == "random"
    engine = random_engine(cell, key, drawn) if random else None
    return prepare(cell, drawn, sign_counts(cell, key), cell.aim, engine)
