r"""Every head for itself: the model as it stands, from any start.

`phase_1` gives the first heads the sign +1, so that a run is the one that `collapsed_heads`
makes of the same numbers of signs; `random` draws every entry of U and W from a normal
distribution, $W$ of deviation `scale`/d and $U$ of deviation `scale`/sqrt(T d); `zero` starts at
zero, where heads never part and the softmax is learnt only once U has moved.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from attnlab.models.multihead import Heads, Output
from attnlab.numerics.random import normal
from attnlab.papers.deora2023.engines.collapsed_heads import head_start
from attnlab.papers.deora2023.engines.heads import HeadsEngine
from attnlab.probes.head_curvature import Points


def phase_1_heads(
    v: Float[Array, " d"], counts: Float[Array, " 2"], heads: int, T: int, output: Output = "full"
) -> Heads:
    """All heads after phase 1, those of sign +1 first."""
    alpha = jnp.where(jnp.arange(heads) < counts[0], 1.0, -1.0)
    u = head_start(v, output, T)
    U = alpha.reshape(-1, *(1,) * u.ndim) * u
    return Heads(U, jnp.zeros((heads, v.shape[0], v.shape[0])))


def random_heads(
    key: PRNGKeyArray,
    heads: int,
    T: int,
    d: int,
    scale: float | Array,
    output: Output = "full",
) -> Heads:
    """Heads with independent normal entries."""
    of_U, of_W = jax.random.split(key)
    shape = (heads, T, d) if output == "full" else (heads, d)
    size = T * d if output == "full" else d
    return Heads(
        scale * normal(of_U, shape, size**-0.5), scale * normal(of_W, (heads, d, d), 1 / d)
    )


def zero_heads(heads: int, T: int, d: int, output: Output = "full") -> Heads:
    """Heads at zero."""
    shape = (heads, T, d) if output == "full" else (heads, d)
    return Heads(jnp.zeros(shape), jnp.zeros((heads, d, d)))


def engine(points: Points, start: Heads, output: Output = "full") -> HeadsEngine:
    """Descent on weighted points from the given heads."""
    heads = start.W.shape[0]
    return HeadsEngine(
        tokens=points.tokens,
        labels=points.labels,
        weights=points.weights,
        counts=jnp.ones(heads),
        H=jnp.asarray(float(heads)),
        start=start,
        output=output,
    )
