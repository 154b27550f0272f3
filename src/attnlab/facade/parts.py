"""The parts: an engine with its first state, descent and flow, an optimiser, token selection."""

import time
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PRNGKeyArray, PyTree

from attnlab.core import BadInput
from attnlab.data.batch import Batch
from attnlab.engines import table
from attnlab.engines.weights_behind import weights_behind
from attnlab.facade import refusals
from attnlab.facade.distributions import role_names
from attnlab.facade.precision import as_key, in_double, on_host
from attnlab.facade.runs import Run
from attnlab.facade.showing import rows_as_html
from attnlab.models.protocol import AUTO, Model, Weights
from attnlab.probes import general
from attnlab.probes.samples import Samples
from attnlab.selection import SELECTORS as SELECTORS
from attnlab.selection import select_tokens as _select_tokens
from attnlab.training.attention import GAIN_AND_RATE, Attention
from attnlab.training.descent import log_spaced_steps
from attnlab.training.engine import Probe, together
from attnlab.training.losses import LOSSES
from attnlab.training.minibatch import MiniBatches, SampleEngine
from attnlab.training.optimisers import optimiser as _optimiser
from attnlab.training.setup import Setup, trained
from attnlab.training.updates import OptaxStep, PlainStep, Update

USUAL: tuple[Probe, ...] = (general.margins, general.test_samples)
"""What is recorded if nothing is asked for."""


class Prepared:
    """What `start` gives: an engine on samples, which `descend` and `flow` take with a state."""

    def __init__(self, setup: Setup, why: dict[str, str]):
        self.setup = setup
        self.why_not = why
        """For every engine why it is not exact here, or nothing where it is."""

    @property
    def name(self) -> str:
        """The engine that was taken: asked for, or the cheapest that is exact."""
        return self.setup.engine_name

    def __repr__(self) -> str:
        model, n = type(self.setup.model).__name__, self.setup.batch.kept.shape[0]
        return (
            f"engine {self.name} ({table.ENGINES[self.name].exact_for}): {model} on {n} samples, "
            f"loss {self.setup.loss}"
        )

    def _repr_html_(self) -> str:
        rows: dict[str, object] = {"engine": self.name, "loss": self.setup.loss}
        rows |= {k: f"not exact: {why}" for k, why in self.why_not.items() if why}
        return rows_as_html(repr(self), rows)


class Ready(NamedTuple):
    """`engine, state = start(...)`."""

    engine: Prepared
    state: PyTree


@in_double
def start(
    model: Model,
    batch: Batch,
    key: PRNGKeyArray | int = 0,
    *,
    scheme: str = AUTO,
    loss: str = "logistic",
    engine: str = AUTO,
    attention: Attention = "trained",
    test: Batch | None = None,
    roles: Sequence[str] | None = None,
    **numbers: float,
) -> Ready:
    """Draw the first weights by a scheme (which takes `numbers`): an engine and its first state.

    `scheme="auto"` is the paper's first model where the patterns are known, else a random one;
    `engine="auto"` the cheapest that is exact, and the result says which. `test` are samples on
    which the loss is recorded too, `roles` names for the numbers in `batch.roles`.
    """
    refusals.require_fit(model, batch, test)
    draw = as_key(key)
    why = table.why_not(model, batch, scheme=scheme, loss=loss, attention=attention)
    started = table.start(
        model,
        batch,
        draw,
        scheme=scheme,
        loss=loss,
        engine=engine,
        attention=attention,
        **numbers,
    )
    name = engine
    if engine == AUTO:
        name = next(k for k, e in table.ENGINES.items() if e.automatic and not why[k])
    # What is fixed is drawn with the rest, by the same key.
    keeps = name in ("collapsed_tokens", "exact", "word_weights", "autodiff")
    fixed = model.init(draw, batch, scheme, **numbers).fixed if keeps else ()
    setup = Setup(
        model=model,
        batch=batch,
        engine=started.engine,
        state=started.state,
        weights_of=lambda now: weights_behind(started.engine, now, fixed),
        fixed=fixed,
        test=test,
        engine_name=name,
        loss=loss,
        score_gain=GAIN_AND_RATE[attention][0],
        roles=tuple(roles) if roles is not None else role_names(batch),
    )
    return Ready(Prepared(setup, why), started.state)


@in_double
def descend(
    engine: Prepared,
    state: PyTree,
    optimiser: Update | None = None,
    *,
    steps: int,
    minibatch: int | None = None,
    probes: Sequence[Probe] | None = None,
    records: int = 50,
    key: PRNGKeyArray | int = 0,
    stop_when_fitted: bool = False,
) -> Run:
    """Train by descent for so many steps and return the run.

    `minibatch` samples are drawn for each step by `key` (default: all samples). `probes` are
    recorded at about `records` steps, evenly spaced in the logarithm. `stop_when_fitted` ends a
    run by mini-batches where the training loss is zero.
    """
    _require_prepared(engine, state, "descend")
    for what, count in (("steps", steps), ("records", records)):
        if not refusals.is_count(count):
            raise BadInput(f"got {what}={count!r}; a whole number, at least 1, is required")
    update = PlainStep(0.1) if optimiser is None else optimiser
    if not isinstance(update, Update):
        raise BadInput(f"got {update!r} as optimiser; give e.g. al.optimiser('sgd', 0.5)")
    batches = None
    if minibatch is not None:
        if not refusals.is_count(minibatch):
            raise BadInput(f"got minibatch={minibatch!r}; a whole number, at least 1, is required")
        if not isinstance(engine.setup.engine, SampleEngine):
            raise BadInput(
                f"got minibatch={minibatch} with the engine {engine.name}, which does not know "
                "its samples one by one; leave it out, or give start(..., engine='autodiff')"
            )
        batches = MiniBatches(as_key(key), minibatch, int(minibatch))
    elif stop_when_fitted:
        raise BadInput("got stop_when_fitted without minibatch; give minibatch=...")
    setup = replace(
        engine.setup,
        state=state,
        update=update,
        record_at=log_spaced_steps(int(steps), max(2, min(records, int(steps) + 1))),
        batches=batches,
        stop_when_fitted=stop_when_fitted,
    )
    return made(setup, "own data", {"steps": int(steps)}, USUAL if probes is None else probes)


