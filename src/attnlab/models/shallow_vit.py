r"""One layer of softmax attention under a two-layer perceptron (Li et al. 2023, equation 1).

$$F(X) = \frac{1}{|S|} \sum_{l \in S} a_{(l)}^\top \mathrm{Relu}\big(W_O\, v_l\big), \qquad
  v_l = \sum_h W_V^h X_S\, \mathrm{softmax}\big(X_S^\top W_K^{h\top} W_Q^h x_l\big)$$

Legend: X holds L tokens $x_l$ in R^d, S the tokens that a sparsification kept; W_O (m, D) has the
neurons as rows; W_V (H, m_a, d), W_K, W_Q (H, m_b, d); a (outputs, L, m) is fixed, its entries are
$\pm 1/\sqrt m$, a row for each position l. Outputs: one, or two for four classes (G.1).

Options: H heads, added up (D = m_a) or side by side (D = H m_a): the print of G.3 is lost, so both
are ours; a skip connection $v_l + x_l$ (G.4, with m_a = d); `score_gain` 0 makes the attention
uniform. The softmax runs over S only, as (15) prints it; `keys` may hold more than S for the other
reading, in which removed tokens are set to zero but still take part.
"""

from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

Combination = Literal["sum", "concat"]


class Parameters(NamedTuple):
    """The four trained matrices; values, keys and queries by head."""

    W_O: Float[Array, "m D"]
    W_V: Float[Array, "H m_a d"]
    W_K: Float[Array, "H m_b d"]
    W_Q: Float[Array, "H m_b d"]


def attention(
    parameters: Parameters,
    X: Float[Array, "L d"],
    keys: Bool[Array, " L"],
    score_gain: Float[Array, ""] | float = 1.0,
) -> Float[Array, "H L L"]:
    """What query l (second axis) pays to token s (last axis), by head; rows add up to one."""
    K = jnp.einsum("hbd,sd->hsb", parameters.W_K, X)
    Q = jnp.einsum("hbd,ld->hlb", parameters.W_Q, X)
    scores = score_gain * jnp.einsum("hlb,hsb->hls", Q, K)
    return jax.nn.softmax(jnp.where(keys, scores, -jnp.inf), axis=-1)


def combined(by_head: Float[Array, "H L m_a"], combination: Combination) -> Float[Array, "L D"]:
    """The heads' values added up, or side by side."""
    if combination == "sum":
        return by_head.sum(0)
    H, L, m_a = by_head.shape
    return by_head.transpose(1, 0, 2).reshape(L, H * m_a)


def hidden_input(
    parameters: Parameters,
    X: Float[Array, "L d"],
    keys: Bool[Array, " L"],
    score_gain: Float[Array, ""] | float = 1.0,
    *,
    combination: Combination = "sum",
    skip: bool = False,
) -> Float[Array, "L D"]:
    """The vectors v_l that the perceptron sees."""
    p = attention(parameters, X, keys, score_gain)
    values = jnp.einsum("hls,hsa->hla", p, jnp.einsum("had,sd->hsa", parameters.W_V, X))
    v = combined(values, combination)
    return v + X if skip else v


def output_by_definition(
    parameters: Parameters,
    a: Float[Array, "outputs L m"],
    X: Float[Array, "L d"],
    kept: Bool[Array, " L"],
    score_gain: Float[Array, ""] | float = 1.0,
    *,
    combination: Combination = "sum",
    skip: bool = False,
    keys: Bool[Array, " L"] | None = None,
) -> Float[Array, " outputs"]:
    """F of one sample as the formula stands: the slow oracle of the engines."""
    keys = kept if keys is None else keys
    v = hidden_input(parameters, X, keys, score_gain, combination=combination, skip=skip)
    hidden = jax.nn.relu(v @ parameters.W_O.T)
    return jnp.einsum("olm,lm,l->o", a, hidden, kept / kept.sum())
