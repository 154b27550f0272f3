"""What general probes look at: any view of any model on some samples.

Every engine gives its model's kind of view (`Parameters`, `HeadsView`, `WordView`). Here each of
them has its attention and its outputs, so that one probe serves all data, models and engines.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PyTree

from attnlab.data.batch import Batch
from attnlab.models import shallow_vit
from attnlab.models.deep_vit_model import DeepViT
from attnlab.models.multihead import HeadsView, decoder
from attnlab.models.protocol import Model, Weights, masked_softmax
from attnlab.models.word_level import WordView
from attnlab.training.losses import Loss, logistic

LARGEST_MAPS = 2**22
"""Attention weights that a record may compute at once: probes of maps look at as many samples."""


class Samples(eqx.Module):
    """Training samples, test samples if there are some, and what a view does not tell."""

    model: Model
    batch: Batch
    fixed: PyTree = ()
    test: Batch | None = None
    score_gain: Float[Array, ""] = eqx.field(default=1.0, converter=jnp.asarray)
    loss: Loss = eqx.field(static=True, default=logistic)
    roles: tuple[str, ...] = eqx.field(static=True, default=())
    """The names of the roles, in the order of their numbers; none if the data have no roles."""

    def some(self, view: PyTree) -> Batch:
        """So many of the first samples that their maps are of a bearable size."""
        n, L = self.batch.kept.shape
        count = heads_of(view, self.model)
        return self.batch.take(slice(min(n, max(1, LARGEST_MAPS // (count * L**2)))))

    def margins(self, view: PyTree, batch: Batch) -> Float[Array, " n"]:
        """The margin of every sample."""
        return margins_of(outputs(view, self, batch), batch.labels)

    def losses(self, view: PyTree, batch: Batch) -> Float[Array, " n"]:
        """The loss of every sample."""
        return losses_of(outputs(view, self, batch), batch.labels, self.loss)


def margins_of(F: Float[Array, " n"] | Float[Array, "n C"], y: Array) -> Float[Array, " n"]:
    """y_i F_i; with an output a class, that of the own class minus the largest other one."""
    if F.ndim == 1:
        return y * F
    own = y[:, None] == jnp.arange(F.shape[1])
    return jnp.where(own, F, 0).sum(1) - jnp.where(own, -jnp.inf, F).max(1)


def losses_of(
    F: Float[Array, " n"] | Float[Array, "n C"], y: Array, loss: Loss
) -> Float[Array, " n"]:
    """The loss of a margin; with an output a class, the cross-entropy."""
    if F.ndim == 1:
        return loss.value(y * F)
    own = jnp.take_along_axis(F, y[:, None].astype(int), axis=1)[:, 0]
    return jax.nn.logsumexp(F, axis=1) - own


def heads_of(view: PyTree, model: Model) -> int:
    """How many maps of attention a sample has; equal heads of a group have one."""
    if isinstance(model, DeepViT):
        return model.blocks * model.heads
    if isinstance(view, HeadsView):
        return view.heads.W.shape[0]
    return 1 if isinstance(view, WordView) else view.W_K.shape[0]


def head_shares(view: PyTree, model: Model) -> Float[Array, " H"]:
    """What each map counts in a mean over heads."""
    if isinstance(view, HeadsView):
        return view.counts / view.H
    return jnp.full(heads_of(view, model), 1 / heads_of(view, model))


def attention(view: PyTree, samples: Samples, batch: Batch) -> Float[Array, "n H L L"]:
    """What query place l (third axis) pays to key place s (last axis), by head or group."""
    if isinstance(view, WordView):
        if batch.is_words:
            scores = view.S[batch.words[:, None, :], batch.words[:, :, None]]
        else:
            X = batch.vectors(view.S.dtype)
            scores = jnp.einsum("nsc,cd,nld->nls", X, view.S, X)
        return masked_softmax(view.score_scale * scores, batch.kept)[:, None]
    if isinstance(view, HeadsView):
        X = batch.vectors()
        scores = samples.score_gain * jnp.einsum("nlc,gcd,nsd->ngls", X, view.heads.W, X)
        return masked_softmax(scores, batch.kept[:, None])
    X = batch.vectors(view.W_K.dtype)
    if isinstance(samples.model, DeepViT):
        weights, where = Weights(view, samples.fixed), getattr(batch, "places", None)
        return samples.model.attention(weights, X, batch.kept, samples.score_gain, where)
    one = lambda x, kept: shallow_vit.attention(view, x, kept, samples.score_gain)  # noqa: E731
    return jax.vmap(one)(X, batch.kept)


def outputs(view: PyTree, samples: Samples, batch: Batch) -> Float[Array, "n ..."]:
    """The output (one, or one a class) on every sample: over the tokens that are kept."""
    if isinstance(view, WordView):
        seen = batch.kept.astype(view.G.dtype)
        values = view.G[batch.words] if batch.is_words else batch.vectors(view.G.dtype) @ view.G
        return jnp.einsum("nl,nls,ns->n", seen, attention(view, samples, batch)[:, 0], values)
    if isinstance(view, HeadsView):
        X = batch.vectors()
        full = samples.model.output  # pyright: ignore[reportAttributeAccessIssue]
        U = jax.vmap(lambda u: decoder(u, full, X.shape[1]))(view.heads.U)
        P, seen = attention(view, samples, batch), batch.kept.astype(X.dtype)
        return jnp.einsum("g,gld,nl,ngls,nsd->n", view.shares, U, seen, P, X)
    X = batch.vectors(view.W_K.dtype)
    weights = Weights(view, samples.fixed)
    if isinstance(samples.model, DeepViT):
        where = getattr(batch, "places", None)
        return samples.model.apply(weights, X, batch.kept, samples.score_gain, where)
    return samples.model.apply(weights, X, batch.kept, samples.score_gain)
