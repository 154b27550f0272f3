r"""First Grams: of drawn weights, drawn without weights, or at their mean.

`of_weights` reads them off matrices. `bartlett` draws them where every weight is normal: given a,
$u = W^\top a \sim N(0, \sigma_1^2 A I_m)$ exactly, and for a matrix X (m, w) of independent
standard normals

$$X^\top X \overset{d}{=} R^\top R,\qquad R_{ii}^2 \sim \chi^2_{m-i+1},\quad
  R_{ij}\sim N(0,1)\ (i<j),\quad R_{ij}=0\ (i>j),$$

all independent (Bartlett), which is applied to [u, W_V] and to [W_K, W_Q] with their scales. No
weight is ever formed, so m and m1 may be a million. `mean` is the same at its expectation:
$V=K=Q=\sigma_0^2 m I$, $\rho = \sigma_1^2 m A$, $S=G=0$.

Legend: w words carried, width m, m1 neurons; u, A, G, rho, V, S, K, Q as in `gram_equations`.
"""

from typing import Literal

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from attnlab.core import BadInput
from attnlab.data.word_exactness import gram_why_not
from attnlab.engines.gram_equations import Grams
from attnlab.models.linear_mlp_initialisation import Initialisation, deviations
from attnlab.models.linear_mlp_transformer import LinearMLPSizes, Parameters, word_view
from attnlab.numerics.random import chi_squared, normal

Initial = Literal["weights", "bartlett", "mean"]


def of_weights(
    parameters: Parameters, a: Float[Array, " m1"], carried: Int[Array, " w"]
) -> tuple[Grams, Float[Array, ""]]:
    """The Grams of these matrices for the words carried, and A."""
    W, W_V, W_K, W_Q = parameters
    of = word_view(Parameters(W, W_V[:, carried], W_K[:, carried], W_Q[:, carried]), a)
    return Grams(of.G, of.rho, of.V, of.S, of.K, of.Q, of.G, of.rho), of.A


def bartlett(
    key: PRNGKeyArray, sizes: LinearMLPSizes, initialisation: Initialisation, count: int
) -> tuple[Grams, Float[Array, ""]]:
    """The Grams of so many words, and A, in the law that drawn weights would give them."""
    reason = gram_why_not(
        method="flow",
        probes="words",
        weights=initialisation.weights,
        initial="bartlett",
        d=count,
        m=sizes.m,
        m1=sizes.m1,
    )
    if reason:
        raise BadInput(reason)
    of = deviations(sizes, initialisation)
    of_values, of_scores, squares = jax.random.split(key, 3)
    freedom = [[sizes.m1], sizes.m - np.arange(count + 1), sizes.m - np.arange(2 * count)]
    drawn = chi_squared(squares, np.concatenate(freedom))
    A = jnp.asarray(of.output_layer**2 * sizes.m1, float)
    if initialisation.output_layer == "same_as_weights":
        A = of.output_layer**2 * drawn[0]
    of_u = jnp.reshape(of.neurons * jnp.sqrt(A), 1)
    scales = jnp.concatenate([of_u, jnp.full(count, of.embeddings)])
    values = _gram(scales * bartlett_factor(of_values, drawn[1 : count + 2]))
    scores = _gram(of.embeddings * bartlett_factor(of_scores, drawn[count + 2 :]))
    rho, G = values[0, 0], values[0, 1:]
    return Grams(
        G=G,
        rho=rho,
        V=values[1:, 1:],
        S=scores[:count, count:],
        K=scores[:count, :count],
        Q=scores[count:, count:],
        G_start=G,
        rho_start=rho,
    ), A


def mean(
    sizes: LinearMLPSizes, initialisation: Initialisation, count: int
) -> tuple[Grams, Float[Array, ""]]:
    """The expectation of the Grams, and of A."""
    of = deviations(sizes, initialisation)
    A = jnp.asarray(of.output_layer**2 * sizes.m1, float)
    rho = of.neurons**2 * sizes.m * A
    own = of.embeddings**2 * sizes.m * jnp.eye(count)
    nothing, none = jnp.zeros((count, count)), jnp.zeros(count)
    return Grams(none, rho, own, nothing, own, own, none, rho), A


def bartlett_factor(key: PRNGKeyArray, squares: Float[Array, " k"]) -> Float[Array, "k k"]:
    """R, upper triangular, with the roots of these numbers as its diagonal."""
    drawn = normal(key, (squares.size, squares.size), 1.0)
    return jnp.triu(drawn, 1) + jnp.diag(jnp.sqrt(squares))


def _gram(factor: Float[Array, "k w"]) -> Float[Array, "w w"]:
    product = factor.T @ factor
    # Symmetric to the last bit, as the equations take K and Q to be.
    return (product + product.T) / 2
