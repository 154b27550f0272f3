"""One run of deora2023 moment by moment: both signs' attention maps, decoders, losses."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from attnlab.core import Key, Result
from attnlab.data.token_mixture import directions
from attnlab.engines.heads import HeadsEngine
from attnlab.models.multihead import HeadsView, attention, decoder
from attnlab.papers.deora2023.runs.preparation import engine_and_step, sign_counts
from attnlab.papers.deora2023.runs.samples import draw
from attnlab.papers.deora2023.settings.training import TrainingSettings
from attnlab.probes.heads import HeadsContext, margins
from attnlab.training.descent import PlainStep, descend, log_spaced_steps
from attnlab.training.engine import Named
from attnlab.training.trajectory import Trajectory

MOMENTS = 64
DIVERGED = "the loss, the attention or a decoder became infinite or nan; lower the step size"


def watch(cell: TrainingSettings, key: Key) -> Result:
    """Train once, looking at about 64 moments of it."""
    drawn = draw(cell, key)
    engine, eta, _ = engine_and_step(cell, key, drawn, sign_counts(cell, key))
    context = HeadsContext(drawn.train, drawn.test, jnp.asarray(drawn.relevant), output=cell.output)
    mu_plus, mu_minus, _ = directions(cell.mixture())
    patterns = jnp.asarray(np.stack([mu_plus, mu_minus]))
    steps = jnp.asarray(log_spaced_steps(cell.K, MOMENTS))
    path = _watched(engine, jnp.asarray(eta), steps, context, patterns)
    reached = np.isfinite(np.asarray(path.times))
    values = {name: np.asarray(x)[reached] for name, x in path.values.items()}
    bad = [name for name, x in values.items() if not np.isfinite(x).all()]
    if bad or not path.complete:
        return Result({"loss": values["loss"]}, diverged=DIVERGED)
    relevant = np.asarray(drawn.relevant[0], int)
    order = np.argsort(-relevant, kind="stable")
    maps = values.pop("attention")[..., order, :][..., order]
    return Result(
        {
            "times": np.asarray(path.times)[reached],
            "relevant": relevant[order],
            # Bytes: a picture needs no more, and a record stays small.
            "attention": np.round(254 * maps).astype(np.uint8),
            "along": values["along"][..., order, :],
            **{name: values[name] for name in ("loss", "test_loss", "smallest_margin")},
        }
    )


@eqx.filter_jit
def _watched(
    engine: HeadsEngine, eta: Array, record_at: Array, context: HeadsContext, patterns: Array
) -> Trajectory:
    def probe(t: Float[Array, ""], view: HeadsView, args: HeadsContext) -> Named:
        """Each sign's attention on the first sample, decoders along mu_+ and mu_-, margins."""
        X = args.train.vectors()[0]
        U = jax.vmap(lambda u: decoder(u, args.output, len(X)))(view.heads.U)
        return {
            "attention": jax.vmap(lambda W: attention(W, X))(view.heads.W),
            "along": jnp.einsum("gtd,pd->gtp", U, patterns),
            **margins(t, view, args),
        }

    return descend(engine, engine.zero(), PlainStep(eta), record_at, probe, context)
