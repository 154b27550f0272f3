"""Section 7's questions on the model and on the loss: heads of low rank, other losses."""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from attnlab.core import Key, Result
from attnlab.data.batch import Batch
from attnlab.engines import collapsed_heads
from attnlab.engines.factored_heads import FactoredHeads, scaled_columns
from attnlab.engines.heads_arithmetic import length
from attnlab.papers.deora2023.runs.samples import Drawn, draw, host_random
from attnlab.papers.deora2023.runs.training import record_steps
from attnlab.papers.deora2023.settings.questions import LossName, LossSettings, RankSettings
from attnlab.papers.deora2023.theory.smoothness import beta_1
from attnlab.probes.heads import HeadsContext, margins, norms, relevant_mass
from attnlab.training.descent import PlainStep, descend
from attnlab.training.engine import together
from attnlab.training.losses import ChosenLoss, exponential, heavy_tailed, logistic, squared
from attnlab.training.trajectory import Trajectory, overflow

LOSSES = {
    "logistic": logistic,
    "exponential": exponential,
    "heavy_tailed": heavy_tailed,
    "squared": squared,
}
NAMES = tuple(LOSSES)
PROBE = together(norms, margins, relevant_mass)
ONE_OF_EACH = np.ones(2)


def two_heads(cell: RankSettings | LossSettings, key: Key) -> Result:
    """Either question: one entry for both, so that they run where their program is compiled."""
    return low_rank(cell, key) if isinstance(cell, RankSettings) else other_loss(cell, key)


def low_rank(cell: RankSettings, key: Key) -> Result:
    """Train heads of rank d_h and, on the same samples, of full rank and with a free W."""
    drawn = draw(cell, key)
    normal = host_random(key, "init").normal(size=(2, cell.d, cell.d))
    active = float(cell.attention == "trained")
    runs = {
        "rank": train(drawn, cell.eta, cell.K, factors=active * scaled_columns(normal, cell.d_h)),
        "full": train(drawn, cell.eta, cell.K, factors=scaled_columns(normal, cell.d)),
        "free": train(drawn, cell.eta, cell.K),
    }
    trouble = [_trouble(run) for run in runs.values()]
    if any(trouble):
        return Result({"eta": cell.eta}, diverged=next(filter(None, trouble)))
    rank, full, free = (_end(run) for run in runs.values())
    start = float(np.asarray(runs["free"].values["relevant_mass"])[0, 0])
    return Result(
        {
            **{f"rank_{name}": x for name, x in rank._asdict().items()},
            **{f"full_{name}": x for name, x in full._asdict().items()},
            **{f"free_{name}": x for name, x in free._asdict().items()},
            "loss_over_full": rank.loss / full.loss,
            "loss_over_free": rank.loss / free.loss,
            "margin_over_free": rank.margin / free.margin,
            "gain_over_free": _over(rank.mass - start, free.mass - start),
        }
    )


def _over(part: float, whole: float) -> float:
    """A quotient; nan where a step too small for any change leaves nothing to compare with."""
    return part / whole if whole else float("nan")


def _trouble(run: Trajectory) -> str:
    """Why nothing can be read off a run, or nothing."""
    if not run.complete:
        return run.why
    return overflow({"times": np.asarray(run.times), **jax.tree.map(np.asarray, run.values)})


class End(NamedTuple):
    """The last loss, margin over the decoders' length, and mass on relevant places (sign +1)."""

    loss: float
    test_loss: float
    margin: float
    mass: float


def _end(run: Trajectory) -> End:
    last = {name: np.asarray(x)[-1] for name, x in run.values.items()}
    return End(
        loss=float(last["loss"]),
        test_loss=float(last["test_loss"]),
        margin=float(last["decoder_margin"]),
        mass=float(last["relevant_mass"][0]),
    )


def other_loss(cell: LossSettings, key: Key) -> Result:
    """Train on the named loss: descent, self-boundedness, and how fast the loss falls."""
    drawn = draw(cell, key)
    run = train(drawn, cell.eta, cell.K, cell.loss)
    trouble = _trouble(run)
    if trouble:
        return Result({"eta": cell.eta}, diverged=trouble)
    series = {name: np.asarray(x) for name, x in run.values.items()}
    L, times = series["loss"], np.asarray(run.times)
    late = times >= cell.K / 10
    decay = np.polyfit(np.log(times[late]), np.log(L[late]), 1)[0]
    bound = beta_1("sharp", cell.T, cell.mixture().R, series["decoder_norm"])
    return Result(
        {
            "times": times,
            "loss": L,
            "last_loss": float(L[-1]),
            "start_loss": float(L[0]),
            # The last step is not yet in what the state remembers.
            "rise": float(max(run.state.rise, L[-1] / run.state.before - 1)),
            "steepness_over_bound": float((series["gradient_norm"] / bound / L).max()),
            "decay": float(decay),
            "test_error": float(series["test_error"][-1]),
        }
    )


def train(
    drawn: Drawn,
    eta: float,
    K: int,
    loss: LossName = "logistic",
    *,
    factors: np.ndarray | None = None,
    counts: np.ndarray = ONE_OF_EACH,
    points: Batch | None = None,
) -> Trajectory:
    """Phase 2 from phase 1's start; W is free unless factors are given. One program for all."""
    points = points or drawn.train
    heads = collapsed_heads.engine(points, jnp.asarray(drawn.v), jnp.asarray(counts))
    chosen = ChosenLoss(tuple(LOSSES.values()), jnp.asarray(NAMES.index(loss)))
    d = points.dimension
    engine = FactoredHeads(
        eqx.tree_at(lambda e: e.of_margin, heads, chosen),
        jnp.asarray(np.stack([np.eye(d)] * 2) if factors is None else factors),
        jnp.asarray(float(factors is None)),
    )
    context = HeadsContext(points, drawn.test, jnp.asarray(drawn.relevant))
    return _train(engine, jnp.asarray(eta), jnp.asarray(record_steps(K)), context)


@eqx.filter_jit
def _train(
    engine: FactoredHeads, eta: Array, record_at: Array, context: HeadsContext
) -> Trajectory:
    return descend(engine, engine.start(), PlainStep(eta), record_at, _probe, (context, engine))


def _probe(t: Array, view, args) -> dict[str, Array]:
    context, engine = args
    _, field = engine.heads.loss_and_field(view.moved)
    return {**PROBE(t, view, context), "gradient_norm": length(field, engine.heads)}
