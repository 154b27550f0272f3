"""Training in two phases with probes along the way (any number of heads)."""

from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from attnlab.core import Key, Result
from attnlab.engines.heads import HeadsEngine
from attnlab.engines.heads_arithmetic import length
from attnlab.numerics.max_margin import max_margin
from attnlab.papers.deora2023.runs.curvature import model_quotients
from attnlab.papers.deora2023.runs.preparation import engine_and_step, sign_counts
from attnlab.papers.deora2023.runs.samples import draw
from attnlab.papers.deora2023.runs.targets import features_of
from attnlab.papers.deora2023.settings.training import TrainingSettings
from attnlab.papers.deora2023.theory.margins import gamma_attention, gamma_linear, gamma_star
from attnlab.papers.deora2023.theory.smoothness import VARIANTS, betas
from attnlab.probes.heads import HeadsContext, loss_curvature, margins, norms, relevant_mass
from attnlab.probes.tangent_kernel import LENGTH, tangent_margin
from attnlab.training.descent import PlainStep, descend
from attnlab.training.engine import together
from attnlab.training.trajectory import Trajectory, overflow

RECORDS = 24
PROBE = together(norms, margins, relevant_mass, loss_curvature)


class TrainingSeries(NamedTuple):
    """The series of a run that scalars are read off, by the names of its record."""

    loss: Float[np.ndarray, " k"]
    test_loss: Float[np.ndarray, " k"]
    decoder_norm: Float[np.ndarray, " k"]
    decoder_margin: Float[np.ndarray, " k"]
    gradient_norm: Float[np.ndarray, " k"]
    hessian_norm: Float[np.ndarray, " k"]
    lambda_min: Float[np.ndarray, " k"]
    relevant_mass: Float[np.ndarray, "k G"]


def train(cell: TrainingSettings, key: Key) -> Result:
    """Train once; every probe's series, and the quotients of Corollary 1 along it."""
    drawn = draw(cell, key)
    counts = sign_counts(cell, key)
    engine, eta, promised = engine_and_step(cell, key, drawn, counts)
    context = HeadsContext(drawn.train, drawn.test, jnp.asarray(drawn.relevant), output=cell.output)
    trajectory = _train(engine, jnp.asarray(eta), jnp.asarray(record_steps(cell.K)), context)
    reached = np.isfinite(np.asarray(trajectory.times))
    series = {name: np.asarray(x)[reached] for name, x in trajectory.values.items()}
    series["times"] = np.asarray(trajectory.times)[reached]
    trouble = overflow(series) if trajectory.complete else trajectory.why
    if trouble:
        return Result({**series, "eta": eta, "p_norm": drawn.p_norm}, diverged=trouble)
    seen = TrainingSeries(*(series[name] for name in TrainingSeries._fields))
    return Result(
        {
            **series,
            **quotients(cell, seen),
            **_last(seen),
            **_against_bound(seen, promised),
            **_against_attention(cell, seen),
            **model_quotients(cell, engine.parameters(trajectory.state), drawn),
            "eta": eta,
            "p_norm": drawn.p_norm,
            "counts": counts,
        }
    )


def record_steps(K: int) -> np.ndarray:
    """Exactly `RECORDS` increasing steps, 0 and K among them, as even in the logarithm as can be.

    Their number is a shape: fewer for a short run would be another program. Repeated steps at the
    end of a run shorter than that are harmless.
    """
    steps = np.unique(np.round(np.geomspace(1, K, RECORDS - 1)).astype(np.int64))
    missing = RECORDS - 1 - len(steps)
    others = np.setdiff1d(np.arange(1, K), steps)[:missing]
    steps = np.sort(np.r_[0, steps, others])
    return np.r_[steps, np.full(RECORDS - len(steps), K)]


@eqx.filter_jit
def _train(engine: HeadsEngine, eta: Array, record_at: Array, context: HeadsContext) -> Trajectory:
    return descend(
        engine, engine.zero(), PlainStep(eta), record_at, with_gradient, (context, engine)
    )


