r"""Leave-one-out stability: every model with one point left out, beside the model of all points.

$$\hat L^{-i}=\frac1n\sum_{j\ne i}\ell_j\quad(\text{still over } n),\qquad
  \delta_{k,i}=\|\theta_k-\theta_k^{-i}\| .$$

Atoms of weight $n_a/n$ stand for $n_a$ samples each: leaving one of them out takes 1/n off the
weight, so that n may be large and the n models are as many as there are atoms.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from attnlab.core import Key, Result
from attnlab.data.batch import Batch
from attnlab.engines.heads import HeadsEngine
from attnlab.engines.heads_arithmetic import (
    largest_decoder,
    length,
    minus,
    plus,
    scaled,
)
from attnlab.models.multihead import Heads, outputs
from attnlab.papers.deora2023.runs.paths import states_of
from attnlab.papers.deora2023.runs.preparation import beside_target
from attnlab.papers.deora2023.runs.samples import draw
from attnlab.papers.deora2023.runs.stability_summary import summarise
from attnlab.papers.deora2023.runs.targets import target_values
from attnlab.papers.deora2023.settings.training import USUAL_STEPS, StabilitySettings
from attnlab.papers.deora2023.theory.conditions import head_radius
from attnlab.papers.deora2023.theory.smoothness import Variant, beta_1, beta_3, betas
from attnlab.training.losses import logistic

ALPHAS = (0.0, 0.5, 1.0)
VARIANTS: tuple[Variant, ...] = ("corrected", "sharp")


class Constants(NamedTuple):
    """What the inequalities of section 6.2 are functions of."""

    n: Float[Array, ""]
    eta: Float[Array, ""]
    K: Float[Array, ""]
    R: Float[Array, ""]
    far: Float[Array, " 2"]
    """How long a head can be, by variant: the tilde constants are taken there."""


def leave_one_out(cell: StabilitySettings, key: Key) -> Result:
    """Train the model and all its leave-one-out models; gap, stability and (19) to (22)."""
    drawn = draw(cell, key)
    instance = beside_target(cell, key, drawn)
    target = instance.target
    radii = [head_radius(target, "corrected"), head_radius(target, cell.proof)]
    numbers = (float(cell.n), instance.eta, cell.K, target.R, radii)
    constants = Constants(*map(jnp.asarray, numbers))
    arrays = _leave_one_out(instance.engine, constants, drawn.test, cell.padded_steps)
    plain = {name: np.asarray(x) for name, x in arrays.items()}
    values = target_values(instance)
    apart = float(drawn.weights @ plain["apart"])
    if not (np.isfinite(apart) and apart > 0):
        why = "did not come apart" if apart == 0 else "overflowed"
        steps = f"within {cell.K} steps of size {instance.eta:.3g}"
        return Result(
            values, diverged=f"models with one sample left out {why} {steps}; give another eta"
        )
    summary = summarise(plain, target, instance.eta, cell.n, drawn.weights, cell.proof)
    return Result({**values, **summary})


@eqx.filter_jit
def _leave_one_out(
    engine: HeadsEngine, x: Constants, test: Batch, longest: int
) -> dict[str, Array]:
    states = states_of(engine, x.eta, x.K, longest)
    last = Heads(*(s[-1] for s in states))
    losses = _at_every(lambda s: logistic.value(engine.margins(s)), states)
    found = jax.lax.map(
        lambda i: left_out(engine, x, states, losses, i), jnp.arange(len(engine.weights))
    )
    on_test = test.labels * outputs(
        engine.parameters(last), engine.counts / jnp.sqrt(engine.H), test.vectors(), engine.output
    )
    return {
        **found,
        "loss": engine.weights @ losses[-1],
        "test_loss": test.weight() @ logistic.value(on_test),
        "point_losses": losses[-1],
    }


def left_out(
    engine: HeadsEngine, x: Constants, states: Heads, losses: Array, i: Array
) -> dict[str, Array]:
    """The model without one sample of point i, and every step's inequality beside the whole."""
    without = without_point(engine, x.n, i)
    others = states_of(without, x.eta, x.K, len(losses) - 1)
    apart = _at_every(lambda a, b: length(minus(a, b), engine), states, others)
    rows = _at_every(lambda a, b: _step_constants(without, x, a, b), states, others)
    after, before = apart[1:], apart[:-1]
    own = losses[:-1, i]
    decoder = _at_every(lambda s: largest_decoder(s, engine), states)[:-1]
    running = jnp.arange(len(before)) < x.K
    result = {"apart": apart[-1], "own_loss": logistic.value(without.margins(_last(others)))[i]}
    T, d = engine.tokens.shape[1:]
    pushed = _pushed(without, x.eta, _last(states), _last(others))
    for k, variant in enumerate(VARIANTS):
        growth = rows[variant][:-1]
        push = x.eta * beta_1(variant, T, x.R, decoder) / x.n * own
        result[f"equation_20_{variant}"] = _worst(after, growth * before + push, running)
        three = beta_3(variant, T, d, x.R, x.far[k])
        slow = 4 * x.eta * three / (3 * jnp.sqrt(engine.H)) * rows["losses"][:-1]
        push = x.eta * beta_1(variant, T, x.R, x.far[k]) / x.n * own
        result[f"equation_22_{variant}"] = _worst(after, (1 + slow) * before + push, running)
        # The print's bracket ends before the loss: (1 + eta b3/sqrt(H)) max L |.|.
        printed = (1 + x.eta * three / jnp.sqrt(engine.H)) * rows["largest"][:-1]
        result[f"equation_21_printed_{variant}"] = _worst(after, printed * before + push, running)
        slow = x.eta * three / jnp.sqrt(engine.H) * rows["largest"][:-1]
        result[f"equation_21_{variant}"] = _worst(after, (1 + slow) * before + push, running)
        result[f"equation_19_{variant}"] = pushed / (rows[variant][-1] * apart[-1])
    result["equation_20_still"] = _worst(after, before, running & (before > 0))
    result["expansion"] = pushed / apart[-1]
    return result


