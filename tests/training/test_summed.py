"""The sum of all losses along a run, beside adding them up one by one."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attnlab.data.batch import Batch
from attnlab.engines import explicit_heads
from attnlab.models.multihead import Heads
from attnlab.training.descent import PlainStep, descend
from attnlab.training.summed import Summed

RANDOM = np.random.default_rng(0)
TOKENS, LABELS = RANDOM.normal(size=(5, 3, 2)), np.array([1.0, -1, 1, 1, -1])
START = (0.3 * RANDOM.normal(size=(2, 3, 2)), 0.3 * RANDOM.normal(size=(2, 2, 2)))


def totals(t, view, args):
    del t, args
    return {"total": view[1], "moved": view[0].moved.U}


@pytest.mark.parametrize("record_at", [[0, 1, 2, 30], [0, 7, 30]])
def test_the_sum_is_exact_whatever_is_recorded(record_at):
    with jax.enable_x64(True):
        batch = Batch.weighted(TOKENS, LABELS, np.full(5, 0.2))
        engine = explicit_heads.engine(batch, Heads(*map(jnp.asarray, START)))
        whole = Summed(engine)
        run = descend(
            whole, whole.begin(engine.zero()), PlainStep(0.2), jnp.asarray(record_at), totals
        )
        state, losses = engine.zero(), []
        for _ in range(30):
            loss, state = engine.step(state, jnp.asarray(0.2))
            losses.append(float(loss))
    for k, total in zip(record_at, np.asarray(run.values["total"]), strict=True):
        assert total == pytest.approx(sum(losses[:k]), rel=1e-13, abs=0)
    np.testing.assert_allclose(np.asarray(run.values["moved"])[-1], np.asarray(state.U), rtol=1e-12)
    assert np.asarray(run.values["loss"])[-1] < losses[0]
