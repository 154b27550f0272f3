"""The deep vision transformer: by plain loops, its gradient, removed tokens, checkpoints."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attnlab.core import BadInput
from attnlab.data.batch import Batch
from attnlab.data.images import class_batch
from attnlab.engines.classes import on_batch
from attnlab.engines.table import start, why_not
from attnlab.models.checkpoints import load_weights, save_weights
from attnlab.models.deep_vit import sine_positions
from attnlab.models.deep_vit_model import DeepViT
from attnlab.models.protocol import Model, Weights
from attnlab.training.descent import descend
from attnlab.training.minibatch import MiniBatches
from attnlab.training.optimisers import optimiser
from attnlab.training.schedules import annealed, warmed

KEY = jax.random.key(1)
RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(5, 9, 6))
KEPT = RANDOM.random((5, 9)) < 0.6
KEPT[:, 4] = True
BATCH = Batch.of(X, [1, -1, 1, 1, -1], kept=KEPT)
SMALL = DeepViT(blocks=3, heads=2, width=8, hidden=10, outputs=3)


def moved(model, batch, scheme="sine"):
    """Weights off their start, so that biases and gains matter."""
    weights = model.init(KEY, batch, scheme)
    leaves, tree = jax.tree.flatten(weights)
    keys = jax.random.split(jax.random.key(9), len(leaves))
    new = [x + 0.1 * jax.random.normal(k, x.shape) for x, k in zip(leaves, keys, strict=True)]
    return jax.tree.unflatten(tree, new)


def norm(x, gain, bias):
    return (x - x.mean()) / np.sqrt(x.var() + 1e-5) * gain + bias


def plain(model, weights, x, places):
    """One sample, token by token and head by head; only kept tokens are given."""
    p = jax.tree.map(np.asarray, weights.trained)
    z = [x[i] @ p.W_E + p.b_E + p.P[places[i]] for i in range(len(x))]
    if model.pooling == "class":
        z = [p.class_token, *z]
    size = model.width // model.heads
    maps = []
    for b in range(model.blocks):
        n = [norm(t, p.gain_1[b], p.bias_1[b]) for t in z]
        out = [np.zeros(model.width) for _ in z]
        for h in range(model.heads):
            cut = slice(h * size, (h + 1) * size)
            q, k, v = ([t @ W[b][:, cut] for t in n] for W in (p.W_Q, p.W_K, p.W_V))
            rows = []
            for i in range(len(z)):
                s = np.array([q[i] @ k[j] / np.sqrt(size) for j in range(len(z))])
                a = np.exp(s - s.max())
                a /= a.sum()
                rows.append(a)
                out[i][cut] = sum(a[j] * v[j] for j in range(len(z)))
            maps.append(rows)
        u = [t + o @ p.W_A[b] for t, o in zip(z, out, strict=True)]
        z = [
            t + np.maximum(norm(t, p.gain_2[b], p.bias_2[b]) @ p.W_1[b] + p.b_1[b], 0) @ p.W_2[b]
            + p.b_2[b]
            for t in u
        ]  # fmt: skip
    last = [norm(t, p.gain, p.bias) for t in z]
    pooled = last[0] if model.pooling == "class" else np.mean(last, axis=0)
    return pooled @ p.C + p.c, np.array(maps)


@pytest.mark.parametrize("pooling", ["mean", "class"])
def test_outputs_and_attention_by_plain_loops(pooling):
    model = DeepViT(blocks=3, heads=2, width=8, hidden=10, outputs=3, pooling=pooling)
    assert isinstance(model, Model)
    weights = moved(model, BATCH)
    found = model.apply(weights, BATCH.tokens, BATCH.kept)
    maps = model.attention_by_block(weights, BATCH.tokens, BATCH.kept)
    extra = int(pooling == "class")
    for n in range(5):
        places = np.flatnonzero(KEPT[n])
        output, own = plain(model, weights, X[n, places], places)
        np.testing.assert_allclose(found[n], output, rtol=1e-9)
        kept = np.r_[np.arange(extra), places + extra]
        np.testing.assert_allclose(
            maps[n].reshape(6, 9 + extra, 9 + extra)[:, kept][:, :, kept], own, rtol=1e-8
        )
    removed = np.asarray(maps)[:, :, :, :, extra:].sum((1, 2, 3))[~KEPT]
    assert not removed.any()
    assert model.attention(weights, BATCH.tokens, BATCH.kept).shape == (5, 6, 9, 9)


def test_gathered_tokens_give_what_masked_ones_give():
    weights = moved(SMALL, BATCH)
    whole = SMALL.apply(weights, BATCH.tokens, BATCH.kept)
    order = np.argsort(~KEPT, axis=1, kind="stable")[:, : int(KEPT.sum(1).max())]
    take = np.take_along_axis
    fewer = SMALL.apply(
        weights,
        jnp.asarray(take(X, order[..., None], 1)),
        jnp.asarray(take(KEPT, order, 1)),
        places=jnp.asarray(order),
    )
    np.testing.assert_allclose(fewer, whole, rtol=1e-9)
    wrong = SMALL.apply(
        weights, jnp.asarray(take(X, order[..., None], 1)), jnp.asarray(take(KEPT, order, 1))
    )
    assert float(jnp.abs(wrong - whole).max()) > 1e-4, "places do not matter"


def test_values_are_those_of_the_first_block():
    weights = moved(SMALL, BATCH)
    p = jax.tree.map(np.asarray, weights.trained)
    values = SMALL.values(weights, BATCH.tokens)
    token = norm(X[2, 3] @ p.W_E + p.b_E + p.P[3], p.gain_1[0], p.bias_1[0])
    np.testing.assert_allclose(values[2, :, 3].reshape(-1), token @ p.W_V[0], rtol=1e-9)


def test_uniform_attention_at_gain_zero():
    weights = moved(SMALL, BATCH)
    maps = np.asarray(SMALL.attention(weights, BATCH.tokens, BATCH.kept, 0.0))
    np.testing.assert_allclose(
        maps, np.broadcast_to((KEPT / KEPT.sum(1)[:, None])[:, None, None], maps.shape)
    )


CLASSES = class_batch(X, [0, 2, 1, 1, 0])


def test_the_gradient_by_finite_differences_and_the_loss_by_hand():
    weights = moved(SMALL, CLASSES)
    engine, state = on_batch(SMALL, CLASSES, weights, dtype=jnp.float64)
    outputs = np.asarray(SMALL.apply(weights, CLASSES.tokens, CLASSES.kept))
    by_hand = np.mean(
        [np.log(np.exp(F).sum()) - F[y] for F, y in zip(outputs, [0, 2, 1, 1, 0], strict=True)]
    )
    loss, field = engine.loss_and_field(state)
    assert float(loss) == pytest.approx(by_hand, rel=1e-12)
    assert float(engine.loss(state)) == pytest.approx(by_hand, rel=1e-12)
    hits = outputs.argmax(1) == [0, 2, 1, 1, 0]
    np.testing.assert_array_equal(engine.by_row(state), hits)
    assert float(engine.accuracy(state)) == pytest.approx(hits.mean())
    leaves, tree = jax.tree.flatten(state)
    direction = [jnp.asarray(RANDOM.normal(size=x.shape)) for x in leaves]

    def at(h):
        there = jax.tree.unflatten(
            tree, [x + h * d for x, d in zip(leaves, direction, strict=True)]
        )
        return float(engine.loss(there))

    slope = (at(1e-5) - at(-1e-5)) / 2e-5
    exact = -sum(
        float((g * d).sum()) for g, d in zip(jax.tree.leaves(field), direction, strict=True)
    )
    assert exact == pytest.approx(slope, rel=1e-6)


def test_a_mini_batch_counts_its_first_rows_alone():
    engine, state = on_batch(SMALL, CLASSES, moved(SMALL, CLASSES), dtype=jnp.float64)
    part = engine.subset(jnp.asarray([3, 1, 1, 0]), jnp.asarray(2))
    alone = engine.rows(jnp.asarray([3, 1]))
    assert float(part.loss_and_field(state)[0]) == pytest.approx(float(alone.loss(state)))


def test_any_data_trains_it_classes_signs_and_words():
    batches = MiniBatches(KEY, 4, 4)
    model = DeepViT(blocks=2, heads=2, width=8, hidden=8, outputs=3)
    engine, state = start(model, CLASSES, KEY)
    assert type(engine).__name__ == "Classes"
    path = descend(engine, state, warmed(0.02, 150), np.array([150]), batches=batches)
    assert float(path.values["loss"][-1]) < 0.1 * float(engine.loss(state))
    signs = DeepViT(blocks=2, heads=2, width=8, hidden=8)
    engine, state = start(signs, BATCH, KEY)
    assert type(engine).__name__ == "Autodiff"
    path = descend(engine, state, optimiser("adam", 0.01), np.array([0, 60]))
    assert float(path.values["loss"][-1]) < 0.5 * float(path.values["loss"][0])
    assert "several outputs" in why_not(model, CLASSES)["autodiff"]


def test_what_does_not_fit_is_refused():
    with pytest.raises(BadInput, match="no engine trains this"):
        start(SMALL, BATCH, KEY)
    with pytest.raises(BadInput, match="no engine trains this"):
        start(SMALL, CLASSES, KEY, loss="hinge")
    with pytest.raises(BadInput, match="multiple of the heads"):
        DeepViT(heads=3, width=8)
    with pytest.raises(BadInput, match="blocks=0"):
        DeepViT(blocks=0)


def test_positions_are_told_apart_and_near_ones_are_alike():
    table = sine_positions(64, 32)
    gram = table @ table.T
    assert (gram.argmax(1) == np.arange(64)).all()
    assert gram[0, 1] > gram[0, 2] > gram[0, 4]
    assert sine_positions(7, 8).shape == (7, 8)
    random = SMALL.init(KEY, BATCH, "random").trained.P
    assert float(jnp.abs(random).max()) < 0.2


@pytest.mark.parametrize(("places", "width"), [(9, 8), (7, 8), (16, 6), (1, 4), (2, 5)])
def test_positions_by_plain_loops(places, width):
    """Rows and columns of a square; one row of places that are none."""
    side = round(places**0.5)
    whole = side * side == places
    table = sine_positions(places, width)
    for place in range(places):
        row, column = (place // side, place % side) if whole else (0, place)
        waves = [100 ** (-4 * k / width) for k in range(-(-width // 4))]
        expected = [f(w * x) for x in (row, column) for f in (np.sin, np.cos) for w in waves]
        np.testing.assert_allclose(table[place], expected[:width], atol=1e-12)


def test_a_new_output_layer_leaves_the_rest():
    weights = moved(SMALL, BATCH)
    other = DeepViT(blocks=3, heads=2, width=8, hidden=10, outputs=7).new_output(KEY, weights)
    assert other.trained.C.shape == (8, 7)
    assert not other.trained.c.any()
    np.testing.assert_array_equal(other.trained.W_1, weights.trained.W_1)


# --- the step size ----------------------------------------------------------------------------


def test_the_step_size_warms_up_and_goes_to_zero():
    rates = [float(annealed(jnp.asarray(float(t)), 2.0, 100, 0.1)) for t in range(101)]
    assert rates[0] == pytest.approx(0.2)
    assert max(rates) == pytest.approx(2.0) == pytest.approx(rates[10])
    assert rates[55] == pytest.approx(1.0)
    assert rates[100] == pytest.approx(0.0, abs=1e-7)


# --- checkpoints ------------------------------------------------------------------------------


def test_checkpoints_round_trip_and_refuse(tmp_path):
    weights = moved(SMALL, BATCH).trained
    file = tmp_path / "model.safetensors"
    save_weights(file, weights)
    back = load_weights(file, weights)
    for x, y in zip(back, weights, strict=True):
        np.testing.assert_array_equal(x, np.asarray(y, np.float32))
    with pytest.raises(BadInput, match=r"C of shape \(8, 3\); \(8, 4\) is required"):
        load_weights(file, weights._replace(C=np.zeros((8, 4))))
    save_weights(file, weights._replace(c=np.full(3, np.nan)))
    with pytest.raises(BadInput, match="no finite numbers"):
        load_weights(file, weights)
    file.write_bytes(b"\x80\x04cposix\nsystem\n")
    with pytest.raises(BadInput, match="not a safetensors file"):
        load_weights(file, weights)
    save_weights(file, weights, half=True)
    file.write_bytes(file.read_bytes()[:-10])
    with pytest.raises(BadInput, match="not a safetensors file"):
        load_weights(file, weights)
    assert isinstance(Weights(weights).trained, type(back))


def test_selectors_know_where_gathered_tokens_were():
    from attnlab.data.images import gathered, image_batch
    from attnlab.selection import SELECTORS

    pixels = RANDOM.integers(0, 256, (3, 12, 12, 1), np.uint8)
    batch = image_batch(pixels, [0, 1, 2], patch=4)
    kept = jnp.asarray(np.arange(9) % 2 == 1)
    masked = dataclasses.replace(batch, kept=jnp.broadcast_to(kept, (3, 9)))
    fewer = gathered(masked, 4)
    model = DeepViT(blocks=2, heads=2, width=8, hidden=8, outputs=3)
    weights = moved(model, batch)
    whole = SELECTORS["value_norm"](masked, model, weights)
    np.testing.assert_allclose(
        SELECTORS["value_norm"](fewer, model, weights), whole[:, kept], rtol=1e-5
    )
    # Every place asks, removed ones too: only those that are kept are compared.
    maps = model.attention(weights, masked.tokens, masked.kept)[:, :, kept]
    np.testing.assert_allclose(
        SELECTORS["attention"](fewer, model, weights), maps.mean((1, 2))[:, kept], rtol=1e-5
    )
