"""Runs of yang2024 on seven classes of words: one compiled program for all n, L and m.

The start is at the mean of the theory's initialisation (no randomness), so a run has one outcome.
"""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from attnlab.core import Key, Result
from attnlab.engines import symmetric
from attnlab.engines.symmetric import SymmetricView
from attnlab.engines.symmetric_sectors import Entries
from attnlab.papers.yang2024.runs.summaries import phase_1, phase_2_classes
from attnlab.papers.yang2024.settings import FIRST_RECORD, ClassSettings
from attnlab.papers.yang2024.theory.sizes import StatedSizes
from attnlab.training.engine import Named
from attnlab.training.flow import NO_TARGET, flow, log_spaced_times
from attnlab.training.inputs import Inputs, compiled
from attnlab.training.trajectory import Trajectory, absent_throughout, nan_names


def train_classes(cell: ClassSettings, key: Key) -> Result:
    """The flow, and what Appendix E says of random words and scores.

    With a target loss, also what the asymptote says of the late part.
    """
    del key
    sizes = StatedSizes.of_theory(cell.n, cell.L, cell.vocabulary, cell.m, cell.m1, cell.c0)
    rho, kappa = jnp.asarray(sizes.neuron_rate), jnp.asarray(sizes.s0**2 * cell.m)
    trajectory = _flow(compiled(cell), rho, kappa)
    times = np.asarray(trajectory.times)
    reached = np.isfinite(times)
    series = {name: np.asarray(x)[reached] for name, x in trajectory.values.items()}
    series["times"] = times[reached]
    described = {**series, "s0": sizes.s0, "s1": sizes.s1}
    if not trajectory.complete:
        return Result(described, diverged=trajectory.why)
    if len(series["times"]) < 3:  # the late part is read off its last two records after time 0
        return Result(described, diverged=f"{trajectory.why}: too soon to record its course")
    end = phase_1.positive_for_good(series["times"], series["smallest_margin"])
    ended = {**series, phase_1.END: end}
    late = phase_2_classes.summarise(series, sizes) if cell.target_loss else {}
    scalars = {phase_1.END: end, **phase_1.summarise_classes(ended, sizes), **late}
    absent = absent_throughout(series) | nan_names(scalars)
    return Result({**described, **scalars}, absent=absent)


@eqx.filter_jit
def _flow(inputs: Inputs, rho: Float[Array, ""], kappa: Float[Array, ""]) -> Trajectory:
    n, L, m = inputs.n, inputs.L, inputs.m
    engine, state = symmetric.start_at(n, L, m, A=inputs.m1, rho=rho, kappa=kappa)
    times = log_spaced_times(FIRST_RECORD, inputs.horizon, inputs.records) / state.rho
    # A target that is never met stands for none.
    target = jnp.maximum(inputs.target_loss, NO_TARGET)
    settings = engine.flow_settings(state)
    return flow(
        engine, state, times, changes_by_class, engine.kappa, target_loss=target, **settings
    )


def changes_by_class(t: Float[Array, ""], view: SymmetricView, args: Float[Array, ""]) -> Named:
    r"""What has moved, with the start's $\kappa$ as `args`.

    `signal_outputs` (3,) and `random_outputs` (4,): G; `smallest_margin`; `score_change`: max |S|;
    `coefficients` (3, 3): S of the signals; `largest_random_coefficient`: max |S| of the others;
    `random_value_change`: the largest change of V over pairs of random words.
    """
    del t
    own = view.V._replace(own=view.V.own - args)
    return {
        "signal_outputs": view.G[:3],
        "random_outputs": view.G[3:],
        "smallest_margin": jnp.nanmin(view.margins),
        "score_change": _largest(view.S),
        "coefficients": view.S.across[:3, :3],
        "largest_random_coefficient": _largest(
            view.S._replace(across=view.S.across.at[:3, :3].set(0))
        ),
        "random_value_change": _largest(own._replace(across=own.across[3:, 3:])),
    }


def _largest(entries: Entries) -> Float[Array, ""]:
    return jnp.nanmax(jnp.stack([jnp.nanmax(jnp.abs(part)) for part in entries]))
