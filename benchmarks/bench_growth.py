"""How time and memory of a step grow with each size: fitted exponents with intervals.

Times of all levels of a size are taken in turn in one process on one thread; memory is what the
compiled step asks for (arguments and temporary arrays), which does not vary. Required: the time
of reduced engines does not grow with the sizes that they reduce (exponent at most 0.1).

    NPROC=1 JAX_ENABLE_X64=1 python -m benchmarks.bench_growth
"""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

os.environ.setdefault("NPROC", "1")
os.environ.setdefault("JAX_ENABLE_X64", "1")
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")

import equinox as eqx
import jax
import jax.numpy as jnp

from attnlab.cells import Key
from attnlab.data.word_cooccurrence import BalancedTrainingSet
from attnlab.engines import collapsed_heads, explicit_heads, gram, word_weights
from attnlab.engines.gram_rows import row_count
from attnlab.evidence.fits import fit_exponent
from attnlab.models.linear_mlp_initialisation import Initialisation
from attnlab.models.linear_mlp_transformer import LinearMLPSizes
from attnlab.numerics.random import stream_key
from attnlab.papers.deora2023.runs.samples import draw
from attnlab.papers.deora2023.settings import MixtureSettings
from attnlab.papers.li2023.runs import trial
from attnlab.papers.li2023.settings import TrainingSettings
from attnlab.papers.li2023.studies.engine_choice import resolve
from benchmarks.measuring import interleaved, measured

KEY = Key("{}", 0)
FLAT = 0.1
Pair = tuple[Any, Any]
"""An engine and a state."""


@eqx.filter_jit
def walked(engine: Any, state: Any, steps: jax.Array) -> Any:
    """So many steps of descent, small enough that nothing diverges."""
    return jax.lax.fori_loop(0, steps, lambda _, x: engine.step(x, jnp.asarray(1e-9))[1], state)


def memory(engine: Any, state: Any) -> float:
    """Bytes that the compiled steps ask for: arguments and temporary arrays."""
    compiled = walked.lower(engine, state, jnp.asarray(1)).compile().compiled
    found = compiled.memory_analysis()
    return float(found.argument_size_in_bytes + found.temp_size_in_bytes)


def growth(
    name: str,
    make: Callable[[int], Pair],
    sizes: Sequence[int],
    steps: int,
    repetitions: int,
    flat: bool = False,
) -> bool:
    """Print and remember the exponents of time and memory in one size."""
    pairs = {size: make(size) for size in sizes}
    runs = {
        str(size): (lambda pair=pair: walked(*pair, jnp.asarray(steps)))
        for size, pair in pairs.items()
    }
    times = interleaved(repetitions, runs)
    x = [size for size in sizes for _ in range(repetitions)]
    fit = fit_exponent(x, [t for size in sizes for t in times[str(size)]])
    bytes_of = [memory(*pairs[size]) for size in sizes]
    of_memory = fit_exponent(list(sizes), bytes_of)
    span = f"{sizes[0]} to {sizes[-1]}"
    required = FLAT if flat else None
    values = (fit.low, fit.exponent, fit.high)
    met = measured(f"{name}, {span}: exponent of time", values, required, at_least=False)
    measured(f"{name}, {span}: exponent of memory", of_memory.exponent)
    return met


def words(kind: str, n: int = 60, L: int = 5, m: int = 512, m1: int = 512) -> Pair:
    """yang2024's network on words, by weights or Grams."""
    sizes = LinearMLPSizes(3 + n * (L - 1), L, m, m1)
    distribution = BalancedTrainingSet(sizes.d, L)
    batch = distribution.sample(stream_key(KEY, "data"), n)
    if kind == "weights":
        return word_weights.start(stream_key(KEY, "init"), batch, sizes, Initialisation())
    rows = row_count(distribution, n)
    return gram.start(
        stream_key(KEY, "init"), batch, sizes, Initialisation(), rows=rows, initial="bartlett"
    )


def heads(kind: str, H: int) -> Pair:
    """deora2023's network, collapsed or head by head."""
    drawn = draw(MixtureSettings(), KEY)
    v = jnp.asarray(drawn.v)
    if kind == "collapsed":
        engine = collapsed_heads.engine(drawn.train, v, jnp.asarray([H / 2, H / 2]))
    else:
        signs = jnp.asarray([1.0, -1.0] * (H // 2))
        start = explicit_heads.phase_1_heads(v, signs, H, drawn.tokens.shape[1])
        engine = explicit_heads.engine(drawn.train, start)
    return engine, engine.zero()


def patterns(engine: str, **sizes: int) -> Pair:
    """li2023's network on patterns, all samples in one batch."""
    cell = TrainingSettings(N=20, B=20, engine=engine, margin=1e6, c0=0.01)  # pyright: ignore
    if engine == "collapsed":
        cell = replace(cell, c0=0.0)
    cell = resolve(replace(cell, **sizes))
    return trial.start(cell, Key.of(cell, 0))[:2]


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=3)
    r = parser.parse_args().repetitions
    wide, neurons = (10**3, 10**4, 10**5, 10**6), (500, 1000, 2000, 4000)
    met = [
        growth("gram, m", lambda m: words("gram", m=m, m1=m), wide, 300, r, flat=True),
        growth("gram, n", lambda n: words("gram", n=n, m=4096), (24, 48, 96, 192), 50, r),
        growth("gram, L", lambda L: words("gram", L=L, m=4096), (4, 6, 8, 12), 50, r),
        growth("weights, m", lambda m: words("weights", m=m), (128, 256, 512, 1024), 30, r),
        growth("weights, m1", lambda m1: words("weights", m1=m1), (128, 256, 512, 1024), 30, r),
        growth(
            "collapsed heads, H",
            lambda H: heads("collapsed", H),
            (10, 10**3, 10**6),
            2000,
            r,
            flat=True,
        ),
        growth("explicit heads, H", lambda H: heads("explicit", H), (8, 32, 128, 512), 100, r),
        growth("exact, L", lambda L: patterns("exact", L=L), (40, 80, 160, 320), 20, r),
        growth("exact, m", lambda m: patterns("exact", m=m), neurons, 20, r),
        growth("exact, N", lambda N: patterns("exact", N=N), (20, 40, 80, 160), 20, r),
        growth("collapsed, L", lambda L: patterns("collapsed", L=L), (40, 80, 160, 320), 500, r),
        growth("collapsed, m", lambda m: patterns("collapsed", m=m), neurons, 500, r),
    ]
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
