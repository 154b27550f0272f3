"""Probes for every model on every batch, `(t, view, args: Samples) -> named arrays`.

A probe of your own is such a function, defined once at module level:

    def largest_weight(t, view, args):
        some = args.some(view)
        return {"largest_weight": samples.attention(view, args, some).max()}

What each series is, its dimensions and its unit are said in `SERIES`.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float, PyTree

from attnlab.probes import samples
from attnlab.probes.samples import Samples
from attnlab.training.engine import Named


class Series(NamedTuple):
    """What a recorded series is."""

    words: str
    dimensions: tuple[str, ...] = ()
    unit: str = "1"


SERIES: dict[str, Series] = {
    "loss": Series("training loss"),
    "test_loss": Series("loss on test samples"),
    "test_error": Series("share of test samples on the wrong side"),
    "error": Series("share of training samples on the wrong side"),
    "smallest_margin": Series("smallest margin y F of a training sample"),
    "mean_margin": Series("mean margin y F of the training samples"),
    "attention_by_role": Series(
        "attention that queries of a role pay in all to keys of a role, a mean over queries",
        ("query_role", "key_role"),
    ),
    "effective_tokens": Series(
        "tokens that a query attends to, as exp of the entropy, a mean over queries", unit="tokens"
    ),
}
"""Every series of these probes, by name."""


def attention_by_role(t: Float[Array, ""], view: PyTree, args: Samples) -> Named:
    """`attention_by_role` (R, R): what queries of a role pay in all to keys of each role.

    A mean over queries and heads; nan where no kept token has the query's role. Without roles
    every token has the same one.
    """
    del t
    batch = args.some(view)
    shares = samples.head_shares(view, args.model)
    p = jnp.einsum("h,nhls->nls", shares, samples.attention(view, args, batch))
    count = max(1, len(args.roles))
    role = (batch.roles[..., None] == jnp.arange(count)) & batch.kept[..., None]
    role = role.astype(p.dtype)
    totals = jnp.einsum("nls,nlq,nsk->qk", p, role, role)
    return {"attention_by_role": totals / role.sum((0, 1))[:, None]}


def effective_tokens(t: Float[Array, ""], view: PyTree, args: Samples) -> Named:
    """`effective_tokens`: exp of the entropy of a query's attention, mean over queries, heads."""
    del t
    batch = args.some(view)
    p = samples.attention(view, args, batch)
    entropy = -jnp.sum(jnp.where(p > 0, p * jnp.log(jnp.where(p > 0, p, 1)), 0), -1)
    by_query = jnp.einsum("h,nhl->nl", samples.head_shares(view, args.model), jnp.exp(entropy))
    kept = batch.kept.astype(p.dtype)
    return {"effective_tokens": (by_query * kept).sum() / kept.sum()}


def margins(t: Float[Array, ""], view: PyTree, args: Samples) -> Named:
    """`smallest_margin`, `mean_margin` and `error` (margins of 0 or less) of the training set."""
    del t
    y_F = args.margins(view, args.batch)
    shares = args.batch.shares().astype(y_F.dtype)
    return {
        "smallest_margin": y_F.min(),
        "mean_margin": shares @ y_F,
        "error": shares @ (~(y_F > 0)).astype(y_F.dtype),
    }


def test_samples(t: Float[Array, ""], view: PyTree, args: Samples) -> Named:
    """`test_loss` and `test_error`, where there are test samples."""
    del t
    if args.test is None:
        return {}
    y_F = args.margins(view, args.test)
    shares = args.test.shares().astype(y_F.dtype)
    return {
        "test_loss": shares @ args.losses(view, args.test).astype(y_F.dtype),
        "test_error": shares @ (~(y_F > 0)).astype(y_F.dtype),
    }
