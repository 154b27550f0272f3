r"""Engine `gram`: the exact closed system of word-level Grams; neither m nor m1 costs anything.

The output depends on the weights through $G, S$ alone, and $(G, \rho, V, S, K, Q)$ obey a closed
system under gradient flow and under gradient descent: `gram_equations` has it term by term, and
`gram_momentum` has descent with momentum and weight decay, which close as well.

Conserved by the flow, as Grams show it: of $C = u u^\top - A W_V W_V^\top$ all traces of powers,
$\operatorname{tr} C = \rho - A\operatorname{tr}V$ and
$\operatorname{tr} C^2 = \rho^2 - 2A|G|^2 + A^2|V|^2$ being the first, and with the start
$u_0^\top C u_0 = \sigma^2 - A|f|^2$; of $W_K W_K^\top - W_Q W_Q^\top$ likewise
$\operatorname{tr}K - \operatorname{tr}Q$ and $|K|^2 + |Q|^2 - 2|S|^2$.

Only some words carry a row: the three signals, the words of the training set, and any that are
asked for beside them. The weights of a word that does not occur stand still, but its Grams with
other words do not ($G(\mu) = u^\top W_V\mu$ moves with u): a word that a test sample holds must
be carried. `rows_of` turns the words of a batch into rows; views and probes speak of rows,
and rows are words if all are carried.

Legend: w words carried, n samples of L places, width m; the other letters as in
`attnlab.models.word_level`.
"""

import dataclasses
from typing import ClassVar

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import optimistix
from jaxtyping import Array, Float, Int, PRNGKeyArray

from attnlab.data.batch import Batch
from attnlab.data.word_exactness import gram_why_not
from attnlab.engines import gram_equations as equations
from attnlab.engines import gram_initialisation
from attnlab.engines.gram_equations import Grams, ScoreDrive
from attnlab.engines.gram_initialisation import Initial
from attnlab.engines.gram_rows import as_rows, carried_words, enough_rows
from attnlab.engines.word_engine import FlowSettings
from attnlab.models.linear_mlp_initialisation import Initialisation, initialise
from attnlab.models.linear_mlp_transformer import LinearMLPSizes
from attnlab.models.word_level import WordView, place_drive, read_out, value_drive
from attnlab.training.attention import GAIN_AND_RATE, Attention
from attnlab.training.losses import Loss, logistic


class GramView(WordView):
    """A view with the products with the start, which tell how far neurons have moved."""

    G_start: Float[Array, " w"] | None = None
    """W_V^T u(0)."""
    rho_start: Float[Array, ""] | None = None
    """u(0).u."""


class Gram(eqx.Module):
    """Training on Grams. Draw one with its first state by `start`.

    As in `weights`, the attention switches are numbers, so controls run in the same program.
    """

    state_is_weights: ClassVar[bool] = False
    """Whether a rule for weights, as optax has them, may act on the state."""

    words: Int[Array, "n L"]
    """As rows."""
    labels: Float[Array, " n"]
    A: Float[Array, ""]
    score_scale: Float[Array, ""]
    """1/sqrt(m): all that is left of m."""
    score_gain: Float[Array, ""]
    score_rate: Float[Array, ""]
    carried: Int[Array, " w"]
    """The word of each row, increasing."""
    loss: Loss = eqx.field(static=True, default=logistic)

    def drives(self, state: Grams) -> tuple[Float[Array, ""], Float[Array, " w"], ScoreDrive]:
        """The training loss, z, and M with its factor 1/sqrt(m)."""
        count = self.carried.shape[0]
        scores = state.S[self.words[:, None, :], self.words[:, :, None]]
        p = jax.nn.softmax(self.score_gain * self.score_scale * scores, axis=-1)
        margins = self.labels * read_out(p, state.G, self.words)
        r = self.loss.slope(margins) * self.labels / self.labels.shape[0]
        z = value_drive(p, r, self.words, count)
        terms = self.score_rate * self.score_scale * place_drive(p, state.G, r, self.words)
        M = equations.score_drive_of(terms, self.words, count)
        return self.loss.value(margins).mean(), z, M

    def loss_and_field(self, state: Grams) -> tuple[Float[Array, ""], Grams]:
        """The training loss, and the derivative of the Grams under gradient flow."""
        loss, z, M = self.drives(state)
        return loss, self.field(state, z, M)

    def field(self, state: Grams, z: Float[Array, " w"], M: ScoreDrive) -> Grams:
        """The derivative of the Grams under these drives."""
        return Grams(
            **equations.total(self._value_first(state, z)),
            **equations.total(equations.score_first(M, state.S, state.K, state.Q)),
        )

    def step(self, state: Grams, learning_rate: Float[Array, ""]) -> tuple[Float[Array, ""], Grams]:
        """The loss before, and the Grams after, one step of gradient descent on the weights."""
        loss, z, M = self.drives(state)
        return loss, self.stepped(state, jnp.asarray(learning_rate, state.G.dtype), z, M)

    def stepped(
        self, state: Grams, eta: Float[Array, ""], z: Float[Array, " w"], M: ScoreDrive
    ) -> Grams:
        """The Grams after a step of this size under these drives."""
        second = equations.value_second(z, self.A, state.G, state.rho, state.V)
        return Grams(
            **equations.moved(state._asdict(), eta, self._value_first(state, z), second),
            **equations.score_step(M, eta, state.S, state.K, state.Q),
        )

    def view(self, state: Grams) -> GramView:
        """The word-level quantities over the rows."""
        return GramView(
            G=state.G,
            rho=state.rho,
            V=state.V,
            S=state.S,
            K=state.K,
            Q=state.Q,
            A=self.A,
            score_scale=self.score_gain * self.score_scale,
            G_start=state.G_start,
            rho_start=state.rho_start,
        )

    def rows_of(self, batch: Batch) -> Batch:
        """The batch with rows for words, for probes; every word in it must be carried."""
        return dataclasses.replace(batch, tokens=as_rows(self.carried, batch.words))

    def flow_settings(
        self, state: Grams, rtol: float | Array = 1e-6, atol: float | Array = 1e-8
    ) -> FlowSettings:
        """What to give `training.flow.flow`: `flow(..., **engine.flow_settings(state))`.

        The largest error counts, not the mean over w^2 numbers of which most hardly move.
        """
        controller = diffrax.PIDController(
            rtol=jnp.asarray(rtol, float),
            atol=jnp.asarray(atol, float),
            norm=optimistix.max_norm,
        )
        return {"units": natural_units(self, state), "controller": controller}

    def _value_first(self, state: Grams, z: Float[Array, " w"]) -> equations.Terms:
        return {
            **equations.value_first(z, self.A, state.G, state.rho, state.V),
            **equations.start_first(z, self.A, state.G_start, state.rho_start),
        }