@in_double
def flow(
    engine: Prepared,
    state: PyTree,
    *,
    horizon: float,
    probes: Sequence[Probe] | None = None,
    records: int = 50,
    rtol: float = 1e-6,
    target_loss: float | None = None,
) -> Run:
    """Follow the gradient flow up to time `horizon`, or to where the loss is `target_loss`."""
    _require_prepared(engine, state, "flow")
    for what, value in (("horizon", horizon), ("rtol", rtol)):
        if not refusals.is_number(value) or value <= 0:
            raise BadInput(f"got {what}={value!r}; a positive number is required")
    if not refusals.is_count(records):
        raise BadInput(f"got records={records!r}; a whole number, at least 1, is required")
    if engine.setup.loss == "hinge":
        raise BadInput(
            "got loss='hinge' with a flow: its gradient jumps, which the solver cannot follow; "
            "take another loss, or descend"
        )
    times = np.r_[0.0, np.geomspace(horizon * 1e-4, horizon, max(2, records) - 1)]
    options: dict[str, Any] = {"rtol": rtol, "atol": rtol / 100, "target_loss": target_loss}
    own = getattr(engine.setup.engine, "flow_settings", None)
    if own is not None:
        options = {"target_loss": target_loss, **own(state, rtol, rtol / 100)}
    setup = replace(engine.setup, state=state, update=None, record_at=times, flow_options=options)
    asked = {"horizon": float(horizon)}
    return made(setup, "own data", asked, USUAL if probes is None else probes)


def made(setup: Setup, title: str, settings: dict[str, Any], probes: Sequence[Probe]) -> Run:
    """Make the run of a setup, with these probes, in double precision."""
    begun = time.perf_counter()
    samples = Samples(
        model=setup.model,
        batch=setup.probed,
        fixed=setup.fixed,
        test=setup.probed_test,
        score_gain=setup.score_gain,
        loss=LOSSES[setup.loss],
        roles=setup.roles,
    )
    path = trained(setup, _together(tuple(probes)), samples)
    reached = np.isfinite(np.asarray(path.times))
    weights = setup.weights_of(path.state)
    return Run(
        model=setup.model,
        settings=settings,
        at=np.asarray(path.times)[reached],
        series={k: np.asarray(x)[reached] for k, x in path.values.items()},
        ending=path.why,
        axis="time" if setup.update is None else "step",
        title=title,
        engine=setup.engine_name,
        loss=setup.loss,
        score_gain=setup.score_gain,
        roles=setup.roles,
        weights=None if isinstance(weights, str) else on_host(weights),
        no_weights=weights if isinstance(weights, str) else "",
        batch=setup.batch,
        test=setup.test,
        diverged=path.diverged,
        seconds=time.perf_counter() - begun,
    )


@lru_cache(maxsize=64)
def _together(probes: tuple[Probe, ...]) -> Probe:
    # One function object for the same probes: else every run would be compiled anew.
    for probe in probes:
        if not callable(probe):
            raise BadInput(f"got {probe!r} among probes; give functions (t, view, args) -> arrays")
    return together(*probes)


@in_double
def optimiser(name: str, learning_rate: float, **hyperparameters: float) -> Update:
    """An optimiser by name: sgd, momentum, adam, or any optax rule, with its learning rate."""
    for what, value in {"learning_rate": learning_rate, **hyperparameters}.items():
        if not refusals.is_number(value):
            raise BadInput(f"got {what}={value!r}; a finite number is required")
    update = _optimiser(name, learning_rate, **hyperparameters)
    if isinstance(update, OptaxStep):
        refusals.require_hyperparameters(name, update)
    return update


@in_double
def select_tokens(
    batch: Batch,
    name: str,
    share: float,
    *,
    model: Any = None,
    parameters: Weights | None = None,
    key: PRNGKeyArray | int = 0,
) -> Batch:
    """The batch that keeps this share of each sample's tokens, by the named selector.

    `attention`, `value_norm` and `random` need no knowledge of roles or patterns; `irrelevant`,
    `noisy` and `distance` are oracles. `Run.savings` says what the kept tokens save.
    """
    refusals.require_batch(batch, "batch")
    if not refusals.is_number(share):
        raise BadInput(f"got share={share!r}; a number above 0, at most 1, is required")
    if model is not None and parameters is not None:
        refusals.require_weights_fit(model, parameters, batch)
    given = None if parameters is None else jax.tree.map(jnp.asarray, parameters)
    return _select_tokens(batch, name, share, model=model, parameters=given, key=as_key(key))


def _require_prepared(engine: Any, state: Any, caller: str) -> None:
    if not isinstance(engine, Prepared):
        raise BadInput(
            f"got {type(engine).__name__} as engine; {caller} takes what start gives: "
            "engine, state = al.start(model, batch, key)"
        )
    refusals.require_state(state, engine.setup.state, caller)
