"""A trial of figure 6: fine-tune a deep vision transformer on pasted images, and test it.

Drawing, removal, training and test are one compiled call. What differs between cells of one size
(N, the share removed, the selector by role, the initial model) is data.
"""

from functools import lru_cache
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from attnlab.core import BadInput, Key, Result
from attnlab.data import image_sources
from attnlab.data.batch import Batch
from attnlab.data.images import ImageBatch, Images, blanked, gathered
from attnlab.engines.classes import on_batch
from attnlab.models.deep_vit import Pooling
from attnlab.models.deep_vit_model import DeepViT
from attnlab.models.protocol import Weights
from attnlab.numerics.random import fractions, stream_key
from attnlab.papers.li2023.runs.images_initial import TOLD_APART, first_weights, with_classes
from attnlab.papers.li2023.settings.images import ALL_CLASSES, ImageSettings
from attnlab.selection import keep_largest
from attnlab.training.descent import descend
from attnlab.training.inputs import Inputs, compiled
from attnlab.training.minibatch import MiniBatches
from attnlab.training.schedules import warmed

LOOKED_AT = 60
"""Test images whose attention is measured."""
SHOWN = 6
"""Test images that a run with pictures keeps."""


class Streams(NamedTuple):
    """The random streams of a run."""

    split: PRNGKeyArray
    training: PRNGKeyArray
    test: PRNGKeyArray
    batches: PRNGKeyArray
    selection: PRNGKeyArray


class Given(eqx.Module):
    """All that a compiled run takes."""

    inputs: Inputs
    training: Images
    test: Images
    weights: Weights
    streams: Streams

    @property
    def model(self) -> DeepViT:
        """The network, with one output a class."""
        s = self.inputs
        return network(s.blocks, s.heads, s.width, s.hidden, s.pooling)


def network(blocks: int, heads: int, width: int, hidden: int, pooling: Pooling) -> DeepViT:
    """The network of these sizes."""
    return DeepViT(blocks, heads, width, hidden, ALL_CLASSES, pooling)


def train(cell: ImageSettings, key: Key) -> Result:
    """One trial."""
    values = jax.tree.map(np.asarray, dict(_trained(given(cell, key))))
    if cell.probes == "outcome":
        values = {name: x for name, x in values.items() if not name.startswith("shown_")}
    values["success"] = values["accuracy"] >= cell.success
    bad = not np.isfinite(values["train_loss"])
    why = "the training loss was infinite or nan; lower eta" if bad else ""
    return Result(values, diverged=why)


def given(cell: ImageSettings, key: Key) -> Given:
    """The pictures, split for this run, and the first weights."""
    streams = Streams(*(stream_key(key, stream) for stream in Streams._fields))
    training, test = _split(cell, streams.split)
    model = network(cell.blocks, cell.heads, cell.width, cell.hidden, cell.pooling)
    channels = training.objects.shape[-1]
    one = Batch.of(np.zeros((1, cell.L, cell.patch**2 * channels)), [1])
    weights = first_weights(model, one, stream_key(key, "init"), cell, key.seed)
    weights = with_classes(weights, cell.classes)
    return Given(compiled(cell), training, test, weights, streams)


