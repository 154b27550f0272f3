r"""Engine `gram` with single neurons: m still costs nothing, m1 only through m1 w numbers.

W moves by a rank-one matrix, $W(t) = W(0) + a h^\top$ with $\dot h = W_V z$. With the start's
$N = W(0) W_V(0)$ and $c = W(0) u_0$, the numbers $b = W(0) h$ and $D = W(0)(W_V - W_V(0))$ close
the system, for flow and (with $\eta$ in place of dt, exactly) for descent:

$$\dot b = (N + D)\, z, \qquad \dot D = (c + A b)\, z^\top .$$

Every product of a neuron follows:

$$\langle w_i, w_j\rangle(t) - \langle w_i, w_j\rangle(0) = a_i b_j + a_j b_i + a_i a_j |h|^2,\quad
  W W_V - W(0) W_V(0) = D + a\,(G - f)^\top/A,\quad
  W u = c + A b + a\,(\rho - \sigma)/A,$$

with $f = W_V^\top u_0$, $\sigma = u_0\cdot u$ and $|h|^2 = (\rho - 2\sigma + \rho_0)/A^2$ of the
Grams' own state.

The start is read off drawn weights, or drawn given the Grams where those were drawn without
weights. Given $[u_0, W_V(0)]$, normal weights are $W(0) = a u_0^\top/A + P Z$ with
$P = I - aa^\top/A$ and Z of independent normals. Its products with $u_0$ and $W_V(0)$ are
$s_1 Z_1 R$, where $R^\top R$ is the Gram of $[u_0, W_V(0)]$ and $Z_1$ is m1 by w+1; the rest of Z
lives in the other m - w - 1 dimensions, and only its Gram is needed (Bartlett's factor again).

Legend: w_j the rows of W (m1, m); a (m1,), A = |a|^2; w words carried; s1 the deviation of an
entry of W(0); the other letters as in `gram_equations`.
"""

from typing import ClassVar, Literal, NamedTuple, Self

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from attnlab.core import BadInput
from attnlab.data.batch import Batch
from attnlab.data.word_exactness import gram_why_not
from attnlab.engines import gram
from attnlab.engines.gram import Gram, GramView
from attnlab.engines.gram_equations import Grams
from attnlab.engines.gram_initialisation import bartlett_factor
from attnlab.engines.gram_rows import enough_rows
from attnlab.engines.word_engine import FlowSettings
from attnlab.models.linear_mlp_initialisation import Initialisation, deviations, initialise
from attnlab.models.linear_mlp_transformer import LinearMLPSizes, Parameters
from attnlab.models.word_level import NeuronMovement
from attnlab.numerics.random import chi_squared, normal
from attnlab.training.attention import Attention


class NeuronStart(eqx.Module):
    """The neurons at the start, as far as a run depends on them."""

    a: Float[Array, " m1"]
    outputs: Float[Array, "m1 w"]
    """N = W(0) W_V(0)."""
    along_u: Float[Array, " m1"]
    """c = W(0) u(0)."""
    squares: Float[Array, " m1"]
    """|w_j(0)|^2."""
    rho: Float[Array, ""]


class GramsAndNeurons(NamedTuple):
    """The Grams, and how the neurons have moved."""

    grams: Grams
    along_h: Float[Array, " m1"]
    """b = W(0) h."""
    outputs: Float[Array, "m1 w"]
    """D = W(0) (W_V - W_V(0))."""


class NeuronsNow(eqx.Module):
    """The neurons at a time, as probes read them (see `attnlab.models.word_level.Neurons`)."""

    a: Float[Array, " m1"]
    along_u: Float[Array, " m1"]
    squares: Float[Array, " m1"]
    movement: NeuronMovement

    def moved_since(self, start: Self) -> NeuronMovement:
        """The movement since the start, which this engine follows; no other can be asked for."""
        del start
        return self.movement


