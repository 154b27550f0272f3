"""Times deora2023's engines: collapsed heads, the NTK margin, leave-one-out models.

Everything in one process on one core, interleaved, medians of several. Exits 1 if a requirement
is missed:

- 10^6 collapsed heads take at most 1.5 times as long as two explicit ones;
- the NTK margin of 2,000 samples takes less than 1 s once compiled;
- the 200 leave-one-out models of 200 noise-free samples, together, are at least 5 times as fast
  as a Python loop over them in which each model's descent is one compiled call. Equal samples
  leave equal models behind: one per atom is enough. With noise all 200 differ: at least 3 times.

    NPROC=1 JAX_ENABLE_X64=1 python benchmarks/bench_deora_heads.py
"""

import argparse
import os
import sys
from collections.abc import Callable

os.environ.setdefault("NPROC", "1")
os.environ.setdefault("JAX_ENABLE_X64", "1")

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from attnlab.cells import Key
from attnlab.engines import collapsed_heads, explicit_heads
from attnlab.engines.heads import HeadsEngine
from attnlab.engines.heads_arithmetic import length, minus
from attnlab.models.multihead import Heads
from attnlab.papers.deora2023.runs.samples import Drawn, draw
from attnlab.papers.deora2023.runs.stability import without_point
from attnlab.papers.deora2023.runs.targets import features_of
from attnlab.papers.deora2023.settings import MixtureSettings
from attnlab.probes.tangent_kernel import tangent_margin
from attnlab.training.descent import PlainStep, descend
from benchmarks.measuring import interleaved, measured, quotients

STEPS = 5_000
KEY = Key("{}", 0)
ETA, K = jnp.asarray(0.3), jnp.asarray(100)


def heads(repetitions: int) -> bool:
    """Collapsed 10^6 heads against two explicit ones."""
    drawn = draw(MixtureSettings(), KEY)
    v = jnp.asarray(drawn.v)
    many = collapsed_heads.engine(drawn.train, v, jnp.asarray([5e5, 5e5]))
    two = explicit_heads.engine(
        drawn.train,
        explicit_heads.phase_1_heads(v, jnp.asarray([1.0, 1.0]), 2, drawn.tokens.shape[1]),
    )

    def run(engine: HeadsEngine) -> Callable[[], object]:
        return lambda: descend(engine, engine.zero(), PlainStep(0.3), np.array([0, STEPS])).state

    times = interleaved(repetitions, {"many": run(many), "two": run(two)})
    ratios = quotients(times["many"], times["two"])
    return measured("10^6 collapsed heads, times two explicit", ratios, 1.5, at_least=False)


def margin(repetitions: int) -> bool:
    """The NTK margin at n = 2000, features and certificate included."""
    drawn = draw(MixtureSettings(n=2000, Z_mu=0.05, Z_nu=0.05, Z=0.5), KEY)
    found = tangent_margin(features_of(drawn), drawn.labels)
    run = {"margin": lambda: tangent_margin(features_of(drawn), drawn.labels).margin}
    times = interleaved(repetitions, run)
    print(f"  {found.message}")
    assert found.separable, "the samples have no margin"
    assert found.gap < 1e-9, f"the margin is certified to {found.gap} only"
    name = "NTK margin of 2000 noisy samples, seconds"
    return measured(name, times["margin"], 1.0, at_least=False)


@eqx.filter_jit
def last_state(engine: HeadsEngine) -> Heads:
    """The state after K steps of the common descent."""
    return descend(engine, engine.zero(), PlainStep(ETA), jnp.stack([0 * K, K])).state


@eqx.filter_jit
def one_model(engine: HeadsEngine, base: Heads, n: jax.Array, i: jax.Array) -> jax.Array:
    """One leave-one-out model and its distance: what the Python loop calls."""
    return length(minus(base, last_state(without_point(engine, n, i))), engine)


@eqx.filter_jit
def all_models(engine: HeadsEngine, n: jax.Array) -> jax.Array:
    """All leave-one-out models and their distances."""
    base = last_state(engine)
    points = jnp.arange(len(engine.weights))
    return jax.lax.map(lambda i: one_model(engine, base, n, i), points)


def _engine(drawn: Drawn) -> HeadsEngine:
    return collapsed_heads.engine(drawn.train, jnp.asarray(drawn.v), jnp.asarray([5e5, 5e5]))


def leave_one_out(repetitions: int) -> bool:
    """All leave-one-out models together against a loop over them."""
    n = jnp.asarray(200.0)
    atoms = draw(MixtureSettings(points="atoms", n=200), KEY)
    counts = np.round(atoms.weights * 200).astype(int)
    repeated = np.repeat(np.arange(len(counts)), counts)
    samples = Drawn(
        **{
            **vars(atoms),
            "tokens": atoms.tokens[repeated],
            "labels": atoms.labels[repeated],
            "weights": np.full(200, 1 / 200),
            "relevant": atoms.relevant[repeated],
        }
    )
    noisy = draw(MixtureSettings(n=200, Z_mu=0.05, Z_nu=0.05, Z=0.5), KEY)
    whole, grouped, apart = _engine(samples), _engine(atoms), _engine(noisy)

    def loop(engine: HeadsEngine) -> Callable[[], object]:
        def run() -> object:
            base = last_state(engine)
            return [one_model(engine, base, n, jnp.asarray(i)) for i in range(200)]

        return run

    gap = np.abs(np.asarray(all_models(grouped, n))[repeated] - np.asarray(loop(whole)())).max()
    assert gap < 1e-12, f"the models together and in a loop differ by {gap}"
    times = interleaved(
        repetitions,
        {
            "atoms": lambda: all_models(grouped, n),
            "loop": loop(whole),
            "noisy": lambda: all_models(apart, n),
            "noisy loop": loop(apart),
        },
    )
    name = "200 leave-one-out models of {} samples, times a loop"
    met = measured(name.format("noise-free"), quotients(times["loop"], times["atoms"]), 5)
    noisy = quotients(times["noisy loop"], times["noisy"])
    return measured(name.format("noisy"), noisy, 3) and met


def main() -> int:
    """Run the benchmarks."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=5)
    repetitions = parser.parse_args().repetitions
    met = [heads(repetitions), margin(repetitions), leave_one_out(repetitions)]
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
