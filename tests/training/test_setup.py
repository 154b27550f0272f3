"""A run that is ready to go: which of flow and descent it takes, and what it hands on."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attnlab.data.batch import Batch
from attnlab.training.descent import PlainStep
from attnlab.training.minibatch import MiniBatches
from attnlab.training.setup import Setup, trained
from attnlab.training.trajectory import Ending

BATCH = Batch.of(np.ones((3, 2, 2)), [1, -1, 1])


class Hinge(eqx.Module):
    """The mean of max(0, 1 - x w) over three samples x, of one weight w; fitted at w = 1."""

    x: jax.Array = eqx.field(default_factory=lambda: jnp.asarray([1.0, 2.0, 4.0]))
    size: jax.Array = eqx.field(default_factory=lambda: jnp.asarray(3))

    def subset(self, indices, size):
        return Hinge(self.x[indices], size)

    def loss(self, w):
        return jnp.maximum(1 - self.x * w, 0).mean()

    def loss_and_field(self, w):
        return self.loss(w), jnp.where(self.x * w < 1, self.x, 0).mean()

    def step(self, w, rate):
        loss, field = self.loss_and_field(w)
        return loss, w + rate * field

    def is_fitted(self, w):
        return self.loss(w) == 0

    def view(self, w):
        return w


class Numbered(Hinge):
    """An engine that numbers words in its own way."""

    def rows_of(self, batch):
        return eqx.tree_at(lambda b: b.roles, batch, batch.roles + 7)


def setup(engine=None, **changes) -> Setup:
    return Setup(
        model=None, batch=BATCH, engine=engine or Hinge(), state=jnp.asarray(0.0),
        weights_of=lambda state: "none", record_at=np.array([0, 1, 400]), **changes,
    )  # fmt: skip


def test_full_batches_go_to_the_horizon_fitted_or_not():
    run = trained(setup(update=PlainStep(0.1), stop_when_fitted=True))
    assert float(run.values["loss"][0]) == 1
    assert float(run.values["loss"][-1]) == 0
    assert float(run.end_time) == 400
    assert int(run.ending) == Ending.FINISHED


@pytest.mark.parametrize("stop", [False, True])
def test_mini_batches_stop_once_fitted_if_they_are_told_to(stop):
    batches = MiniBatches(jax.random.key(0), 2, 2)
    run = trained(setup(update=PlainStep(0.1), batches=batches, stop_when_fitted=stop))
    assert int(run.ending) == (Ending.TARGET_LOSS if stop else Ending.FINISHED)
    assert (float(run.end_time) < 400) == stop
    assert float(run.values["loss"][-1]) == 0


def test_without_a_rule_it_is_the_flow():
    """w' = (1 + 2 + 4)/3 up to w = 1/4, where the first of the samples is fitted."""
    run = trained(setup(flow_options={"target_loss": 0.5}))
    # The loss falls from 1 by (7/3)^2 t: to 1/2 at t = 9/98.
    assert float(run.end_time) == pytest.approx(9 / 98, rel=1e-6)
    assert int(run.ending) == Ending.TARGET_LOSS
    whole = trained(setup())
    assert float(whole.state) == pytest.approx(1, rel=1e-3)


def test_a_probe_sees_the_state_and_its_arguments():
    probe = lambda t, view, args: {"w": args * view}  # noqa: E731
    run = trained(setup(update=PlainStep(0.03)), probe, jnp.asarray(10.0))
    np.testing.assert_allclose(run.values["w"][:2], [0.0, 0.7])
    flown = trained(setup(), probe, jnp.asarray(10.0))
    assert float(flown.values["w"][-1]) == pytest.approx(10, rel=1e-3)


def test_samples_for_probes_are_numbered_as_the_engine_does():
    other = Batch.of(np.zeros((2, 2, 2)), [1, -1])
    plain = setup(test=other)
    assert plain.probed is BATCH
    assert plain.probed_test is other
    own = setup(Numbered(), test=other)
    np.testing.assert_array_equal(own.probed.roles, BATCH.roles + 7)
    np.testing.assert_array_equal(own.probed_test.roles, other.roles + 7)
    assert setup(Numbered()).probed_test is None
    assert setup().probed_test is None
