"""A run of deora2023 as `train` makes it: the study's own samples, first phase and step size."""

from dataclasses import replace

import jax.numpy as jnp

from attnlab.core import Key
from attnlab.engines.weights_behind import weights_behind
from attnlab.models.multihead_model import MultiHead
from attnlab.papers.deora2023.runs.preparation import engine_and_step, sign_counts
from attnlab.papers.deora2023.runs.samples import draw
from attnlab.papers.deora2023.settings.training import TrainingSettings
from attnlab.training.descent import log_spaced_steps
from attnlab.training.optimisers import optimiser
from attnlab.training.setup import Setup

RECORDS = 40


def prepare(cell: TrainingSettings, key: Key) -> Setup:
    """Phase 2 of a cell before it is made."""
    drawn = draw(cell, key)
    engine, eta, _ = engine_and_step(cell, key, drawn, sign_counts(cell, key))
    return Setup(
        model=MultiHead(heads=int(cell.H), output=cell.output),
        batch=replace(drawn.train, roles=jnp.asarray(drawn.relevant, jnp.int8)),
        engine=engine,
        state=engine.zero(),
        weights_of=lambda state: weights_behind(engine, state, ()),
        test=drawn.test,
        engine_name=cell.engine,
        roles=("irrelevant", "relevant"),
        update=optimiser("sgd", eta),
        record_at=log_spaced_steps(cell.K, RECORDS),
    )
