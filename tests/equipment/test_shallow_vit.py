"""The shallow vision transformer: its first weights, and which tokens a selector keeps."""

from functools import cache, partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attnlab.data.pattern_sizes import pattern_counts
from attnlab.data.pattern_vote import PatternVote, orthonormal_sets
from attnlab.models.shallow_vit import attention
from attnlab.models.shallow_vit_initialisation import Sizes, draw
from attnlab.models.token_selection import SELECTORS, keep_largest, sample_flops, scores

SIZES = Sizes(d=10, M=5, L=20, m=30, m_a=10, m_b=10)
NUMBERS = {"sigma": 0.1, "delta": 0.2, "xi": 0.01, "c0": 0.01}
PATTERNS = jnp.eye(5, 10)


@partial(jax.jit, static_argnames=("sizes", "scheme", "direction"))
def compiled(key, sizes, patterns, shared, scheme, direction):
    numbers = {k: jnp.asarray(v) for k, v in NUMBERS.items()}
    return draw(key, sizes, patterns, numbers, shared=shared, scheme=scheme, direction=direction)


def start(sizes=SIZES, patterns=PATTERNS, shared=False, scheme="assumption_1", direction="random"):
    return compiled(jax.random.key(0), sizes, patterns, shared, scheme, direction)


@pytest.mark.parametrize("direction", ["random", "worst"])
def test_assumption_1_holds_to_the_letter(direction):
    drawn = start(direction=direction)
    p, q, r = (np.asarray(x[0]) for x in drawn.features)
    for feature in (p, q, r):
        np.testing.assert_allclose(feature.T @ feature, np.eye(5), atol=1e-12)
    np.testing.assert_allclose(q[:, :2], r[:, :2], atol=1e-12)
    for name, feature, size in (("W_V", p, 0.1), ("W_K", q, 0.2), ("W_Q", r, 0.2)):
        W = np.asarray(getattr(drawn.parameters, name)[0])
        np.testing.assert_allclose(np.linalg.norm(W @ PATTERNS.T - feature, axis=0), size)
        assert np.abs(W[:, 5:]).max() < 1e-12


def test_output_weights_are_signs_by_position_or_shared():
    a = np.asarray(start().a)
    np.testing.assert_allclose(np.abs(a), 1 / np.sqrt(30))
    assert (a[0, 0] != a[0, 1]).any()
    shared = np.asarray(start(shared=True).a)
    assert (shared[0] == shared[0, 0]).all()
    np.testing.assert_array_equal(shared[0, 0], a[0, 0])


def test_the_printed_initial_model_saturates_the_softmax():
    drawn = start(scheme="printed")
    p = attention(drawn.parameters, PATTERNS, jnp.ones(5, bool))
    np.testing.assert_allclose(p[0], np.eye(5), atol=1e-12)
    assert float(drawn.parameters.W_Q[0, 0, 0]) == pytest.approx(400)


def test_padding_the_patterns_does_not_change_the_draw():
    wide = Sizes(d=10, M=10, L=20, m=30, m_a=10, m_b=10)
    padded, plain = start(wide, jnp.eye(10)), start()
    for x, y in zip(padded.features, plain.features, strict=True):
        np.testing.assert_array_equal(x[0, :, :5], y[0])


@cache
def scored(n=60):
    """A batch, what is relevant in it, and all scores."""
    batch = jax.jit(batch_of, static_argnums=0)(n)
    drawn = start()
    score = jax.jit(scores)(
        batch.tokens,
        drawn.parameters,
        PATTERNS,
        jnp.ones(5, bool),
        relevant=batch.roles == 0,
        noisy=batch.noisy,
    )
    return batch, batch.roles == 0, score


keep = jax.jit(keep_largest)


def batch_of(n):
    of = PatternVote(
        jnp.asarray(orthonormal_sets(5, 10)),
        jnp.asarray(pattern_counts(20, 5, 2, 0.4, 0.2)),
        *map(jnp.asarray, (0.02, 0.3, 0.6)),
        jnp.asarray(True),
        jnp.asarray(False),
    )
    return of.sample(jax.random.key(3), n, 20)


@pytest.mark.parametrize("count", [1, 8, 14, 20])
def test_selectors_keep_as_many_as_asked_and_the_right_ones(count):
    _, relevant, score = scored()
    assert score.shape == (len(SELECTORS), 60, 20)
    for name, values in zip(SELECTORS, score, strict=True):
        kept = keep(jax.random.key(0), values, jnp.asarray(count))
        assert (kept.sum(1) == count).all(), name
        for row, value in zip(np.asarray(kept), np.asarray(values), strict=True):
            if 0 < count < 20:
                assert value[row].min() >= value[~row].max() - 1e-12
    by_oracle = keep(jax.random.key(0), score[2], jnp.asarray(count))
    kept_relevant = (by_oracle & relevant).sum(1)
    np.testing.assert_array_equal(kept_relevant, np.minimum(relevant.sum(1), count))


def test_random_selection_is_fair_and_attention_scores_add_up():
    _, _, score = scored()
    draws = [keep(jax.random.key(s), score[1], jnp.asarray(5)) for s in range(5)]
    assert np.abs(np.concatenate(draws).mean(0) - 0.25).max() < 0.12
    np.testing.assert_allclose(score[4].sum(1), 1.0, rtol=1e-9)


def test_fewer_tokens_cost_fewer_operations():
    costs = [sample_flops(tokens, 10, 1000, 10, 10) for tokens in (100, 50, 10)]
    assert costs == sorted(costs, reverse=True)
    assert costs[0] > 2 * costs[1]
