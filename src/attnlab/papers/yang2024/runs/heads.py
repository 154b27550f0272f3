r"""What section 5 leaves open: several heads side by side, and random words in a chain.

With H heads the rows of $W_V, W_K, W_Q$ (and the columns of W) are split into H blocks of m/H,

$$F(X) = \sum_{h=1}^{H} F_h(X), \qquad
  F_h(X) = \sum_l \sum_j a_j\, w_{j,h}^\top W_{V,h} X\,
  \mathrm{softmax}\big(X^\top W_{K,h}^\top W_{Q,h} x_l / \sqrt{m/H}\big):$$

H networks of the paper's own kind and of width m/H, under one loss. H = 1 is the paper's.

Legend: block h of a matrix has the index h; the rest as in `attnlab.models.linear_mlp_transformer`.
"""

from itertools import pairwise
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from attnlab.core import Key, Result
from attnlab.data.batch import Batch
from attnlab.data.word_cooccurrence import SIGNALS, BalancedTrainingSet, IndependentSamples, Role
from attnlab.models.linear_mlp_initialisation import Initialisation, initialise
from attnlab.models.linear_mlp_transformer import LinearMLPSizes, Parameters, output, word_view
from attnlab.models.word_level import attention
from attnlab.numerics.random import stream_key
from attnlab.papers.yang2024.runs.summaries.phase_1 import END, positive_for_good
from attnlab.papers.yang2024.runs.summaries.phase_2 import PAIRS
from attnlab.papers.yang2024.settings.heads import HeadSettings
from attnlab.training.attention import GAIN_AND_RATE
from attnlab.training.descent import descend, log_spaced_steps
from attnlab.training.engine import Named
from attnlab.training.losses import logistic
from attnlab.training.optimisers import optimiser
from attnlab.training.trajectory import Trajectory, nan_names

RECORDS = 60
TEST_SAMPLES = 600


class Heads(eqx.Module):
    """Descent on the blocks of all heads, by automatic differentiation."""

    words: Int[Array, "n L"]
    labels: Float[Array, " n"]
    a: Float[Array, " m1"]
    gain: Float[Array, ""]
    """What the scores are multiplied by: 0 for uniform attention."""
    rate: Float[Array, ""]
    """What the gradients of keys and queries are multiplied by: 0 for frozen attention."""
    state_is_weights: ClassVar[bool] = True

    def margins(self, state: Parameters) -> Float[Array, " n"]:
        """y_i F_i of every sample."""
        return self.labels * outputs(state, self.a, self.words, self.gain)

    def loss_and_field(self, state: Parameters) -> tuple[Float[Array, ""], Parameters]:
        """The training loss and its negative gradient."""

        def loss(weights: Parameters) -> Float[Array, ""]:
            return logistic.value(self.margins(weights)).mean()

        value, gradient = jax.value_and_grad(loss)(state)
        W, W_V, W_K, W_Q = (-x for x in gradient)
        return value, Parameters(W, W_V, self.rate * W_K, self.rate * W_Q)

    def step(
        self, state: Parameters, learning_rate: Float[Array, ""]
    ) -> tuple[Float[Array, ""], Parameters]:
        """The loss before, and the state after, one step."""
        loss, field = self.loss_and_field(state)
        return loss, jax.tree.map(lambda x, v: x + learning_rate * v, state, field)

    def view(self, state: Parameters) -> Parameters:
        """The blocks themselves."""
        return state


def outputs(
    state: Parameters,
    a: Float[Array, " m1"],
    words: Int[Array, "n L"],
    gain: float | Float[Array, ""] = 1.0,
) -> Float[Array, " n"]:
    """F of every sample: the heads' outputs added up."""
    return jax.vmap(output, in_axes=(0, None, None, None))(state, a, words, gain).sum(axis=0)


