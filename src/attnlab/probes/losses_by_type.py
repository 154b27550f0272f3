"""Loss, gradient and margin by type of sample."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from attnlab.models.word_level import WordView
from attnlab.probes.context import Context, mean_where
from attnlab.training.engine import Named

TYPES = 4


def losses_by_type(t: Float[Array, ""], view: WordView, args: Context) -> Named:
    """Means over the samples of type 1..4 (nan if there are none), and over all of them.

    `loss_by_type`, `gradient_by_type` (the paper's g), `margin_by_type` (y F), each (4,);
    `smallest_margin_by_type` (4,) and `smallest_margin`; `mean_loss` over this batch;
    `misclassified` and `misclassified_by_type` count margins of 0 or less.
    """
    del t
    margins = args.margins(view)
    of_type = args.batch.types[:, None] == jnp.arange(1, TYPES + 1)
    x = margins[:, None]
    wrong = ~(margins > 0)  # a nan margin is wrong too
    losses = args.loss.value(margins)
    smallest = jnp.where(of_type, x, jnp.inf).min(0)
    return {
        "mean_loss": losses.mean(),
        "loss_by_type": mean_where(of_type, losses[:, None], 0),
        "gradient_by_type": mean_where(of_type, args.loss.slope(x), 0),
        "margin_by_type": mean_where(of_type, x, 0),
        "smallest_margin_by_type": jnp.where(of_type.any(0), smallest, jnp.nan),
        "smallest_margin": margins.min(),
        "misclassified": wrong.sum(),
        "misclassified_by_type": (wrong[:, None] & of_type).sum(0),
    }


def margins(t: Float[Array, ""], view: WordView, args: Context) -> Named:
    """`margins` (n,): y_i F_i of every sample."""
    del t
    return {"margins": args.margins(view)}
