r"""Token sparsification: scores of tokens, and the tokens that are kept.

Every selector is a score with one signature; a sample keeps its |S| tokens of the largest score.

| selector | score of a token |
|---|---|
| random | a uniform number |
| irrelevant | an oracle's: 1 for label-relevant tokens, 0 for all others |
| noisy | an oracle's: 1 for tokens without the extra noise |
| attention | the mean attention that it receives, over queries and heads (as EViT does) |
| value_norm | the norm of its value vector |
| distance | minus the distance to the nearest pattern: an estimate of its noise |
| model | the attention that it receives in a model trained before (see the runs) |

Ties are broken by a uniform number, so an oracle that runs out of tokens to remove goes on at
random. Liang et al. (2022), EViT, for the attention score.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from attnlab.models.shallow_vit import Parameters, attention
from attnlab.numerics.random import fractions

SELECTORS = ("none", "random", "irrelevant", "noisy", "attention", "value_norm", "distance")
"""In the order in which a selector is numbered; `none` keeps everything."""


def scores(
    X: Float[Array, "n L d"],
    parameters: Parameters,
    patterns: Float[Array, "M d"],
    used: Bool[Array, " M"],
    *,
    relevant: Bool[Array, "n L"],
    noisy: Bool[Array, "n L"],
) -> Float[Array, "selectors n L"]:
    """The scores of every token by every selector, in the order of `SELECTORS`."""
    everything = jnp.ones(X.shape[1], bool)
    received = jax.lax.map(lambda x: attention(parameters, x, everything).mean((0, 1)), X)
    values = jnp.einsum("had,nld->nhla", parameters.W_V, X)
    squares = (X**2).sum(-1)[..., None] - 2 * X @ patterns.T + (patterns**2).sum(1)
    nearest = jnp.where(used, squares, jnp.inf).min(-1)
    same = jnp.zeros(X.shape[:2], X.dtype)
    return jnp.stack(
        [
            same,
            same,
            relevant.astype(X.dtype),
            (~noisy).astype(X.dtype),
            received,
            jnp.sqrt((values**2).sum((1, 3))),
            -nearest,
        ]
    )


def keep_largest(
    key: PRNGKeyArray, score: Float[Array, "n L"], count: Int[Array, ""]
) -> Bool[Array, "n L"]:
    """The `count` tokens of each sample with the largest scores, ties broken at random."""
    ties = fractions(key, score.shape)
    order = jnp.lexsort((ties, -score), axis=1)
    rank = (
        jnp.zeros_like(order)
        .at[jnp.arange(len(score))[:, None], order]
        .set(jnp.arange(score.shape[1]))
    )
    return rank < count


def sample_flops(tokens: int, d: int, m: int, m_a: int, m_b: int, heads: int = 1) -> int:
    """Multiply-adds (times two) of one forward pass over so many tokens."""
    projections = tokens * d * (m_a + 2 * m_b)
    scoring = tokens**2 * (m_a + m_b)
    return 2 * (heads * (projections + scoring) + tokens * m * m_a + tokens * m)
