r"""Engine `symmetric`: seven classes of words, 228 numbers, whatever n, L and m.

If the random words are all distinct and the first Grams are at their mean ($V=K=Q=\kappa I$,
$S=G=0$), training never tells apart two samples of one type, nor two random words of one sample.
Every Gram then depends on 7 classes of words, $\mu_1, \mu_2, \mu_3$ and the random words
$r_1 \dots r_4$ of each type, and splits into sectors (`symmetric_sectors`). The equations of
`gram_equations` hold in each sector by itself: S, K and Q are a 7 by 7 matrix and twice 4 numbers,
V the 7 by 7 matrix alone, since G and z are constant on classes.

Legend: n, L, m and the numbers of samples are real numbers, data and not shapes: a sweep over
them is one compiled program. A class without words (r_1 at L = 3) takes no part, and what the view
would say of it is nan.
"""

from collections.abc import Callable, Mapping
from typing import ClassVar, NamedTuple

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import optimistix
from jax.core import Tracer
from jaxtyping import Array, Float

from attnlab.core import BadInput
from attnlab.data.word_cooccurrence import (
    SIGNALS,
    TYPE_PROBABILITIES,
    BalancedTrainingSet,
    IndependentSamples,
    random_words_required,
)
from attnlab.data.word_exactness import symmetric_why_not
from attnlab.engines import gram_equations as equations
from attnlab.engines import symmetric_sectors as sectors
from attnlab.engines.gram_initialisation import Initial
from attnlab.engines.symmetric_sectors import LABELS, Blocks, Entries, Layout
from attnlab.engines.word_engine import FlowSettings
from attnlab.models.linear_mlp_initialisation import Initialisation, deviations
from attnlab.models.linear_mlp_transformer import LinearMLPSizes
from attnlab.training.attention import GAIN_AND_RATE, Attention
from attnlab.training.losses import Loss, logistic

Number = float | Float[Array, ""]


class Sectors(NamedTuple):
    """The state."""

    G: Float[Array, " 7"]
    """In the orthonormal basis: sqrt(N_c) times the output of a word."""
    rho: Float[Array, ""]
    V: Float[Array, "7 7"]
    S: Blocks
    K: Blocks
    Q: Blocks


class SymmetricView(eqx.Module):
    """What probes read, by class and by type; nan for a class or a type without members."""

    G: Float[Array, " 7"]
    rho: Float[Array, ""]
    V: Entries
    S: Entries
    K: Entries
    Q: Entries
    A: Float[Array, ""]
    attention: sectors.ByPlace
    margins: Float[Array, " 4"]
    """y F of a sample of each type."""
    gradients: Float[Array, " 4"]
    """g of a sample of each type."""
    losses: Float[Array, " 4"]
    loss: Float[Array, ""]


