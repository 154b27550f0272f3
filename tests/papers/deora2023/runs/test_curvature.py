"""Slopes and bends of heads and of the loss by central differences, entry by entry."""

import math
from dataclasses import replace

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

from attnlab.cells import Key
from attnlab.models.multihead import Heads
from attnlab.papers.deora2023.runs import curvature
from attnlab.papers.deora2023.runs.preparation import engine_and_step, sign_counts
from attnlab.papers.deora2023.runs.samples import draw
from attnlab.papers.deora2023.settings import TrainingSettings
from attnlab.papers.deora2023.settings.training import resolve

T, D, H = 2, 3, 2
CELL = resolve(TrainingSettings(T=T, d=D, M=1, S=1.3, n=3, n1=16, H=2.0, K=4, eta=0.6))


def key(cell) -> Key:
    return Key.of(cell, 1)


def hessian(f, x: np.ndarray, step: float = 1e-4) -> np.ndarray:
    size = len(x)
    e = step * np.eye(size)
    found = np.zeros((size, size))
    for i in range(size):
        for j in range(i + 1):
            cross = f(x + e[i] + e[j]) - f(x + e[i] - e[j])
            cross += f(x - e[i] - e[j]) - f(x - e[i] + e[j])
            found[i, j] = found[j, i] = cross / (4 * step**2)
    return found


def test_proposition_1_at_trained_heads(plain):
    cell = replace(CELL, engine="collapsed_heads")
    drawn = draw(cell, key(cell))
    random = np.random.default_rng(0)
    heads = Heads(*(jnp.asarray(random.normal(size=s)) for s in ((2, T, D), (2, D, D))))
    found = curvature.model_quotients(cell, heads, drawn)
    expected = {f"trained_{kind}_{v}": 0.0 for kind in ("gradient", "hessian")
                for v in ("printed", "sharp")}  # fmt: skip
    for u, W in zip(*map(np.asarray, heads), strict=True):
        for X in drawn.tokens:

            def output(x, X=X):
                return plain.head(x[: T * D].reshape(T, D), x[T * D :].reshape(D, D), X)

            theta = np.r_[u.ravel(), W.ravel()]
            slope = np.linalg.norm(plain.gradient(output, theta))
            bend = np.abs(np.linalg.eigvalsh(hessian(output, theta))).max()
            longest = max(np.linalg.norm(x) for x in X)
            decoded = sum(max(abs(x @ row) for x in X) for row in u)
            large = np.abs(X).max()
            bounds = {
                "gradient_printed": 2 * longest**2 * decoded + math.sqrt(T) * longest,
                "gradient_sharp": math.hypot(longest**2 * decoded, math.sqrt(T) * longest),
                "hessian_printed": 6 * D * (longest * large) ** 2 * decoded
                + 2 * math.sqrt(T * D) * longest**2 * large,
                "hessian_sharp": 2 * longest**4 * decoded + math.sqrt(T) * longest**3,
            }
            for name, bound in bounds.items():
                measured = slope if name.startswith("gradient") else bend
                expected[f"trained_{name}"] = max(expected[f"trained_{name}"], measured / bound)
    assert found == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("change", [{"output": "pooled"}, {"engine": "weights"}])
def test_other_models_have_no_such_quotients(change):
    cell = replace(CELL, **{"engine": "collapsed_heads", **change})
    assert curvature.model_quotients(cell, None, None) == {}  # type: ignore[arg-type]


def test_heads_that_all_differ(plain):
    """The whole Hessian of the loss, 30 by 30, at the start and after four steps."""
    cell = replace(CELL, start="random", engine="weights", scale=1.5)
    values = curvature.explicit_curvature(cell, key(cell)).values
    drawn = draw(cell, key(cell))
    engine, eta, _ = engine_and_step(cell, key(cell), drawn, sign_counts(cell, key(cell)))
    assert eta == 0.6
    state, step = engine.zero(), eqx.filter_jit(engine.step)
    for name in ("start", "trained"):
        heads = [np.asarray(x) for x in engine.parameters(state)]
        size = heads[0].size

        def loss(x, size=size):
            U, W = x[:size].reshape(H, T, D), x[size:].reshape(H, D, D)
            data = (drawn.tokens, drawn.labels, drawn.weights)
            return plain.loss(U, W, np.ones(H), H, *data)

        theta = np.r_[heads[0].ravel(), heads[1].ravel()]
        slope = np.linalg.norm(plain.gradient(loss, theta))
        spectrum = np.linalg.eigvalsh(hessian(loss, theta))
        m = max(np.linalg.norm(u) for u in heads[0])
        one = math.sqrt(T) * 1.3 * math.sqrt(1.3**4 * m**2 + 1)
        three = math.sqrt(T) * 1.3**3 * (2 * 1.3**2 * m + 1)
        expected = {
            f"{name}_lambda_min": spectrum[0],
            f"{name}_self_bounded": slope / (one * loss(theta)),
            f"{name}_smooth": np.abs(spectrum).max() / (three / math.sqrt(H) + one**2 / 4),
            f"{name}_weakly_convex": -spectrum[0] * math.sqrt(H) / (three * loss(theta)),
        }
        assert spectrum[0] < 0
        assert {k: values[k] for k in expected} == pytest.approx(expected, rel=1e-4)
        assert values[f"{name}_residual"] <= 1e-8
        for _ in range(4):
            _, state = step(state, jnp.asarray(eta))
