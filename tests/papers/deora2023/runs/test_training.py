"""Training against slower or independent routes."""

from dataclasses import replace

import numpy as np
import pytest

from attnlab.cells import Key
from attnlab.papers.deora2023.runs import training
from attnlab.papers.deora2023.settings import PathSettings
from attnlab.papers.deora2023.settings.training import resolve

SMALL = resolve(PathSettings(T=2, d=3, M=1, n=6, n1=64, H=6.0, K=40, eta=0.2, signs="balanced"))


def key(cell) -> Key:
    return Key.of(cell, 0)


def test_collapsed_and_explicit_runs_give_the_same_record():
    both = [
        training.train(replace(SMALL, engine=engine), key(SMALL))
        for engine in ("collapsed_heads", "weights")
    ]
    for name in ("loss", "test_loss", "lambda_min", "hessian_norm", "gradient_norm", "moved"):
        a, b = (result.values[name] for result in both)
        assert np.abs(a - b).max() <= 1e-12, name
    first, second = (result.values["relevant_mass"] for result in both)
    assert np.abs(first[:, 0] - second[:, 0]).max() <= 1e-13
    assert np.abs(first[:, -1] - second[:, -1]).max() <= 1e-13


@pytest.mark.parametrize("K", [1, 5, 24, 1000])
def test_a_run_has_always_the_same_number_of_records(K):
    steps = training.record_steps(K)
    assert len(steps) == training.RECORDS
    assert steps[0] == 0
    assert steps[-1] == K
    assert (np.diff(steps) >= 0).all()


def test_random_and_zero_starts_train():
    for start in ("random", "zero"):
        cell = resolve(replace(SMALL, start=start, engine="auto", eta=0.5))
        assert cell.engine == ("weights" if start == "random" else "collapsed_heads")
        series = training.train(cell, key(cell)).values
        assert series["loss"][-1] < series["loss"][0]
