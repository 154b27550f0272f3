"""The first weights of the deep vision transformer: an initial model, or a draw.

Those of the digits are embedded. For birds against aeroplanes of CIFAR-10 they are trained by the
first run of a process that needs them, on the eight other classes: 5,000 images of each for the
better one, 500 for the weaker. CIFAR-100, which the paper takes, is in no package registry.

Seed s takes the copy s mod 3 of an initial model, so that the spread over initial models is in
every interval. The sums are here: another model is other code, and gets other records.
"""

from functools import lru_cache

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PRNGKeyArray

from attnlab.data import image_sources
from attnlab.data.batch import Batch
from attnlab.data.image_sources import embedded_bytes
from attnlab.data.images import Images
from attnlab.engines.classes import Classes, on_batch
from attnlab.models.checkpoints import load_weights
from attnlab.models.deep_vit import Pooling
from attnlab.models.deep_vit_model import DeepViT
from attnlab.models.protocol import Weights
from attnlab.numerics.random import fractions
from attnlab.papers.li2023.settings.images import PRETRAINING, ImageSettings, Pretraining
from attnlab.training.descent import descend
from attnlab.training.minibatch import MiniBatches
from attnlab.training.schedules import warmed
from attnlab.training.trajectory import Trajectory

COPIES = 3
CLOSED = -1e9
"""The bias of an output that no class has."""
TOLD_APART = {"cifar10": ((2,), (0,))}
"""By source, the classes of figure 6c's two groups: birds and aeroplanes; else the lower half of
all classes against the upper, a substitution of ours."""
SUMS = {
    "better_0": "5e753336805d4b72d2a96fd4b9eb224e9f78a8150905cb6731cbd86583bc08f6",
    "better_1": "12b6e9f99f56a1c27f0039ba5eab8c6055d924c15ad70980e04a756d9c3f7c11",
    "better_2": "e772ba225cf36a149e4473447c429b3f724a1ba59237af48bc70e482240e37ac",
    "weak_0": "eaa63290a866efdbeb8bebd026eec8a90f557595708132312e7d0a639d880254",
    "weak_1": "a0b2d5fc47def9175103db3c03f52639936062d71c2da1b12127e8a0420ddf64",
    "weak_2": "a70705e142d504999e75a9351c21754855a1c0b68cf31bb6b205baf1b577f722",
    "textured_0": "c51e8a6ca4a67a1f8b9d7e403356d5aefd540cc246a355cf28a11801b8b2af99",
    "textured_1": "c82c346d1c160b1f12033cb79d89506eddf9cb403aec7fd7fe7e80453a3cb5f8",
    "textured_2": "a54706a838cef2ec70e86f3b2d698f97f83b8aa313f6d822407817e23bd56f19",
}
"""SHA-256 sums of the embedded initial models (`python -m tools.pretrain_images` prints them)."""


def first_weights(
    model: DeepViT, batch: Batch, key: PRNGKeyArray, cell: ImageSettings, seed: int
) -> Weights:
    """The weights before fine-tuning, in float32, with an output layer drawn anew."""
    of_model, of_places, of_output = jax.random.split(key, 3)
    drawn = model.init(of_model, batch)
    if cell.initial != "scratch":
        copy = seed % COPIES
        drawn = _of_others(cell, copy) if cell.pretrains else _of_letters(cell.initial, copy, drawn)
    if cell.positions != "initial":
        other = model.init(of_places, batch, cell.positions).trained.P
        drawn = Weights(drawn.trained._replace(P=other))
    drawn = model.new_output(of_output, drawn)
    return jax.tree.map(lambda x: x.astype(jnp.float32), drawn)


def _of_letters(initial: str, copy: int, like: Weights) -> Weights:
    """An embedded initial model, whose output layer has one row in the file."""
    data = embedded_bytes(f"initial_{initial}_{copy}.safetensors", SUMS[f"{initial}_{copy}"])
    width = like.trained.C.shape[0]
    wanted = like.trained._replace(C=jnp.zeros((width, 1)), c=jnp.zeros(1))
    return Weights(jax.tree.map(jnp.asarray, load_weights(data, wanted)))


def _of_others(cell: ImageSettings, copy: int) -> Weights:
    """Trained on the classes that the task does not tell apart, once in a process."""
    sizes = (cell.blocks, cell.heads, cell.width, cell.hidden, cell.pooling)
    images = (cell.object_side, cell.side, cell.patch)
    return _others(cell.source, PRETRAINING[cell.initial], copy, sizes, images)


@lru_cache(maxsize=2 * COPIES)
def _others(
    source: str,
    how: Pretraining,
    copy: int,
    sizes: tuple[int, int, int, int, Pooling],
    images: tuple[int, int, int],
) -> Weights:
    pictures = image_sources.pictures(source)
    apart = {k for group in TOLD_APART[source] for k in group}
    others = tuple(k for k in range(len(pictures.names)) if k not in apart)
    object_side, side, patch = images
    pictures = pictures.of_classes(others)
    of_choice, of_training = jax.random.split(jax.random.key(copy))
    order = np.asarray(jnp.argsort(fractions(of_choice, (pictures.test_from or 0,))))
    chosen = np.concatenate(
        [order[pictures.classes[order] == k][: how.images] for k in range(len(others))]
    )
    distribution = Images(
        objects=jnp.asarray(image_sources.resized(pictures.objects[chosen], object_side)),
        classes=jnp.asarray(pictures.classes[chosen], jnp.int32),
        photographs=jnp.asarray(image_sources.rows_of(pictures.photographs, True)),
        photo_share=jnp.zeros(len(others)),
        side=side,
        patch=patch,
    )
    *numbers, pooling = sizes
    model = DeepViT(*numbers, outputs=len(others), pooling=pooling)
    path, _ = pretrained(distribution, len(chosen), model, of_training, how)
    return Weights(path.state)


def pretrained(
    distribution: Images, count: int, model: DeepViT, key: PRNGKeyArray, how: Pretraining
) -> tuple[Trajectory, Classes]:
    """Train a model on so many images from drawn weights; the path, and the engine it was on."""
    of_data, of_start, of_batches = jax.random.split(key, 3)
    batch = jax.jit(lambda source, key: source.sample(key, count))(distribution, of_data)
    engine, state = on_batch(model, batch, model.init(of_start, batch))
    path = descend(
        engine, state, warmed(how.eta, how.steps), np.array([how.steps]),
        batches=MiniBatches(of_batches, how.B, how.B),
    )  # fmt: skip
    return path, engine


def with_classes(weights: Weights, classes: int) -> Weights:
    """The weights with all outputs but the first few closed, so that one program serves all tasks.

    A closed output adds exactly nothing to the cross-entropy and has a gradient of exactly 0.
    """
    c = weights.trained.c
    closed = jnp.where(jnp.arange(c.size) < classes, c, jnp.asarray(CLOSED, c.dtype))
    return Weights(weights.trained._replace(c=closed))
