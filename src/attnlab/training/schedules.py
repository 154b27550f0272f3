r"""A rule that networks of several layers are trained by: AdamW, warmed up, annealed, clipped.

$$\eta_t = \eta \cdot \min\Big(\frac{t+1}{w T}, 1\Big)\cdot
  \tfrac12\Big(1+\cos \pi\,\max\big(0, \tfrac{t-wT}{(1-w)T}\big)\Big)$$

Legend: T steps in all, w the share of them that warms up, $\eta$ the largest step size. Gradients
are first scaled down to a length of at most `clip`.
"""

import jax.numpy as jnp
import optax
from jaxtyping import Array, Float

from attnlab.training.updates import OptaxStep


def annealed(
    step: Float[Array, ""], learning_rate: Array, steps: Array, warm: Array
) -> Float[Array, ""]:
    """The step size at one step."""
    begun = jnp.minimum((step + 1) / jnp.maximum(warm * steps, 1.0), 1.0)
    gone = jnp.clip((step - warm * steps) / jnp.maximum((1 - warm) * steps, 1.0), 0.0, 1.0)
    return learning_rate * begun * (1 + jnp.cos(jnp.pi * gone)) / 2


def warmed_adamw(
    learning_rate: Array, steps: Array, warm: Array, weight_decay: Array, clip: Array
) -> optax.GradientTransformation:
    """The rule; all of its numbers are data."""

    def rate(step: Array) -> Array:
        found = annealed(step.astype(jnp.float32), learning_rate, steps, warm)
        return found.astype(jnp.float32)

    return optax.chain(
        optax.clip_by_global_norm(clip),  # pyright: ignore[reportArgumentType]
        optax.adamw(rate, weight_decay=weight_decay),  # pyright: ignore[reportArgumentType]
    )


def warmed(
    learning_rate: float | Array,
    steps: int | Array,
    *,
    warm: float | Array = 0.1,
    weight_decay: float | Array = 1e-4,
    clip: float | Array = 1.0,
) -> OptaxStep:
    """The rule as an update for `descend`."""
    numbers = {
        "learning_rate": learning_rate,
        "steps": steps,
        "warm": warm,
        "weight_decay": weight_decay,
        "clip": clip,
    }
    as_data = {name: jnp.asarray(x, jnp.float32) for name, x in numbers.items()}
    return OptaxStep(warmed_adamw, as_data)