def _split(cell: ImageSettings, key: PRNGKeyArray) -> tuple[Images, Images]:
    """Objects and photographs for training, and others for the test."""
    pictures = _pictures_of(cell.source, cell.task, cell.object_side)
    count, cut = len(pictures.objects), pictures.test_from
    order = np.arange(count)
    if cut is None:
        order = np.asarray(jnp.argsort(fractions(key, (count,))))
        cut = cell.capacity
    if cut < cell.N or cell.test_samples > count - cut:
        raise BadInput(
            f"got N={cell.N} and test_samples={cell.test_samples}; {cell.source} has {cut} "
            f"training and {count - cut} test images for this task: take fewer"
        )
    shares = np.ones(ALL_CLASSES)
    if cell.background == "correlated":
        # The first class is on photographs, the second is not, and so on in turn.
        shares = np.where(np.arange(ALL_CLASSES) % 2 == 0, cell.correlation, 1 - cell.correlation)
    even = np.full(ALL_CLASSES, 0.5) if cell.background == "correlated" else shares

    def images(rows: np.ndarray, training: bool, photo_share: np.ndarray) -> Images:
        return Images(
            objects=jnp.asarray(pictures.objects[rows]),
            classes=jnp.asarray(pictures.classes[rows], jnp.int32),
            photographs=jnp.asarray(image_sources.rows_of(pictures.photographs, training)),
            photo_share=jnp.asarray(photo_share),
            side=cell.side,
            patch=cell.patch,
            rule=cell.rule,
        )

    return images(order[:cut], True, shares), images(order[cut:], False, even)


@lru_cache(maxsize=2)
def _pictures_of(source: str, task: str, side: int) -> image_sources.Pictures:
    pictures = image_sources.pictures(source)
    if task == "two":
        pictures = _two_groups(pictures, source)
    return pictures.resized(side)


