"""The first weights of the deep vision transformer: an embedded initial model, or a draw.

Seed s takes the copy s mod 3 of an initial model, so that the spread over initial models is in
every interval. The sums are here: another model is other code, and gets other records.
"""

import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from attnlab.data.batch import Batch
from attnlab.data.image_sources import embedded_bytes
from attnlab.models.checkpoints import load_weights
from attnlab.models.deep_vit_model import DeepViT
from attnlab.models.protocol import Weights

COPIES = 3
CLOSED = -1e9
"""The bias of an output that no class has."""
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
    model: DeepViT, batch: Batch, key: PRNGKeyArray, initial: str, positions: str, seed: int
) -> Weights:
    """The weights before fine-tuning, in float32, with an output layer drawn anew."""
    of_model, of_places, of_output = jax.random.split(key, 3)
    drawn = model.init(of_model, batch)
    if initial != "scratch":
        name = f"{initial}_{seed % COPIES}"
        data = embedded_bytes(f"initial_{name}.safetensors", SUMS[name])
        like = drawn.trained._replace(C=jnp.zeros((model.width, 1)), c=jnp.zeros(1))
        drawn = Weights(jax.tree.map(jnp.asarray, load_weights(data, like)))
    if positions != "initial":
        other = model.init(of_places, batch, positions).trained.P
        drawn = Weights(drawn.trained._replace(P=other))
    drawn = model.new_output(of_output, drawn)
    return jax.tree.map(lambda x: x.astype(jnp.float32), drawn)


def with_classes(weights: Weights, classes: int) -> Weights:
    """The weights with all outputs but the first few closed, so that one program serves all tasks.

    A closed output adds exactly nothing to the cross-entropy and has a gradient of exactly 0.
    """
    c = weights.trained.c
    closed = jnp.where(jnp.arange(c.size) < classes, c, jnp.asarray(CLOSED, c.dtype))
    return Weights(weights.trained._replace(c=closed))
