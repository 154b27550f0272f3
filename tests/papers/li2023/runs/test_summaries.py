"""The record of a trial, from what the run returned."""

from dataclasses import replace

import numpy as np
import pytest

from attnlab.papers.li2023.runs.summaries import summarise
from attnlab.papers.li2023.settings import TrainingSettings
from attnlab.papers.li2023.studies.engine_choice import resolve
from attnlab.training.trajectory import Ending

CELL = resolve(
    TrainingSettings(
        L=20, d=6, m=24, m_a=6, m_b=5, M=4, c0=0.1, alpha_star=0.5, alpha_sharp=0.15,
        engine="exact", selector="random", removed=0.4, heads=2, success=0.01,
    )
)  # fmt: skip


def ended(**changes):
    values = {
        "ending": np.asarray(int(Ending.TARGET_LOSS)),
        "test_loss": 0.005,
        "times": np.array([0.0, 0.0, 4.0, np.nan]),
        "series_mass": np.array([[1.0], [2.0], [3.0], [4.0]]),
        "iterations": 4,
    }
    return {**values, **changes}


def test_an_outcome() -> None:
    got = summarise(CELL, ended())
    assert got["fitted"] is True
    assert got["success"] is True
    assert got["approximate"] is False
    assert got["gap"] == pytest.approx(0.35)
    assert got["tokens_saved"] == pytest.approx(0.4)
    assert got["iterations"] == 4
    assert "times" not in got
    assert "mass" not in got
    assert "series_mass" not in got

    def cost(tokens: int) -> int:
        mixing = tokens * 6 * (6 + 2 * 5) + tokens**2 * (6 + 5)
        return 2 * mixing + tokens * 24 * 6 + tokens * 24

    assert got["flops_saved"] == pytest.approx(1 - cost(12) / cost(20))


@pytest.mark.parametrize("loss", [0.01, np.nan])
def test_a_loss_at_the_limit_or_none_is_no_success(loss) -> None:
    got = summarise(CELL, ended(test_loss=loss, ending=int(Ending.FINISHED)))
    assert got["success"] is False
    assert got["fitted"] is False


def test_the_collapsed_engine_with_noise_is_approximate() -> None:
    plain = replace(CELL, selector="none", removed=0.0, heads=1)
    assert summarise(replace(plain, engine="collapsed"), ended())["approximate"] is True
    assert summarise(replace(plain, engine="collapsed", c0=0.0), ended())["approximate"] is False
    assert summarise(plain, ended())["approximate"] is False


def test_a_series_is_cut_to_what_was_reached_and_step_0_is_there_once() -> None:
    got = summarise(replace(CELL, probes="dynamics"), ended())
    np.testing.assert_array_equal(got["times"], [0.0, 4.0])
    np.testing.assert_array_equal(got["mass"], [[2.0], [3.0]])
    full = ended(times=np.array([0.0, 1.0, 4.0, 9.0]))
    np.testing.assert_array_equal(
        summarise(replace(CELL, probes="dynamics"), full)["mass"][:, 0], [1, 2, 3, 4]
    )
