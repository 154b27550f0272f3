"""The mixture: every draw meets Assumption 3; atoms are its support; refusals carry numbers."""

import equinox as eqx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attnlab.cells import Key
from attnlab.core import BadInput
from attnlab.data.mixture_sizes import MixtureSizes
from attnlab.data.token_mixture import TokenMixture, atoms, directions
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


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"d": 4}, ("d=4", "M=3", "d >= 5")),
        ({"zeta": 0.3}, ("zeta=0.3", "1.5", "whole")),
        ({"zeta": 1.0}, ("5 relevant", "from 1 to 4")),
        ({"zeta": 0.0}, ("0 relevant",)),
        ({"Z_mu": 1.0, "Z": 0.1}, ("Z^2=0.01", "Z^2 >= ", "= 2")),
        ({"Z": -1.0}, ("negative",)),
        ({"T": 1}, ("T=1",)),
    ],
)
def test_what_cannot_be_is_refused_with_the_numbers(changes, words):
    good = {"T": 5, "d": 7, "M": 3, "S": 1.0, "zeta": 0.4}
    MixtureSizes(**good)
    with pytest.raises(BadInput) as refusal:
        MixtureSizes(**{**good, **changes})
    for word in words:
        assert word in str(refusal.value)


def test_atoms_of_a_noisy_or_huge_mixture_are_refused():
    with pytest.raises(BadInput, match=r"Z=0\.5"):
        atoms(MixtureSizes(4, 8, 2, 1.0, 0.5, 0.0, 0.0, 0.5))
    with pytest.raises(BadInput, match="atoms"):
        atoms(MixtureSizes(12, 12, 8, 1.0, 0.25))
