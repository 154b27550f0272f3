"""The pattern vote: counts, labels, roles, noise, sets, and what is refused."""

from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from attnlab.core import BadInput
from attnlab.data.pattern_sizes import pattern_counts
from attnlab.data.pattern_vote import (
    CODES,
    PatternVote,
    Role,
    label_vectors,
    orthonormal_sets,
    shuffled,
)

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


# --- votes that may tie, samplers' frequencies, controls --------------------------------------

SHORT = 4
"""So few tokens that ties are common."""


@eqx.filter_jit
def short_draw(of: PatternVote, n: int):
    return of.sample(jax.random.key(3), n, SHORT)


def short_source(classes: int, counts, **switches) -> PatternVote:
    M = len(counts[0])
    plain = {"c0": 0.0, "noisy_share": 0.0, "noisy_c0": 0.0}
    return PatternVote(
        vectors=jnp.asarray(orthonormal_sets(M, M + 1)),
        counts=jnp.asarray(counts),
        shuffled_order=jnp.asarray(True),
        normalise=jnp.asarray(False),
        **{name: jnp.asarray(x) for name, x in plain.items()},
        **switches,
    )


@pytest.mark.parametrize("classes", [2, 4])
def test_a_tie_goes_to_the_drawn_label_and_a_lost_vote_to_the_winner(classes):
    rows = np.ones((classes, SHORT), int) if classes == 4 else np.array([[2, 1, 1], [1, 2, 1]])
    n = 1200
    batch = short_draw(short_source(classes, rows, multinomial=True), n)
    patterns, types = np.asarray(batch.patterns), np.asarray(batch.types)
    labels, roles = np.asarray(batch.labels), np.asarray(batch.roles)
    lost = 0
    for i in range(n):
        drawn = i % classes  # the classes in turn: exact balance
        votes = [int((patterns[i] == k).sum()) for k in range(classes)]
        winner = drawn if votes[drawn] == max(votes) else votes.index(max(votes))
        lost += winner != drawn
        assert types[i] == winner + 1, (i, votes)
        assert labels[i] == (1 if winner < classes // 2 else -1)
        for place in range(SHORT):
            kind = patterns[i, place]
            role = Role.NON_DISCRIMINATIVE if kind >= classes else Role.CONFUSION
            assert roles[i, place] == (Role.RELEVANT if kind == winner else role)
    assert lost > 100
    tied_for_a_later_class = sum(
        (patterns[i] == i % classes).sum() == (patterns[i] == 0).sum() == 2
        for i in range(n)
        if i % classes
    )
    assert tied_for_a_later_class > 20


def test_multinomial_tokens_have_the_shares_of_the_drawn_class():
    rows = np.array([[2, 1, 1], [1, 2, 1]])
    patterns = np.asarray(short_draw(short_source(2, rows, multinomial=True), 1200).patterns)
    for drawn in (0, 1):
        found = np.bincount(patterns[drawn::2].ravel(), minlength=3)
        expected = found.sum() * rows[drawn] / SHORT
        assert stats.chisquare(found, expected).pvalue > 1e-3


def test_without_exact_balance_classes_are_drawn():
    rows = np.array([[3, 1, 0], [1, 3, 0]])
    drawn = np.asarray(short_draw(short_source(2, rows, exact_balance=False), 1200).types)
    assert stats.chisquare(np.bincount(drawn - 1, minlength=2)).pvalue > 1e-3
    assert (drawn[::2] != 1).any()
    of = short_source(2, rows)
    assert int(of.length) == SHORT


def test_members_of_a_set_are_equally_likely():
    of = source(d=20, size=3, distance=0.5)
    batch = draw(of)
    vectors = np.asarray(of.vectors)
    members = np.zeros(3, int)
    for X, kinds in zip(np.asarray(batch.tokens), np.asarray(batch.patterns), strict=True):
        apart = np.abs(X[:, None, :] - vectors[kinds]).max(axis=2)
        assert (apart.min(axis=1) < 1e-12).all()
        members += np.bincount(apart.argmin(axis=1), minlength=3)
    assert stats.chisquare(members).pvalue > 1e-3


def test_shuffling_permutes_the_classes_of_the_first_samples_only():
    batch = draw(source(), 400)
    types = np.arange(1, 401)
    batch = eqx.tree_at(lambda b: b.types, batch, jnp.asarray(types))
    mixed = shuffled(jax.random.key(9), batch, jnp.asarray(300))
    np.testing.assert_array_equal(np.sort(mixed.types[:300]), types[:300])
    np.testing.assert_array_equal(mixed.types[300:], types[300:])
    assert (np.asarray(mixed.types[:300]) == types[:300]).mean() < 0.05
    np.testing.assert_array_equal(mixed.tokens, batch.tokens)


def test_label_vectors_are_the_codes_by_class():
    assert CODES == {2: ((1,), (-1,)), 4: ((1, 1), (1, -1), (-1, 1), (-1, -1))}
    np.testing.assert_array_equal(label_vectors(jnp.asarray([2, 1]), 2), [[-1], [1]])
    np.testing.assert_array_equal(label_vectors(jnp.asarray([3, 2]), 4), [[-1, 1], [1, -1]])
    with pytest.raises(BadInput, match="classes=3"):
        label_vectors(jnp.asarray([1]), 3)


def test_the_edges_of_sets_and_fractions():
    assert orthonormal_sets(5, 10, 2, 1.999).shape == (5, 2, 10)
    with pytest.raises(BadInput, match="between 0 and 2"):
        orthonormal_sets(5, 10, 2, 2.0)
    with pytest.raises(BadInput, match=r"between 0 and 1\.414"):
        orthonormal_sets(5, 20, 3, 1.42)
    with pytest.raises(BadInput, match="between 0 and"):
        orthonormal_sets(5, 20, 3, 0.0)
    with pytest.raises(BadInput, match="d >= 20"):
        orthonormal_sets(5, 19, 3, 0.5)
    np.testing.assert_array_equal(orthonormal_sets(3, 4)[:, 0], np.eye(3, 4))
    with pytest.raises(BadInput, match=r"alpha_sharp=1\.1"):
        pattern_counts(20, 5, 2, 1.0, 1.1)


def test_a_class_with_several_rows_of_counts_takes_them_in_turn():
    """Rows 0, 2, 4 are of class 0, rows 1, 3, 5 of class 1: sample i has row i % 6."""
    rows = np.array([[3, 1, 0], [1, 3, 0], [2, 1, 1], [1, 2, 1], [4, 0, 0], [0, 4, 0]])
    batch = short_draw(replace(short_source(2, rows), classes=2), 15)
    for i in range(15):
        found = np.bincount(np.asarray(batch.patterns)[i], minlength=3)
        np.testing.assert_array_equal(found, rows[i % 6])
        assert int(batch.types[i]) == i % 2 + 1
        assert int(batch.labels[i]) == (1, -1)[i % 2]
