r"""The loss's Hessian for groups of equal heads: both ends of its spectrum, exactly.

$$\nabla^2\hat L=\mathrm{blockdiag}_h(B_h)
  +\sum_iw_i\ell''_i\,\nabla\tilde\Phi_i\nabla\tilde\Phi_i^\top,\qquad
  B_h=\frac1{\sqrt H}\sum_iw_iy_i\ell'_i\,\nabla^2\Phi(X_i;\theta_h).$$

Heads of a group have one B and one gradient. A vector that sums to zero over a group of at least
two heads does not see the second term, so B's eigenvalues are eigenvalues of the whole; what is
left acts on one vector per group, scaled by $\sqrt{c_g}$. The spectrum is that of the reduced
matrix together with that of B_g for every group of two or more heads.

Legend: $c_g$ heads in group g, $w_i$ the samples' weights, $\ell',\ell''$ at the margins.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float

from attnlab.data.batch import Batch
from attnlab.models.multihead import Heads, HeadsView, Output, head_gradient, head_output, outputs
from attnlab.training.losses import logistic


class Curvature(NamedTuple):
    """The ends of the spectrum of the loss's Hessian."""

    smallest: Float[Array, ""]
    norm: Float[Array, ""]
    blocks: Float[Array, " G"]
    """The smallest eigenvalue of each group's block: the whole's for groups of two or more."""


def curvature(view: HeadsView, batch: Batch, output: Output = "full") -> Curvature:
    """Both ends of the spectrum of the loss's Hessian."""
    tokens, weights = batch.vectors(), batch.weight()
    margins = batch.labels * outputs(view.heads, view.shares, tokens, output)
    slopes = -weights * logistic.slope(margins) * batch.labels / jnp.sqrt(view.H)
    sigma = jax.nn.sigmoid(margins)
    bends = weights * sigma * (1 - sigma)
    blocks = jax.vmap(lambda u, W: _block(Heads(u, W), slopes, tokens, output))(*view.heads)
    features = jax.vmap(lambda u, W: _gradients(Heads(u, W), tokens, output))(*view.heads)
    G, n, p = features.shape
    scaled = features * jnp.sqrt(view.counts / view.H)[:, None, None]
    joint = scaled.transpose(1, 0, 2).reshape(n, G * p)
    reduced = jax.scipy.linalg.block_diag(*blocks) + (joint * bends[:, None]).T @ joint
    # An empty group has no rows in the whole: its block is put at zero, which is harmless
    # because zero is an eigenvalue anyway (U enters linearly, so B has a zero block).
    present = jnp.repeat(view.counts > 0, p)
    reduced = jnp.where(present[:, None] & present[None, :], reduced, 0.0)
    of_reduced = jnp.linalg.eigvalsh(reduced)
    of_blocks = jnp.linalg.eigvalsh(blocks)
    several = view.counts >= 2
    low = jnp.where(several, of_blocks[:, 0], jnp.inf).min()
    high = jnp.where(several, jnp.abs(of_blocks).max(axis=1), 0.0).max()
    return Curvature(
        jnp.minimum(low, of_reduced[0]),
        jnp.maximum(high, jnp.abs(of_reduced).max()),
        of_blocks[:, 0],
    )


def _block(head: Heads, slopes: Array, tokens: Array, output: Output) -> Float[Array, "p p"]:
    flat, rebuild = ravel_pytree(head)

    def weighted(x: Array) -> Array:
        one = rebuild(x)
        return slopes @ jax.vmap(lambda X: head_output(one.U, one.W, X, output))(tokens)

    return jax.hessian(weighted)(flat)


def _gradients(head: Heads, tokens: Array, output: Output) -> Float[Array, "n p"]:
    return jax.vmap(lambda X: ravel_pytree(head_gradient(head.U, head.W, X, output))[0])(tokens)


def hessian_product(view: HeadsView, batch: Batch, output: Output, direction: Heads) -> Heads:
    """The Hessian of the loss times a direction, every head for itself (for Lanczos)."""
    tokens, weights = batch.vectors(), batch.weight()

    def loss(heads: Heads) -> Array:
        margins = batch.labels * outputs(heads, view.shares, tokens, output)
        return weights @ logistic.value(margins)

    return jax.jvp(jax.grad(loss), (view.heads,), (direction,))[1]
