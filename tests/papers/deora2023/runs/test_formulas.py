"""Lemma 1 term by term in loops, and the searches' quotients by differences at the same point."""

import jax.numpy as jnp
import numpy as np
import pytest

from attnlab.cells import Key
from attnlab.papers.deora2023.runs import formulas
from attnlab.papers.deora2023.settings import FormulaSettings

T, D = 3, 2


def key(cell) -> Key:
    return Key.of(cell, 5)


@pytest.mark.parametrize("printed", [False, True])
def test_the_formulas_of_lemma_1(plain, printed):
    random = np.random.default_rng(0)
    X, U = random.normal(size=(2, T, D))
    W = random.normal(size=(D, D))
    a, b, c = random.normal(size=T), random.normal(size=D), random.normal(size=D)
    vectors = tuple(map(jnp.asarray, (a, b, c)))
    arrays = map(jnp.asarray, (X, U, W))
    found = formulas.printed_formulas(*arrays, vectors, jnp.asarray(printed))
    P = plain.attention(W, X)
    first = P @ X
    of_W, mixed, second = np.zeros((3, D, D))
    for t in range(T):
        logits = np.array([X[t] @ W @ X[s] for s in range(T)])
        outer = np.outer(logits, logits) if printed else np.outer(P[t], P[t])
        slope = np.diag(P[t]) - outer
        of_W += np.outer(X[t], U[t] @ X.T @ slope @ X)
        mixed += a[t] * np.outer(X[t], b @ X.T @ slope @ X)
        mean = P[t] @ X
        e = np.array(
            [
                (x @ b) * (x @ U[t]) - (x @ U[t]) * (b @ mean) - (x @ b) * (U[t] @ mean)
                for x in X
            ]
        )  # fmt: skip
        second += (c @ X[t]) * np.outer(X[t], e @ slope @ X)
    stated = {"gradient_U": first, "gradient_W": of_W, "mixed": mixed, "hessian_W": second}
    for name, expected in stated.items():
        np.testing.assert_allclose(found[name], expected, rtol=1e-11, atol=1e-13)
    if printed:
        return
    # And they are derivatives: of the output, and of its two gradients along a, b and c.
    slope_W = plain.gradient(lambda x: plain.head(U, x, X), W)
    np.testing.assert_allclose(of_W, slope_W, atol=1e-8)
    along = plain.gradient(lambda x: a @ (plain.attention(x, X) @ X) @ b, W)
    np.testing.assert_allclose(mixed, along, atol=1e-8)
    twice = plain.gradient(
        lambda x: c @ plain.gradient(lambda z: plain.head(U, z, X), x, 1e-4) @ b, W, 1e-4
    )
    np.testing.assert_allclose(second, twice, atol=1e-6)


@pytest.mark.parametrize("softmax", ["corrected", "printed"])
def test_the_comparison_tells_right_from_wrong(softmax):
    cell = FormulaSettings(T=T, d=D, softmax=softmax)
    values = formulas.compare_formulas(cell, key(cell)).values
    right = {"gradient_U": True} | dict.fromkeys(("gradient_W", "mixed", "hessian_W"),
                                                 softmax == "corrected")  # fmt: skip
    assert set(values) == {f"{k}_error_{n}" for k in ("autodiff", "difference") for n in right}
    for name, expected in right.items():
        assert (float(values[f"autodiff_error_{name}"]) <= 1e-13) == expected
        assert (float(values[f"difference_error_{name}"]) <= 1) == expected