def why_not(
    sizes: LinearMLPSizes,
    batch: Batch,
    initialisation: Initialisation,
    *,
    initial: str = "weights",
    method: str = "flow",
    rows: int | None = None,
) -> str:
    """Why this engine is not exact for it, or cannot begin so, or nothing.

    `method` is flow, descent, momentum or adam; any data, loss and attention will do. `rows` words
    are carried, by default as many as any data of this size needs.
    """
    return gram_why_not(
        method=method,
        probes="words",
        weights=initialisation.weights,
        initial=initial,
        d=enough_rows(sizes.d, batch) if rows is None else rows,
        m=sizes.m,
        m1=sizes.m1,
    )


def start(
    key: PRNGKeyArray,
    batch: Batch,
    sizes: LinearMLPSizes,
    initialisation: Initialisation,
    *,
    initial: Initial = "weights",
    rows: int | None = None,
    also: Int[Array, " k"] | None = None,
    attention: Attention = "trained",
    loss: Loss = logistic,
) -> tuple[Gram, Grams]:
    """Draw the first Grams: the engine and its first state.

    `initial`: of `weights` drawn with this key (the very run of the engine `weights`), by
    `bartlett` (the same law, for any m), or at their `mean`. `rows` words are carried
    (`row_count` of the data is enough; by default as many as any data of this size needs), those
    in `also` among them; rows to spare go to words that do not occur.
    """
    also = jnp.zeros(0, batch.words.dtype) if also is None else also
    enough = enough_rows(sizes.d, batch, also.shape[0])
    carried = carried_words(batch.words, also, sizes.d, enough if rows is None else rows)
    if initial == "weights":
        parameters, a = initialise(key, sizes, initialisation)
        state, A = gram_initialisation.of_weights(parameters, a, carried)
    elif initial == "bartlett":
        state, A = gram_initialisation.bartlett(key, sizes, initialisation, carried.shape[0])
    else:
        state, A = gram_initialisation.mean(sizes, initialisation, carried.shape[0])
    return on_batch(batch, A, sizes.m, carried, attention=attention, loss=loss), state


def on_batch(
    batch: Batch,
    A: Float[Array, ""],
    m: int | float | Float[Array, ""],
    carried: Int[Array, " w"],
    *,
    attention: Attention = "trained",
    loss: Loss = logistic,
) -> Gram:
    """The engine for given samples, |a|^2 and width, e.g. for Grams of your own."""
    gain, rate = GAIN_AND_RATE[attention]
    return Gram(
        words=as_rows(carried, batch.words),
        labels=batch.labels.astype(A.dtype),
        A=A,
        score_scale=1 / jnp.sqrt(jnp.asarray(m, A.dtype)),
        score_gain=jnp.asarray(gain, A.dtype),
        score_rate=jnp.asarray(rate, A.dtype),
        carried=carried,
        loss=loss,
    )


# --- the flow ---------------------------------------------------------------------------------


def time_unit(state: Grams) -> Float[Array, ""]:
    """1/rho at the start: the time in which outputs become of order one."""
    return 1 / state.rho


def natural_units(engine: Gram, state: Grams) -> Grams:
    r"""The sizes of the changes that the flow makes from this state while outputs reach order one.

    With $\tau = 1/\rho_0$ and z, G of order one: $G: 1$, $V: \tau$, $\rho: A\tau$,
    $S: \kappa\tau/\sqrt m$ with $\kappa$ the mean square of a key or query, and
    $K, Q: s\tau/\sqrt m$ with s the size of a score.
    """
    tau, rate = time_unit(state), engine.score_scale
    keys_and_queries = (jnp.diagonal(state.K).mean() + jnp.diagonal(state.Q).mean()) / 2
    score = keys_and_queries * rate * tau
    size_of_score = jnp.sqrt(jnp.mean(state.S**2)) + score
    own = size_of_score * rate * tau
    one = jnp.ones_like(tau)
    units = Grams(one, engine.A * tau, tau, score, own, own, one, engine.A * tau)
    # A variable that cannot move has no size; any will do.
    return Grams(*(jnp.where(unit > 0, unit, one) for unit in units))
