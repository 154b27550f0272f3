"""Where the attention goes."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from attnlab.models.word_level import WordView, attention
from attnlab.probes.context import Context
from attnlab.training.engine import Named

ROLES = 4


def attention_weights(t: Float[Array, ""], view: WordView, args: Context) -> Named:
    """`attention` (n, L, L): what query place l of sample i pays to key place h."""
    del t
    return {"attention": attention(view, args.batch.words)}


def attention_by_role(t: Float[Array, ""], view: WordView, args: Context) -> Named:
    """`attention_by_role` (4, 4): mean attention that a query role pays to each key role in total.

    Roles in the order of `data.word_cooccurrence.Role`: random, first signal, second, common.
    A row adds up to one; it is nan if no place has that role.
    """
    del t
    is_role = (args.batch.roles[..., None] == jnp.arange(ROLES)).astype(view.G.dtype)
    p = attention(view, args.batch.words)
    totals = jnp.einsum("ilh,ilq,ihk->qk", p, is_role, is_role)
    return {"attention_by_role": totals / is_role.sum((0, 1))[:, None]}


def attention_change(t: Float[Array, ""], view: WordView, args: Context) -> Named:
    """`attention_change`: the largest change of any attention weight since the start."""
    del t
    words = args.batch.words
    change = attention(view, words) - attention(args.start(), words)
    return {"attention_change": jnp.abs(change).max()}
