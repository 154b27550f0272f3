"""Scores of tokens by loops, what is kept, what is refused, and what a pass costs."""

import math
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attnlab.core import BadInput
from attnlab.data.batch import Batch
from attnlab.data.pattern_sizes import pattern_counts
from attnlab.data.pattern_vote import PatternBatch, PatternVote, orthonormal_sets
from attnlab.models.shallow_vit_model import ShallowViT
from attnlab.selection import SELECTORS, keep_largest, sample_flops, select_tokens

N, L, D, H, M_A, M_B = 3, 4, 5, 2, 3, 2
KEY = jax.random.key(3)


@pytest.fixture(scope="module")
def case():
    random = np.random.default_rng(6)
    W_V, W_K, W_Q = (0.5 * random.normal(size=(H, size, D)) for size in (M_A, M_B, M_B))
    batch = PatternBatch(
        tokens=jnp.asarray(random.normal(size=(N, L, D))),
        labels=jnp.ones(N, int),
        roles=jnp.asarray(random.integers(0, 4, (N, L))),
        types=jnp.ones(N, int),
        kept=jnp.ones((N, L), bool),
        patterns=jnp.zeros((N, L), int),
        noisy=jnp.asarray(random.random((N, L)) < 0.5),
        pattern_vectors=jnp.asarray(random.normal(size=(2, 1, D))),
    )
    return batch, (W_V, W_K, W_Q)


class Model:
    """Maps by loops, for whole batches, as a user would write them."""

    @staticmethod
    def attention(parameters, X, kept):
        _, W_K, W_Q = parameters
        scores = jnp.einsum("hbd,nld,hbe,nse->nhls", W_Q, X, W_K, X)
        return jax.nn.softmax(jnp.where(kept[:, None, None], scores, -jnp.inf), -1)

    @staticmethod
    def values(parameters, X):
        return jnp.einsum("had,nld->nhla", parameters[0], X)


def test_every_score_by_loops(case) -> None:
    batch, weights = case
    W_V, W_K, W_Q = weights
    got = {name: np.asarray(jax.jit(SELECTORS[name], static_argnums=1)(batch, Model, weights))
           for name in SELECTORS}  # fmt: skip
    X = np.asarray(batch.tokens)
    for n in range(N):
        received = np.zeros(L)
        for h in range(H):
            for query in range(L):
                e = [math.exp((W_K[h] @ X[n, s]) @ (W_Q[h] @ X[n, query])) for s in range(L)]
                received += np.array(e) / sum(e) / (H * L)
        np.testing.assert_allclose(got["attention"][n], received, rtol=1e-12)
        for s in range(L):
            value = sum(((W_V[h] @ X[n, s]) ** 2).sum() for h in range(H))
            assert got["value_norm"][n, s] == pytest.approx(math.sqrt(value))
            nearest = min(
                ((X[n, s] - mu) ** 2).sum() for mu in np.asarray(batch.pattern_vectors)[:, 0]
            )
            assert got["distance"][n, s] == pytest.approx(-nearest)
    np.testing.assert_array_equal(got["irrelevant"], np.asarray(batch.roles) == 0)
    np.testing.assert_array_equal(got["noisy"], ~np.asarray(batch.noisy))
    assert not got["random"].any()


@pytest.mark.parametrize("name", SELECTORS)
def test_a_share_of_the_tokens_is_kept(case, name) -> None:
    batch, weights = case
    fewer = select_tokens(batch, name, 0.5, model=Model, parameters=weights, key=KEY)
    assert isinstance(fewer, PatternBatch)
    score = np.asarray(SELECTORS[name](batch, Model, weights))
    for kept, own in zip(np.asarray(fewer.kept), score, strict=True):
        assert kept.sum() == 2
        assert own[kept].min() >= own[~kept].max()
    np.testing.assert_array_equal(fewer.tokens, batch.tokens)
    last = select_tokens(fewer, "random", 0.5, key=KEY)
    np.testing.assert_array_equal(last.kept, fewer.kept)
    one = np.asarray(select_tokens(fewer, "random", 0.25, key=KEY).kept)
    assert (one.sum(1) == 1).all()
    assert not (one & ~np.asarray(fewer.kept)).any()


def test_a_selector_of_ones_own_is_an_entry_of_the_table(case, monkeypatch) -> None:
    batch, _ = case
    norm = lambda batch, model, parameters: jnp.linalg.norm(batch.tokens, axis=2)  # noqa: E731
    monkeypatch.setitem(SELECTORS, "token_norm", norm)
    kept = np.asarray(select_tokens(batch, "token_norm", 0.5, key=KEY).kept)
    for row, X in zip(kept, np.asarray(batch.tokens), strict=True):
        lengths = np.sqrt((X**2).sum(1))
        assert sorted(np.flatnonzero(row)) == sorted(np.argsort(lengths)[-2:])
    monkeypatch.setitem(SELECTORS, "token_norm", lambda batch, *_: batch.tokens)
    with pytest.raises(BadInput, match=r"shape \(3, 4, 5\).*one number for each token.*\(3, 4\)"):
        select_tokens(batch, "token_norm", 0.5, key=KEY)


