"""The engine on tokens, built by hand, against loops over samples, places and neurons."""

import math
from dataclasses import replace
from types import SimpleNamespace

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

from attnlab.engines.exact import Exact
from attnlab.models.shallow_vit import Parameters

ROWS, SIZE, L, D, NEURONS, M_B, H = 4, 3, 3, 2, 4, 2, 2
GAIN = 0.8
CASES = {
    "one output, heads added up, skip": SimpleNamespace(outputs=1, combination="sum", skip=True),
    "two outputs, heads side by side": SimpleNamespace(outputs=2, combination="concat", skip=False),
}


@pytest.fixture(scope="module", params=CASES.values(), ids=CASES)
def case(request):
    of, random = request.param, np.random.default_rng(12)
    wide = D * H if of.combination == "concat" else D
    shapes = [(NEURONS, wide), (H, D, D), (H, M_B, D), (H, M_B, D)]
    state = Parameters(*(jnp.asarray(random.normal(size=shape)) for shape in shapes))
    kept = np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1], [1, 1, 1]], bool)
    engine = Exact(
        tokens=jnp.asarray(random.normal(size=(ROWS, L, D))),
        labels=jnp.asarray(random.choice([-1.0, 1.0], (ROWS, of.outputs))),
        kept=jnp.asarray(kept),
        keys=jnp.asarray(kept | np.array([0, 0, 1], bool)),
        a=jnp.asarray(random.normal(size=(of.outputs, NEURONS, L))),
        size=jnp.asarray(SIZE),
        margin=jnp.asarray(0.0),
        score_gain=jnp.asarray(GAIN),
        score_rate=jnp.asarray(1.0),
        skip=jnp.asarray(float(of.skip)),
        combination=of.combination,
    )
    # Between the samples' margins: some are short of it and some beyond.
    low, middle, _ = sorted(margin_by_loops(engine, state, n) for n in range(SIZE))
    return eqx.tree_at(lambda e: e.margin, engine, jnp.asarray((low + middle) / 2)), state


def margin_by_loops(engine, w, n) -> float:
    W_O, W_V, W_K, W_Q = (np.asarray(x) for x in w)
    X, y = np.asarray(engine.tokens)[n], np.asarray(engine.labels)[n]
    kept, keys, a = (np.asarray(x) for x in (engine.kept[n], engine.keys[n], engine.a))
    total = 0.0
    for place in range(L):
        if not kept[place]:
            continue
        by_head = []
        for h in range(H):
            q = W_Q[h] @ X[place]
            e = [keys[s] * math.exp(GAIN * float((W_K[h] @ X[s]) @ q)) for s in range(L)]
            by_head.append(sum(e[s] / sum(e) * W_V[h] @ X[s] for s in range(L)))
        v = sum(by_head) if engine.combination == "sum" else np.concatenate(by_head)
        v = v + X[place] if float(engine.skip) else v
        for i in range(NEURONS):
            total += float(y @ a[:, i, place]) * max(float(W_O[i] @ v), 0.0) / kept.sum()
    return total


def loss_by_loops(engine, w, size=SIZE) -> float:
    margins = [margin_by_loops(engine, w, n) for n in range(size)]
    return sum(max(float(engine.margin) - x, 0.0) for x in margins) / size


def differences(engine, w, step=1e-6) -> Parameters:
    """Minus the gradient of the loss."""
    found = []
    for k, x in enumerate(w):
        gradient = np.zeros(x.shape)
        for place in np.ndindex(x.shape):
            ends = []
            for sign in (1, -1):
                moved = np.array(x)
                moved[place] += sign * step
                ends.append(loss_by_loops(engine, (*w[:k], moved, *w[k + 1 :])))
            gradient[place] = -(ends[0] - ends[1]) / (2 * step)
        found.append(gradient)
    return Parameters(*found)


def test_margins_loss_gradient_and_step(case) -> None:
    engine, state = case
    margins, loss, (same, field), (before, moved) = eqx.filter_jit(
        lambda e, s: (e.margins(s), e.loss(s), e.loss_and_field(s), e.step(s, 0.3))
    )(engine, state)
    expected = [margin_by_loops(engine, state, n) for n in range(ROWS)]
    np.testing.assert_allclose(margins, expected, rtol=1e-10)
    exact = loss_by_loops(engine, state)
    for value in (loss, same, before):
        assert float(value) == pytest.approx(exact, rel=1e-10)
    assert exact > 0
    for got, by_hand, start, after in zip(
        field, differences(engine, state), state, moved, strict=True
    ):
        np.testing.assert_allclose(got, by_hand, atol=1e-7)
        np.testing.assert_allclose(after, start + 0.3 * got, rtol=1e-12)


def test_a_subset_is_its_rows_and_fitted_means_no_loss(case) -> None:
    engine, state = case
    margins = [margin_by_loops(engine, state, n) for n in range(ROWS)]

    @eqx.filter_jit
    def look(engine, rows, size, margin):
        part = engine.subset(rows, size)
        part = eqx.tree_at(lambda e: e.margin, part, margin)
        return part.loss(state), part.is_fitted(state)

    for rows, size in (([3, 1, 2], 2), ([2, 0, 1], 3), ([1, 1, 0], 1)):
        used = [margins[row] for row in rows[:size]]
        for margin in (min(used) - 1e-9, min(used) + 1e-3, max(used) + 1.0):
            arguments = jnp.asarray(rows), jnp.asarray(size), jnp.asarray(margin)
            loss, fitted = look(engine, *arguments)
            expected = sum(max(margin - x, 0.0) for x in used) / size
            assert float(loss) == pytest.approx(expected, abs=1e-12)
            assert bool(fitted) == (expected == 0)
    assert engine.view(state) is state


@pytest.mark.parametrize("room", [2, 3])
def test_without_its_removed_tokens_an_engine_is_the_same_function(case, room) -> None:
    engine, state = case
    kept = np.array([[1, 1, 0], [0, 0, 1], [0, 1, 1], [1, 0, 1]], bool)
    masked = replace(engine, kept=jnp.asarray(kept), keys=jnp.asarray(kept))
    gathered = masked.shortened(room)
    assert gathered.tokens.shape == (ROWS, room, D)
    np.testing.assert_array_equal(gathered.kept.sum(1), kept.sum(1))
    for n in range(ROWS):
        places = np.flatnonzero(kept[n])
        np.testing.assert_array_equal(gathered.places[n, : places.size], places)
        np.testing.assert_array_equal(gathered.tokens[n, : places.size], masked.tokens[n, places])
    of = eqx.filter_jit(lambda e, s: (e.margins(s), *e.loss_and_field(s)))
    rows, size = jnp.asarray([2, 0, 1]), jnp.asarray(2)
    for few, many in ((gathered, masked), (gathered.subset(rows, size), masked.subset(rows, size))):
        (margins, loss, field), (same, same_loss, same_field) = of(few, state), of(many, state)
        np.testing.assert_allclose(margins, same, rtol=1e-12)
        assert float(loss) == pytest.approx(float(same_loss), rel=1e-12)
        for x, y in zip(field, same_field, strict=True):
            np.testing.assert_allclose(x, y, atol=1e-13)
    again = gathered.shortened(2)
    np.testing.assert_allclose(of(again, state)[0], of(masked, state)[0], rtol=1e-12)