def _two_groups(pictures: image_sources.Pictures, source: str) -> image_sources.Pictures:
    count = len(pictures.names)
    first, second = TOLD_APART.get(
        source, (tuple(range(count // 2)), tuple(range(count // 2, count)))
    )
    return pictures.of_groups(first, second)


@eqx.filter_jit
def _trained(run: Given) -> dict[str, Array]:
    inputs, model = run.inputs, run.model
    training = run.training.sample(run.streams.training, inputs.capacity)
    test = run.test.sample(run.streams.test, inputs.test_samples)
    of_training, of_test = jax.random.split(run.streams.selection)
    judge = run.weights
    if inputs.scoring in ("model", "gradient"):
        # A model trained before on all tokens tells which of them are kept.
        judge = Weights(_descended(run, training).state)
    fewer = _removed(run, of_training, training, judge)
    tested = _removed(run, of_test, test, judge)
    path = _descended(run, fewer)
    after = Weights(path.state)
    engine, _ = on_batch(model, tested, after)
    hits = engine.by_row(path.state)
    values = {
        "accuracy": hits.mean(),
        "train_loss": path.values["loss"][-1],
        "alpha_star": tested.alpha_star().mean(),
        "kept_tokens": tested.kept.sum(1).mean(),
        "groups": _groups(hits, tested),
        "mass_before": _masses(model, run.weights, tested),
        "mass_after": _masses(model, after, tested),
        "object_share": _object_share(tested),
    }
    return values | _pictures(model, run.weights, after, tested)


def _descended(run: Given, batch: ImageBatch):
    inputs = run.inputs
    engine, state = on_batch(run.model, batch, run.weights, size=inputs.N)
    return descend(
        engine,
        state,
        warmed(inputs.eta, inputs.steps, weight_decay=inputs.weight_decay),
        inputs.steps[None],
        batches=MiniBatches(run.streams.batches, jnp.asarray(inputs.B), inputs.B),
    )


# --- which tokens are kept --------------------------------------------------------------------


def _removed(run: Given, key: PRNGKeyArray, batch: ImageBatch, judge: Weights) -> ImageBatch:
    """Without as many tokens of each image as the share of its background tokens asks for."""
    inputs = run.inputs
    background = (batch.roles != 0).sum(1)
    gone = jnp.round(inputs.removed * background).astype(background.dtype)
    keys = jax.random.split(key, batch.kept.shape[0])
    kept = jax.vmap(lambda k, s, count: keep_largest(k, s[None], count)[0])(
        keys, _scores(run, batch, judge), batch.kept.shape[1] - gone
    )
    fewer = eqx.tree_at(lambda b: b.kept, batch, kept)
    if inputs.room < batch.kept.shape[1]:
        return gathered(fewer, inputs.room)
    blank = inputs.removal.is_("blanked")
    return jax.tree.map(lambda a, b: jnp.where(blank, a, b), blanked(fewer), fewer)


def _scores(run: Given, batch: ImageBatch, judge: Weights) -> Float[Array, "n L"]:
    """The larger a token's score, the longer it is kept."""
    inputs, model = run.inputs, run.model
    if inputs.scoring == "roles":
        relevant = (batch.roles == 0).astype(jnp.float32)
        signed = jnp.where(inputs.selector.is_("object"), -relevant, relevant)
        return jnp.where(inputs.selector.is_("random"), 0 * relevant, signed)

    def of_image(row: tuple[Array, Array, Array]) -> Array:
        x, kept, places = (part[None] for part in row)
        if inputs.scoring == "value_norm":
            return jnp.sqrt((model.values(judge, x, places) ** 2).sum((1, 3)))[0]
        if inputs.scoring == "gradient":
            slope = jax.grad(lambda x: model.apply(judge, x, kept, places=places).max())(x)
            return jnp.linalg.norm(slope, axis=-1)[0]
        return model.attention(judge, x, kept, places=places)[0].mean((0, 1))

    return jax.lax.map(of_image, (batch.tokens, batch.kept, batch.places), batch_size=50)


# --- what is measured -------------------------------------------------------------------------


def _groups(hits: Bool[Array, " n"], test: ImageBatch) -> Float[Array, "C 2"]:
    """Accuracy by class (rows) and background: blank, photograph; nan becomes -1 where none is."""
    C = 2
    kind = (test.labels % C)[:, None, None] == jnp.arange(C)[:, None]
    seen = kind & (test.photographed[:, None, None] == jnp.arange(2))
    count = seen.sum(0)
    right = (seen & hits[:, None, None]).sum(0)
    return jnp.where(count > 0, right / jnp.maximum(count, 1), -1.0)


def _few(batch: ImageBatch, count: int) -> ImageBatch:
    some = batch.take(slice(0, count))
    assert isinstance(some, ImageBatch)
    return some


def _maps(model: DeepViT, weights: Weights, batch: ImageBatch) -> Float[Array, "n B S"]:
    """What the tokens of an image receive, mean over queries that are kept and heads, by block."""
    maps = model.attention_by_block(weights, batch.tokens, batch.kept, places=batch.places)
    if model.pooling == "class":
        maps = maps[..., 1:, 1:]
        maps = maps / maps.sum(-1, keepdims=True)
    asked = batch.kept.astype(maps.dtype)[:, None, None, :, None]
    return ((maps * asked).sum(3) / asked.sum(3)).mean(2)


def _masses(model: DeepViT, weights: Weights, batch: ImageBatch) -> Float[Array, " B"]:
    """The attention on the object's tokens, by block, mean over images."""
    some = _few(batch, min(LOOKED_AT, batch.kept.shape[0]))
    own = ((some.roles == 0) & some.kept).astype(jnp.float32)
    return (_maps(model, weights, some) * own[:, None]).sum(-1).mean(0)


def _object_share(batch: ImageBatch) -> Float[Array, ""]:
    """The share of the kept tokens that are the object's: the mass of uniform attention."""
    some = _few(batch, min(LOOKED_AT, batch.kept.shape[0]))
    own = ((some.roles == 0) & some.kept).sum(1) / some.kept.sum(1)
    return own.mean()


def _pictures(
    model: DeepViT, before: Weights, after: Weights, batch: ImageBatch
) -> dict[str, Array]:
    """A few test images as tokens, with roles, covered areas and maps before and after training."""
    some = _few(batch, min(SHOWN, batch.kept.shape[0]))
    maps = jnp.stack([_maps(model, weights, some) for weights in (before, after)])
    return {
        "shown_tokens": some.tokens,
        "shown_area": some.area,
        "shown_roles": some.roles,
        "shown_maps": maps,
        "shown_labels": some.labels,
    }
