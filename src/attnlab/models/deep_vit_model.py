"""The deep vision transformer as a model: sizes and switches, and its named schemes.

The formulas are in `deep_vit`. With one output it takes labels -1 and +1 and every loss of a
margin; with several it takes classes 0, 1, ... and the engine `classes`.
"""

from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from attnlab.core import BadInput
from attnlab.data.batch import Batch
from attnlab.models import deep_vit
from attnlab.models.deep_vit import Parameters, Pooling
from attnlab.models.protocol import AUTO, Scheme, Weights, drawn_by
from attnlab.numerics.random import normal

POSITION_SCALE = 0.3
"""Ours: the size of the sines and cosines beside tokens of about unit size."""


class DeepViT(eqx.Module):
    """Blocks of multi-head attention and a perceptron, with skip connections and layer norms."""

    blocks: int = eqx.field(static=True, default=5)
    heads: int = eqx.field(static=True, default=4)
    width: int = eqx.field(static=True, default=32)
    hidden: int = eqx.field(static=True, default=64)
    outputs: int = eqx.field(static=True, default=1)
    """1: a number whose sign is the label; else one number a class."""
    pooling: Pooling = eqx.field(static=True, default="mean")

    schemes: ClassVar[dict[str, Scheme]] = {}
    attention_names: ClassVar[tuple[str, ...]] = ("W_Q", "W_K")

    def __check_init__(self):
        for name in ("blocks", "heads", "width", "hidden", "outputs"):
            if getattr(self, name) < 1:
                raise BadInput(f"got {name}={getattr(self, name)}; at least 1 is required")
        if self.width % self.heads:
            raise BadInput(
                f"got width={self.width} with {self.heads} heads side by side; the width must be a "
                f"multiple of the heads: take e.g. width={self.heads * 8}"
            )

    def init(
        self, key: PRNGKeyArray, batch: Batch, scheme: str = AUTO, **numbers: float
    ) -> Weights:
        """With sines and cosines of the places (`sine`) unless said otherwise."""
        return drawn_by(self, "sine" if scheme == AUTO else scheme, key, batch, numbers)

    def apply(
        self,
        weights: Weights,
        X: Float[Array, "n L d"],
        kept: Bool[Array, "n L"],
        score_gain: float | Float[Array, ""] = 1.0,
        places: Int[Array, "n L"] | None = None,
    ) -> Float[Array, "..."]:
        """The output of every sample, (n,) or with several outputs (n, outputs).

        `places` are the tokens' places in the whole sample, where some were gathered away.
        """
        found = deep_vit.output(
            weights.trained,
            X,
            kept,
            _places(kept, places),
            heads=self.heads,
            pooling=self.pooling,
            score_gain=score_gain,
        )
        return found[:, 0] if self.outputs == 1 else found

    def attention_by_block(
        self,
        weights: Weights,
        X: Float[Array, "n L d"],
        kept: Bool[Array, "n L"],
        score_gain: float | Float[Array, ""] = 1.0,
        places: Int[Array, "n L"] | None = None,
    ) -> Float[Array, "n B H S S"]:
        """What each place pays to each place, by block and head; a class token is place 0."""
        found = deep_vit.attention_by_block(
            weights.trained,
            X,
            kept,
            _places(kept, places),
            heads=self.heads,
            pooling=self.pooling,
            score_gain=score_gain,
        )
        return found.transpose(1, 0, 2, 3, 4)

    def attention(
        self,
        weights: Weights,
        X: Float[Array, "n L d"],
        kept: Bool[Array, "n L"],
        score_gain: float | Float[Array, ""] = 1.0,
        places: Int[Array, "n L"] | None = None,
    ) -> Float[Array, "n H L L"]:
        """The same between tokens, the heads of all blocks one after the other.

        A class token pays, and is paid, but is no token: it is left out on both sides.
        """
        maps = self.attention_by_block(weights, X, kept, score_gain, places)
        if self.pooling == "class":
            maps = maps[..., 1:, 1:]
        n, B, H, S, _ = maps.shape
        return maps.reshape(n, B * H, S, S)

    def values(
        self,
        weights: Weights,
        X: Float[Array, "n L d"],
        places: Int[Array, "n L"] | None = None,
    ) -> Float[Array, "n H L v"]:
        """The value vectors of the first block, by head."""
        trained, kept = weights.trained, jnp.ones(X.shape[:2], bool)
        z, _ = deep_vit.first_tokens(trained, X, kept, _places(kept, places), "mean")
        first = jax.tree.map(lambda x: x[0], deep_vit.blocks_of(trained))
        return deep_vit.block_attention(first, z, kept, self.heads)[1]

    def view(self, weights: Weights, start: Weights, score_gain: Float[Array, ""]) -> Parameters:
        """The weights themselves."""
        del start, score_gain
        return weights.trained

    def new_output(self, key: PRNGKeyArray, weights: Weights) -> Weights:
        """The weights with a freshly drawn output layer of this model's size."""
        trained = weights.trained
        C = normal(key, (self.width, self.outputs), self.width**-0.5, trained.C.dtype)
        c = jnp.zeros(self.outputs, trained.C.dtype)
        return Weights(trained._replace(C=C, c=c), weights.fixed)


def _places(kept: Array, places: Array | None) -> Array:
    return jnp.broadcast_to(jnp.arange(kept.shape[1]), kept.shape) if places is None else places


def _drawn(key: PRNGKeyArray, model: DeepViT, batch: Batch, positions: Array) -> Weights:
    """Normal entries of deviation 1/sqrt(inputs); layer norms at 1 and 0, biases at 0."""
    d, w, h, B = batch.dimension, model.width, model.hidden, model.blocks
    of = iter(jax.random.split(key, 9))

    def square(*shape: int) -> Array:
        return normal(next(of), shape, shape[-2] ** -0.5)

    return Weights(
        Parameters(
            W_E=square(d, w),
            b_E=jnp.zeros(w),
            P=positions,
            class_token=normal(next(of), (w,), 0.02),
            gain_1=jnp.ones((B, w)),
            bias_1=jnp.zeros((B, w)),
            W_Q=square(B, w, w),
            W_K=square(B, w, w),
            W_V=square(B, w, w),
            W_A=square(B, w, w) / jnp.sqrt(2.0 * B),
            gain_2=jnp.ones((B, w)),
            bias_2=jnp.zeros((B, w)),
            W_1=square(B, w, h),
            b_1=jnp.zeros((B, h)),
            W_2=square(B, h, w) / jnp.sqrt(2.0 * B),
            b_2=jnp.zeros((B, w)),
            gain=jnp.ones(w),
            bias=jnp.zeros(w),
            C=normal(next(of), (w, model.outputs), w**-0.5),
            c=jnp.zeros(model.outputs),
        )
    )


def _count(batch: Batch) -> int:
    """Places of a whole sample: a batch whose removed tokens are gone says how many there were."""
    return getattr(batch, "places_in_all", None) or batch.kept.shape[1]


def _sine(key: PRNGKeyArray, model: DeepViT, batch: Batch) -> Weights:
    table = deep_vit.sine_positions(_count(batch), model.width)
    return _drawn(key, model, batch, jnp.asarray(POSITION_SCALE * table))


def _random(key: PRNGKeyArray, model: DeepViT, batch: Batch) -> Weights:
    """Normal positions of the deviation that vision transformers take."""
    of_places, rest = jax.random.split(key)
    table = normal(of_places, (_count(batch), model.width), 0.02)
    return _drawn(rest, model, batch, table)


DeepViT.schemes.update(sine=_sine, random=_random)
