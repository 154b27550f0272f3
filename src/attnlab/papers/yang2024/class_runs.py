"""Runs of yang2024 on seven classes of words: one compiled program for all n, L and m.

The start is at the mean of the theory's initialisation (no randomness), so a run has one outcome.
"""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from attnlab.core import Key, Result
from attnlab.dynamics.engine import Named
from attnlab.dynamics.flow import NO_TARGET, flow, log_spaced_times
from attnlab.dynamics.trajectory import Trajectory
from attnlab.papers.yang2024.auxiliary_settings import ClassSettings
from attnlab.papers.yang2024.engines import symmetric
from attnlab.papers.yang2024.engines.symmetric import SymmetricView
from attnlab.papers.yang2024.engines.symmetric_sectors import Entries
from attnlab.papers.yang2024.summaries import first_phase, late_classes
from attnlab.papers.yang2024.theory.conditions import Sizes
from attnlab.probes.phase import positive_for_good

FIRST_RECORD = 1e-2


def train_classes(cell: ClassSettings, key: Key) -> Result:
    """The flow, and what Appendix E says of random words and scores.

    With a target loss, also what the asymptote says of the late part.
    """
    del key
    d = 3 + round(cell.n * (cell.L - 7 / 3))
    sizes = Sizes.of_theory(cell.n, cell.L, d, cell.m, cell.m1, cell.c0)
    numbers = {
        "n": cell.n,
        "L": cell.L,
        "m": cell.m,
        "A": cell.m1,
        "rho": sizes.neuron_rate,
        "kappa": sizes.s0**2 * cell.m,
        "horizon": cell.horizon,
        "target_loss": max(cell.target_loss, NO_TARGET),
    }
    trajectory = _flow(cell.records, {name: jnp.asarray(x, float) for name, x in numbers.items()})
    times = np.asarray(trajectory.times)
    reached = np.isfinite(times)
    series = {name: np.asarray(x)[reached] for name, x in trajectory.values.items()}
    series["times"] = times[reached]
    late = late_classes.summarise_late(series, sizes) if cell.target_loss else {}
    end = positive_for_good(series["times"], series["smallest_margin"])
    return Result(
        {
            **series,
            first_phase.END: end,
            "s0": sizes.s0,
            "s1": sizes.s1,
            **first_phase.summarise_classes({**series, first_phase.END: end}, sizes),
            **late,
        },
        diverged="" if trajectory.complete else trajectory.why,
    )


@eqx.filter_jit
def _flow(records: int, numbers: dict[str, Float[Array, ""]]) -> Trajectory:
    n, L, m = numbers["n"], numbers["L"], numbers["m"]
    engine, state = symmetric.start_at(
        n, L, m, A=numbers["A"], rho=numbers["rho"], kappa=numbers["kappa"]
    )
    times = log_spaced_times(FIRST_RECORD, numbers["horizon"], records) / state.rho
    settings: dict[str, Any] = symmetric.flow_settings(engine, state)
    target = numbers["target_loss"]
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
