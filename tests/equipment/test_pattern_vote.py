"""The pattern vote: counts, labels, roles, noise, sets, and what is refused."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attnlab.core import BadInput
from attnlab.data.pattern_sizes import pattern_counts
from attnlab.data.pattern_vote import PatternVote, Role, label_vectors, orthonormal_sets

L = 20


def source(classes=2, M=5, d=10, alpha=(0.4, 0.2), **changes) -> PatternVote:
    numbers = {"c0": 0.0, "noisy_share": 0.0, "noisy_c0": 0.0} | {
        k: v for k, v in changes.items() if k in ("c0", "noisy_share", "noisy_c0")
    }
    switches = {k: v for k, v in changes.items() if k in ("multinomial", "exact_balance")}
    return PatternVote(
        vectors=jnp.asarray(
            orthonormal_sets(M, d, changes.get("size", 1), changes.get("distance", 0.0))
        ),
        counts=jnp.asarray(pattern_counts(L, M, classes, *alpha)),
        shuffled_order=jnp.asarray(changes.get("shuffled", True)),
        normalise=jnp.asarray(changes.get("normalise", False)),
        **{k: jnp.asarray(v) for k, v in numbers.items()},
        **switches,
    )


@eqx.filter_jit
def drawn(of: PatternVote, key, n: int):
    return of.sample(key, n, L)


def draw(of: PatternVote, n: int = 400, seed: int = 0):
    """Sources are data: those with the same switches share a compiled draw."""
    return drawn(of, jax.random.key(seed), n)


@given(
    alpha_star=st.integers(1, 20),
    alpha_sharp=st.integers(0, 20),
    M=st.integers(3, 12),
    classes=st.sampled_from([2, 4]),
)
@settings(max_examples=150, deadline=None)
def test_counts_add_up_and_give_a_majority_or_a_sentence(alpha_star, alpha_sharp, M, classes):
    fractions = alpha_star / L, alpha_sharp / L
    if classes >= M:
        return
    try:
        counts = np.array(pattern_counts(L, M, classes, *fractions))
    except BadInput:
        assert alpha_sharp >= alpha_star or alpha_star + alpha_sharp > L
        return
    assert (counts.sum(1) == L).all()
    assert (counts >= 0).all()
    for label, row in enumerate(counts):
        assert row[label] == alpha_star
        assert row[:classes].sum() - alpha_star == alpha_sharp
        assert row[:classes].argmax() == label
        assert np.ptp(row[classes:]) <= 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((20, 5, 2, 0.41, 0.2), ("0.41", "L=20", "8.2 tokens", "whole number")),
        ((20, 5, 2, 0.2, 0.4), ("0.2", "0.4", "majority")),
        ((20, 5, 2, 0.8, 0.4), ("together 1.2",)),
        ((20, 5, 2, -0.1, 0.0), ("alpha_star=-0.1", "between 0 and 1")),
    ],
)
def test_impossible_fractions_are_refused_with_the_numbers(arguments, words):
    with pytest.raises(BadInput) as refusal:
        pattern_counts(*arguments)
    for word in words:
        assert word in str(refusal.value)


@pytest.mark.parametrize("classes", [2, 4])
def test_every_sample_has_the_stated_counts_its_majority_as_label_and_the_right_roles(classes):
    of = source(classes=classes, M=6, alpha=(0.4, 0.15))
    batch = draw(of, 64)
    patterns, types = np.asarray(batch.patterns), np.asarray(batch.types)
    for row, kind, roles in zip(patterns, types, np.asarray(batch.roles), strict=True):
        counts = np.bincount(row, minlength=6)
        np.testing.assert_array_equal(counts, of.counts[kind - 1])
        assert counts[:classes].argmax() == kind - 1
        assert ((roles == Role.RELEVANT) == (row == kind - 1)).all()
        assert ((roles == Role.NON_DISCRIMINATIVE) == (row >= classes)).all()
    assert np.ptp(np.bincount(types)[1:]) == 0
    codes = np.asarray(label_vectors(batch.types, classes))
    assert len({tuple(c) for c in codes.tolist()}) == classes
    np.testing.assert_allclose(batch.tokens, of.vectors[patterns, 0])


def test_the_order_is_shuffled_or_fixed():
    fixed = np.asarray(draw(source(shuffled=False)).patterns)
    assert (fixed[::2] == fixed[0]).all()
    shuffled = np.asarray(draw(source(), 400).patterns)
    first = np.bincount(shuffled[::2, 0], minlength=5) / 200
    expected = np.asarray(source().counts[0]) / L
    assert np.abs(first - expected).max() < 0.15


def test_noise_has_its_deviation_and_leaves_the_patterns_alone():
    quiet, loud = draw(source(), 400), draw(source(c0=0.3), 400)
    np.testing.assert_array_equal(quiet.patterns, loud.patterns)
    assert np.std(loud.tokens - quiet.tokens) == pytest.approx(0.3, rel=0.02)
    part = draw(source(noisy_share=0.25, noisy_c0=1.0), 400)
    assert float(part.noisy.mean()) == pytest.approx(0.25, abs=0.02)
    assert (np.asarray(part.roles)[np.asarray(part.noisy)] == Role.NOISY).all()
    off = np.asarray(part.tokens - quiet.tokens)
    assert np.abs(off[~np.asarray(part.noisy)]).max() == 0
    assert np.std(off[np.asarray(part.noisy)]) == pytest.approx(1.0, rel=0.03)


@pytest.mark.parametrize("switch", ["exact_balance", "multinomial"])
def test_the_first_samples_do_not_depend_on_how_many_are_drawn(switch):
    of = source(c0=0.3, noisy_share=0.2, noisy_c0=1.0, **{switch: switch == "multinomial"})
    few, many = draw(of, 24), draw(of, 128)
    for short, long in zip(jax.tree.leaves(few), jax.tree.leaves(many), strict=True):
        np.testing.assert_array_equal(short, long[:24])


def test_normalised_tokens_have_unit_norm():
    norms = np.linalg.norm(draw(source(c0=0.3, normalise=True)).tokens, axis=-1)
    np.testing.assert_allclose(norms, 1.0, rtol=1e-12)


def test_multinomial_samples_have_the_fractions_on_average_and_the_majority_as_label():
    batch = draw(source(multinomial=True))
    patterns, types = np.asarray(batch.patterns), np.asarray(batch.types)
    votes = np.stack([(patterns == k).sum(1) for k in range(2)], axis=1)
    assert (votes[np.arange(400), types - 1] == votes.max(1)).all()
    nd = (patterns >= 2).mean()
    assert nd == pytest.approx(0.4, abs=0.03)
    assert len(set(votes[:, 0].tolist())) > 5


@pytest.mark.parametrize("size", [2, 3])
def test_sets_of_patterns_are_orthogonal_between_and_as_far_apart_as_asked_within(size):
    vectors = orthonormal_sets(5, 20, size, 0.5)
    flat = vectors.reshape(-1, 20)
    np.testing.assert_allclose(np.linalg.norm(flat, axis=1), 1.0)
    for j in range(5):
        for k in range(5):
            products = vectors[j] @ vectors[k].T
            if j != k:
                np.testing.assert_allclose(products, 0.0, atol=1e-14)
            else:
                apart = np.linalg.norm(vectors[j][:, None] - vectors[j][None], axis=-1)
                np.testing.assert_allclose(apart[~np.eye(size, dtype=bool)], 0.5)


def test_sets_that_do_not_fit_are_refused():
    with pytest.raises(BadInput, match="d >= 10"):
        orthonormal_sets(5, 9, 2, 0.5)
    with pytest.raises(BadInput, match="between 0 and"):
        orthonormal_sets(5, 20, 2, 2.5)
