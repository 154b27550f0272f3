"""The mixture: every draw meets Assumption 3; atoms are its support; refusals carry numbers."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from attnlab.cells import Key
from attnlab.core import BadInput
from attnlab.data.mixture_sizes import MixtureSizes
from attnlab.data.token_mixture import NOISE, NoiseKind, TokenMixture, atoms, directions
from attnlab.numerics.random import stream_key

KINDS = ("clipped_gaussian", "uniform", "extreme")


def draw(sizes, kind, seed=0, n=200, fixed=False):
    return _draw(TokenMixture.of(sizes, kind, fixed), stream_key(Key("{}", seed), "data"), n)


@eqx.filter_jit
def _draw(mixture, key, n):
    return mixture.sample(key, n)


@settings(max_examples=25, deadline=None)
@given(
    kind=st.sampled_from(KINDS),
    seed=st.integers(0, 2**31 - 1),
    S=st.floats(0.2, 5.0),
    relevant=st.integers(1, 4),
    Z_mu=st.floats(0.0, 1.0),
    Z_nu=st.floats(0.0, 1.0),
    more=st.floats(0.0, 2.0),
    fixed=st.booleans(),
)
def test_every_draw_meets_assumption_3(kind, seed, S, relevant, Z_mu, Z_nu, more, fixed):
    M, T, d = 3, 5, 7
    Z = np.sqrt(2 * Z_mu**2 + Z_nu**2 / M) / S + more
    sizes = MixtureSizes(T, d, M, S, relevant / T, Z_mu, Z_nu, float(Z))
    batch = draw(sizes, kind, seed, fixed=fixed)
    X, y = np.asarray(batch.tokens), np.asarray(batch.labels)
    roles = np.asarray(batch.roles)
    mu_plus, mu_minus, nu = directions(sizes)
    assert (roles.sum(axis=1) == relevant).all()
    assert set(np.unique(y)) <= {-1, 1}
    if fixed:
        assert (roles[:, :relevant] == 1).all()
    expected = np.where(y[:, None] > 0, mu_plus, mu_minus)
    for i in range(len(y)):
        assert (X[i][roles[i] == 1] == expected[i]).all()
    others = X[roles == 0]
    nearest = (others @ nu.T).argmax(axis=1)
    slack = 1 + 1e-12
    # The pattern that a token was made from is only certain where the noise is small.
    if 2 * Z_nu / M < S**2 * 0.9:
        z = others - nu[nearest]
        assert np.abs(z @ np.stack([mu_plus, mu_minus]).T).max() <= Z_mu * slack + 1e-12
        assert np.abs(z @ nu.T).max() <= Z_nu / M * slack + 1e-12
        assert np.linalg.norm(z, axis=1).max() <= sizes.Z * slack + 1e-12
    assert np.linalg.norm(X, axis=2).max() <= sizes.longest * slack
    assert max(1, sizes.longest) <= sizes.R


def test_extreme_noise_attains_every_bound():
    sizes = MixtureSizes(4, 8, 2, 1.0, 0.5, 0.1, 0.2, 0.5)
    X = np.asarray(draw(sizes, "extreme", n=200).tokens)
    assert np.linalg.norm(X, axis=2).max() == pytest.approx(sizes.longest, rel=1e-12)


# --- the three shapes of noise, against their distribution functions ---------------------------

NOISY = MixtureSizes(T=2, d=7, M=2, S=2.0, zeta=0.5, Z_mu=0.3, Z_nu=0.8, Z=0.9)
"""One irrelevant token a sample; three dimensions are left beside the patterns."""
FREE = 3
ENOUGH = 1e-3
"""The least p-value: the draws are fixed, so a test either passes for good or never."""


def noise_of(kind: str) -> tuple[np.ndarray, np.ndarray]:
    """The noise of every irrelevant token in units of its bounds: along patterns, and the rest."""
    batch = draw(NOISY, kind, seed=4, n=4000)
    X, roles = np.asarray(batch.tokens), np.asarray(batch.roles)
    others = X[roles == 0]
    nu = 2.0 * np.eye(7)[2:4]
    z = others - nu[(others @ nu.T).argmax(axis=1)]
    bounds = np.array([0.3, 0.3, 0.4, 0.4]) / 2.0
    # Z^2 less what the four coordinates along patterns can take up.
    radius = np.sqrt(0.81 - (bounds**2).sum())
    return z[:, :4] / bounds, z[:, 4:] / radius


def fits(numbers: np.ndarray, cdf) -> bool:
    return stats.kstest(numbers, cdf).pvalue > ENOUGH


def share_at_the_bound(numbers: np.ndarray, expected: float) -> bool:
    count = int((np.abs(numbers) > 1 - 1e-12).sum())
    return stats.binomtest(count, numbers.size, expected).pvalue > ENOUGH


def test_uniform_noise_is_uniform_along_patterns_and_in_the_ball() -> None:
    along, rest = noise_of("uniform")
    length = np.linalg.norm(rest, axis=1)
    for coordinate in along.T:
        assert fits(coordinate, stats.uniform(-1, 2).cdf)
    assert fits(length**FREE, stats.uniform().cdf)
    assert_is_isotropic(rest / length[:, None])


def test_clipped_gaussian_noise_is_a_gaussian_cut_off_at_the_bounds() -> None:
    along, rest = noise_of("clipped_gaussian")
    length = np.linalg.norm(rest, axis=1)
    for coordinate in along.T:
        assert share_at_the_bound(coordinate, 2 * stats.norm.sf(1))
        inside = coordinate[np.abs(coordinate) < 1 - 1e-12]
        assert fits(inside, stats.truncnorm(-1, 1).cdf)
    # The length of a Gaussian vector over sqrt(3), cut off at one.
    beyond = stats.chi2.sf(FREE, FREE)
    assert share_at_the_bound(length, beyond)
    inside = length[length < 1 - 1e-12]
    assert fits(inside, lambda x: stats.chi2.cdf(FREE * x**2, FREE) / (1 - beyond))
    assert_is_isotropic(rest / length[:, None])


def test_extreme_noise_is_at_every_bound_with_fair_signs() -> None:
    along, rest = noise_of("extreme")
    np.testing.assert_allclose(np.abs(along), 1.0, rtol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(rest, axis=1), 1.0, rtol=1e-12)
    signs = (along > 0).astype(int) @ np.array([1, 2, 4, 8])
    assert stats.chisquare(np.bincount(signs, minlength=16)).pvalue > ENOUGH
    assert_is_isotropic(rest)


def assert_is_isotropic(directions: np.ndarray) -> None:
    """In three dimensions each coordinate of a uniform direction is uniform (Archimedes)."""
    assert directions.shape[1] == FREE
    for coordinate in directions.T:
        assert fits(coordinate, stats.uniform(-1, 2).cdf)


def test_a_kind_of_noise_from_outside_obeys_assumption_3(monkeypatch) -> None:
    before = np.asarray(draw(NOISY, "uniform", seed=4).tokens)
    monkeypatch.setitem(NOISE, "arcsine", NoiseKind(lambda u: jnp.sin(jnp.pi / 2 * u), sparse))
    along, rest = noise_of("arcsine")
    for coordinate in along.T:
        assert fits(coordinate, stats.arcsine(-1, 2).cdf)
    length = np.linalg.norm(rest, axis=1)
    assert stats.binomtest(int((length > 0.5).sum()), length.size, 0.25).pvalue > ENOUGH
    assert length.max() <= 1 + 1e-12
    # Another kind in the table is not in the program of those that were there.
    np.testing.assert_array_equal(draw(NOISY, "uniform", seed=4).tokens, before)


def sparse(drawn) -> np.ndarray:
    """Mostly no noise beside the patterns, and seldom as much as there may be."""
    return jnp.where(drawn.share < 0.25, 1.0, 0.0)


def test_a_kind_of_noise_that_is_not_there_is_refused() -> None:
    with pytest.raises(BadInput, match="did you mean uniform"):
        TokenMixture.of(NOISY, "unifrm")


def test_labels_places_and_patterns_are_uniform() -> None:
    batch = draw(NOISY, "uniform", seed=4, n=4000)
    X, roles, labels = (np.asarray(x) for x in (batch.tokens, batch.roles, batch.labels))
    patterns = (X[roles == 0][:, 2:4]).argmax(axis=1)
    kinds = 4 * (labels > 0) + 2 * roles[:, 0] + patterns
    assert stats.chisquare(np.bincount(kinds, minlength=8)).pvalue > ENOUGH
    np.testing.assert_array_equal(batch.types, labels)
    assert np.asarray(batch.kept).all()


def test_noise_without_room_beside_the_patterns_is_along_them_only() -> None:
    sizes = MixtureSizes(T=2, d=4, M=2, S=1.0, zeta=0.5, Z_mu=0.1, Z_nu=0.2, Z=0.2)
    assert sizes.rest_radius == pytest.approx(0.0, abs=1e-8)
    for kind in KINDS:
        X = np.asarray(draw(sizes, kind, n=50).tokens)
        others = X[np.asarray(draw(sizes, kind, n=50).roles) == 0]
        assert np.isfinite(X).all()
        assert np.abs(others[:, :2]).max() <= 0.1 * (1 + 1e-12)
        assert np.abs(others[:, :2]).max() > 0.08


@pytest.mark.parametrize("fixed", [False, True])
def test_atoms_are_the_support_and_equally_likely(fixed):
    sizes = MixtureSizes(4, 5, 2, 2.0, 0.5)
    support = atoms(sizes, fixed)
    assert len(support.labels) == sizes.atoms(fixed) == (8 if fixed else 48)
    known = {tuple(np.ravel(X)): k for k, X in enumerate(np.asarray(support.tokens))}
    assert len(known) == len(support.labels)
    drawn = draw(sizes, "uniform", n=200 * 24, fixed=fixed)
    hits = np.bincount([known[tuple(np.ravel(X))] for X in np.asarray(drawn.tokens)])
    expected = 4800 / len(known)
    assert ((hits - expected) ** 2 / expected).sum() < len(known) + 5 * np.sqrt(2 * len(known))
    for X, y in zip(np.asarray(support.tokens), np.asarray(support.labels), strict=True):
        assert (X[:, 0].any(), X[:, 1].any()) == (y > 0, y < 0)
    relevant = np.asarray(support.tokens)[..., :2].any(axis=2)
    np.testing.assert_array_equal(support.roles, relevant)
    np.testing.assert_array_equal(support.types, support.labels)
    assert np.asarray(support.kept).all()
    assert set(np.unique(np.asarray(support.tokens))) == {0.0, 2.0}


def test_atoms_of_a_noisy_or_huge_mixture_are_refused():
    with pytest.raises(BadInput, match=r"Z=0\.5"):
        atoms(MixtureSizes(4, 8, 2, 1.0, 0.5, 0.0, 0.0, 0.5))
    with pytest.raises(BadInput, match="atoms"):
        atoms(MixtureSizes(12, 12, 8, 1.0, 0.25))
