r"""Searches for segments on which (15), (16) or Proposition 4 are tight, over weights and samples.

On a segment $\theta_\alpha=\theta_1+\alpha(\theta_2-\theta_1)$ of length r, with
$\kappa=\max(\beta_3(\theta_1),\beta_3(\theta_2))/\sqrt H$ by our sharp beta_3:

| objective | quotient that is ascended |
|---|---|
| growth | rise of the middle above the larger end, at $2\kappa r^2=1$ (18) |
| tangent | $(\hat L(\theta_1)+\langle\nabla\hat L(\theta_1),\theta_2-\theta_1\rangle-\hat L(\theta_2))/(\tfrac12\kappa r^2\max_\alpha\hat L)$ |
| concave | $-\min_\alpha\lambda_{\min}/(\kappa\max_\alpha\hat L)$ |

The best place of an ascent is measured again: maxima over the segment that stand on the left of
an inequality are then refined (`numerics.segment`), those on the right are over a grid, which
makes the check stricter.
"""  # noqa: E501

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, PRNGKeyArray

from attnlab.core import Key, Result
from attnlab.models.multihead import Heads, decoder_norms, outputs
from attnlab.numerics.random import normal, stream_key
from attnlab.numerics.segment import largest_on_segment
from attnlab.papers.deora2023.settings.landscape import PairSettings
from attnlab.papers.deora2023.theory.smoothness import Variant, beta_1, beta_3, betas
from attnlab.training.inputs import Inputs, compiled
from attnlab.training.losses import logistic

SAMPLES = 2
GRID = 9
"""Points of a segment while ascending, and of maxima that make a check stricter."""
PASSES = 15
"""Fixed-point steps for the length that (18) allows."""
VARIANTS: tuple[Variant, ...] = ("corrected", "sharp")
OBJECTIVES = ("growth", "tangent", "concave")


class Pair(NamedTuple):
    """Two points (the first, and the way to the second) and the samples of the loss."""

    first: Heads
    way: Heads
    log_length: Float[Array, ""]
    X: Float[Array, "s T d"]


class Segment(NamedTuple):
    """A segment that is ready to be looked at."""

    first: Heads
    gap: Heads
    length: Float[Array, ""]
    m: Float[Array, ""]
    """The longest decoder of its ends."""
    R: Float[Array, ""]
    X: Float[Array, "s T d"]


def ascend_pairs(cell: PairSettings, key: Key) -> Result:
    """Ascend one quotient over pairs of points and samples, and report all of them there."""
    found = _ascend(compiled(cell), stream_key(key, "parameters"))
    return Result({name: float(x) for name, x in found.items()})


@eqx.filter_jit
def _ascend(inputs: Inputs, key: PRNGKeyArray) -> dict[str, Array]:
    chosen = jnp.stack([inputs.objective.is_(name) for name in OBJECTIVES]).astype(float)
    within_18 = inputs.objective.is_("growth") | inputs.objective.is_("none")
    rule = optax.adam(0.03)

    def objective(pair: Pair) -> Array:
        segment = placed(pair, inputs.stretch, within_18)
        return -chosen @ jnp.stack(ascended(segment))

    def step(_: Array, carry: tuple) -> tuple:
        pair, memory, best, best_value = carry
        value, gradient = jax.value_and_grad(objective)(pair)
        better = value < best_value
        best = jax.tree.map(lambda new, old: jnp.where(better, new, old), pair, best)
        gradient = jax.tree.map(lambda g: jnp.where(jnp.isfinite(g), g, 0.0), gradient)
        move, memory = rule.update(gradient, memory, pair)
        pair = optax.apply_updates(pair, move)
        return pair, memory, best, jnp.minimum(value, best_value)

    pair = first_pair(key, inputs.H, inputs.T, inputs.d)
    start = (pair, rule.init(pair), pair, objective(pair))
    steps = jnp.where(inputs.objective.is_("none"), 0, inputs.steps)
    _, _, best, _ = jax.lax.fori_loop(0, steps, step, start)
    return measured(placed(best, inputs.stretch, within_18))


def first_pair(key: PRNGKeyArray, H: int, T: int, d: int) -> Pair:
    """Random points with short decoders, and samples whose longest token has length one."""
    keys = jax.random.split(key, 5)
    X = normal(keys[4], (SAMPLES, T, d), 1.0)
    return Pair(
        Heads(normal(keys[0], (H, T, d), 0.1), normal(keys[1], (H, d, d), 1.0)),
        Heads(normal(keys[2], (H, T, d), 1.0), normal(keys[3], (H, d, d), 1.0)),
        jnp.asarray(-1.0),
        X / jnp.sqrt((X**2).sum(-1)).max(),
    )


