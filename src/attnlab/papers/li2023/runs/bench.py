"""A run of li2023 as `train` makes it: the study's own engine, first weights and mini-batches."""

from dataclasses import replace

import equinox as eqx
import jax.numpy as jnp

from attnlab.core import BadInput, Key
from attnlab.data.batch import Batch
from attnlab.data.pattern_vote import PatternBatch
from attnlab.models.protocol import Weights
from attnlab.models.shallow_vit_model import ShallowViT
from attnlab.papers.li2023.runs.beginning import begin_on_tokens
from attnlab.papers.li2023.runs.given import given
from attnlab.papers.li2023.runs.trial import start
from attnlab.papers.li2023.settings import TrainingSettings
from attnlab.training.descent import log_spaced_steps
from attnlab.training.minibatch import MiniBatches
from attnlab.training.optimisers import optimiser
from attnlab.training.setup import Setup

RECORDS = 40
ROLES = ("relevant", "confusion", "non_discriminative", "noisy")


def prepare(cell: TrainingSettings, key: Key) -> Setup:
    """The run of a cell before it is made. Its samples are shown with every token.

    A selector of the settings acts in training; whoever looks at the run afterwards removes tokens
    by `select_tokens`.
    """
    if cell.classes != 2:
        raise BadInput(
            f"got classes={cell.classes}; a run here has one output, so 2 classes: extension_g1 "
            "has the studies of four"
        )
    if cell.margin != 1:
        raise BadInput(f"got margin={cell.margin}; a run here has the margin 1 of the paper")
    run = given(cell, key)
    engine, state, drawn = start(cell, key)
    whole = given(replace(cell, removed=0.0), key)
    test = whole.source.sample(run.streams.test, cell.test_samples, cell.L)
    model = ShallowViT(
        neurons=cell.m,
        heads=cell.heads,
        value_size=cell.m_a,
        key_size=cell.m_b,
        combination=cell.combination,
        skip=cell.skip,
        shared_output=cell.output_weights == "shared",
    )
    return Setup(
        model=model,
        batch=_in(begin_on_tokens(whole).batch.take(slice(cell.N)), cell),
        engine=engine,
        state=state,
        weights_of=lambda now: Weights(now, drawn.a),
        fixed=drawn.a,
        test=_in(test, cell),
        engine_name=cell.engine,
        loss="hinge",
        score_gain=0.0 if cell.attention == "uniform" else 1.0,
        roles=ROLES,
        update=optimiser(cell.optimiser, jnp.asarray(cell.eta, run.dtype)),
        record_at=log_spaced_steps(cell.steps, RECORDS),
        batches=MiniBatches(run.streams.batches, cell.B, cell.batch_room),
        stop_when_fitted=cell.stop == "zero_loss",
    )


def _in(batch: Batch, cell: TrainingSettings) -> Batch:
    """The samples in the precision of training, with the first M patterns alone."""
    assert isinstance(batch, PatternBatch)
    vectors = batch.pattern_vectors
    known = None if vectors is None else vectors[: cell.M]
    batch = eqx.tree_at(lambda b: b.tokens, batch, batch.tokens.astype(cell.dtype))
    return replace(batch, pattern_vectors=known)