def split(whole: Parameters, heads: int) -> Parameters:
    """The blocks of the four matrices, with the heads first."""
    W, *others = whole
    m1, m = W.shape
    blocks = (x.reshape(heads, m // heads, -1) for x in others)
    return Parameters(W.reshape(m1, heads, m // heads).transpose(1, 0, 2), *blocks)


class Looked(eqx.Module):
    """What the probe looks at."""

    engine: Heads
    first: Parameters
    test: Batch


def _by_head(t: Float[Array, ""], state: Parameters, args: Looked) -> Named:
    """`scores` (H, 3, 3), `attention_change`, `smallest_margin` and `test_loss`."""
    del t
    engine, test = args.engine, args.test

    def paid(weights: Parameters) -> tuple[Array, Array]:
        view = word_view(weights, engine.a, engine.gain)
        return view.S[:SIGNALS, :SIGNALS], attention(view, engine.words)

    scores, p = jax.vmap(paid)(state)
    _, p_start = jax.vmap(paid)(args.first)
    new = test.labels * outputs(state, engine.a, test.words, engine.gain)
    return {
        "scores": scores,
        "attention_change": jnp.abs(p - p_start).max(),
        "smallest_margin": engine.margins(state).min(),
        "test_loss": logistic.value(new).mean(),
    }


def train_heads(cell: HeadSettings, key: Key) -> Result:
    """Train once: series, T1 in steps, and the least signed change of a score over all heads."""
    batch = training_set(cell, key)
    test = IndependentSamples(cell.vocabulary, cell.L).sample(stream_key(key, "test"), TEST_SAMPLES)
    sizes = LinearMLPSizes(cell.vocabulary, cell.L, cell.m, cell.m1)
    whole, a = initialise(stream_key(key, "init"), sizes, Initialisation(c0=cell.c0))
    gain, rate = map(jnp.asarray, GAIN_AND_RATE[cell.attention])
    engine = Heads(batch.words, batch.labels.astype(float), a, gain, rate)
    steps = log_spaced_steps(cell.steps, RECORDS)
    trajectory = _descend(
        engine, split(whole, cell.heads), test, jnp.asarray(cell.learning_rate), steps
    )
    times = np.asarray(trajectory.times)
    reached = np.isfinite(times)
    series = {name: np.asarray(x)[reached] for name, x in trajectory.values.items()}
    series["times"] = times[reached]
    if not trajectory.complete:
        return Result(series, diverged=trajectory.why)
    moved = series["scores"][-1] - series["scores"][0]
    scalars = {
        END: positive_for_good(series["times"], series["smallest_margin"]),
        "least_score_change": float(min(
            (sign * moved[:, row, column]).min() for row, column, sign in PAIRS
        )),
        "attention_moved": float(series["attention_change"][-1]),
        "last_loss": float(series["loss"][-1]),
        "last_test_loss": float(series["test_loss"][-1]),
    }  # fmt: skip
    return Result({**series, **scalars}, absent=nan_names(scalars))


@eqx.filter_jit
def _descend(
    engine: Heads, state: Parameters, test: Batch, rate: Float[Array, ""], steps: np.ndarray
) -> Trajectory:
    return descend(
        engine, state, optimiser("sgd", rate), steps, _by_head, Looked(engine, state, test)
    )


def training_set(cell: HeadSettings, key: Key) -> Batch:
    """The samples; with a chain, random words follow each other."""
    shuffled = cell.labels == "shuffled"
    source = BalancedTrainingSet(cell.vocabulary, cell.L, not cell.chain, shuffled_labels=shuffled)
    batch = source.sample(stream_key(key, "data"), cell.n)
    if not cell.chain:
        return batch
    random = np.random.default_rng(key.words("chain"))
    words, roles = np.array(batch.words), np.asarray(batch.roles)
    chained = in_chains(words, roles, cell.vocabulary, cell.chain, random)
    return eqx.tree_at(lambda b: b.tokens, batch, jnp.asarray(chained))


def in_chains(
    words: np.ndarray, roles: np.ndarray, d: int, chance: float, random: np.random.Generator
) -> np.ndarray:
    """Each random word after a sample's first is, by chance, the successor of the one before."""
    words = words.copy()
    for sample, role in zip(words, roles, strict=True):
        places = np.flatnonzero(role == Role.RANDOM)
        for before, here in pairwise(places):
            if random.uniform() < chance:
                sample[here] = SIGNALS + (sample[before] - SIGNALS + 1) % (d - SIGNALS)
    return words