class GramWithNeurons(eqx.Module):
    """Training on Grams, beside which the neurons are followed. Draw one by `start`."""

    state_is_weights: ClassVar[bool] = False
    """Whether a rule for weights, as optax has them, may act on the state."""

    grams: Gram
    neurons: NeuronStart

    def loss_and_field(self, state: GramsAndNeurons) -> tuple[Float[Array, ""], GramsAndNeurons]:
        """The training loss, and the derivative of the state under gradient flow."""
        loss, z, M = self.grams.drives(state.grams)
        return loss, GramsAndNeurons(
            self.grams.field(state.grams, z, M), *self._neuron_rates(state, z)
        )

    def step(
        self, state: GramsAndNeurons, learning_rate: Float[Array, ""]
    ) -> tuple[Float[Array, ""], GramsAndNeurons]:
        """The loss before, and the state after, one step of gradient descent on the weights."""
        loss, z, M = self.grams.drives(state.grams)
        eta = jnp.asarray(learning_rate, state.along_h.dtype)
        along_h, outputs = self._neuron_rates(state, z)
        return loss, GramsAndNeurons(
            self.grams.stepped(state.grams, eta, z, M),
            state.along_h + eta * along_h,
            state.outputs + eta * outputs,
        )

    def view(self, state: GramsAndNeurons) -> GramView:
        """The word-level quantities over the rows, with the neurons."""
        seen, start = self.grams.view(state.grams), self.neurons
        A, a, b = seen.A, start.a, state.along_h
        assert seen.rho_start is not None
        assert seen.G_start is not None
        square = (seen.rho - 2 * seen.rho_start + start.rho) / A**2
        neurons = NeuronsNow(
            a=a,
            along_u=start.along_u + A * b + a * (seen.rho - seen.rho_start) / A,
            squares=start.squares + 2 * a * b + a**2 * square,
            movement=NeuronMovement(
                a=a,
                along_h=b,
                h_square=square,
                outputs=state.outputs + jnp.outer(a, seen.G - seen.G_start) / A,
            ),
        )
        return eqx.tree_at(lambda v: v.neurons, seen, neurons, is_leaf=lambda x: x is None)

    def rows_of(self, batch: Batch) -> Batch:
        """The batch with rows for words, for probes."""
        return self.grams.rows_of(batch)

    def flow_settings(
        self, state: GramsAndNeurons, rtol: float | Array = 1e-6, atol: float | Array = 1e-8
    ) -> FlowSettings:
        """What to give `training.flow.flow` for this engine."""
        settings = self.grams.flow_settings(state.grams, rtol, atol)
        tau = gram.time_unit(state.grams)
        # The sizes that b and D reach while outputs grow to order one.
        along_h = tau * jnp.sqrt(jnp.mean(self.neurons.outputs**2))
        outputs = tau * jnp.sqrt(jnp.mean(self.neurons.along_u**2))
        of_grams = gram.natural_units(self.grams, state.grams)
        return {**settings, "units": GramsAndNeurons(of_grams, along_h, outputs)}

    def _neuron_rates(self, state: GramsAndNeurons, z: Float[Array, " w"]) -> tuple[Array, Array]:
        start = self.neurons
        along_h = (start.outputs + state.outputs) @ z
        return along_h, jnp.outer(start.along_u + self.grams.A * state.along_h, z)


def why_not(
    sizes: LinearMLPSizes,
    batch: Batch,
    initialisation: Initialisation,
    *,
    initial: str = "weights",
    method: str = "flow",
    rows: int | None = None,
) -> str:
    """Why this engine is not exact for it, or cannot begin so, or nothing; see `gram.why_not`."""
    count = enough_rows(sizes.d, batch) if rows is None else rows
    return _why_not(sizes, initialisation, count, initial=initial, method=method)


def _why_not(
    sizes: LinearMLPSizes, initialisation: Initialisation, count: int, *, initial: str, method: str
) -> str:
    return gram_why_not(
        method=method,
        probes="neurons",
        weights=initialisation.weights,
        initial=initial,
        d=count,
        m=sizes.m,
        m1=sizes.m1,
    )


