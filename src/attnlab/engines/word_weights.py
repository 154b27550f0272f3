r"""Engine `weights`: training on the four matrices themselves.

With $u = W^\top a$, and z and M of `attnlab.models.word_level`, the negative gradient is

$$\dot W = a\,(W_V z)^\top,\quad \dot W_V = u z^\top,\quad
  \dot W_K = W_Q M^\top/\sqrt m,\quad \dot W_Q = W_K M/\sqrt m,$$

which is appendix B with the sum over neurons done first (`printed` has it as printed).

Conserved by the flow: $W^\top W - W_V W_V^\top$ and $u u^\top - |a|^2 W_V W_V^\top$ for every a,
and $W_K W_K^\top - W_Q W_Q^\top$.

Legend: d words, width m, m1 neurons, n samples of L places; a (m1,) is fixed.
"""

import math
from collections.abc import Callable
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.typing import DTypeLike
from jaxtyping import Array, Float, Int, PRNGKeyArray

from attnlab.data.batch import Batch
from attnlab.data.word_exactness import weights_why_not
from attnlab.engines.word_engine import FlowSettings
from attnlab.models.linear_mlp_initialisation import Initialisation, initialise
from attnlab.models.linear_mlp_transformer import LinearMLPSizes, Parameters, word_view
from attnlab.models.word_level import WordView, place_drive, read_out, score_drive, value_drive
from attnlab.training.attention import GAIN_AND_RATE, Attention
from attnlab.training.losses import Loss, logistic

_PAIRS_PER_PLACE_PAIR = 8
"""Above this many word pairs per pair of places it is faster to score each sample by itself
(measured: twice as slow at 2.7, twice as fast at 18)."""


class Weights(eqx.Module):
    """Training on W, W_V, W_K and W_Q. Draw one with its first state by `start`.

    The two attention switches are numbers, not code, so that the controls with frozen or uniform
    attention run in the same compiled program.
    """

    state_is_weights: ClassVar[bool] = True
    """Whether a rule for weights, as optax has them, may act on the state."""

    words: Int[Array, "n L"]
    labels: Float[Array, " n"]
    a: Float[Array, " m1"]
    score_gain: Float[Array, ""]
    """1, or 0 for uniform attention."""
    score_rate: Float[Array, ""]
    """1, or 0 for W_K and W_Q that are not trained."""
    loss: Loss = eqx.field(static=True, default=logistic)

    def loss_and_field(self, state: Parameters) -> tuple[Float[Array, ""], Parameters]:
        """The training loss and its negative gradient."""
        W, W_V, W_K, W_Q = state
        n, L = self.words.shape
        d = W_V.shape[1]
        u = self.a @ W
        G = u @ W_V
        route = _word_pairs if d * d <= _PAIRS_PER_PLACE_PAIR * n * L * L else _place_pairs
        scores, pull_back = route(W_K, W_Q, self.words)
        scale = 1 / math.sqrt(W.shape[1])
        p = jax.nn.softmax(self.score_gain * scale * scores, axis=-1)
        margins = self.labels * read_out(p, G, self.words)
        r = self.loss.slope(margins) * self.labels / n
        z = value_drive(p, r, self.words, d)
        terms = (self.score_rate * scale) * place_drive(p, G, r, self.words)
        field = Parameters(jnp.outer(self.a, W_V @ z), jnp.outer(u, z), *pull_back(terms))
        return self.loss.value(margins).mean(), field

    def step(
        self, state: Parameters, learning_rate: Float[Array, ""]
    ) -> tuple[Float[Array, ""], Parameters]:
        """The loss before, and the state after, one step of gradient descent."""
        loss, field = self.loss_and_field(state)
        eta = jnp.asarray(learning_rate, state.W.dtype)
        return loss, jax.tree.map(lambda x, v: x + eta * v, state, field)

    def view(self, state: Parameters) -> WordView:
        """The word-level quantities over all d words, and the neurons."""
        return word_view(state, self.a, self.score_gain)

    def rows_of(self, batch: Batch) -> Batch:
        """The batch for probes: every word has its own place in a view."""
        return batch

    def flow_settings(
        self, state: Parameters, rtol: float | Array = 1e-6, atol: float | Array = 1e-8
    ) -> FlowSettings:
        """What to give `training.flow.flow` for this engine."""
        del state
        return {"rtol": rtol, "atol": atol}


def why_not(
    sizes: LinearMLPSizes,
    batch: Batch,
    initialisation: Initialisation,
    *,
    initial: str = "weights",
    method: str = "flow",
) -> str:
    """Why this engine is not exact for it, or nothing: it needs drawn weights, and takes any data.

    `method` is flow, descent, momentum or adam.
    """
    del sizes, batch
    weights = initialisation.weights
    return weights_why_not(method=method, probes="neurons", weights=weights, initial=initial)


def start(
    key: PRNGKeyArray,
    batch: Batch,
    sizes: LinearMLPSizes,
    initialisation: Initialisation,
    *,
    attention: Attention = "trained",
    loss: Loss = logistic,
    dtype: DTypeLike = jnp.float64,
) -> tuple[Weights, Parameters]:
    """Draw the initial matrices and the fixed a: the engine and its first state."""
    parameters, a = initialise(key, sizes, initialisation, dtype)
    return on_batch(batch, a, attention=attention, loss=loss), parameters


def on_batch(
    batch: Batch,
    a: Float[Array, " m1"],
    *,
    attention: Attention = "trained",
    loss: Loss = logistic,
) -> Weights:
    """The engine for given samples and output layer, e.g. for parameters of your own."""
    gain, rate = GAIN_AND_RATE[attention]
    return Weights(
        words=batch.words,
        labels=batch.labels.astype(a.dtype),
        a=a,
        score_gain=jnp.asarray(gain, a.dtype),
        score_rate=jnp.asarray(rate, a.dtype),
        loss=loss,
    )


# --- two routes from keys and queries to scores, and back -------------------------------------
# Each gives the scores (sample, query place, key place), and the map that takes their scaled
# drive back to the directions of W_K and W_Q.

Embedding = Float[Array, "m d"]
Scores = Float[Array, "n L L"]
PullBack = Callable[[Scores], tuple[Embedding, Embedding]]


def _word_pairs(
    W_K: Embedding, W_Q: Embedding, words: Int[Array, "n L"]
) -> tuple[Scores, PullBack]:
    """Score every pair of words once: best where words recur."""
    S = W_K.T @ W_Q

    def pull_back(terms: Scores) -> tuple[Embedding, Embedding]:
        M = score_drive(terms, words, W_K.shape[1])
        return W_Q @ M.T, W_K @ M

    return S[words[:, None, :], words[:, :, None]], pull_back


def _place_pairs(
    W_K: Embedding, W_Q: Embedding, words: Int[Array, "n L"]
) -> tuple[Scores, PullBack]:
    """Score the places of each sample: best where the vocabulary is large."""
    k, q = W_K.T[words], W_Q.T[words]

    def pull_back(terms: Scores) -> tuple[Embedding, Embedding]:
        zero = jnp.zeros_like(W_K.T)
        toward_k = zero.at[words].add(jnp.einsum("ilh,ilm->ihm", terms, q))
        toward_q = zero.at[words].add(jnp.einsum("ilh,ihm->ilm", terms, k))
        return toward_k.T, toward_q.T

    return jnp.einsum("ilm,ihm->ilh", q, k), pull_back
