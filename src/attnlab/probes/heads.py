"""Probes of grouped heads: norms, margins, and where each sign's attention goes."""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from attnlab.data.batch import Batch
from attnlab.models.multihead import (
    HeadsView,
    Output,
    attention,
    decoder_norms,
    head_norms,
    outputs,
    squared_norm,
)
from attnlab.probes.head_curvature import curvature
from attnlab.training.engine import Named
from attnlab.training.losses import logistic


class HeadsContext(eqx.Module):
    """The samples that probes look at: training, test, and which places are relevant."""

    train: Batch
    test: Batch
    relevant: Float[Array, "n T"]
    output: Output = eqx.field(static=True, default="full")


class LargestNorms(NamedTuple):
    """The largest of the heads that are there."""

    head: Float[Array, ""]
    decoder: Float[Array, ""]


def largest(view: HeadsView) -> LargestNorms:
    """The largest norm of a head that is there, and of its decoder."""
    present = view.counts > 0
    return LargestNorms(
        jnp.where(present, head_norms(view.heads), 0.0).max(),
        jnp.where(present, decoder_norms(view.heads), 0.0).max(),
    )


def norms(t: Float[Array, ""], view: HeadsView, args: HeadsContext) -> Named:
    """`head_norm`, `decoder_norm`: the largest of one head; `moved`: of all heads since start."""
    del t, args
    size = largest(view)
    moved = jnp.sqrt(squared_norm(view.moved, view.counts))
    return {"head_norm": size.head, "decoder_norm": size.decoder, "moved": moved}


def margins(t: Float[Array, ""], view: HeadsView, args: HeadsContext) -> Named:
    """`smallest_margin`, and over the length of all decoders; `test_loss`, `test_error`."""
    del t
    on_train = args.train.labels * outputs(
        view.heads, view.shares, args.train.vectors(), args.output
    )
    on_test = args.test.labels * outputs(view.heads, view.shares, args.test.vectors(), args.output)
    length = jnp.sqrt(view.counts @ decoder_norms(view.heads) ** 2)
    return {
        "smallest_margin": on_train.min(),
        "decoder_margin": on_train.min() / length,
        "decoder_length": length,
        "test_loss": args.test.weight() @ logistic.value(on_test),
        "test_error": args.test.weight() @ (on_test <= 0).astype(float),
    }


def relevant_mass(t: Float[Array, ""], view: HeadsView, args: HeadsContext) -> Named:
    """`relevant_mass` (G,): the mean attention on relevant places, by group (sign +1 first)."""
    del t

    def of_head(W: Array) -> Array:
        P = jax.vmap(lambda X: attention(W, X))(args.train.vectors())
        mass = jnp.einsum("nts,ns->n", P, args.relevant) / P.shape[1]
        return args.train.weight() @ mass / args.train.weight().sum()

    return {"relevant_mass": jax.vmap(of_head)(view.heads.W)}


def loss_curvature(t: Float[Array, ""], view: HeadsView, args: HeadsContext) -> Named:
    """`lambda_min` and `hessian_norm` of the training loss, exact for grouped heads."""
    del t
    found = curvature(view, args.train, args.output)
    return {"lambda_min": found.smallest, "hessian_norm": found.norm}
