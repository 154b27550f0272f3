"""One run of li2023 moment by moment: the attention map of a sample, neurons, the loss."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from attnlab.core import Key, Result
from attnlab.models.shallow_vit import Parameters, attention
from attnlab.papers.li2023.runs.beginning import Beginning, begin_on_tokens
from attnlab.papers.li2023.runs.given import Given, given
from attnlab.papers.li2023.settings import TrainingSettings
from attnlab.training.descent import descend, log_spaced_steps
from attnlab.training.engine import Named
from attnlab.training.minibatch import MiniBatches
from attnlab.training.optimisers import optimiser
from attnlab.training.trajectory import Trajectory

MOMENTS = 64
SHOWN_NEURONS = 120
DIVERGED = "the loss, the attention or a neuron became infinite or nan; lower eta or the errors"


def watch(cell: TrainingSettings, key: Key) -> Result:
    """Train once with a fixed number of steps, looking at about 64 moments of it."""
    run = given(cell, key)
    first = begin_on_tokens(run)
    steps = log_spaced_steps(cell.steps, MOMENTS)
    path = _watched(run, first, jnp.asarray(steps))
    reached = np.isfinite(np.asarray(path.times))
    values = {name: np.asarray(x, float)[reached] for name, x in path.values.items()}
    bad = [name for name, x in values.items() if not np.isfinite(x).all()]
    if bad or not path.complete:
        return Result({"loss": values["loss"]}, diverged=DIVERGED)
    roles = np.asarray(first.batch.roles[0])
    order = np.argsort(roles, kind="stable")
    attention_maps = values.pop("attention")[:, order][:, :, order]
    largest = float(attention_maps.max())
    along = values.pop("along")
    return Result(
        {
            "times": np.asarray(path.times)[reached],
            "loss": values["loss"],
            # Bytes: a picture needs no more, and a record stays small.
            "attention": np.round(254 * attention_maps / largest).astype(np.uint8),
            "largest_attention": largest,
            "roles": roles[order],
            "along_first": along[:, :SHOWN_NEURONS, 0],
            "along_second": along[:, :SHOWN_NEURONS, 1],
            "best_pattern": along[-1, :SHOWN_NEURONS].argmax(1),
        }
    )


@eqx.filter_jit
def _watched(run: Given, first: Beginning, record_at: Array) -> Trajectory:
    batch, patterns = first.batch, run.directions.astype(run.dtype)

    def probe(t: Float[Array, ""], view: Parameters, args: None) -> Named:
        """The first sample's attention, and every neuron along every pattern's value."""
        del t, args
        return {
            "attention": attention(view, batch.tokens[0], batch.kept[0]).mean(0),
            "along": view.W_O @ (view.W_V[0] @ patterns.T),
        }

    inputs = run.inputs
    return descend(
        first.engine,
        first.drawn.parameters,
        optimiser(inputs.optimiser, inputs.eta.astype(run.dtype)),
        record_at,
        probe,
        None,
        batches=MiniBatches(
            run.streams.batches, inputs.B, inputs.batch_room, inputs.replacement, inputs.capacity
        ),
        stop_when_fitted=inputs.stop.is_("zero_loss"),
    )
