"""Times descent at the size of figure 1: the fast engine against the straightforward order.

The straightforward way is what one would write first: one-hot samples, products as they stand in
equation (1), the gradient by autodiff. Both run 30,000 steps of figure 1's setting in one
process, single-threaded and interleaved; the slow one takes fewer steps per repetition, and its
time is scaled up. Prints medians and their ratio; exits 1 if the ratio is below 10.

    NPROC=1 JAX_ENABLE_X64=1 python benchmarks/bench_yang_weights.py
"""

import argparse
import os
import sys

os.environ.setdefault("NPROC", "1")
os.environ.setdefault("JAX_ENABLE_X64", "1")

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from attnlab.cells import Key
from attnlab.data.word_cooccurrence import BalancedTrainingSet
from attnlab.engines import word_weights
from attnlab.models.linear_mlp_initialisation import Initialisation
from attnlab.models.linear_mlp_transformer import LinearMLPSizes, Parameters, output_by_definition
from attnlab.numerics.random import stream_key
from attnlab.training.descent import PlainStep, descend
from attnlab.training.losses import logistic
from benchmarks.measuring import interleaved, measured, quotients

STEPS = 30_000
REQUIRED_RATIO = 10.0


class Straightforward(word_weights.Weights):
    """The same training with no thought given to the order of products."""

    def loss_and_field(self, state: Parameters) -> tuple[jax.Array, Parameters]:
        """The loss by definition and its gradient by autodiff."""

        def loss(parameters: Parameters) -> jax.Array:
            margins = self.labels * output_by_definition(parameters, self.a, self.words)
            return logistic.value(margins).mean()

        value, gradient = jax.value_and_grad(loss)(state)
        return value, jax.tree.map(jnp.negative, gradient)


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--slow-steps", type=int, default=600)
    options = parser.parse_args()
    sizes, key = LinearMLPSizes(d=64, L=5, m=128, m1=256), Key("{}", 0)
    distribution = BalancedTrainingSet(sizes.d, sizes.L, distinct=False)
    batch = distribution.sample(stream_key(key, "data"), 60)
    scheme = Initialisation("linear_default", "same_as_weights")
    fast, state = word_weights.start(stream_key(key, "init"), batch, sizes, scheme)
    slow = Straightforward(fast.words, fast.labels, fast.a, fast.score_gain, fast.score_rate)

    ends = [descend(e, state, PlainStep(0.01), np.array([0, 100])) for e in (fast, slow)]
    gap = max(
        float(jnp.abs(x - y).max()) for x, y in zip(ends[0].state, ends[1].state, strict=True)
    )
    assert gap < 1e-12, f"the two do not train the same model: {gap}"
    assert not eqx.tree_equal(ends[0].state, state)

    def run(engine: word_weights.Weights, steps: int):
        return lambda: descend(engine, state, PlainStep(0.01), np.array([0, steps])).state

    times = interleaved(
        options.repetitions,
        {"fast": run(fast, STEPS), "straightforward": run(slow, options.slow_steps)},
    )
    print(f"sizes: n=60 L=5 d=64 m=128 m1=256, float64, {STEPS} steps, one thread")
    print(f"after 100 steps the weights differ by {gap:.1e}")
    ratios = quotients(times["straightforward"], times["fast"], STEPS / options.slow_steps)
    met = measured("weights, times the straightforward order", ratios, REQUIRED_RATIO)
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