def test_what_a_selector_lacks_is_named(case) -> None:
    batch, weights = case
    bare = Batch(
        tokens=batch.tokens, labels=batch.labels, roles=None, types=batch.types, kept=batch.kept
    )  # pyright: ignore[reportArgumentType]
    for given, name, words in (
        (bare, "irrelevant", "the roles of its tokens.*requires; give.*or take another"),
        (bare, "noisy", "which of its tokens are noisy"),
        (replace(batch, pattern_vectors=None), "distance", "the vectors of its patterns"),
        (batch, "atention", "did you mean attention.*there are: random"),
    ):
        with pytest.raises(BadInput, match=words):
            select_tokens(given, name, 0.5, key=KEY)
    for name in ("attention", "value_norm"):
        with pytest.raises(BadInput, match=r"got no model and parameters.*give model="):
            select_tokens(batch, name, 0.5, key=KEY)
        with pytest.raises(BadInput, match="got no parameters"):
            select_tokens(batch, name, 0.5, model=Model, key=KEY)
    for share in (0.0, -0.5, 0.1, 1.2, math.nan):
        with pytest.raises(BadInput, match=r"got share=.* of 4 tokens"):
            select_tokens(batch, "random", share, key=KEY)
    with pytest.raises(BadInput, match="no `values`"):
        select_tokens(batch, "value_norm", 0.5, model=object(), parameters=weights, key=KEY)


def test_the_largest_are_kept_and_ties_are_broken_at_random() -> None:
    score = jnp.asarray([[3.0, 1.0, 2.0, 0.0], [0.0, 0.0, 0.0, 5.0]])
    kept = np.asarray(keep_largest(jax.random.key(0), score, jnp.asarray(2)))
    np.testing.assert_array_equal(kept[0], [True, False, True, False])
    assert kept[1, 3]
    assert kept[1].sum() == 2
    ties = jnp.zeros((1000, 3))
    shares = np.asarray(keep_largest(jax.random.key(1), ties, jnp.asarray(1))).mean(0)
    np.testing.assert_allclose(shares, 1 / 3, atol=0.06)


def test_operations_counted_one_by_one() -> None:
    tokens, d, m, m_a, m_b, heads = 4, 3, 5, 2, 6, 2
    count = 0
    for _ in range(heads):
        for _ in range(tokens):
            count += m_a * d + m_b * d + m_b * d  # value, key, query
            for _ in range(tokens):
                count += m_b + m_a  # a score, and its share of the mixed value
    for _ in range(tokens):
        count += m * m_a + m  # hidden layer, and its sum
    assert sample_flops(tokens, d, m, m_a, m_b, heads) == 2 * count
    assert sample_flops(tokens, d, m, m_a, m_b) == sample_flops(tokens, d, m, m_a, m_b, 1)


@pytest.fixture(scope="module")
def votes():
    """Samples of the pattern vote with 8 relevant tokens of 20, and a model's first weights."""
    source = PatternVote(
        jnp.asarray(orthonormal_sets(5, 10)),
        jnp.asarray(pattern_counts(20, 5, 2, 0.4, 0.2)),
        *map(jnp.asarray, (0.02, 0.0, 0.6)),
        jnp.asarray(True),
        jnp.asarray(False),
    )
    batch = source.sample(jax.random.key(3), 60, 20)
    model = ShallowViT(neurons=8)
    return batch, {"model": model, "parameters": model.init(jax.random.key(0), batch)}


@pytest.mark.parametrize("count", [1, 8, 14, 20])
def test_the_oracle_keeps_relevant_tokens_first(votes, count) -> None:
    batch, _ = votes
    kept = select_tokens(batch, "irrelevant", count / 20, key=jax.random.key(0)).kept
    relevant = (kept & (batch.roles == 0)).sum(1)
    np.testing.assert_array_equal(relevant, np.minimum(8, count))


def test_random_selection_is_fair_and_attention_adds_up(votes) -> None:
    batch, model = votes
    draws = [
        select_tokens(batch, "random", 0.25, key=jax.random.key(s)).kept.mean(0) for s in range(5)
    ]
    assert np.abs(np.mean(draws, 0) - 0.25).max() < 0.12
    score = SELECTORS["attention"](batch, model["model"], model["parameters"])
    np.testing.assert_allclose(score.sum(1), 1.0, rtol=1e-9)
