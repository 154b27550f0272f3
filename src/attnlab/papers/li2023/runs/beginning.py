"""The beginning of a run of li2023: the first weights, the training samples, the engine."""

from dataclasses import replace
from typing import Any, Generic, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from attnlab.data.pattern_vote import PatternBatch, label_vectors, shuffled
from attnlab.engines.collapsed_tokens import Collapsed, sums_by_pattern
from attnlab.engines.exact import Exact
from attnlab.models.shallow_vit import Parameters
from attnlab.models.shallow_vit_initialisation import Scales, ShallowViTSizes, Start, draw
from attnlab.papers.li2023.runs.given import Given

PROBED_SAMPLES = 24
"""Samples that the probes of a series look at."""


SomeEngine = TypeVar("SomeEngine", Exact, Collapsed)


class Beginning(eqx.Module, Generic[SomeEngine]):
    """What a run begins with; `batch` are the training samples, of which probes see the first."""

    drawn: Start
    engine: SomeEngine
    batch: PatternBatch


@eqx.filter_jit
def begin_on_patterns(given: Given) -> Beginning[Collapsed]:
    """Draw the first weights and the training samples, as sums over patterns with counts.

    No tokens are needed, so `batch` is only what the probes look at.
    """
    inputs = given.inputs
    drawn = initial_model(given)
    batch, labels = _training_samples(given)
    engine = Collapsed(
        vectors=given.source.vectors[:, 0].astype(given.dtype),
        counts=given.source.counts.astype(given.dtype),
        sums=sums_by_pattern(batch, drawn.a, inputs.pattern_room, inputs.N),
        labels=labels,
        classes=batch.types - 1,
        logistic=inputs.loss.is_("logistic"),
        **_switches(given),
    )
    # A draw does not depend on how many follow it, so the few are drawn again and XLA leaves the
    # tokens of all others out.
    for_data, _ = jax.random.split(given.streams.data)
    return Beginning(drawn, engine, given.source.sample(for_data, PROBED_SAMPLES, inputs.L))


@eqx.filter_jit
def begin_on_tokens(given: Given) -> Beginning[Exact]:
    """Draw the first weights and the training samples, none of their tokens removed."""
    drawn = initial_model(given)
    batch, labels = _training_samples(given)
    batch = replace(batch, tokens=batch.tokens.astype(given.dtype))
    engine = Exact(
        tokens=batch.tokens,
        labels=labels,
        kept=batch.kept,
        keys=batch.kept,
        a=drawn.a.transpose(0, 2, 1),
        **_switches(given),
    )
    return Beginning(drawn, engine, batch)


def _training_samples(given: Given) -> tuple[PatternBatch, Float[Array, "n outputs"]]:
    """The samples and their labels, which a control permutes; roles stay those of the true vote."""
    inputs = given.inputs
    for_data, for_labels = jax.random.split(given.streams.data)
    batch = given.source.sample(for_data, inputs.capacity, inputs.L)
    permuted = shuffled(for_labels, batch, inputs.N)
    types = jnp.where(inputs.labels.is_("shuffled"), permuted.types, batch.types)
    return batch, label_vectors(types, inputs.classes).astype(given.dtype)


def _switches(given: Given) -> dict[str, Any]:
    """What both engines are told by the settings alone."""
    inputs = given.inputs
    numbers = {
        "margin": inputs.margin,
        "score_gain": ~inputs.attention.is_("uniform"),
        "score_rate": inputs.attention.is_("trained"),
        "skip": inputs.skip,
    }
    numbers = {name: x.astype(given.dtype) for name, x in numbers.items()}
    return {**numbers, "size": inputs.N, "combination": inputs.combination}


def initial_model(given: Given) -> Start:
    """The first weights in the precision of training, their features in double precision."""
    inputs = given.inputs
    sizes = ShallowViTSizes(
        d=inputs.d,
        M=inputs.pattern_room,
        L=inputs.L,
        m=inputs.m,
        m_a=inputs.m_a,
        m_b=inputs.m_b,
        H=inputs.heads,
        outputs=1 if inputs.classes == 2 else 2,
        combination=inputs.combination,
    )
    mu = given.unnormed
    drawn = draw(
        given.streams.init,
        sizes,
        mu,
        Scales(inputs.sigma, inputs.delta, inputs.xi, inputs.c0),
        shared=inputs.output_weights.is_("shared"),
        queries_as_keys=inputs.queries.is_("keys"),
        scheme=inputs.initial,
        errors=inputs.sigma_as.is_,
    )
    # Padding patterns have no feature: off the patterns in use, orthonormal, the maps are zero.
    used = given.used.astype(float)
    onto = jnp.eye(inputs.d) if inputs.initial == "printed" else (mu.T * used) @ mu
    W_O, *maps = drawn.parameters
    cast = lambda x: x.astype(given.dtype)  # noqa: E731
    parameters = Parameters(cast(W_O), *(cast(W @ onto) for W in maps))
    return Start(parameters, cast(drawn.a), drawn.features)