def _at_every(f: Callable[..., Any], *states: Heads) -> Any:
    """The function at every step: of usual paths at once, of long ones in parts, for memory."""
    steps = states[0].W.shape[0]
    if steps <= USUAL_STEPS + 1:
        return jax.vmap(f)(*states)
    return jax.lax.map(lambda at: f(*at), states, batch_size=USUAL_STEPS)


def without_point(engine: HeadsEngine, n: Array, i: Array) -> HeadsEngine:
    """The engine of the leave-one-out loss: one sample of point i taken away."""
    return eqx.tree_at(lambda e: e.weights, engine, engine.weights.at[i].add(-1 / n))


def _step_constants(without: HeadsEngine, x: Constants, a: Heads, b: Heads) -> dict[str, Array]:
    """The growth factor of (19) on the segment, by variant, and the two losses of (22)."""
    gap = minus(b, a)
    between = jax.vmap(lambda s: plus(a, scaled(gap, s)))(jnp.asarray(ALPHAS))
    loss = jax.vmap(without.loss)(between)
    m = jax.vmap(lambda s: largest_decoder(s, without))(between)
    T, d = without.tokens.shape[1:]
    found = {"losses": loss[0] + loss[-1], "largest": loss.max()}
    for variant in VARIANTS:
        b_ = betas(variant, T, d, x.R, m, without.H)
        slow = 1 + x.eta * b_.three / jnp.sqrt(without.H) * loss
        found[variant] = jnp.maximum(slow, x.eta * b_.two).max()
    return found


def _pushed(without: HeadsEngine, eta: Array, a: Heads, b: Heads) -> Array:
    """How far apart a step of descent on the leave-one-out loss brings two points."""
    _, after_a = without.step(a, eta)
    _, after_b = without.step(b, eta)
    return length(minus(after_a, after_b), without)


def _worst(left: Array, right: Array, where: Array) -> Array:
    return jnp.where(where, left / jnp.where(where, right, 1.0), 0.0).max()


def _last(states: Heads) -> Heads:
    return Heads(*(s[-1] for s in states))
