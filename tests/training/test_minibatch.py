"""Mini-batch descent against the same run written as a plain loop."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attnlab.training.descent import PlainStep, descend
from attnlab.training.minibatch import MiniBatches, batch_indices
from attnlab.training.trajectory import Ending

X = np.array([1.0, 0.4, 2.0, 0.3, 0.7, 9.0])
"""The last one is padding."""
SIZE, ROOM, BATCH, RATE = 5, 4, 3, 0.8
RECORD_AT = np.array([0, 3, 10, 60])


class Line(eqx.Module):
    """The mean of max(0, 1 - x w) over samples x, of one weight w."""

    x: jax.Array
    size: jax.Array

    def subset(self, indices, size):
        return Line(self.x[indices], size)

    def _short(self, w):
        return jnp.where(jnp.arange(self.x.size) < self.size, jnp.maximum(1 - self.x * w, 0), 0)

    def loss(self, w):
        return self._short(w).sum() / self.size

    def loss_and_field(self, w):
        return self.loss(w), jnp.where(self._short(w) > 0, self.x, 0).sum() / self.size

    def step(self, w, rate):
        loss, field = self.loss_and_field(w)
        return loss, w + rate * field

    def is_fitted(self, w):
        return self.loss(w) == 0

    def view(self, w):
        return w


def weight(t, view, args):
    del t, args
    return {"w": view}


@eqx.filter_jit
def run(key, stop, rate):
    engine = Line(jnp.asarray(X), jnp.asarray(SIZE))
    return descend(
        engine,
        jnp.asarray(0.0),
        PlainStep(rate),
        RECORD_AT,
        weight,
        batches=MiniBatches(key, BATCH, ROOM),
        stop_when_fitted=stop,
    )


def by_a_loop(key, stop):
    """The state, the step count, the last step that moved, and the records."""
    w, step, moved_at, fitted, records = 0.0, 0, 0, False, []
    for target in RECORD_AT:
        while not fitted and step < target:
            indices = batch_indices(key, jnp.asarray(step), jnp.asarray(SIZE), ROOM)
            batch = X[np.asarray(indices)][:BATCH]
            active = [x for x in batch if 1 - x * w > 0]
            if active:
                w += RATE * sum(active) / BATCH
                moved_at = step + 1
            elif stop:
                fitted = all(1 - x * w <= 0 for x in X[:SIZE])
            step += 1
        seen = target == RECORD_AT[-1] or not fitted
        records.append((step, w) if seen else (np.nan, np.nan))
    return w, step, moved_at, fitted, np.array(records)


@pytest.mark.parametrize(("seed", "stop"), [(0, True), (1, True), (1, False)])
def test_a_run_is_the_loop(seed, stop) -> None:
    key = jax.random.key(seed)
    w, step, moved_at, fitted, records = by_a_loop(key, stop)
    got = run(key, jnp.asarray(stop), jnp.asarray(RATE))
    np.testing.assert_allclose(float(got.state), w, rtol=1e-12)
    assert int(got.steps) == step
    np.testing.assert_array_equal(got.times, records[:, 0])
    np.testing.assert_allclose(got.values["w"], records[:, 1], rtol=1e-12)
    losses = [np.maximum(1 - X[:SIZE] * w, 0).mean() for w in records[:, 1]]
    np.testing.assert_allclose(got.values["loss"], losses, atol=1e-15)
    assert fitted == stop
    assert float(got.end_time) == (moved_at if stop else 60)
    assert Ending(int(got.ending)) == (Ending.TARGET_LOSS if stop else Ending.FINISHED)
    # A batch without loss came before the end, and not every batch had one.
    assert moved_at < step


def test_a_step_without_end_is_divergence() -> None:
    got = run(jax.random.key(0), jnp.asarray(True), jnp.asarray(-jnp.inf))
    assert got.diverged
    assert np.isnan(got.times[1:]).all()
    assert float(got.times[0]) == 0


def test_batches_reach_every_sample_in_use_and_no_other() -> None:
    drawn = np.concatenate(
        [
            np.asarray(batch_indices(jax.random.key(0), jnp.asarray(t), jnp.asarray(SIZE), 500))
            for t in range(2)
        ]
    )
    counts = np.bincount(drawn)
    assert counts.size == SIZE
    assert (np.abs(counts - 200) < 60).all()
    assert (drawn[:500] != drawn[500:]).any()


def test_a_batch_without_replacement_holds_no_sample_twice():
    def drawn(size, n, replacement, step=0):
        batches = MiniBatches(jax.random.key(1), size, 8, jnp.asarray(replacement), 16)
        return batches.drawn(jnp.asarray(step), jnp.asarray(n))

    for step in range(20):
        found, size = drawn(6, 9, False, step)
        own = np.asarray(found)[: int(size)]
        assert len(set(own.tolist())) == int(size) == 6
        assert own.max() < 9
    whole, size = drawn(8, 5, False)
    assert int(size) == 5  # a batch larger than the training set is all of it
    assert sorted(np.asarray(whole)[:5].tolist()) == [0, 1, 2, 3, 4]
    plain = MiniBatches(jax.random.key(1), 6, 8).drawn(jnp.asarray(0), jnp.asarray(9))
    for a, b in zip(plain, drawn(6, 9, True), strict=True):
        np.testing.assert_array_equal(a, b)
