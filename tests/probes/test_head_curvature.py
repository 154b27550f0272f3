"""The collapsed spectrum against Lanczos and against the dense Hessian of explicit heads."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from attnlab.core import BadInput
from attnlab.data.batch import Batch
from attnlab.models.multihead import Heads, HeadsView, outputs
from attnlab.numerics.lanczos import spectrum_ends
from attnlab.probes.head_curvature import curvature, hessian_product
from attnlab.training.losses import logistic

RANDOM = np.random.default_rng(5)
T, D, N = 3, 4, 6
POINTS = Batch.weighted(
    jnp.asarray(RANDOM.normal(size=(N, T, D))),
    jnp.asarray(RANDOM.choice([-1.0, 1.0], N)),
    jnp.full(N, 1 / N),
)
TWO = Heads(
    jnp.asarray(RANDOM.normal(size=(2, T, D))), jnp.asarray(0.5 * RANDOM.normal(size=(2, D, D)))
)


def views(counts):
    counts = np.asarray(counts)
    grouped = HeadsView(TWO, TWO, jnp.asarray(counts, float), jnp.asarray(float(counts.sum())))
    explicit = jax.tree.map(lambda x: jnp.repeat(x, counts, axis=0), TWO)
    one_each = jnp.ones(int(counts.sum()))
    return grouped, HeadsView(explicit, explicit, one_each, jnp.asarray(float(counts.sum())))


def dense_eigenvalues(view):
    flat, rebuild = ravel_pytree(view.heads)

    def loss(x):
        margins = POINTS.labels * outputs(rebuild(x), view.shares, POINTS.tokens)
        return POINTS.weights @ logistic.value(margins)

    return np.linalg.eigvalsh(np.asarray(jax.jit(jax.hessian(loss))(flat)))


@pytest.mark.parametrize("counts", [(2, 3), (1, 2), (3, 0)])
def test_the_collapsed_spectrum_is_the_dense_one(counts):
    grouped, explicit = views(counts)
    found = eqx.filter_jit(curvature)(grouped, POINTS)
    exact = dense_eigenvalues(explicit)
    assert float(found.smallest) == pytest.approx(exact[0], rel=1e-12)
    assert float(found.norm) == pytest.approx(np.abs(exact).max(), rel=1e-12)


def test_lanczos_finds_both_ends_and_its_residual_bounds_the_error():
    _, explicit = views((2, 3))
    flat, rebuild = ravel_pytree(explicit.heads)
    product = eqx.filter_jit(
        lambda x: ravel_pytree(hessian_product(explicit, POINTS, "full", rebuild(x)))[0]
    )
    ends = spectrum_ends(lambda x: np.asarray(product(jnp.asarray(x))), flat.size)
    exact = dense_eigenvalues(explicit)
    for value, error, true in (
        (ends.smallest, ends.smallest_residual, exact[0]),
        (ends.largest, ends.largest_residual, exact[-1]),
    ):
        assert abs(value - true) <= max(error, 1e-12)
        assert error < 1e-10
    assert ends.norm == pytest.approx(np.abs(exact).max(), rel=1e-10)


def test_lanczos_refuses_what_is_too_small():
    with pytest.raises(BadInput, match="2 numbers"):
        spectrum_ends(lambda x: x, 2)
