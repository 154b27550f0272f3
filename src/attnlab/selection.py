r"""Token sparsification: scores of tokens, and the tokens that are kept.

A selector is a function `(batch, model, parameters) -> scores (n, L)`; of each sample the tokens
with the largest scores are kept.

| selector | score of a token |
|---|---|
| random | the same for all |
| irrelevant | an oracle's: 1 for label-relevant tokens, 0 for all others |
| noisy | an oracle's: 1 for tokens without the extra noise |
| attention | the mean attention that it receives, over queries and heads (as EViT does) |
| value_norm | the norm of its value vector, all heads together |
| distance | minus the squared distance to the nearest pattern: an estimate of its noise |

Ties are broken by a uniform number, so an oracle that runs out of tokens to remove goes on at
random. One of your own is an entry of `SELECTORS`:

    SELECTORS["token_norm"] = lambda batch, model, parameters: jnp.linalg.norm(batch.tokens, axis=2)
    fewer = select_tokens(batch, "token_norm", 0.5, key=jax.random.key(0))

or `module:name`, which settings take too (`attnlab.tables`).

Liang et al. (2022), EViT, for the attention score.
"""

from collections.abc import Callable
from typing import Protocol, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray, PyTree

from attnlab.core import BadInput
from attnlab.data.batch import Batch
from attnlab.numerics.random import fractions
from attnlab.tables import entry

SomeBatch = TypeVar("SomeBatch", bound=Batch)


class HasAttention(Protocol):
    """A model whose attention can be looked at."""

    def attention(
        self, parameters: PyTree, X: Float[Array, "n L d"], kept: Bool[Array, "n L"], /
    ) -> Float[Array, "n H L L"]:
        """What each query (third axis) pays to each token (last axis), by head."""
        ...


class HasValues(Protocol):
    """A model whose value vectors can be looked at."""

    def values(self, parameters: PyTree, X: Float[Array, "n L d"], /) -> Float[Array, "n H L m_a"]:
        """The value vector of each token, by head."""
        ...


Attending = HasAttention | HasValues
"""What selectors look at of a model; one of them may need only one of the two."""
Selector = Callable[[Batch, Attending | None, PyTree], Float[Array, "n L"]]
"""`(batch, model, parameters) -> scores`; the larger a token's score, the longer it is kept."""


def _the_same(batch: Batch, model: Attending | None, parameters: PyTree) -> Array:
    del model, parameters
    return jnp.zeros(batch.kept.shape)


def _relevance(batch: Batch, model: Attending | None, parameters: PyTree) -> Array:
    del model, parameters
    roles = _required(batch, "irrelevant", "roles", "the roles of its tokens")
    return (roles == 0).astype(float)


def _quiet(batch: Batch, model: Attending | None, parameters: PyTree) -> Array:
    del model, parameters
    return (~_required(batch, "noisy", "noisy", "which of its tokens are noisy")).astype(float)


def _received(batch: Batch, model: Attending | None, parameters: PyTree) -> Array:
    attention = _required_model("attention", "attention", model, parameters)

    # Sample by sample: the maps of a whole batch may not fit into memory.
    def of_sample(row: tuple[Array, Array, dict[str, Array]]) -> Array:
        x, kept, where = row
        placed = {name: places[None] for name, places in where.items()}
        return attention(parameters, x[None], kept[None], **placed)[0].mean((0, 1))

    return jax.lax.map(of_sample, (batch.vectors(), batch.kept, _places(batch)))


def _value_norm(batch: Batch, model: Attending | None, parameters: PyTree) -> Array:
    values = _required_model("value_norm", "values", model, parameters)
    return jnp.sqrt((values(parameters, batch.vectors(), **_places(batch)) ** 2).sum((1, 3)))


def _places(batch: Batch) -> dict[str, Array]:
    """Where in the whole sample tokens are, for a batch whose removed ones were gathered away."""
    places = getattr(batch, "places", None)
    return {} if places is None else {"places": places}


def _nearness(batch: Batch, model: Attending | None, parameters: PyTree) -> Array:
    del model, parameters
    sets = _required(batch, "distance", "pattern_vectors", "the vectors of its patterns")
    mu, X = sets.reshape(-1, sets.shape[-1]), batch.vectors()
    return -((X**2).sum(-1)[..., None] - 2 * X @ mu.T + (mu**2).sum(1)).min(-1)


SELECTORS: dict[str, Selector] = {
    "random": _the_same,
    "irrelevant": _relevance,
    "noisy": _quiet,
    "attention": _received,
    "value_norm": _value_norm,
    "distance": _nearness,
}
"""Every selector by name."""


def select_tokens(
    batch: SomeBatch,
    name: str,
    share: float,
    *,
    model: Attending | None = None,
    parameters: PyTree = None,
    key: PRNGKeyArray,
) -> SomeBatch:
    """The batch that keeps this share of the L tokens of each sample, by the named selector.

    A token that was removed before stays removed. `key` breaks ties.
    """
    selector = entry(SELECTORS, name, "selector")
    L = batch.kept.shape[1]
    if not 0.5 < share * L <= L:
        raise BadInput(
            f"got share={share:g} of {L} tokens; a share of at most 1 that keeps one token or more "
            "is required"
        )
    count = round(share * L)
    kept = _kept(selector, batch, model, parameters, jnp.asarray(count), key)
    return eqx.tree_at(lambda b: b.kept, batch, kept)


@eqx.filter_jit
def _kept(
    selector: Selector,
    batch: Batch,
    model: Attending | None,
    parameters: PyTree,
    count: Int[Array, ""],
    key: PRNGKeyArray,
) -> Bool[Array, "n L"]:
    score = selector(batch, model, parameters)
    if score.shape != batch.kept.shape:
        raise BadInput(
            f"got scores of shape {score.shape} from the selector; one number for each token is "
            f"required, shape {batch.kept.shape}"
        )
    return keep_largest(key, jnp.where(batch.kept, score, -jnp.inf), count) & batch.kept


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


def _required(batch: Batch, selector: str, field: str, what: str) -> Array:
    found = getattr(batch, field, None)
    if found is None:
        others = ", ".join(name for name in SELECTORS if name != selector)
        raise BadInput(
            f"got a batch that does not know {what} (no `{field}`), which the selector "
            f"{selector!r} requires; give a batch with it, or take another selector: {others}"
        )
    return found


def _required_model(
    selector: str, map_: str, model: Attending | None, parameters: PyTree
) -> Callable[..., Array]:
    given = {"model": model, "parameters": parameters}
    missing = " and ".join(name for name, x in given.items() if x is None)
    if missing:
        raise BadInput(
            f"got no {missing}, but the selector {selector!r} looks at a model's {map_}; give "
            "model=... and parameters=..., or take a selector without one: random"
        )
    if not hasattr(model, map_):
        raise BadInput(
            f"got a model with no `{map_}`, which the selector {selector!r} looks at; give a model "
            "that has it, or take a selector without one: random"
        )
    return getattr(model, map_)
