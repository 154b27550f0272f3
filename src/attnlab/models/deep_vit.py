r"""A deep vision transformer (section 4.2 of Li et al. 2023, after Dosovitskiy et al. 2020).

$$z^0_l = W_E x_l + b_E + P_{\pi(l)}, \qquad
  u = z + \mathrm{Att}(\mathrm{LN}(z)), \qquad
  z' = u + W_2\,\mathrm{relu}(W_1 \mathrm{LN}(u) + b_1) + b_2$$

in every block, then $F = C^\top \mathrm{pool}_l\,\mathrm{LN}(z^B_l) + c$. Attention has H heads
side by side, each of dimension w/H, with scores scaled by $\sqrt{H/w}$.

Legend: $x_l$ a token (the pixels of a patch), $\pi(l)$ its place in the whole image, w the width, B
blocks, h hidden neurons, pool the mean over kept tokens or a class token's value. Normalisation
goes before each part ("pre-norm"): the paper does not say. Its "one-layer perceptron" is read as
one hidden layer.

Only kept tokens count. A batch whose removed tokens were gathered away (`data.images.gathered`) has
fewer columns, each with its place; then a removed token costs nothing.
"""

import math
from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from attnlab.models.protocol import masked_softmax

Pooling = Literal["mean", "class"]
EPSILON = 1e-5
"""What a layer norm adds to the variance."""
BLOCK_ARRAYS = (
    "gain_1", "bias_1", "W_Q", "W_K", "W_V", "W_A", "gain_2", "bias_2", "W_1", "b_1", "W_2", "b_2",
)  # fmt: skip
"""The trained arrays that every block has one of; they are stacked, a block first."""


class Parameters(NamedTuple):
    """The weights; those of the blocks are stacked."""

    W_E: Float[Array, "d w"]
    b_E: Float[Array, " w"]
    P: Float[Array, "places w"]
    class_token: Float[Array, " w"]
    gain_1: Float[Array, "B w"]
    bias_1: Float[Array, "B w"]
    W_Q: Float[Array, "B w w"]
    W_K: Float[Array, "B w w"]
    W_V: Float[Array, "B w w"]
    W_A: Float[Array, "B w w"]
    gain_2: Float[Array, "B w"]
    bias_2: Float[Array, "B w"]
    W_1: Float[Array, "B w h"]
    b_1: Float[Array, "B h"]
    W_2: Float[Array, "B h w"]
    b_2: Float[Array, "B w"]
    gain: Float[Array, " w"]
    bias: Float[Array, " w"]
    C: Float[Array, "w outputs"]
    c: Float[Array, " outputs"]


class Block(NamedTuple):
    """The weights of one block."""

    gain_1: Array
    bias_1: Array
    W_Q: Array
    W_K: Array
    W_V: Array
    W_A: Array
    gain_2: Array
    bias_2: Array
    W_1: Array
    b_1: Array
    W_2: Array
    b_2: Array


def blocks_of(weights: Parameters) -> Block:
    """The stacked weights of the blocks."""
    return Block(*(getattr(weights, name) for name in BLOCK_ARRAYS))


def layer_norm(
    x: Float[Array, "... w"], gain: Float[Array, " w"], bias: Float[Array, " w"]
) -> Float[Array, "... w"]:
    """Mean 0 and variance 1 over the width, then a gain and a bias."""
    centred = x - x.mean(-1, keepdims=True)
    variance = (centred**2).mean(-1, keepdims=True)
    return centred * jax.lax.rsqrt(variance + EPSILON) * gain + bias


def first_tokens(
    weights: Parameters,
    X: Float[Array, "n L d"],
    kept: Bool[Array, "n L"],
    places: Int[Array, "n L"],
    pooling: Pooling,
) -> tuple[Float[Array, "n S w"], Bool[Array, "n S"]]:
    """The tokens that enter the first block, a class token in front if there is one."""
    n, L, d = X.shape
    z = (X.reshape(n * L, d) @ weights.W_E + weights.b_E).reshape(n, L, -1) + weights.P[places]
    if pooling == "mean":
        return z, kept
    first = jnp.broadcast_to(weights.class_token, (n, 1, z.shape[-1]))
    seen = jnp.ones((n, 1), bool)
    return jnp.concatenate([first, z], 1), jnp.concatenate([seen, kept], 1)


