"""Times the reduced engines of yang2024 against the engine on the weights.

Four measurements, single-threaded, in one process, what is compared interleaved:

1. descent at n=60, L=5, m=1024, m1=2048: `gram` against `weights` (required: 18 times faster),
   and `gram` at m = m1 = 10^6 against itself (required: at most 1.25 times as long);
2. figure 1's horizon: the flow on `gram` against 30,000 steps on `weights` (required: 30 times);
3. m = m1 = 10^6 from Bartlett's factors to a loss of 1e-6, with compilation (required: under 5 s
   and 1 GB);
4. `symmetric` at 100 values of n and L, with compilation (required: under 5 s without it).

Prints medians; exits 1 if a requirement is missed.

    NPROC=1 JAX_ENABLE_X64=1 python benchmarks/bench_yang_engines.py
"""

import argparse
import os
import resource
import sys
from collections.abc import Callable
from typing import Any

os.environ.setdefault("NPROC", "1")
os.environ.setdefault("JAX_ENABLE_X64", "1")

import jax
import jax.numpy as jnp
import numpy as np

from attnlab.cells import Key
from attnlab.data.word_cooccurrence import BalancedTrainingSet
from attnlab.engines import gram, symmetric, word_weights
from attnlab.engines.gram_rows import row_count
from attnlab.models.linear_mlp_initialisation import Initialisation
from attnlab.models.linear_mlp_transformer import LinearMLPSizes
from attnlab.numerics.random import stream_key
from attnlab.training.descent import PlainStep, descend
from attnlab.training.flow import flow
from attnlab.training.trajectory import Trajectory
from benchmarks.measuring import interleaved, measured, quotients, seconds

KEY = Key("{}", 0)
N = 60


def descent(repetitions: int) -> bool:
    """`gram` against `weights`, and against itself at a million."""
    sizes, wide = LinearMLPSizes(163, 5, 1024, 2048), LinearMLPSizes(163, 5, 10**6, 10**6)
    distribution = BalancedTrainingSet(sizes.d, sizes.L)
    batch = distribution.sample(stream_key(KEY, "data"), N)
    init, scheme, rows = stream_key(KEY, "init"), Initialisation(), row_count(distribution, N)
    slow = word_weights.start(init, batch, sizes, scheme)
    fast = gram.start(init, batch, sizes, scheme, rows=rows)
    huge = gram.start(init, batch, wide, scheme, rows=rows, initial="bartlett")
    steps, slow_steps = 1000, 100

    def run(pair: tuple[Any, Any], eta: float, steps: int) -> Callable[[], Trajectory]:
        return lambda: descend(*pair, PlainStep(eta), np.array([0, steps]))

    after = [run(pair, 1e-4, slow_steps)().values["loss"][-1] for pair in (slow, fast)]
    gap = abs(float(after[1] / after[0]) - 1)
    assert gap < 1e-10, f"the two do not train the same model: {gap}"
    times = interleaved(
        repetitions,
        {
            "weights": run(slow, 1e-4, slow_steps),
            "gram": run(fast, 1e-4, steps),
            "million": run(huge, 1e-7, steps),
        },
    )
    print(f"descent, n=60 L=5 d=163 m=1024 m1=2048; losses agree to {gap:.1e}")
    ratios = quotients(times["weights"], times["gram"], steps / slow_steps)
    met = measured("gram, times the weights", ratios, 18)
    longer = quotients(times["million"], times["gram"])
    return measured("gram at m = 10^6, times as long", longer, 1.25, at_least=False) and met


def figure_1(repetitions: int) -> bool:
    """The flow over the horizon of figure 1 against its 30,000 steps."""
    sizes, steps, eta = LinearMLPSizes(64, 5, 128, 256), 30_000, 0.01
    distribution = BalancedTrainingSet(sizes.d, sizes.L, distinct=False)
    batch = distribution.sample(stream_key(KEY, "data"), N)
    scheme = Initialisation("linear_default", "same_as_weights")
    slow = word_weights.start(stream_key(KEY, "init"), batch, sizes, scheme)
    fast = gram.start(stream_key(KEY, "init"), batch, sizes, scheme, rows=sizes.d)
    times, settings = np.array([0, steps * eta]), fast[0].flow_settings(fast[1])
    taken = interleaved(
        repetitions,
        {
            "weights": lambda: descend(*slow, PlainStep(eta), np.array([0, steps])),
            "flow": lambda: flow(*fast, times, **settings),
        },
    )
    print("figure 1, n=60 L=5 d=64 m=128 m1=256, linear_default, same_as_weights")
    print(f"  the flow {flow(*fast, times, **settings).why}")
    ratios = quotients(taken["weights"], taken["flow"])
    return measured("flow on gram, times 30,000 steps on the weights", ratios, 30)


def million() -> bool:
    """A million neurons of width a million, to a loss of 1e-6."""
    sizes = LinearMLPSizes(163, 5, 10**6, 10**6)
    distribution = BalancedTrainingSet(sizes.d, sizes.L)

    @jax.jit
    def run(data: Any, init: Any) -> Trajectory:
        batch = distribution.sample(data, N)
        options = {"rows": row_count(distribution, N), "initial": "bartlett"}
        engine, state = gram.start(init, batch, sizes, Initialisation(), **options)
        times = jnp.concatenate([jnp.zeros(1), jnp.geomspace(1e-2, 1e8, 40)])
        settings = engine.flow_settings(state)
        return flow(engine, state, times * gram.time_unit(state), target_loss=1e-6, **settings)

    keys = (stream_key(KEY, "data"), stream_key(KEY, "init"))
    cold, warm = (seconds(lambda: run(*keys)) for _ in range(2))
    print(f"m=m1=10^6, n=60 L=5, theory: {run(*keys).why}")
    print(f"  {cold:.1f} s with compilation, {warm:.2f} s without")
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    met = measured("m = 10^6 to loss 1e-6, seconds with compilation", cold, 5, at_least=False)
    return measured("the same, megabytes of the process", memory, 1000, at_least=False) and met


def sweep(repetitions: int) -> bool:
    """One hundred values of n and L by classes of words."""
    n, L = (x.reshape(-1) for x in np.meshgrid(np.linspace(12, 300, 10), np.linspace(4, 13, 10)))

    def one(numbers: tuple[Any, Any]) -> Any:
        n, L = numbers
        m = 1e4
        engine, state = symmetric.start_at(n, L, m, A=m, rho=m, kappa=1 / L)
        times = jnp.asarray([0, 1e4 / m])
        return flow(engine, state, times, **engine.flow_settings(state)).values["loss"]

    run = jax.jit(lambda n, L: jax.lax.map(one, (n, L)))
    cold = seconds(lambda: run(n, L))
    times = interleaved(repetitions, {"flows": lambda: run(n, L)})
    print(f"symmetric, 100 flows to 10^4/rho_0: {cold:.1f} s with compilation")
    return measured("100 flows by classes of words, seconds", times["flows"], 5, at_least=False)


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=5)
    options = parser.parse_args()
    # The memory of the process only grows, so what is measured for it comes first.
    met = [million()]
    met += [part(options.repetitions) for part in (descent, figure_1, sweep)]
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