def placed(pair: Pair, stretch: Array, within_18: Array) -> Segment:
    """The segment of a pair: as long as (18) allows (times the stretch), or as it likes."""
    H, T, d = pair.first.U.shape
    R = jnp.maximum(1.0, jnp.sqrt((pair.X**2).sum(-1)).max())
    size = jnp.sqrt(jnp.sum(pair.way.U**2) + jnp.sum(pair.way.W**2))
    unit = Heads(*(x / size for x in pair.way))

    def longest(r: Array) -> Array:
        end = Heads(*(x + r * w for x, w in zip(pair.first, unit, strict=True)))
        return jnp.maximum(decoder_norms(pair.first).max(), decoder_norms(end).max())

    def shorter(r: Array, _: None) -> tuple[Array, None]:
        return jnp.sqrt(H**0.5 / (2 * beta_3("sharp", T, d, R, longest(r)))), None

    allowed, _ = jax.lax.scan(shorter, jnp.asarray(0.1), length=PASSES)  # unrolled: slow to compile
    r = jnp.where(within_18, stretch * allowed, jnp.exp(pair.log_length))
    return Segment(pair.first, Heads(*(r * w for w in unit)), r, longest(r), R, pair.X)


def loss_at(segment: Segment, alpha: Array) -> Array:
    """The loss of the model at a place of the segment; labels are +1 and -1 by turns."""
    heads = Heads(*(x + alpha * w for x, w in zip(segment.first, segment.gap, strict=True)))
    H = heads.W.shape[0]
    labels = jnp.where(jnp.arange(len(segment.X)) % 2 == 0, 1.0, -1.0)
    margins = labels * outputs(heads, jnp.full(H, H**-0.5), segment.X)
    return logistic.value(margins).mean()


def least_eigenvalue(segment: Segment, alpha: Array) -> Array:
    """The smallest eigenvalue of the loss's Hessian there, differentiable where values meet."""
    flat, rebuild = ravel_pytree(segment.first)
    gap, _ = ravel_pytree(segment.gap)

    def loss(x: Array) -> Array:
        return loss_at(segment._replace(first=rebuild(x)), jnp.zeros(()))

    matrix = jax.hessian(loss)(flat + alpha * gap)
    _, vectors = jnp.linalg.eigh(jax.lax.stop_gradient(matrix))
    return jnp.einsum("ik,ij,jk->k", vectors, matrix, vectors).min()


def _below_tangent(segment: Segment) -> Array:
    slope = jax.grad(lambda a: loss_at(segment, a))(jnp.zeros(()))
    return loss_at(segment, jnp.zeros(())) + slope - loss_at(segment, jnp.ones(()))


def _kappa(segment: Segment, variant: Variant) -> Array:
    H, T, d = segment.first.U.shape
    return beta_3(variant, T, d, segment.R, segment.m) / H**0.5


def ascended(segment: Segment) -> tuple[Array, Array, Array]:
    """The three quotients in a form whose gradient says where to go."""
    at = jnp.linspace(0.0, 1.0, GRID)
    losses = jax.vmap(lambda a: loss_at(segment, a))(at)
    rise = losses[GRID // 2] / jnp.maximum(losses[0], losses[-1]) - 1
    kappa, r = _kappa(segment, "sharp"), segment.length
    concave = -jax.vmap(lambda a: least_eigenvalue(segment, a))(at[:: GRID // 2]).min()
    tangent = _below_tangent(segment) / (0.5 * kappa * losses.max() * r**2)
    return 16 * rise, tangent, concave / (kappa * losses.max())


def measured(segment: Segment) -> dict[str, Array]:
    """Every quotient on one segment, with what bounds it anyway."""
    H, T, d = segment.first.U.shape
    R, m, r = segment.R, segment.m, segment.length
    losses = jax.vmap(lambda a: loss_at(segment, a))(jnp.linspace(0.0, 1.0, GRID))
    ends = jnp.maximum(losses[0], losses[-1])
    concave = largest_on_segment(lambda a: -least_eigenvalue(segment, a), coarse=GRID)
    below = _below_tangent(segment)
    found = {
        "growth": largest_on_segment(lambda a: loss_at(segment, a)) / ends,
        "closeness_18": 2 * _kappa(segment, "sharp") * r**2,
        "segment_length": r,
        "largest_loss": losses.max(),
        "self_bounded_growth": jnp.exp(beta_1("corrected", T, R, m) * r / 2),
        "below_tangent": below / ends,
    }
    for variant in VARIANTS:
        kappa = _kappa(segment, variant)
        two = betas(variant, T, d, R, m, float(H)).two
        found |= {
            f"segment_convexity_{variant}": jnp.maximum(concave, 0.0) / (kappa * losses.max()),
            f"equation_16_{variant}": below / (0.5 * kappa * losses.max() * r**2),
            f"weak_over_smooth_{variant}": kappa * losses.max() / two,
        }
    return found
