r"""Descent on groups of equal heads: what `weights` and `collapsed_heads` share.

$$\hat L=\sum_i w_i\,\ell(y_i\tilde\Phi(X_i)),\qquad
  -\nabla_{\theta_h}\hat L=\frac1{\sqrt H}\sum_i w_i\,g_i\,y_i\,\nabla\Phi(X_i;\theta_h),\qquad
  g=-\ell'(y\tilde\Phi).$$

The state is how far each head has moved from its start: for many heads the move is of the size
$1/\sqrt H$ beside a start of order one, and adding the two would round it away.

Legend: $w_i$ the weights of the training points (1/n for samples, counts/n for atoms), theta_h
the parameters of one head; a group's heads move alike, each by its own gradient.
"""

from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from attnlab.models.multihead import (
    Heads,
    HeadsView,
    Output,
    decoder,
    decoder_gradient,
)
from attnlab.training.losses import AnyLoss, logistic


class HeadsEngine(eqx.Module):
    """Gradient descent on grouped heads. State: the moves of the heads since `start`."""

    tokens: Float[Array, "n T d"]
    labels: Float[Array, " n"]
    weights: Float[Array, " n"]
    counts: Float[Array, " G"]
    H: Float[Array, ""]
    start: Heads
    output: Output = eqx.field(static=True, default="full")
    of_margin: AnyLoss = logistic
    """The paper's loss, or another one: section 7's question."""

    state_is_moves: ClassVar[bool] = True

    def zero(self) -> Heads:
        """The state at the start."""
        return jax.tree.map(jnp.zeros_like, self.start)

    def parameters(self, state: Heads) -> Heads:
        """The heads' parameters."""
        return jax.tree.map(jnp.add, self.start, state)

    def margins(self, state: Heads) -> Float[Array, " n"]:
        """y_i times the output on every training point."""
        return self._forward(state)[0]

    def loss(self, state: Heads) -> Float[Array, ""]:
        """The training loss."""
        return self.weights @ self.of_margin.value(self.margins(state))

    def loss_and_field(self, state: Heads) -> tuple[Float[Array, ""], Heads]:
        """The training loss, and minus the gradient of it with respect to one head per group."""
        margins, P, PX, A = self._forward(state)
        slopes = self.weights * self.of_margin.slope(margins) * self.labels / jnp.sqrt(self.H)
        centred = P * (A - jnp.sum(P * A, axis=-1, keepdims=True))
        of_U = jnp.einsum("n,gntd->gtd", slopes, PX)
        # One sample's part is X' centred X; contracting the keys first keeps the order T^2 d.
        inner = jnp.einsum("gnts,nsd->gntd", centred, self.tokens)
        of_W = jnp.einsum("n,ntc,gntd->gcd", slopes, self.tokens, inner)
        of_u = jax.vmap(lambda g: decoder_gradient(g, self.output))(of_U)
        return self.weights @ self.of_margin.value(margins), Heads(of_u, of_W)

    def step(self, state: Heads, learning_rate: Float[Array, ""]) -> tuple[Float[Array, ""], Heads]:
        """The loss before, and the state after, one step of gradient descent."""
        loss, field = self.loss_and_field(state)
        return loss, jax.tree.map(lambda x, v: x + learning_rate * v, state, field)

    def view(self, state: Heads) -> HeadsView:
        """What probes read."""
        return HeadsView(self.parameters(state), state, self.counts, self.H)

    def _forward(self, state: Heads) -> tuple[Array, Array, Array, Array]:
        """Margins, attention (G, n, T, T), attended tokens, and what U gives each token."""
        T = self.tokens.shape[1]
        W = self.start.W + state.W
        logits = jnp.einsum("ntc,gcd,nsd->gnts", self.tokens, W, self.tokens)
        P = jax.nn.softmax(logits, axis=-1)
        PX = jnp.einsum("gnts,nsd->gntd", P, self.tokens)
        U_start, U_move = (
            jax.vmap(lambda u: decoder(u, self.output, T))(u) for u in (self.start.U, state.U)
        )
        of_start = jnp.einsum("gtd,gntd->gn", U_start, PX)
        of_move = jnp.einsum("gtd,gntd->gn", U_move, PX)
        shares = self.counts / jnp.sqrt(self.H)
        # The start's parts of the two signs nearly cancel: they are added up before the moves'.
        margins = self.labels * (shares @ of_start + shares @ of_move)
        A = jnp.einsum("gtd,nsd->gnts", U_start + U_move, self.tokens)
        return margins, P, PX, A
