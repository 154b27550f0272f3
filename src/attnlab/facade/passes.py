"""Forward passes of a trained network: what its arrays are made for, and passes on fewer tokens."""

import time
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from attnlab.core import BadInput
from attnlab.data.batch import Batch
from attnlab.models.deep_vit_model import DeepViT
from attnlab.models.multihead_model import MultiHead
from attnlab.models.protocol import Weights
from attnlab.models.shallow_vit_model import ShallowViT

REPEATS = 5
"""Timed passes, of which the median counts."""


def outputs_of(model: Any) -> int:
    """How many outputs a network has: 1, or one a class."""
    return getattr(model, "outputs", 1)


def dimension(model: Any, weights: Weights) -> int | None:
    """The dimension of the tokens that the weights are made for; None if only the model knows."""
    trained = weights.trained
    if isinstance(model, DeepViT):
        return np.shape(trained.W_E)[0]
    if isinstance(model, MultiHead):
        return np.shape(trained.W)[-1]
    return np.shape(trained.W_K)[-1] if hasattr(trained, "W_K") else None


def places(model: Any, weights: Weights) -> int | None:
    """How many places the weights are made for; None if any number will do."""
    if isinstance(model, ShallowViT):
        return np.shape(weights.fixed)[1]
    if isinstance(model, MultiHead) and model.output == "full":
        return np.shape(weights.trained.U)[1]
    if isinstance(model, DeepViT):
        return np.shape(weights.trained.P)[0]
    return None


def places_in_all(batch: Batch) -> int:
    """Tokens of a whole sample: patches that were gathered away count."""
    return getattr(batch, "places_in_all", 0) or batch.kept.shape[1]


def where_of(model: Any, batch: Batch) -> dict[str, jax.Array]:
    """The places of patches in the whole image, for a model that looks at them."""
    found = getattr(batch, "places", None)
    return {} if found is None or not isinstance(model, DeepViT) else {"places": found}


def require_labels(model: Any, batch: Batch) -> None:
    """Refuse labels that the outputs of a model do not stand for."""
    y, count = np.asarray(batch.labels), outputs_of(model)
    if count == 1 and not np.isin(y, (-1, 1)).all():
        raise BadInput(
            f"got labels {', '.join(map(str, np.unique(y)[:4]))}, ... with a model of one output, "
            "which takes -1 and +1; give these, or DeepViT(outputs=...) with an output a class"
        )
    if count > 1 and not ((y >= 0) & (y < count)).all():
        raise BadInput(
            f"got labels from {y.min()} to {y.max()} with a model of {count} outputs, which takes "
            f"the classes 0 to {count - 1}; give these, or outputs=1 for -1 and +1"
        )


# --- on the kept tokens alone -----------------------------------------------------------------


def at_places(model: Any, weights: Weights, places: jax.Array) -> Weights:
    """The weights for a sample that has its tokens from these places only, in this order."""
    trained = weights.trained
    if isinstance(model, ShallowViT):
        return Weights(trained, weights.fixed[:, places])
    if isinstance(model, MultiHead) and model.output == "full":
        return Weights(trained._replace(U=trained.U[:, places]), weights.fixed)
    if isinstance(model, DeepViT):
        return Weights(trained._replace(P=trained.P[places]), weights.fixed)
    return weights


def packed(batch: Batch) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Kept tokens first, as long as the longest sample: their places, vectors, and which are."""
    kept = np.asarray(batch.kept)
    room = int(kept.sum(1).max())
    columns = jnp.asarray(np.argsort(~kept, axis=1, kind="stable")[:, :room])
    seen = jnp.take_along_axis(batch.kept, columns, axis=1)
    X = jnp.take_along_axis(batch.vectors(), columns[..., None], axis=1)
    where = getattr(batch, "places", None)  # of patches, some of which may be gone already
    return columns if where is None else jnp.take_along_axis(where, columns, axis=1), X, seen


def packed_outputs(
    model: Any, weights: Weights, places: jax.Array, X: jax.Array, kept: jax.Array, gain: jax.Array
) -> jax.Array:
    """The outputs on packed tokens: what the network pays for without those that were removed."""

    def one(row: tuple[jax.Array, jax.Array, jax.Array]) -> jax.Array:
        place, x, seen = row
        return model.apply(at_places(model, weights, place), x[None], seen[None], gain)[0]

    return jax.lax.map(one, (places, X, kept), batch_size=16)


def cost(
    model: Any, weights: Weights, score_gain: float, dtype: np.dtype, batch: Batch
) -> tuple[float, float]:
    """Arithmetic of a pass as the compiler counts it, and its measured seconds."""
    places, X, kept = packed(batch)
    X, gain = X.astype(dtype), jnp.asarray(score_gain, dtype)
    weights = jax.tree.map(jnp.asarray, weights)
    whole = jax.jit(lambda *given: packed_outputs(model, *given))
    program = whole.lower(weights, places, X, kept, gain).compile()
    single = whole.lower(weights, places[:1], X[:1], kept[:1], gain).compile()
    program(weights, places, X, kept, gain).block_until_ready()
    times = []
    for _ in range(REPEATS):
        begun = time.perf_counter()
        program(weights, places, X, kept, gain).block_until_ready()
        times.append(time.perf_counter() - begun)
    counted = single.cost_analysis() or {}
    return float(counted.get("flops", 0.0)), float(np.median(times))
