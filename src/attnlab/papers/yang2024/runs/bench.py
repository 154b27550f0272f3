"""A run of yang2024 as `train` makes it: the study's own samples and start, by flow or in steps."""

from typing import Any

import numpy as np

from attnlab.core import Key
from attnlab.engines.gram_momentum import GramMomentum
from attnlab.engines.weights_behind import weights_behind
from attnlab.models.linear_mlp_model import LinearMLPTransformer
from attnlab.papers.yang2024.runs import draws
from attnlab.papers.yang2024.settings import FIRST_RECORD, TrainingSettings
from attnlab.training.descent import log_spaced_steps
from attnlab.training.optimisers import MOMENTUM, optimiser
from attnlab.training.setup import Setup
from attnlab.training.updates import Update

RULES = {"descent": "sgd", "momentum": "momentum", "adam": "adam"}
"""By the name of the method, that of the rule."""


def prepare(cell: TrainingSettings, key: Key) -> Setup:
    """The run of a cell before it is made."""
    batch, test = draws.training_set(cell, key), draws.new_samples(cell, key)
    engine, state = draws.start(cell, key, batch, test)
    fixed = getattr(engine, "a", ())
    how: dict[str, Any] = {"update": _update(cell)}
    if cell.method == "flow":
        rho = float(engine.view(state).rho)
        times = np.geomspace(FIRST_RECORD, cell.horizon, cell.records - 1) / rho
        options: dict[str, Any] = {**engine.flow_settings(state, cell.rtol, cell.rtol / 100)}
        how |= {"record_at": np.r_[0.0, times]}
        how |= {"flow_options": {**options, "target_loss": cell.target_loss or None}}
    else:
        how |= {"record_at": log_spaced_steps(cell.steps, cell.records)}
    return Setup(
        model=LinearMLPTransformer(cell.m, cell.m1, cell.output_layer),
        batch=batch,
        engine=engine,
        state=state,
        weights_of=lambda now: weights_behind(engine, now, fixed),
        fixed=fixed,
        test=test,
        engine_name=cell.engine,
        score_gain=0.0 if cell.attention == "uniform" else 1.0,
        roles=("random", "first_signal", "second_signal", "common"),
        **how,
    )


def _update(cell: TrainingSettings) -> Update | None:
    if cell.method == "flow":
        return None
    if cell.method == "momentum" and cell.engine == "gram":
        return GramMomentum(cell.learning_rate, MOMENTUM)
    return optimiser(RULES[cell.method], cell.learning_rate)