def start(
    key: PRNGKeyArray,
    batch: Batch,
    sizes: LinearMLPSizes,
    scheme: Initialisation,
    *,
    initial: Literal["weights", "bartlett"] = "weights",
    also: Int[Array, " k"] | None = None,
    attention: Attention = "trained",
) -> tuple[GramWithNeurons, GramsAndNeurons]:
    """Draw the first Grams as `gram.start` does with this key, and the neurons beside them."""
    engine, grams = gram.start(
        key, batch, sizes, scheme, initial=initial, also=also, attention=attention
    )
    if initial == "weights":
        # The same key, so the very matrices that the Grams are of.
        neurons = of_weights(*initialise(key, sizes, scheme), engine.carried)
    else:
        neurons = given_grams(jax.random.fold_in(key, 1), grams, engine.A, sizes, scheme)
    return GramWithNeurons(engine, neurons), first_state(grams, neurons)


def first_state(grams: Grams, neurons: NeuronStart) -> GramsAndNeurons:
    """The state before anything has moved."""
    return GramsAndNeurons(grams, jnp.zeros_like(neurons.along_u), jnp.zeros_like(neurons.outputs))


def of_weights(
    parameters: Parameters, a: Float[Array, " m1"], carried: Int[Array, " w"]
) -> NeuronStart:
    """The neurons of these matrices."""
    W = parameters.W
    u = a @ W
    outputs = W @ parameters.W_V[:, carried]
    return NeuronStart(a, outputs, W @ u, (W**2).sum(axis=1), u @ u)


def given_grams(
    key: PRNGKeyArray,
    grams: Grams,
    A: Float[Array, ""],
    sizes: LinearMLPSizes,
    scheme: Initialisation,
) -> NeuronStart:
    """Neurons in the law that drawn weights have, given their Grams at the start."""
    count = grams.G.shape[0]
    reason = _why_not(sizes, scheme, count, initial="bartlett", method="flow")
    if reason:
        raise BadInput(reason)
    rest = sizes.m - count - 1
    s1 = deviations(sizes, scheme).neurons
    of_a, of_span, of_rest, squares = jax.random.split(key, 4)
    a = _output_layer(of_a, A, sizes.m1, scheme)
    joint = jnp.block([[grams.rho, grams.G], [grams.G[:, None], grams.V]])
    normals = normal(of_span, (sizes.m1, count + 1), s1)
    in_span = _without(a, A, normals)
    # Lower factor of the Gram: the coordinates of u and the values in an orthonormal basis.
    products = in_span @ jnp.linalg.cholesky(joint).T
    drawn = chi_squared(squares, rest - np.arange(sizes.m1))
    outside = _without(a, A, s1 * bartlett_factor(of_rest, drawn).T)
    along_u = a * (grams.rho / A) + products[:, 0]
    own = a**2 * (grams.rho / A**2) + 2 * a * products[:, 0] / A
    return NeuronStart(
        a=a,
        outputs=jnp.outer(a, grams.G) / A + products[:, 1:],
        along_u=along_u,
        squares=own + (in_span**2).sum(axis=1) + (outside**2).sum(axis=1),
        rho=grams.rho,
    )


def _output_layer(
    key: PRNGKeyArray, A: Float[Array, ""], m1: int, scheme: Initialisation
) -> Float[Array, " m1"]:
    """The vector a of this length, in the direction that the scheme gives it."""
    direction = jax.random.normal(key, (m1,), jnp.float64)
    if scheme.output_layer != "same_as_weights":
        direction = jnp.sign(direction)
    return direction * jnp.sqrt(A / (direction @ direction))


def _without(a: Array, A: Array, rows: Float[Array, "m1 k"]) -> Float[Array, "m1 k"]:
    """P times the rows: each column without its part along a."""
    return rows - jnp.outer(a, a @ rows) / A