class Symmetric(eqx.Module):
    """Training by classes of words. Get one with its first state by `start` or `start_at`."""

    state_is_weights: ClassVar[bool] = False
    """Whether a rule for weights, as optax has them, may act on the state."""

    layout: Layout
    A: Float[Array, ""]
    kappa: Float[Array, ""]
    """What V is, and stays, within classes."""
    score_scale: Float[Array, ""]
    """1/sqrt(m)."""
    score_gain: Float[Array, ""]
    score_rate: Float[Array, ""]
    loss: Loss = eqx.field(static=True, default=logistic)

    def loss_and_field(self, state: Sectors) -> tuple[Float[Array, ""], Sectors]:
        """The training loss, and the derivative of the state under gradient flow."""
        loss, z, M = self._drives(state)
        value = equations.total(equations.value_first(z, self.A, state.G, state.rho, state.V))

        def rates(M: Array, S: Array, K: Array, Q: Array) -> dict[str, Array]:
            return equations.total(equations.score_first(equations.DenseDrive(M), S, K, Q))

        return loss, _joined(value, _by_sector(rates, M, state))

    def step(
        self, state: Sectors, learning_rate: Float[Array, ""]
    ) -> tuple[Float[Array, ""], Sectors]:
        """The loss before, and the state after, one step of gradient descent on the weights."""
        loss, z, M = self._drives(state)
        eta = jnp.asarray(learning_rate, state.G.dtype)
        of_values = (z, self.A, state.G, state.rho, state.V)
        value = equations.moved(
            {"G": state.G, "rho": state.rho, "V": state.V},
            eta,
            equations.value_first(*of_values),
            equations.value_second(*of_values),
        )

        def moved(M: Array, S: Array, K: Array, Q: Array) -> dict[str, Array]:
            return equations.score_step(equations.DenseDrive(M), eta, S, K, Q)

        return loss, _joined(value, _by_sector(moved, M, state))

    def view(self, state: Sectors) -> SymmetricView:
        """The entries of the Grams by class, and one sample of each type."""
        layout = self.layout
        p, _, margins = self._samples(state)
        of_V = Blocks(state.V, jnp.broadcast_to(self.kappa, (2, 4)))
        there = layout.samples > 0
        losses = self.loss.value(margins)

        def shown(blocks: Blocks) -> Entries:
            return sectors.blank_empty(layout, sectors.entries(layout, blocks))

        return SymmetricView(
            G=jnp.where(layout.class_sizes > 0, state.G / layout.roots, jnp.nan),
            rho=state.rho,
            V=shown(of_V),
            S=shown(state.S),
            K=shown(state.K),
            Q=shown(state.Q),
            A=self.A,
            attention=p,
            margins=jnp.where(there, margins, jnp.nan),
            gradients=jnp.where(there, self.loss.slope(margins), jnp.nan),
            losses=jnp.where(there, losses, jnp.nan),
            loss=self._mean(losses),
        )

    def parts_of_output_rates(
        self, state: Sectors
    ) -> tuple[Float[Array, " 7"], Float[Array, " 7"]]:
        """G' in the orthonormal basis in its two parts: moving values, and moving neurons."""
        _, z, _ = self._drives(state)
        return state.rho * z, self.A * (state.V @ z)

    def flow_settings(
        self, state: Sectors, rtol: float | Array = 1e-6, atol: float | Array = 1e-8
    ) -> FlowSettings:
        """What to give `training.flow.flow` for this engine; see `Gram.flow_settings`."""
        tau, one = 1 / state.rho, jnp.ones_like(state.rho)
        score = self.kappa * self.score_scale * tau
        own = score * self.score_scale * tau
        units = Sectors(one, self.A * tau, tau, *(Blocks(x, x) for x in (score, own, own)))
        controller = diffrax.PIDController(
            rtol=jnp.asarray(rtol, float), atol=jnp.asarray(atol, float), norm=optimistix.max_norm
        )
        # A variable that cannot move has no size; any will do.
        units = jax.tree.map(lambda unit: jnp.where(unit > 0, unit, one), units)
        return {"units": units, "controller": controller}

    def _samples(self, state: Sectors) -> tuple[Array, Array, Array]:
        """Attention, G less its mean under it, and the margin, of one sample of each type."""
        layout = self.layout
        scores = sectors.by_place(sectors.entries(layout, state.S))
        p = sectors.attention(layout, self.score_gain * self.score_scale * scores)
        G = sectors.outputs_of_keys(layout, state.G)[:, None, :]
        mean = (layout.keys * p * G).sum(axis=2)
        margins = jnp.asarray(LABELS) * (layout.queries * mean).sum(axis=1)
        return p, G - mean[..., None], margins

    def _drives(self, state: Sectors) -> tuple[Array, Array, Blocks]:
        layout = self.layout
        p, centred, margins = self._samples(state)
        r = self.loss.slope(margins) * LABELS / layout.samples.sum()
        z = sectors.vector(layout, r[:, None, None] * p)
        rate = self.score_rate * self.score_scale
        M = sectors.matrix(layout, rate * r[:, None, None] * p * centred)
        return self._mean(self.loss.value(margins)), z, M

    def _mean(self, x: Float[Array, " 4"]) -> Float[Array, ""]:
        return self.layout.samples @ x / self.layout.samples.sum()