def with_gradient(t: Array, view, args) -> dict[str, Array]:
    """All probes, and the length of the loss's gradient over all heads."""
    context, engine = args
    _, field = engine.loss_and_field(view.moved)
    return {**PROBE(t, view, context), "gradient_norm": length(field, engine)}


def quotients(cell: TrainingSettings, series: TrainingSeries) -> dict[str, float]:
    """The largest measured/bound of Corollary 1's three parts along the run, by variant."""
    R = cell.mixture().R
    L = series.loss
    found = {}
    for variant in VARIANTS:
        b = betas(variant, cell.T, cell.d, R, series.decoder_norm, cell.H)
        negative = np.maximum(-series.lambda_min, 0) * np.sqrt(cell.H)
        found[f"self_bounded_{variant}"] = float((series.gradient_norm / (b.one * L)).max())
        found[f"smooth_{variant}"] = float((series.hessian_norm / b.two).max())
        found[f"weakly_convex_{variant}"] = float((negative / (b.three * L)).max())
    # What the bound would be with 1/H in place of 1/sqrt(H): a law that is false.
    found["weakly_convex_square"] = found["weakly_convex_sharp"] * float(np.sqrt(cell.H))
    return found


def _against_bound(series: TrainingSeries, promised: dict[str, float]) -> dict[str, float]:
    """Theorem 1's numbers, where its step size was taken, and the last loss over its bound."""
    if not promised:
        return {}
    return {**promised, "loss_over_bound": float(series.loss[-1]) / promised["loss_bound"]}


def _against_attention(cell: TrainingSettings, series: TrainingSeries) -> dict[str, float]:
    """How far the margin over the decoders' length is from that of saturated attention."""
    best = gamma_attention(cell.mixture())
    reached = float(series.decoder_margin[-1]) / best
    return {"margin_over_attention": reached, "attention_shortfall": 1 - reached}


def train_with_margins(cell: TrainingSettings, key: Key) -> Result:
    """Train once, and put the linear and the tangent margins of the same samples beside it."""
    result = train(cell, key)
    if result.diverged:
        return result
    drawn = draw(cell, key)
    sizes = cell.mixture()
    tangent = tangent_margin(features_of(drawn, cell.output), drawn.labels)
    linear = max_margin(drawn.tokens.reshape(len(drawn.labels), -1), drawn.labels)
    more = {
        "tangent_margin": LENGTH * tangent.margin,
        "tangent_gap": tangent.gap,
        "linear_margin": linear.margin,
        "linear_over_formula": linear.margin / gamma_linear(sizes),
        "gamma_linear": gamma_linear(sizes),
        "gamma_star": gamma_star(sizes, drawn.p_norm),
        "gamma_attention": gamma_attention(sizes),
        "star_over_tangent": _over(gamma_star(sizes, drawn.p_norm), LENGTH * tangent.margin),
        "trained_over_linear": float(np.asarray(result.values["last_decoder_margin"]))
        / gamma_linear(sizes),
    }
    absent = frozenset() if tangent.margin > 0 else frozenset({"star_over_tangent"})
    return Result({**result.values, **more}, absent=absent)


def _over(value: float, margin: float) -> float:
    """A quotient by a margin that inseparable data do not have."""
    return value / margin if margin > 0 else float("inf")


def _last(series: TrainingSeries) -> dict[str, float]:
    """Scalars of the last record that claims fit."""
    loss, test_loss = series.loss[-1], series.test_loss[-1]
    concavity = np.maximum(-series.lambda_min, 0) / series.loss
    mass = series.relevant_mass
    return {
        "last_loss": float(loss),
        "last_test_loss": float(test_loss),
        "last_decoder_margin": float(series.decoder_margin[-1]),
        "last_gap": float(test_loss - loss),
        "start_concavity": float(concavity[0]),
        "largest_concavity": float(concavity.max()),
        "plus_mass_gain": float(mass[-1, 0] - mass[0, 0]),
        "minus_mass_gain": float(mass[-1, -1] - mass[0, -1]),
        "mass_difference": float((mass[-1] - mass[0])[0] - (mass[-1] - mass[0])[-1]),
        "loss_drop": float(series.loss[0] / loss),
    }
