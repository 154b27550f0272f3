"""Runs that several modules look at."""

from dataclasses import replace

import numpy as np
import pytest

from attnlab.cells import Key
from attnlab.papers.yang2024.runs import draws, training, untrained
from attnlab.papers.yang2024.settings import (
    TrainingSettings,
)
from attnlab.papers.yang2024.studies.resolving import resolve

START = TrainingSettings(n=12, L=4, m=48, m1=8, c0=0.5, probes="neurons", engine="weights")
SMALL = TrainingSettings(n=24, L=4, m=256, m1=16, records=40, horizon=40.0)


@pytest.fixture(scope="session")
def start():
    """A draw: the run's own scalars, and the matrices that the same key gives."""
    cell = resolve(START)
    key = Key.of(cell, 3)
    values = untrained.draw_start(cell, key).values
    batch = draws.training_set(cell, key)
    engine, state = draws.start(cell, key, batch, batch)
    matrices = {name: np.asarray(getattr(state, name)) for name in ("W", "W_V", "W_K", "W_Q")}
    return cell, values, np.asarray(batch.words), np.asarray(engine.a), matrices, (engine, state)


@pytest.fixture(scope="session")
def words_run():
    cell = resolve(SMALL)
    return cell, training.train(cell, Key.of(cell, 1)).values


@pytest.fixture(scope="session")
def neurons_run():
    cell = resolve(replace(SMALL, probes="neurons", engine="weights"))
    return cell, training.train(cell, Key.of(cell, 1)).values