def _by_sector(
    function: Callable[..., Mapping[str, Array]], M: Blocks, state: Sectors
) -> list[Blocks]:
    # A number by sector is a matrix of one row: the same equations serve.
    parts = (M, state.S, state.K, state.Q)
    means = function(*(x.means for x in parts))
    rest = function(*(x.rest[..., None, None] for x in parts))
    return [Blocks(means[name], rest[name][..., 0, 0]) for name in ("S", "K", "Q")]


def _joined(value: dict[str, Array], scores: list[Blocks]) -> Sectors:
    return Sectors(value["G"], value["rho"], value["V"], *scores)


# --- the start --------------------------------------------------------------------------------


def why_not(
    distribution: BalancedTrainingSet | IndependentSamples,
    n: int,
    *,
    initial: str = "mean",
    method: str = "flow",
) -> str:
    """Why classes of words are not exact for n samples of this distribution, or nothing.

    `method` is flow, descent, momentum or adam; any width, loss and attention will do.
    """
    balanced = isinstance(distribution, BalancedTrainingSet)
    reason = symmetric_why_not(
        sampler="balanced" if balanced else "independent",
        words="distinct" if balanced and distribution.distinct else "repeated",
        labels="shuffled" if distribution.shuffled_labels else "true",
        method=method,
        initial=initial,
    )
    if reason or not balanced:
        return reason
    required = random_words_required(distribution.counts(n), distribution.L)
    if distribution.d - SIGNALS >= required:
        return ""
    return (
        f"got d={distribution.d}; n={n} samples of L={distribution.L} with distinct words need "
        f"d>={required + SIGNALS}; raise d"
    )


def start(
    distribution: BalancedTrainingSet | IndependentSamples,
    n: int,
    sizes: LinearMLPSizes,
    initialisation: Initialisation,
    *,
    initial: Initial = "mean",
    attention: Attention = "trained",
    loss: Loss = logistic,
) -> tuple[Symmetric, Sectors]:
    """The engine for n samples of this distribution, or a sentence why it is not exact for them."""
    reason = why_not(distribution, n, initial=initial)
    if reason:
        raise BadInput(reason)
    assert isinstance(distribution, BalancedTrainingSet)
    counts = distribution.counts(n)
    of = deviations(sizes, initialisation)
    A = of.output_layer**2 * sizes.m1
    return start_at(
        n,
        distribution.L,
        sizes.m,
        A=A,
        rho=of.neurons**2 * sizes.m * A,
        kappa=of.embeddings**2 * sizes.m,
        type_counts=jnp.asarray(counts, float),
        attention=attention,
        loss=loss,
    )


def start_at(
    n: Number,
    L: Number,
    m: Number,
    *,
    A: Number,
    rho: Number,
    kappa: Number,
    type_counts: Float[Array, " 4"] | None = None,
    attention: Attention = "trained",
    loss: Loss = logistic,
) -> tuple[Symmetric, Sectors]:
    """The engine for any real numbers, from V = K = Q = kappa I, |u|^2 = rho, S = G = 0.

    Inside a compiled function the numbers may be traced; L is then not checked.
    """
    if not isinstance(L, Tracer) and not (L == 3 or L >= 4):
        raise BadInput(f"got L={L}; the engine `symmetric` needs L = 3 or L >= 4; change L")
    gain, rate = GAIN_AND_RATE[attention]
    shares = jnp.asarray(TYPE_PROBABILITIES)
    random_words = jnp.asarray(L, float) - jnp.asarray([3.0, 2.0, 2.0, 1.0])
    kappa = jnp.asarray(kappa, float)
    engine = Symmetric(
        layout=Layout(n * shares if type_counts is None else type_counts, random_words),
        A=jnp.asarray(A, float),
        kappa=kappa,
        score_scale=1 / jnp.sqrt(jnp.asarray(m, float)),
        score_gain=jnp.asarray(gain, float),
        score_rate=jnp.asarray(rate, float),
        loss=loss,
    )
    own = Blocks(kappa * jnp.eye(7), jnp.full((2, 4), 1.0) * kappa)
    nothing = jax.tree.map(jnp.zeros_like, own)
    return engine, Sectors(
        jnp.zeros(7), jnp.asarray(rho, float), own.means, S=nothing, K=own, Q=own
    )
