"""Sums and lengths over all heads, as plain sums in which each head is written out."""

from types import SimpleNamespace

import jax.numpy as jnp
import numpy as np
import pytest

from attnlab.engines import heads_arithmetic as arithmetic
from attnlab.models.multihead import Heads

RANDOM = np.random.default_rng(7)
COUNTS = [3, 0, 2]
X, Y = (
    Heads(jnp.asarray(RANDOM.normal(size=(3, 2, 4))), jnp.asarray(RANDOM.normal(size=(3, 4, 4))))
    for _ in range(2)
)
ENGINE = SimpleNamespace(
    counts=jnp.asarray(COUNTS, float),
    parameters=lambda state: Heads(state.U + 1.0, state.W),
)


def written_out(x: Heads) -> np.ndarray:
    """Every head's numbers one after the other: a group as often as it has heads."""
    rows = [np.r_[np.ravel(x.U[g]), np.ravel(x.W[g])] for g in range(3) for _ in range(COUNTS[g])]
    return np.concatenate(rows)


def test_sums_part_by_part():
    for found, expected in (
        (arithmetic.plus(X, Y), (X.U + Y.U, X.W + Y.W)),
        (arithmetic.minus(X, Y), (X.U - Y.U, X.W - Y.W)),
        (arithmetic.scaled(X, -2.5), (-2.5 * X.U, -2.5 * X.W)),
    ):
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_array_equal(a, b)


def test_products_and_lengths_over_all_heads():
    x, y = written_out(X), written_out(Y)
    assert float(arithmetic.inner(X, Y, ENGINE)) == pytest.approx(float(x @ y), rel=1e-12)
    assert float(arithmetic.length(X, ENGINE)) == pytest.approx(np.linalg.norm(x), rel=1e-12)


def test_the_largest_decoder_is_of_a_head_that_is_there():
    state = Heads(X.U.at[1].set(100.0), X.W)
    norms = [np.linalg.norm(np.asarray(state.U[g]) + 1) for g in (0, 2)]
    found = float(arithmetic.largest_decoder(state, ENGINE))
    assert found == pytest.approx(max(norms), rel=1e-12)
