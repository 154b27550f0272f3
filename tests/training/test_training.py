import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from attnlab.core import BadInput
from attnlab.numerics.derivatives import directional_difference
from attnlab.training.descent import OptaxStep, PlainStep, descend, log_spaced_steps
from attnlab.training.engine import applied_to, together
from attnlab.training.flow import flow
from attnlab.training.losses import exponential, heavy_tailed, hinge, logistic, squared
from attnlab.training.trajectory import Ending


def position(t, view, args):
    del t, args
    return {"x": view}


def clock(t, view, args):
    del view
    return {"t": t * args}


both = together(position, applied_to(lambda args: 2 * args, clock, "twice_"))


@pytest.mark.parametrize("loss", [logistic, hinge(0.5), exponential, heavy_tailed, squared])
def test_a_slope_is_minus_the_derivative(loss) -> None:
    for x in (-3.0, 0.1, 0.4, 4.0):
        got = directional_difference(loss.value, jnp.asarray(x), jnp.asarray(1.0), 1e-3)
        assert abs(float(got.value + loss.slope(jnp.asarray(x)))) <= float(got.error)


def test_losses_stay_finite_far_out() -> None:
    x = jnp.asarray([-1e4, 1e4])
    np.testing.assert_allclose(logistic.value(x), [1e4, 0.0])
    np.testing.assert_allclose(logistic.slope(x), [1.0, 0.0])
    assert hinge(0.5) is hinge(0.5)


def test_log_spaced_steps_have_both_ends() -> None:
    steps = log_spaced_steps(30_000, 60)
    assert steps[0] == 0
    assert steps[-1] == 30_000
    assert (np.diff(steps) > 0).all()
    assert len(steps) <= 60
    assert list(log_spaced_steps(1, 2)) == [0, 1]
    with pytest.raises(BadInput, match="0 steps"):
        log_spaced_steps(0, 5)


def test_descent_records_before_the_given_steps(quadratic) -> None:
    record_at = np.array([0, 1, 4, 9, 50])
    run = descend(quadratic, jnp.asarray(3.0), PlainStep(0.1), record_at, both, jnp.asarray(1.0))
    np.testing.assert_allclose(run.values["x"], 3 * 0.8**record_at, rtol=1e-14)
    np.testing.assert_allclose(run.values["loss"], (3 * 0.8**record_at) ** 2, rtol=1e-14)
    np.testing.assert_array_equal(run.times, record_at)
    np.testing.assert_array_equal(run.values["twice_t"], 2 * record_at)
    assert run.complete
    assert int(run.steps) == 50
    assert "50" in run.why


def test_what_is_recorded_does_not_change_the_run(quadratic) -> None:
    dense = descend(quadratic, jnp.asarray(3.0), PlainStep(0.1), np.arange(31))
    sparse = descend(quadratic, jnp.asarray(3.0), PlainStep(0.1), np.array([0, 30]))
    assert float(dense.state) == float(sparse.state)


@pytest.mark.parametrize(
    ("rule", "hyperparameters"),
    [
        (optax.sgd, {"learning_rate": 0.1, "momentum": 0.9}),
        (optax.adam, {"learning_rate": 0.1}),
    ],
)
def test_optax_rules_are_optax(quadratic, rule, hyperparameters) -> None:
    run = descend(quadratic, jnp.asarray(3.0), OptaxStep(rule, hyperparameters), np.arange(11))
    transformation, x = rule(**hyperparameters), jnp.asarray(3.0)
    memory = transformation.init(x)
    for loss in run.values["loss"]:
        np.testing.assert_allclose(loss, x**2, rtol=1e-12)
        move, memory = transformation.update(2 * x, memory, x)
        x = x + move


def test_divergence_is_a_result_with_its_first_step(quadratic) -> None:
    x, first_bad = np.float64(1.0), 0
    with np.errstate(over="ignore"):
        while np.isfinite(x**2):
            x, first_bad = x * (1 - 2 * 1e10), first_bad + 1
    record_at = np.array([0, 10, first_bad - 1, first_bad, first_bad + 20])
    run = descend(quadratic, jnp.asarray(1.0), PlainStep(1e10), record_at, position)
    assert run.diverged
    assert not run.complete
    assert float(run.end_time) == first_bad
    np.testing.assert_array_equal(np.isnan(run.times), [False, False, False, True, True])
    np.testing.assert_array_equal(np.isnan(run.values["x"]), np.isnan(run.times))
    assert f"at {first_bad}" in run.why


