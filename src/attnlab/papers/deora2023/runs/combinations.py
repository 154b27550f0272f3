"""The paper's heads under another optimiser than the paper's: how far they move."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from attnlab.core import Key, Result
from attnlab.engines import explicit_heads
from attnlab.engines.heads import HeadsEngine
from attnlab.models.multihead import squared_norm
from attnlab.models.multihead_initialisation import phase_1_heads
from attnlab.papers.deora2023.runs.samples import draw
from attnlab.papers.deora2023.settings.combinations import OptimiserSettings
from attnlab.training.descent import descend
from attnlab.training.optimisers import optimiser
from attnlab.training.trajectory import Trajectory


def move(cell: OptimiserSettings, key: Key) -> Result:
    """Train, and measure how far all heads together are from where they started."""
    drawn = draw(cell, key)
    # As many of each sign as can be: phase 1's coins without their luck.
    counts = jnp.asarray([cell.heads - cell.heads // 2, cell.heads // 2])
    start = phase_1_heads(jnp.asarray(drawn.v), counts, cell.heads, cell.T, "full")
    engine = explicit_heads.engine(drawn.train, start)
    path = _moved(engine, cell.optimiser, jnp.asarray(cell.rate), jnp.asarray([0, cell.K]))
    values = {
        "moved": float(jnp.sqrt(squared_norm(path.state, engine.counts))),
        "last_loss": float(np.asarray(path.values["loss"])[-1]),
    }
    return Result(values, diverged="" if path.complete else path.why)


@eqx.filter_jit
def _moved(engine: HeadsEngine, name: str, rate: Float[Array, ""], record_at: Array) -> Trajectory:
    return descend(engine, engine.zero(), optimiser(name, rate), record_at)
