r"""The first weights of the shallow vision transformer (Li et al. 2023, Assumption 1).

$$W_V \mu_j = p_j + \sigma\, u_j, \quad W_K \mu_j = q_j + \delta\, u'_j, \quad
  W_Q \mu_j = r_j + \delta\, u''_j, \qquad q_1 = r_1,\; q_2 = r_2, \qquad |u| = 1$$

with orthonormal $p_j$, $q_j$, $r_j$ and, off the patterns' span, zero. The assumption also bounds
the matrices' norms by 1. How the errors are made (`errors`):

- `error` (the default): each map is its features turned by a random rotation that moves every
  direction by the same angle, $W_V\mu_j = R\,p_j$ with $R = \cos\theta + \sin\theta J$,
  $J^2 = -1$, $2 \sin(\theta/2) = \sigma$. The error is exactly sigma at every pattern and the norm
  exactly 1 (with an odd number of rows one direction stays, and the error is at most sigma).
- `worst`: what the classes are told apart by is shrunk, $u_1 = -(p_1-p_2)/\sqrt 2 = -u_2$ for
  values and keys, and every query is shortened by delta; norms are at most 1.
- `free`: errors of norm exactly sigma in independent random directions; breaks the norm bound.
- `scale`: sigma is no error but the size of the values, $W_V\mu_j = (\sigma/0.1)^2 p_j$: the form
  of the printed $W_V = (\sigma/c_0)^2 U$, in units of figure 1(a)'s sigma. Breaks the norm bound.

Legend: sigma, delta the errors; xi the deviation of W_O's entries; a (outputs, L, m) fixed signs
over sqrt(m), one vector a position, or one for all (`shared`).

Differences from the print: it sets W_Q = (delta/c_0)^2 I and W_V = (sigma/c_0)^2 U, i.e. 400 I and
100 U, which saturates the softmax and contradicts the assumption; that is kept as `printed`.
For sets of patterns (G.2) the mu_j are the sets' mean directions. With several heads each has
features of its own, the values over the number of heads where they are added up.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from attnlab.models.shallow_vit import Combination, Parameters
from attnlab.numerics.random import normal, signs

Scheme = Literal["assumption_1", "printed"]
Errors = Literal["error", "worst", "scale", "free"]
UNIT_SIGMA = 0.1
"""Figure 1(a)'s sigma, at which the reading `scale` has values of unit norm."""


@dataclass(frozen=True)
class ShallowViTSizes:
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


class Scales(NamedTuple):
    """The numbers of a scheme: data of a compiled run."""

    sigma: Float[Array, ""]
    """The error of the values."""
    delta: Float[Array, ""]
    """That of keys and queries."""
    xi: Float[Array, ""]
    """The deviation of the neurons' entries."""
    c0: Float[Array, ""] | None = None
    """The tokens' noise, which only the printed scheme asks for."""


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
    sizes: ShallowViTSizes,
    patterns: Float[Array, "M d"],
    numbers: Scales,
    *,
    shared: Array | bool = False,
    queries_as_keys: Array | bool = False,
    scheme: Scheme = "assumption_1",
    errors: Errors | Callable[[str], Array] = "error",
) -> Start:
    """Draw the first weights.

    `queries_as_keys` takes r_j = q_j for every j, where Assumption 1 asks it of the first two.
    `errors` is a name, or where the choice is data a function that tells whether it is a name.
    """
    chosen = errors if callable(errors) else lambda name: jnp.asarray(name == errors)
    for_O, for_a, for_heads = jax.random.split(key, 3)
    D = sizes.m_a * (sizes.H if sizes.combination == "concat" else 1)
    W_O = normal(for_O, (sizes.m, D), 1.0) * numbers.xi
    drawn = signs(for_a, (sizes.outputs, sizes.L, sizes.m)) / jnp.sqrt(sizes.m)
    a = jnp.where(shared, drawn[:, :1], drawn)
    if scheme == "printed":
        W_V, W_K, W_Q, features = _printed(for_heads, sizes, patterns, numbers)
    else:
        # Not vmapped: a draw in two dimensions takes long to compile (see numerics.random).
        heads = [
            _head(k, sizes, patterns, numbers, chosen, queries_as_keys)
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
    sizes: ShallowViTSizes,
    patterns: Float[Array, "M d"],
    numbers: Scales,
    chosen: Callable[[str], Array],
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
    sigma, delta = numbers.sigma, numbers.delta
    moved = []
    for k, x, size, worst in (
        (keys[3], p, sigma, _less_apart(p)),
        (keys[4], q, delta, _less_apart(q)),
        (keys[5], r, delta, -r),
    ):
        free = x + size * _unit(normal(k, (len(x), sizes.d), 1.0)[:, :M])
        turned = rotation(jax.random.fold_in(k, 1), len(x), size) @ x
        moved.append(
            jnp.select([chosen("free"), chosen("worst")], [free, x + size * worst], turned)
        )
    values, keys_, queries = moved
    values = jnp.where(chosen("scale"), (sigma / UNIT_SIGMA) ** 2 * p, values)
    onto = jnp.linalg.pinv(patterns.T)
    return values @ onto, keys_ @ onto, queries @ onto, Features(p, q, r)


def rotation(key: PRNGKeyArray, size: int, distance: Array) -> Float[Array, "size size"]:
    r"""A random rotation that moves every unit vector by the same distance, $2\sin(\theta/2)$.

    $R = Q\,\mathrm{diag}(R_\theta, R_\theta, \dots)\,Q^\top$ with a random orthogonal Q; of an odd
    size the last direction of Q stays.
    """
    Q = orthonormal(key, size)
    sine = distance / 2
    cos, sin = 1 - 2 * sine**2, 2 * sine * jnp.sqrt(1 - sine**2)
    even = Q[:, : size - size % 2 : 2], Q[:, 1 : size - size % 2 : 2]
    plane = even[0] @ even[0].T + even[1] @ even[1].T
    turn = even[1] @ even[0].T - even[0] @ even[1].T
    return jnp.eye(size) + (cos - 1) * plane + sin * turn


def _less_apart(x: Float[Array, "rows M"]) -> Float[Array, "rows M"]:
    """Unit vectors that bring the first two columns together; nothing for the others."""
    apart = (x[:, 0] - x[:, 1]) / jnp.sqrt(2)
    return jnp.zeros_like(x).at[:, 0].set(-apart).at[:, 1].set(apart)


def _printed(
    key: PRNGKeyArray,
    sizes: ShallowViTSizes,
    patterns: Float[Array, "M d"],
    numbers: Scales,
) -> tuple[Array, Array, Array, Features]:
    assert numbers.c0 is not None
    of_values, of_scores = ((x / numbers.c0) ** 2 for x in (numbers.sigma, numbers.delta))
    size = max(sizes.m_a, sizes.d)
    U = jnp.stack([orthonormal(k, size) for k in jax.random.split(key, sizes.H)])
    U = U[:, : sizes.m_a, : sizes.d]
    eye = jnp.broadcast_to(jnp.eye(sizes.m_b, sizes.d), (sizes.H, sizes.m_b, sizes.d))
    p = jnp.einsum("had,Md->haM", U, patterns)
    q = jnp.einsum("hbd,Md->hbM", eye, patterns)
    return of_values * U, of_scores * eye, of_scores * eye, Features(p, q, q)


def _unit(x: Float[Array, "rows columns"]) -> Float[Array, "rows columns"]:
    return x / jnp.linalg.norm(x, axis=0)