def block_attention(
    block: Block,
    z: Float[Array, "n S w"],
    kept: Bool[Array, "n S"],
    heads: int,
    score_gain: float | Float[Array, ""] = 1.0,
) -> tuple[Float[Array, "n H S S"], Float[Array, "n H S v"]]:
    """What each place pays to each place, by head, and the value vectors."""
    n, S, w = z.shape
    # One product on all tokens of the batch: small ones, sample by sample, are far slower.
    normal = layer_norm(z, block.gain_1, block.bias_1).reshape(n * S, w)
    joined = normal @ jnp.concatenate([block.W_Q, block.W_K, block.W_V], 1)
    q, k, v = (
        part.reshape(n, S, heads, w // heads).transpose(0, 2, 1, 3)
        for part in jnp.split(joined, 3, axis=1)
    )
    scale = jnp.asarray(score_gain, z.dtype) / math.sqrt(w // heads)
    scores = scale.astype(z.dtype) * jnp.einsum("nhsc,nhtc->nhst", q, k)
    return masked_softmax(scores, kept[:, None]), v


def block_output(
    block: Block,
    z: Float[Array, "n S w"],
    kept: Bool[Array, "n S"],
    heads: int,
    score_gain: float | Float[Array, ""] = 1.0,
) -> Float[Array, "n S w"]:
    """The tokens after one block."""
    n, S, w = z.shape
    A, v = block_attention(block, z, kept, heads, score_gain)
    mixed = (A @ v).transpose(0, 2, 1, 3).reshape(n * S, w)
    u = z.reshape(n * S, w) + mixed @ block.W_A
    hidden = jax.nn.relu(layer_norm(u, block.gain_2, block.bias_2) @ block.W_1 + block.b_1)
    return (u + hidden @ block.W_2 + block.b_2).reshape(n, S, w)


def output(
    weights: Parameters,
    X: Float[Array, "n L d"],
    kept: Bool[Array, "n L"],
    places: Int[Array, "n L"],
    *,
    heads: int,
    pooling: Pooling = "mean",
    score_gain: float | Float[Array, ""] = 1.0,
) -> Float[Array, "n outputs"]:
    """F of every sample."""
    z, seen = first_tokens(weights, X, kept, places, pooling)

    def through(z: Array, block: Block) -> tuple[Array, None]:
        return block_output(block, z, seen, heads, score_gain), None

    # A scan compiles one block, whatever their number, and runs no slower than all in a row.
    z, _ = jax.lax.scan(through, z, blocks_of(weights))
    return read_out(weights, z, seen, pooling)


def read_out(
    weights: Parameters, z: Float[Array, "n S w"], seen: Bool[Array, "n S"], pooling: Pooling
) -> Float[Array, "n outputs"]:
    """The outputs from the last block's tokens."""
    if pooling == "class":
        pooled = layer_norm(z[:, 0], weights.gain, weights.bias)
    else:
        share = seen.astype(z.dtype)[..., None]
        normal = layer_norm(z, weights.gain, weights.bias)
        pooled = (share * normal).sum(1) / share.sum(1)
    return pooled @ weights.C + weights.c


def attention_by_block(
    weights: Parameters,
    X: Float[Array, "n L d"],
    kept: Bool[Array, "n L"],
    places: Int[Array, "n L"],
    *,
    heads: int,
    pooling: Pooling = "mean",
    score_gain: float | Float[Array, ""] = 1.0,
) -> Float[Array, "B n H S S"]:
    """What each place pays to each place, by block and head; a class token is place 0."""
    z, seen = first_tokens(weights, X, kept, places, pooling)

    def through(z: Array, block: Block) -> tuple[Array, Array]:
        A, _ = block_attention(block, z, seen, heads, score_gain)
        return block_output(block, z, seen, heads, score_gain), A

    return jax.lax.scan(through, z, blocks_of(weights))[1]


def sine_positions(places: int, width: int) -> np.ndarray:
    r"""A start of the position embedding: sines and cosines of the row and of the column.

    $$P_{(r,c)} = [\sin \omega_k r, \cos \omega_k r, \sin \omega_k c, \cos \omega_k c]_k,
      \qquad \omega_k = 100^{-4k/w}$$

    Places that are no square count as one row.
    """
    side = math.isqrt(places)
    rows, columns = (
        np.divmod(np.arange(places), side)
        if side * side == places
        else (np.zeros(places), np.arange(places))
    )
    waves = 100.0 ** (-np.arange(-(-width // 4)) * 4 / width)
    angles = [place[:, None] * waves for place in (rows, columns)]
    table = np.concatenate([f(a) for a in angles for f in (np.sin, np.cos)], axis=1)
    return table[:, :width]
