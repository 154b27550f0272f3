"""Every head for itself: the model as it stands, from any start of `multihead_initialisation`."""

import jax.numpy as jnp

from attnlab.data.batch import Batch
from attnlab.engines.heads import HeadsEngine
from attnlab.models.multihead import Heads, Output
from attnlab.models.multihead_initialisation import phase_1_heads as phase_1_heads
from attnlab.models.multihead_initialisation import random_heads as random_heads
from attnlab.models.multihead_initialisation import zero_heads as zero_heads


def engine(batch: Batch, start: Heads, output: Output = "full") -> HeadsEngine:
    """Descent on weighted samples from the given heads."""
    heads = start.W.shape[0]
    return HeadsEngine(
        tokens=batch.vectors(),
        labels=batch.labels.astype(float),
        weights=batch.weight(),
        counts=jnp.ones(heads),
        H=jnp.asarray(float(heads)),
        start=start,
        output=output,
    )