def test_numbers_are_data_and_cost_no_compilation(quadratic) -> None:
    traces = []

    def count(t, view, args):
        traces.append(1)
        return position(t, view, args)

    for rate, last in ((0.1, 5), (0.2, 50)):
        for update in (
            PlainStep(rate),
            OptaxStep(optax.sgd, {"learning_rate": rate, "momentum": 0.5}),
        ):
            descend(quadratic, jnp.asarray(rate), update, np.array([0, last]), count)
    assert len(traces) == 2


def test_flow_follows_the_flow_and_stops_at_its_target(quadratic) -> None:
    times = np.linspace(0, 4, 9)
    run = flow(
        quadratic, jnp.asarray(3.0), times, position, rtol=1e-10, atol=1e-12, target_loss=1e-3
    )
    reached = np.log(9 / 1e-3) / 4  # loss = 9 exp(-4 t)
    assert Ending(int(run.ending)) == Ending.TARGET_LOSS
    assert abs(float(run.end_time) - reached) < 1e-9
    kept = times < reached
    np.testing.assert_array_equal(np.isnan(run.times), ~kept)
    np.testing.assert_array_equal(np.isnan(run.values["x"]), ~kept)
    np.testing.assert_allclose(run.values["x"][kept], 3 * np.exp(-2 * times[kept]), rtol=1e-8)
    np.testing.assert_allclose(float(run.state) ** 2, 1e-3, rtol=1e-8)
    assert "target loss at" in run.why

    at_once = flow(
        quadratic, jnp.asarray(3.0), times, position, rtol=1e-10, atol=1e-12, target_loss=10.0
    )
    assert float(at_once.end_time) == 0
    assert at_once.complete
    never = flow(
        quadratic, jnp.asarray(3.0), times, position, rtol=1e-10, atol=1e-12, target_loss=1e-9
    )
    assert Ending(int(never.ending)) == Ending.FINISHED
    assert float(never.end_time) == 4


def test_too_many_steps_are_a_result_with_a_sentence(quadratic) -> None:
    times = np.array([0, 0.01, 100.0])
    run = flow(quadratic, jnp.asarray(3.0), times, rtol=1e-10, atol=1e-12, max_steps=20)
    assert Ending(int(run.ending)) == Ending.STEP_LIMIT
    assert 0.01 < float(run.end_time) < 100
    assert "20 solver steps" in run.why
    assert "max_steps" in run.why
    np.testing.assert_array_equal(np.isnan(run.values["loss"]), [False, False, True])
    np.testing.assert_allclose(float(run.state), 3 * np.exp(-2 * float(run.end_time)), rtol=1e-7)


def test_the_solver_has_its_order(quadratic) -> None:
    """Tsit5 with fixed steps is of fifth order. The step is data: one compilation for all."""
    end = 2.0
    errors, traces = [], []

    def count(t, view, args):
        traces.append(1)
        return position(t, view, args)

    for steps in (32, 64, 128):
        run = flow(
            quadratic,
            jnp.asarray(3.0),
            np.array([0, end]),
            count,
            controller=diffrax.ConstantStepSize(),
            first_step=end / steps,
        )
        errors.append(abs(float(run.state) - 3 * np.exp(-2 * end)))
        traces.append(0)
    orders = np.log2(np.divide(errors[:-1], errors[1:]))
    assert abs(orders[-1] - 5) < 0.3, (errors, orders)
    assert traces[-2:] == [0, 0]


def test_units_keep_a_tiny_change_visible() -> None:
    """A change of 1e-12 beside one of order 1: the absolute tolerance would swallow it."""

    class Two(eqx.Module):
        def loss_and_field(self, state):
            return jnp.sum(state**2) / 2, jnp.asarray([1.0, 1e-12]) * jnp.cos(20 * state[0])

        def step(self, state, learning_rate):
            raise NotImplementedError

        def view(self, state):
            return state

    state, units = jnp.zeros(2), jnp.asarray([1.0, 1e-12])
    run = flow(Two(), state, np.array([0, 0.2]), position, rtol=1e-9, atol=1e-9, units=units)
    change = np.asarray(run.state)
    np.testing.assert_allclose(change[1], 1e-12 * change[0], rtol=1e-7)


def test_a_run_may_be_part_of_a_larger_compiled_function(quadratic) -> None:
    @jax.jit
    def whole(x):
        return descend(quadratic, x, PlainStep(0.1), np.array([0, 3]), position)

    run = whole(jnp.asarray(1.0))
    assert run.complete
    np.testing.assert_allclose(run.values["x"], [1, 0.8**3])
