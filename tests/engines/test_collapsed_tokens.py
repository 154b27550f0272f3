"""The engine on patterns with counts, against the same samples token by token."""

import math
from types import SimpleNamespace

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

from attnlab.engines.collapsed_tokens import Collapsed, sums_by_pattern
from attnlab.models.shallow_vit import Parameters

SIZE, L, D, NEURONS, M_B, H, M = 3, 4, 3, 4, 2, 2, 3
GAIN, RATE = 0.8, 0.25
PATTERNS = np.array([[0, 0, 1, 2], [1, 0, 1, 2], [2, 0, 1, 0], [0, 0, 0, 0]])
"""Three samples of the classes 1, 2, 1, and a row of padding."""
CLASSES = np.array([0, 1, 0, 0])
COUNTS = np.array([[2.0, 1.0, 1.0], [1.0, 2.0, 1.0]])


@pytest.fixture(scope="module", params=[("sum", 1), ("concat", 2)], ids=["sum", "concat"])
def case(request):
    (combination, outputs), random = request.param, np.random.default_rng(5)
    wide = D * H if combination == "concat" else D
    shapes = [(NEURONS, wide), (H, D, D), (H, M_B, D), (H, M_B, D)]
    state = Parameters(*(jnp.asarray(random.normal(size=shape)) for shape in shapes))
    a = random.normal(size=(outputs, L, NEURONS))
    batch = SimpleNamespace(patterns=jnp.asarray(PATTERNS))
    engine = Collapsed(
        vectors=jnp.asarray(random.normal(size=(M, D))),
        counts=jnp.asarray(COUNTS),
        sums=sums_by_pattern(batch, jnp.asarray(a), M, jnp.asarray(SIZE)),
        labels=jnp.asarray(random.choice([-1.0, 1.0], (4, outputs))),
        classes=jnp.asarray(CLASSES),
        size=jnp.asarray(SIZE),
        margin=jnp.asarray(0.0),
        score_gain=jnp.asarray(GAIN),
        score_rate=jnp.asarray(1.0),
        skip=jnp.asarray(0.7),
        combination=combination,
    )
    # Between the samples' margins: some are short of it and some beyond.
    low, middle, _ = sorted(margin_by_tokens(engine, state, a, n) for n in range(SIZE))
    return eqx.tree_at(lambda e: e.margin, engine, jnp.asarray((low + middle) / 2)), state, a


def margin_by_tokens(engine, w, a, n) -> float:
    W_O, W_V, W_K, W_Q = (np.asarray(x) for x in w)
    X, y = np.asarray(engine.vectors)[PATTERNS[n]], np.asarray(engine.labels)[n]
    total = 0.0
    for place in range(L):
        by_head = []
        for h in range(H):
            q = W_Q[h] @ X[place]
            e = [math.exp(GAIN * float((W_K[h] @ X[s]) @ q)) for s in range(L)]
            by_head.append(sum(e[s] / sum(e) * W_V[h] @ X[s] for s in range(L)))
        # Side by side the heads are as wide as no token: there is nothing to skip to.
        if engine.combination == "sum":
            v = sum(by_head) + 0.7 * X[place]
        else:
            v = np.concatenate(by_head)
        for i in range(NEURONS):
            total += float(y @ a[:, place, i]) * max(float(W_O[i] @ v), 0.0) / L
    return total


def loss_by_tokens(engine, w, a) -> float:
    margins = [margin_by_tokens(engine, w, a, n) for n in range(SIZE)]
    return sum(max(float(engine.margin) - x, 0.0) for x in margins) / SIZE


def test_margins_loss_gradient_and_step(case) -> None:
    engine, state, a = case
    slowed = eqx.tree_at(lambda e: e.score_rate, engine, jnp.asarray(RATE))
    of = eqx.filter_jit(lambda e, s: (e.margins(s), e.loss(s), e.loss_and_field(s), e.step(s, 0.3)))
    margins, loss, (same, field), (before, moved) = of(engine, state)
    expected = [margin_by_tokens(engine, state, a, n) for n in range(SIZE)]
    np.testing.assert_allclose(margins[:SIZE], expected, rtol=1e-10)
    for value in (loss, same, before):
        assert float(value) == pytest.approx(loss_by_tokens(engine, state, a), rel=1e-10)
    assert float(loss) > 0
    slow = of(slowed, state)[2][1]
    for k, (x, got) in enumerate(zip(state, field, strict=True)):
        gradient = np.zeros(x.shape)
        for place in np.ndindex(x.shape):
            ends = []
            for sign in (1, -1):
                changed = np.array(x)
                changed[place] += sign * 1e-6
                ends.append(loss_by_tokens(engine, (*state[:k], changed, *state[k + 1 :]), a))
            gradient[place] = -(ends[0] - ends[1]) / 2e-6
        np.testing.assert_allclose(got, gradient, atol=1e-7)
        np.testing.assert_allclose(moved[k], x + 0.3 * got, rtol=1e-12)
        # Keys and queries move at the rate, values and neurons in full.
        np.testing.assert_allclose(slow[k], (RATE if k >= 2 else 1.0) * got, atol=1e-12)


def test_a_subset_is_its_rows_and_fitted_means_no_loss(case) -> None:
    engine, state, a = case
    margins = [margin_by_tokens(engine, state, a, n) for n in range(SIZE)]

    @eqx.filter_jit
    def look(engine, rows, size, margin):
        part = engine.subset(rows, size)
        part = eqx.tree_at(lambda e: e.margin, part, margin)
        return part.loss(state), part.is_fitted(state)

    for rows, size in (([1, 2, 0], 2), ([2, 0, 1], 3), ([1, 0, 0], 1)):
        used = [margins[row] for row in rows[:size]]
        for margin in (min(used) - 1e-9, min(used) + 1e-3, max(used) + 1.0):
            arguments = jnp.asarray(rows), jnp.asarray(size), jnp.asarray(margin)
            loss, fitted = look(engine, *arguments)
            expected = sum(max(margin - x, 0.0) for x in used) / size
            assert float(loss) == pytest.approx(expected, abs=1e-12)
            assert bool(fitted) == (expected == 0)
    assert engine.view(state) is state


def test_output_weights_are_added_up_by_pattern_and_padding_is_zero(case) -> None:
    engine, _, a = case
    got = np.asarray(engine.sums).reshape(4, len(a), M, NEURONS)
    for n in range(SIZE):
        for j in range(M):
            places = [place for place in range(L) if PATTERNS[n, place] == j]
            expected = sum(a[:, place] for place in places) / L
            np.testing.assert_allclose(got[n, :, j], expected, atol=1e-15)
    assert not got[SIZE:].any()
