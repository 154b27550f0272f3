r"""Target parameters on one instance: the direction of the largest NTK margin, and theta_*.

A direction w of one head of sign +1 becomes one of the whole model by

$$\tilde\theta_h=\frac1{\sqrt H}(w_U,\alpha_hw_W),\qquad\|\tilde\theta\|=\|w\|,\qquad
  \langle\nabla\tilde\Phi,\tilde\theta\rangle=\langle\nabla\Phi_{\alpha=1},w\rangle ,$$

so that the number of heads and their signs cancel. The target is $\theta_0+D\hat w$ with
$D=\log(K)/\gamma$: to first order its loss is at most 1/K if the outputs start at zero.
"""

from dataclasses import dataclass

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from attnlab.data.mixture_sizes import MixtureSizes
from attnlab.data.token_mixture import directions
from attnlab.models.multihead import Heads, Output, decoder_norms
from attnlab.numerics.max_margin import MaxMargin
from attnlab.papers.deora2023.drawing import Drawn
from attnlab.papers.deora2023.engines import collapsed_heads, weights
from attnlab.papers.deora2023.engines.heads import HeadsEngine
from attnlab.papers.deora2023.settings import TrainingSettings
from attnlab.papers.deora2023.theory.conditions import Target, largest_step
from attnlab.probes.head_curvature import Points
from attnlab.probes.tangent_kernel import head_features, tangent_margin, unit_direction


@dataclass(frozen=True)
class Instance:
    """A run ready to go: its engine, where it aims, and the theorem's numbers."""

    engine: HeadsEngine
    direction: Heads
    """Of length one, over all heads."""
    margin: MaxMargin
    target: Target
    eta: float


@eqx.filter_jit
def start_features(u: Array, tokens: Float[Array, "n T d"], output: Output) -> Array:
    """The tangent features after phase 1, of a head of sign +1."""
    d = tokens.shape[-1]
    return head_features(u, jnp.zeros((d, d)), tokens, output)


def features_of(drawn: Drawn, output: Output = "full") -> np.ndarray:
    """The tangent features of the training points after phase 1."""
    tokens = jnp.asarray(drawn.tokens)
    u = collapsed_heads.head_start(jnp.asarray(drawn.v), output, tokens.shape[1])
    return np.asarray(start_features(u, tokens, output))


def make_engine(cell: TrainingSettings, drawn: Drawn, counts: np.ndarray) -> HeadsEngine:
    """The engine that the cell names, after phase 1."""
    points, v = drawn.train, jnp.asarray(drawn.v)
    if cell.engine == "weights":
        start = weights.phase_1_heads(v, jnp.asarray(counts), int(cell.H), cell.T, cell.output)
        return weights.engine(points, start, cell.output)
    return collapsed_heads.engine(points, v, jnp.asarray(counts), cell.output)


def spread(w: np.ndarray, engine: HeadsEngine, signs: np.ndarray) -> Heads:
    """A direction of one head of sign +1 over all heads (or groups) with these signs."""
    shape = engine.start.U.shape[1:]
    size = int(np.prod(shape))
    d = engine.start.W.shape[-1]
    scale = float(engine.H) ** -0.5
    U = np.broadcast_to(scale * w[:size].reshape(shape), (len(signs), *shape))
    W = scale * signs[:, None, None] * w[size:].reshape(d, d)
    return Heads(jnp.asarray(U), jnp.asarray(W))


def group_signs(cell: TrainingSettings, counts: np.ndarray) -> np.ndarray:
    """The sign of each group (two collapsed ones, or every head)."""
    if cell.engine == "weights":
        return np.where(np.arange(int(cell.H)) < counts[0], 1.0, -1.0)
    return np.array(collapsed_heads.SIGNS)


def paper_direction(sizes: MixtureSizes) -> np.ndarray:
    """theta_* of section 5.2, flat, for the full decoder: length sqrt 2."""
    mu_plus, mu_minus, nu = directions(sizes)
    U = np.outer(np.ones(sizes.T), mu_plus - mu_minus)
    W = paper_attention(mu_plus, mu_minus, nu)
    return np.concatenate([(U / np.linalg.norm(U)).ravel(), (W / np.linalg.norm(W)).ravel()])


def paper_attention(mu_plus: np.ndarray, mu_minus: np.ndarray, nu: np.ndarray) -> np.ndarray:
    """W_* of section 5.2 (queries mu, nu on the left; the print swaps the names of the factors)."""
    both = mu_plus + mu_minus
    own = np.outer(mu_plus, mu_plus) + np.outer(mu_minus, mu_minus)
    return own + np.outer(nu.sum(axis=0), both)


def prepare(cell: TrainingSettings, drawn: Drawn, counts: np.ndarray) -> Instance:
    """The engine, the target and the step size of a run."""
    engine = make_engine(cell, drawn, counts)
    margin = tangent_margin(features_of(drawn, cell.output), drawn.labels)
    w = unit_direction(margin)
    if w is None:
        # Shuffled labels can be inseparable; the paper's direction stands in.
        w = paper_direction(cell.mixture()) / 2**0.5
    gamma = max(margin.margin, 1e-3 * cell.S)
    D = np.log(max(cell.K, 2)) / gamma
    direction = spread(w, engine, group_signs(cell, counts))
    losses = np.asarray(losses_at(engine, direction, jnp.asarray(D)))
    heads = engine.parameters(Heads(*(D * x for x in direction)))
    present = np.asarray(engine.counts) > 0
    target = Target(
        T=cell.T,
        d=cell.d,
        R=cell.mixture().R,
        H=float(engine.H),
        D=float(D),
        m=float(np.asarray(decoder_norms(heads))[present].max()),
        loss=float(losses[1]),
        start_loss=float(losses[0]),
        K=cell.K,
        least_count=float(counts[counts > 0].min()),
    )
    eta = cell.eta or float(largest_step(target, cell.proof, cell.theorem))
    return Instance(engine, direction, margin, target, eta)


@eqx.filter_jit
def losses_at(engine: HeadsEngine, direction: Heads, D: Array) -> Array:
    """The loss at the start, and at the distance D along a direction."""
    at = Heads(*(D * x for x in direction))
    return jnp.stack([engine.loss(engine.zero()), engine.loss(at)])


def target_values(instance: Instance) -> dict[str, float]:
    """The target's numbers as a record holds them."""
    target = instance.target
    names = ("R", "H", "D", "m", "loss", "start_loss", "K", "least_count")
    values = {f"target_{name}": float(getattr(target, name)) for name in names}
    return {
        **values,
        "eta": instance.eta,
        "tangent_margin": 2**0.5 * instance.margin.margin,
        "tangent_gap": instance.margin.gap,
    }


def points_of(engine: HeadsEngine) -> Points:
    """The training points of an engine."""
    return Points(engine.tokens, engine.labels, engine.weights)
