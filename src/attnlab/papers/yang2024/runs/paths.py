"""A run of yang2024 at a point of a path: classes of words to a loss of 1/m^2 and ten times beyond.

One compiled program for every point. The start is at the mean of the theory's initialisation (no
randomness). All is kept as changes since the start, so that a width of 2^40, or of e^226, loses
nothing. A record has the series, what the first phase ends with, and what the second phase is at
each of the stops.
"""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax import tree
from jaxtyping import Array, Float

from attnlab.core import Key, Result
from attnlab.engines import symmetric
from attnlab.papers.yang2024.runs.probes.classes import FromTheStart, path_series
from attnlab.papers.yang2024.runs.summaries import paths, phase_1
from attnlab.papers.yang2024.settings import FIRST_RECORD
from attnlab.papers.yang2024.settings.paths import PathSettings
from attnlab.papers.yang2024.theory.sizes import StatedSizes
from attnlab.training.attention import GAIN_AND_RATE, Attention
from attnlab.training.flow import flow, log_spaced_times
from attnlab.training.trajectory import Trajectory, absent_throughout, nan_names

EARLY, LATE = 100, 160
"""Records until a hundred times 1/rho(0), and from there to the end."""
MIDDLE = 100.0
BEYOND = 10.0
"""How much longer than to a loss of 1/m^2 a run lasts."""


def train_path(cell: PathSettings, key: Key) -> Result:
    """The flow, and both phases in scalars."""
    del key
    sizes = StatedSizes.of_theory(cell.n, cell.L, cell.vocabulary, cell.m, cell.m1, cell.c)
    # 1/loss grows like t/17 at most: this is late enough for the target.
    horizon, target = 1e4 * cell.m**2, 1 / (BEYOND * cell.m**2)
    trajectory = follow(sizes, cell.attention, cell.rtol, horizon=horizon, target=target)
    times = np.asarray(trajectory.times)
    reached = np.isfinite(times)
    recorded = {name: np.asarray(x)[reached] for name, x in trajectory.values.items()}
    recorded["times"] = times[reached]
    series = {**recorded, "s0": sizes.s0, "s1": sizes.s1, "rate": sizes.rate}
    if not trajectory.complete:
        return Result(series, diverged=trajectory.why)
    counts = float(sizes.n) * np.array([3, 1, 1, 1]) / 6
    described = {**series, "type_counts": counts, "end_time": np.asarray(trajectory.end_time)}
    ended = {**described, **phase_1.detected_ends(described)}
    scalars = paths.summarise(ended, sizes)
    return Result({**ended, **scalars}, absent=absent_throughout(recorded) | nan_names(scalars))


def follow(
    sizes: StatedSizes,
    attention: Attention,
    rtol: float,
    *,
    horizon: float,
    target: float,
    keys: float = 1.0,
) -> Trajectory:
    """The flow until a horizon, in 1/rho(0), or a loss; keys and queries `keys` times as large."""
    gain, rate = GAIN_AND_RATE[attention]
    numbers = (sizes.n, sizes.L, sizes.m, sizes.m1, sizes.neuron_rate, sizes.s0**2 * sizes.m,
               gain, rate, rtol, horizon, target, keys**2)  # fmt: skip
    return _flow(tuple(jnp.asarray(x, float) for x in numbers))


@eqx.filter_jit
def _flow(numbers: tuple[Float[Array, ""], ...]) -> Trajectory:
    n, L, m, m1, rho, kappa, gain, rate, rtol, horizon, target, keys = numbers
    engine, first = symmetric.start_at(n, L, m, A=m1, rho=rho, kappa=kappa)
    engine = eqx.tree_at(lambda e: (e.score_gain, e.score_rate), engine, (gain, rate))
    scaled = tree.map(lambda x: keys * x, first.K)
    first = first._replace(K=scaled, Q=scaled)
    path = FromTheStart(engine, first)
    early = log_spaced_times(FIRST_RECORD, jnp.asarray(MIDDLE), EARLY)
    late = MIDDLE * (horizon / MIDDLE) ** jnp.asarray(np.arange(1, LATE + 1) / LATE)
    times = jnp.concatenate([early, late]) / rho
    settings = engine.flow_settings(first, rtol, rtol / 100)
    start = tree.map(jnp.zeros_like, first)
    return flow(path, start, times, path_series, path, target_loss=target, **settings)
