"""What a run of yang2024 draws: its training set, new samples, an engine with its first state."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, PRNGKeyArray, PyTree

from attnlab.core import Key
from attnlab.data.batch import Batch
from attnlab.data.word_cooccurrence import BalancedTrainingSet, IndependentSamples
from attnlab.engines import gram, gram_neurons, symmetric_words, word_weights
from attnlab.engines.word_engine import WordEngine
from attnlab.models.linear_mlp_initialisation import Initialisation, deviations
from attnlab.models.linear_mlp_transformer import LinearMLPSizes
from attnlab.numerics.random import stream_key
from attnlab.papers.yang2024.settings import TrainingSettings
from attnlab.papers.yang2024.theory.sizes import StatedSizes

TEST_SAMPLES = 600
Source = BalancedTrainingSet | IndependentSamples


# --- samples ----------------------------------------------------------------------------------


def training_set(cell: TrainingSettings, key: Key) -> Batch:
    """The samples to train on; those of a control with shuffled labels have the same words."""
    shuffled = jnp.asarray(cell.labels == "shuffled")
    if cell.sampler == "balanced":
        distinct = cell.words == "distinct"
        source = BalancedTrainingSet(cell.d, cell.L, distinct, shuffled_labels=True)
    else:
        source = IndependentSamples(cell.d, cell.L, shuffled_labels=True)
    return _labelled(source, cell.n, stream_key(key, "data"), shuffled)


def new_samples(cell: TrainingSettings, key: Key) -> Batch:
    """Samples that are not trained on."""
    return _sample(IndependentSamples(cell.d, cell.L), TEST_SAMPLES, stream_key(key, "test"))


@eqx.filter_jit
def _labelled(source: Source, n: int, key: PRNGKeyArray, shuffled: Array) -> Batch:
    # One draw serves both: the types tell the true labels, and the words are the same.
    drawn = source.sample(key, n)
    true = jnp.where(drawn.types == 1, 1, -1).astype(drawn.labels.dtype)
    labels = jnp.where(shuffled, drawn.labels, true)
    return eqx.tree_at(lambda batch: batch.labels, drawn, labels)


@eqx.filter_jit
def _sample(source: Source, n: int, key: PRNGKeyArray) -> Batch:
    return source.sample(key, n)


# --- the start --------------------------------------------------------------------------------


def start(cell: TrainingSettings, key: Key, batch: Batch, test: Batch) -> tuple[WordEngine, PyTree]:
    """The engine and its first state. Not compiled as a whole, so that m costs no compilation."""
    sizes, scheme, attention = model_sizes(cell), _initialisation(cell), cell.attention
    stream = stream_key(key, "init")
    if cell.engine == "symmetric":
        started = symmetric_words.start(batch, sizes, scheme, attention=attention)
    elif cell.engine == "weights":
        started = word_weights.start(stream, batch, sizes, scheme, attention=attention)
    else:
        engine = gram_neurons if cell.probes == "neurons" else gram
        started = engine.start(
            stream,
            batch,
            sizes,
            scheme,
            initial=cell.initial,  # pyright: ignore[reportArgumentType]
            also=test.words.reshape(-1),
            attention=attention,
        )
    # Without jax's weak types, which differ between the ways to start and would compile twice.
    return jax.tree.map(lambda x: jax.lax.convert_element_type(x, x.dtype), started)


def model_sizes(cell: TrainingSettings) -> LinearMLPSizes:
    """The sizes of the model."""
    return LinearMLPSizes(cell.d, cell.L, cell.m, cell.m1)


def _initialisation(cell: TrainingSettings) -> Initialisation:
    if cell.weights == "theory":
        return Initialisation(cell.weights, cell.output_layer, c0=cell.c0)
    return Initialisation(cell.weights, cell.output_layer)


# --- in numbers -------------------------------------------------------------------------------


def stated_sizes(cell: TrainingSettings) -> StatedSizes:
    """What the paper's bounds are functions of."""
    of = deviations(model_sizes(cell), _initialisation(cell))
    return StatedSizes(cell.n, cell.L, cell.d, cell.m, cell.m1, of.embeddings, of.neurons)


def description(cell: TrainingSettings, batch: Batch) -> dict[str, float | np.ndarray]:
    """What a record says of its draw."""
    of = deviations(model_sizes(cell), _initialisation(cell))
    squares = of.neurons**2 + of.embeddings**2
    return {
        "s0": of.embeddings,
        "s1": of.neurons,
        "rate": squares * cell.m * cell.m1 * of.output_layer**2,
        "words": np.asarray(batch.words, np.int32),
        "labels": np.asarray(batch.labels, np.int8),
    }
