"""What a trajectory says about how a run ended."""

import jax.numpy as jnp
import numpy as np
import pytest

from attnlab.training.trajectory import (
    Ending,
    Trajectory,
    absent_throughout,
    as_floats,
    blank_unreached,
    nan_names,
    overflow,
)

WORDS = {
    Ending.FINISHED: ("horizon 7.5", "12 steps"),
    Ending.TARGET_LOSS: ("target loss at 7.5", "12 steps"),
    Ending.DIVERGED: ("infinite or nan at 7.5", "12 steps"),
    Ending.STEP_LIMIT: ("time 7.5", "12 solver steps"),
    Ending.SOLVER_FAILED: ("gave up at time 7.5", "12 steps"),
}


@pytest.mark.parametrize("ending", list(Ending))
def test_how_a_run_ended(ending) -> None:
    run = Trajectory(
        times=jnp.zeros(1), values={}, end_time=jnp.asarray(7.5), steps=jnp.asarray(12),
        state=None, ending=jnp.asarray(int(ending)),
    )  # fmt: skip
    assert run.diverged == (ending == Ending.DIVERGED)
    assert run.complete == (ending in (Ending.FINISHED, Ending.TARGET_LOSS))
    for word in WORDS[ending]:
        assert word in run.why


def test_the_numbers_of_endings_are_in_records() -> None:
    assert [int(ending) for ending in Ending] == [0, 1, 2, 3, 4]


def test_counts_become_floats_and_floats_keep_their_precision() -> None:
    got = as_floats({"count": jnp.asarray([3]), "x": jnp.asarray([0.5], jnp.float32)})
    assert got["count"].dtype == jnp.float64
    assert got["x"].dtype == jnp.float32


def test_unreached_records_are_nan_whatever_their_shape() -> None:
    reached = jnp.asarray([True, False])
    for shape in ((2,), (2, 3), (2, 3, 2)):
        got = np.asarray(blank_unreached(reached, jnp.ones(shape)))
        assert (got[0] == 1).all()
        assert np.isnan(got[1]).all()


TIMES = np.array([0.0, 10.0, 20.0, 30.0])
LOSS = np.array([4.0, 3.0, 2.0, 1.0])


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("first", range(4))
def test_the_first_bad_record_is_named_with_its_time(bad, first) -> None:
    pair = np.ones((4, 2))
    pair[first:, 1] = bad
    assert overflow({"times": TIMES, "loss": LOSS, "some_pair": np.ones((4, 2))}) == ""
    said = overflow({"times": TIMES, "loss": LOSS, "some_pair": pair})
    assert f"some pair was first infinite or nan at {10 * first};" in said
    later = np.where(np.arange(4) == first, bad, LOSS)
    assert f"at {10 * first};" in overflow({"times": TIMES, "loss": later})


def test_a_loss_of_zero_is_named_with_its_time() -> None:
    said = overflow({"times": TIMES, "loss": np.array([4.0, 1.0, 0.0, 0.0])})
    assert "was first 0" in said
    assert "at 20:" in said


def test_what_is_absent_is_so_at_every_record() -> None:
    series = {
        "whole": np.ones((3, 2)),
        "absent": np.array([[1, np.nan], [2, np.nan], [3, np.nan]]),
        "later": np.array([[1.0, 1], [2, np.nan], [3, np.nan]]),
        "scalar": np.float64(np.nan),
    }
    assert absent_throughout(series) == {"absent"}
    assert nan_names(series) == {"absent", "later", "scalar"}
