"""What the parts do not take: models, samples, weights, states, numbers. Each with a sentence."""

import dataclasses
import inspect
import math
from typing import Any

import jax
import numpy as np
from jaxtyping import PyTree

from attnlab.core import BadInput
from attnlab.data.batch import Batch
from attnlab.facade import passes
from attnlab.facade.saving import MODELS
from attnlab.models.multihead_model import MultiHead
from attnlab.models.protocol import Model, Weights
from attnlab.training.updates import OptaxStep


def is_count(x: object) -> bool:
    """Whether it is a whole number from 1 on."""
    return isinstance(x, int | np.integer) and not isinstance(x, bool) and int(x) >= 1


def is_number(x: Any) -> bool:
    """Whether it is one finite number, Python's, numpy's or jax's."""
    if isinstance(x, bool) or np.shape(x) != () or isinstance(x, str):
        return False
    try:
        return math.isfinite(x)
    except TypeError:
        return False


def require_batch(given: Any, what: str) -> None:
    """Refuse what is no batch."""
    if not isinstance(given, Batch):
        raise BadInput(
            f"got {type(given).__name__} as {what}; give al.Batch.of(X, y) or a distribution's "
            "sample(key, n)"
        )


def require_fit(model: Any, batch: Any, test: Any) -> None:
    """Refuse a model, samples and test samples that cannot be trained together."""
    if not isinstance(model, Model):
        raise BadInput(
            f"got {type(model).__name__} as model; give one of al.ShallowViT(), al.MultiHead(), "
            "al.LinearMLPTransformer(), al.DeepViT(), or an object with their methods"
        )
    for field in dataclasses.fields(model) if dataclasses.is_dataclass(model) else ():
        value = getattr(model, field.name)
        whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
        if type(field.default) is int and not whole:
            raise BadInput(f"got {field.name}={value!r} in the model; a whole number is required")
    for what, given in (("batch", batch), ("test", test)):
        if what == "batch" or given is not None:
            require_batch(given, what)
        if given is not None:
            passes.require_labels(model, given)
    if test is not None and test.dimension != batch.dimension:
        raise BadInput(
            f"got test samples in R^{test.dimension}, training samples in R^{batch.dimension}; "
            "give samples of one kind"
        )
    if test is not None and passes.places_in_all(test) != passes.places_in_all(batch):
        raise BadInput(
            f"got test samples of {passes.places_in_all(test)} tokens, training samples of "
            f"{passes.places_in_all(batch)}; give samples of one length"
        )
    gathered = batch.kept.shape[1] < passes.places_in_all(batch)
    if gathered and passes.outputs_of(model) == 1:
        raise BadInput(
            "got patches whose removed ones were gathered away with a model of one output, whose "
            "engines look at whole samples; give the batch before that: what it does not keep is "
            "left out of the softmax"
        )
    if isinstance(model, MultiHead) and batch.is_words and batch.dimension > 2048:
        raise BadInput(
            f"got {batch.dimension} words with MultiHead, which forms their unit vectors; at most "
            "2048 words"
        )


def require_weights_fit(model: Any, weights: Any, batch: Batch) -> None:
    """Refuse weights of another model than this one, or for other tokens than these."""
    known = MODELS.get(type(model).__name__)
    if not isinstance(weights, Weights) or (known and not isinstance(weights.trained, known[1])):
        raise BadInput(
            f"got parameters of another kind than those of {type(model).__name__}; give "
            "model=run.model and parameters=run.parameters of one run"
        )
    require_tokens_fit(model, weights, batch)


def require_tokens_fit(model: Any, weights: Weights, batch: Batch) -> None:
    """Refuse samples of another length or dimension than the weights are made for."""
    L, d = passes.places(model, weights), passes.dimension(model, weights)
    found = passes.places_in_all(batch)
    if (d is not None and batch.dimension != d) or (L is not None and found != L):
        wanted = "any number of tokens" if L is None else f"{L} tokens"
        raise BadInput(
            f"got samples of {found} tokens in R^{batch.dimension}; this model was trained on "
            f"{wanted} in R^{d}"
        )


def require_state(state: PyTree, first: PyTree, caller: str) -> None:
    """Refuse a state that is not of the engine's kind."""
    if _shapes(state) != _shapes(first):
        raise BadInput(
            f"got {type(state).__name__} as state, which is not of this engine; {caller} takes "
            "both from one start: engine, state = al.start(model, batch, key)"
        )


def _shapes(tree: PyTree) -> tuple[Any, list[tuple[int, ...]]]:
    leaves, kind = jax.tree.flatten(tree)
    return kind, [np.shape(x) for x in leaves]


def require_hyperparameters(name: str, update: OptaxStep) -> None:
    """Refuse hyperparameters that a rule does not have, before anything is compiled."""
    taken = inspect.signature(update.rule).parameters
    if any(x.kind is inspect.Parameter.VAR_KEYWORD for x in taken.values()):
        return
    unknown = [x for x in update.hyperparameters if x not in taken]
    if unknown:
        raise BadInput(f"{name} has no {unknown[0]}; it takes {', '.join(taken)}")
