"""Where the attention of a shallow vision transformer goes, by the roles of tokens."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from attnlab.data.pattern_vote import PatternBatch
from attnlab.models.shallow_vit import Parameters, attention
from attnlab.training.engine import Named

ROLES = 4


class PatternContext(eqx.Module):
    """What the probes look at: some samples, the first weights and features, the patterns."""

    batch: PatternBatch
    labels: Float[Array, "n outputs"]
    keys: Bool[Array, "n L"]
    a: Float[Array, "outputs m L"]
    initial: Parameters
    p: Float[Array, "m_a M"]
    """The first head's value features; columns beyond the patterns in use are padding."""
    q: Float[Array, "m_b M"]
    patterns: Float[Array, "M d"]
    used: Bool[Array, " M"]
    cone: Float[Array, ""]
    """sigma + tau, the opening of Definition 2's cone."""
    score_gain: Float[Array, ""]


def attention_by_role(t: Float[Array, ""], view: Parameters, args: PatternContext) -> Named:
    """Attention paid to each role, and how sparse the map is.

    `mass_by_role` (4, 4): what queries of a role (first axis) pay in all to keys of a role, in the
    order of `data.pattern_vote.Role`; nan where a role does not occur. `relevant_mass`: what a
    query pays to label-relevant tokens, mean over queries, `least_relevant_mass` the smallest of
    any query and sample, `relevant_query_mass` that of any relevant query;
    `largest_irrelevant_weight`: of a relevant query on a single other token; `effective_tokens`:
    exp of the entropy.
    """
    del t

    def of_sample(X: Array, roles: Array, kept: Array, keys: Array) -> tuple[Array, ...]:
        p = attention(view, X, keys, args.score_gain).mean(0)
        role = (roles[:, None] == jnp.arange(ROLES)) & kept[:, None]
        role = role.astype(p.dtype)
        by_role = jnp.einsum("lq,ls,sk->qk", role, p, role)
        relevant = p @ role[:, 0]
        irrelevant = jnp.where((role[:, 0] > 0)[None, :], 0, p)
        entropy = -jnp.sum(jnp.where(p > 0, p * jnp.log(jnp.where(p > 0, p, 1)), 0), -1)
        return (
            by_role,
            role.sum(0),
            jnp.sum(relevant * kept) / kept.sum(),
            jnp.where(kept, relevant, jnp.inf).min(),
            jnp.where(role[:, 0] > 0, relevant, jnp.inf).min(),
            (irrelevant * role[:, :1]).max(),
            jnp.sum(jnp.exp(entropy) * kept) / kept.sum(),
        )

    batch = args.batch
    rows = (batch.tokens, batch.roles, batch.kept, args.keys)
    by_role, count, mean, least, own, largest, tokens = jax.lax.map(lambda r: of_sample(*r), rows)
    return {
        "mass_by_role": by_role.sum(0) / count.sum(0)[:, None],
        "relevant_mass": mean.mean(),
        "least_relevant_mass": least.min(),
        "relevant_query_mass": own.min(),
        "largest_irrelevant_weight": largest.max(),
        "effective_tokens": tokens.mean(),
    }
