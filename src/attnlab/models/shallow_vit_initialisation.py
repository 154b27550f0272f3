r"""The first weights of the shallow vision transformer (Li et al. 2023, Assumption 1).

$$W_V \mu_j = p_j + \sigma\, u_j, \quad W_K \mu_j = q_j + \delta\, u'_j, \quad
  W_Q \mu_j = r_j + \delta\, u''_j, \qquad q_1 = r_1,\; q_2 = r_2, \qquad |u| = 1$$

with orthonormal $p_j$, $q_j$, $r_j$ and, off the patterns' span, zero. The errors have exactly the
norm that the assumption allows, in random directions, or `worst`: each value and each key is
moved towards the feature of the other class, each query away from its own key.

Legend: sigma, delta the errors; xi the deviation of W_O's entries; a (outputs, L, m) fixed signs
over sqrt(m), one vector a position, or one for all (`shared`).

Differences from the print: it sets W_Q = (delta/c_0)^2 I and W_V = (sigma/c_0)^2 U, i.e. 400 I and
100 U, which saturates the softmax and contradicts the assumption; that is kept as `printed`. The
assumption's bound 1 on the matrices' norms is not enforced: an error of norm sigma breaks it.
For sets of patterns (G.2) the mu_j are the sets' mean directions. With several heads each has
features of its own, the values over the number of heads where they are added up.
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from attnlab.models.shallow_vit import Combination, Parameters
from attnlab.numerics.random import normal, signs

Scheme = Literal["assumption_1", "printed"]
Direction = Literal["random", "worst"]


@dataclass(frozen=True)
class Sizes:
    """Shapes of the model: M patterns in R^d, L tokens, m neurons, H heads, outputs."""

    d: int
    M: int
    L: int
    m: int
    m_a: int
    m_b: int
    H: int = 1
    outputs: int = 1
    combination: Combination = "sum"


class Features(NamedTuple):
    """The orthonormal vectors behind the first values, keys and queries, as columns, by head."""

    p: Float[Array, "H m_a M"]
    q: Float[Array, "H m_b M"]
    r: Float[Array, "H m_b M"]


class Start(NamedTuple):
    """The first weights, the fixed output weights and the features."""

    parameters: Parameters
    a: Float[Array, "outputs L m"]
    features: Features


def draw(
    key: PRNGKeyArray,
    sizes: Sizes,
    patterns: Float[Array, "M d"],
    numbers: dict[str, Float[Array, ""]],
    *,
    shared: Array | bool = False,
    queries_as_keys: Array | bool = False,
    scheme: Scheme = "assumption_1",
    direction: Direction = "random",
) -> Start:
    """Draw the first weights. `numbers`: sigma, delta, xi (and c0 for the printed scheme).

    `queries_as_keys` takes r_j = q_j for every j, where Assumption 1 asks it of the first two.
    """
    for_O, for_a, for_heads = jax.random.split(key, 3)
    D = sizes.m_a * (sizes.H if sizes.combination == "concat" else 1)
    W_O = normal(for_O, (sizes.m, D), 1.0) * numbers["xi"]
    drawn = signs(for_a, (sizes.outputs, sizes.L, sizes.m)) / jnp.sqrt(sizes.m)
    a = jnp.where(shared, drawn[:, :1], drawn)
    if scheme == "printed":
        W_V, W_K, W_Q, features = _printed(for_heads, sizes, patterns, numbers)
    else:
        # Not vmapped: a draw in two dimensions takes long to compile (see numerics.random).
        heads = [
            _head(k, sizes, patterns, numbers, direction, queries_as_keys)
            for k in jax.random.split(for_heads, sizes.H)
        ]
        W_V, W_K, W_Q, features = jax.tree.map(lambda *x: jnp.stack(x), *heads)
    if sizes.combination == "sum":
        W_V = W_V / sizes.H
    return Start(Parameters(W_O, W_V, W_K, W_Q), a, features)


def orthonormal(key: PRNGKeyArray, size: int) -> Float[Array, "size size"]:
    """A random orthogonal matrix, uniform over all of them."""
    q, r = jnp.linalg.qr(normal(key, (size, size), 1.0))
    return q * jnp.sign(jnp.diagonal(r))


def _head(
    key: PRNGKeyArray,
    sizes: Sizes,
    patterns: Float[Array, "M d"],
    numbers: dict[str, Float[Array, ""]],
    direction: Direction,
    queries_as_keys: Array | bool,
) -> tuple[Array, Array, Array, Features]:
    keys = jax.random.split(key, 6)
    M = sizes.M
    # Drawn whole and cut to M columns, so that padding M does not change the draw.
    p, q = orthonormal(keys[0], sizes.m_a), orthonormal(keys[1], sizes.m_b)
    # The queries' features: those of the keys, or for all but the first two another basis.
    other_basis = q.at[:, 2:].set(q[:, 2:] @ orthonormal(keys[2], sizes.m_b - 2))
    r = jnp.where(queries_as_keys, q, other_basis)
    p, q, r = p[:, :M], q[:, :M], r[:, :M]
    if direction == "random":
        of_value, of_key, of_query = (
            _unit(normal(k, (len(x), sizes.d), 1.0)[:, :M])
            for k, x in zip(keys[3:], (p, q, r), strict=True)
        )
    else:
        other = jnp.arange(M).at[0].set(1).at[1].set(0)
        of_value, of_key, of_query = p[:, other], q[:, other], -q
    onto = jnp.linalg.pinv(patterns.T)
    W_V = (p + numbers["sigma"] * of_value) @ onto
    W_K = (q + numbers["delta"] * of_key) @ onto
    W_Q = (r + numbers["delta"] * of_query) @ onto
    return W_V, W_K, W_Q, Features(p, q, r)


def _printed(
    key: PRNGKeyArray,
    sizes: Sizes,
    patterns: Float[Array, "M d"],
    numbers: dict[str, Float[Array, ""]],
) -> tuple[Array, Array, Array, Features]:
    scale = {name: (numbers[name] / numbers["c0"]) ** 2 for name in ("sigma", "delta")}
    size = max(sizes.m_a, sizes.d)
    U = jnp.stack([orthonormal(k, size) for k in jax.random.split(key, sizes.H)])
    U = U[:, : sizes.m_a, : sizes.d]
    eye = jnp.broadcast_to(jnp.eye(sizes.m_b, sizes.d), (sizes.H, sizes.m_b, sizes.d))
    p = jnp.einsum("had,Md->haM", U, patterns)
    q = jnp.einsum("hbd,Md->hbM", eye, patterns)
    return scale["sigma"] * U, scale["delta"] * eye, scale["delta"] * eye, Features(p, q, q)


def _unit(x: Float[Array, "rows columns"]) -> Float[Array, "rows columns"]:
    return x / jnp.linalg.norm(x, axis=0)
