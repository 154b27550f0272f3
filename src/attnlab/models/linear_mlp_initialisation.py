r"""Named initialisations of the linear-MLP transformer.

`theory` is the paper's section 2.2: $W \sim N(0, \sigma_1^2)$, the others $N(0, \sigma_0^2)$ with
$\sigma_0 = c_0/\sqrt{Lm}$, $\sigma_1 = 1/\sqrt{m_1}$. The experiment of its appendix A names
Kaiming's scheme and no more, so every common form of it is here: `kaiming_normal` and
`kaiming_uniform` (deviation $\sqrt{2/\text{fan-in}}$) and `linear_default`, the default of a
linear layer, uniform within $\pm 1/\sqrt{\text{fan-in}}$.

The fixed output layer a is drawn as `sign` (the paper's ±1), `sign_over_m1` (±1/m1), or
`same_as_weights` (by the scheme of the weights, with fan-in m1; under `theory` N(0, s1^2)).

Legend: s0, s1 are $\sigma_0, \sigma_1$. Fan-in is d for W_V, W_K, W_Q, m for W, m1 for a.
"""

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp
from jax.typing import DTypeLike
from jaxtyping import Array, Float, PRNGKeyArray

from attnlab.core import BadInput
from attnlab.models.linear_mlp_transformer import LinearMLPSizes, Parameters
from attnlab.numerics import random

WeightScheme = Literal["theory", "kaiming_normal", "kaiming_uniform", "linear_default"]
OutputScheme = Literal["sign", "sign_over_m1", "same_as_weights"]


@dataclass(frozen=True)
class Initialisation:
    """Which scheme the weights and the output layer are drawn by.

    `c0`, `s0` and `s1` concern `theory` only; s0 and s1 replace the scheme's own values.
    """

    weights: WeightScheme = "theory"
    output_layer: OutputScheme = "sign"
    c0: float = 1.0
    s0: float | None = None
    s1: float | None = None

    def __post_init__(self) -> None:
        for name in ("c0", "s0", "s1"):
            value = getattr(self, name)
            if value is not None and not (math.isfinite(value) and value >= 0):
                raise BadInput(f"got {name}={value}; a standard deviation is 0 or more")
        if self.weights != "theory" and (self.c0, self.s0, self.s1) != (1.0, None, None):
            raise BadInput(
                f"got c0={self.c0}, s0={self.s0}, s1={self.s1} with weights={self.weights}, which "
                "has its own scale; use them with weights=theory only"
            )


class Deviations(NamedTuple):
    """The standard deviation of the entries of W, of W_V, W_K and W_Q, and of a."""

    neurons: float
    embeddings: float
    output_layer: float


def deviations(sizes: LinearMLPSizes, initialisation: Initialisation) -> Deviations:
    """The standard deviations of a scheme; for `theory` the first two are s1 and s0."""
    if initialisation.weights == "theory":
        s0, s1 = initialisation.s0, initialisation.s1
        embeddings = initialisation.c0 / math.sqrt(sizes.L * sizes.m) if s0 is None else s0
        neurons = 1 / math.sqrt(sizes.m1) if s1 is None else s1
        own = neurons
    else:
        # A uniform number within +-b has deviation b/sqrt(3).
        gain = math.sqrt(1 / 3) if initialisation.weights == "linear_default" else math.sqrt(2)
        neurons, embeddings = gain / math.sqrt(sizes.m), gain / math.sqrt(sizes.d)
        own = gain / math.sqrt(sizes.m1)
    of_output = {"sign": 1.0, "sign_over_m1": 1 / sizes.m1, "same_as_weights": own}
    return Deviations(neurons, embeddings, of_output[initialisation.output_layer])


def initialise(
    key: PRNGKeyArray,
    sizes: LinearMLPSizes,
    initialisation: Initialisation,
    dtype: DTypeLike = jnp.float64,
) -> tuple[Parameters, Float[Array, " m1"]]:
    """Draw the four matrices and the output layer a, each from a key of its own."""
    keys = jax.random.split(key, 5)
    of = deviations(sizes, initialisation)
    in_embedding = (sizes.m, sizes.d)
    drawn = [
        _draw(k, initialisation.weights, shape, deviation, dtype)
        for k, shape, deviation in zip(
            keys[:4],
            [(sizes.m1, sizes.m), in_embedding, in_embedding, in_embedding],
            [of.neurons, of.embeddings, of.embeddings, of.embeddings],
            strict=True,
        )
    ]
    if initialisation.output_layer == "same_as_weights":
        a = _draw(keys[4], initialisation.weights, (sizes.m1,), of.output_layer, dtype)
    else:
        a = random.signs(keys[4], (sizes.m1,), dtype) * jnp.asarray(of.output_layer, dtype)
    return Parameters(*drawn), a


def _draw(
    key: PRNGKeyArray,
    scheme: WeightScheme,
    shape: tuple[int, ...],
    deviation: float,
    dtype: DTypeLike,
) -> Float[Array, "..."]:
    if scheme in ("theory", "kaiming_normal"):
        return random.normal(key, shape, deviation, dtype)
    return random.uniform(key, shape, math.sqrt(3) * deviation, dtype)
