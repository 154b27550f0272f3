"""The run of the li2023 studies: Algorithm 1 on the pattern vote, with its probes and its test."""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, PRNGKeyArray

from attnlab.core import Key, Result
from attnlab.data.pattern_vote import (
    PatternBatch,
    PatternVote,
    label_vectors,
    orthonormal_sets,
    shuffled,
)
from attnlab.dynamics import minibatch
from attnlab.dynamics.descent import OptaxStep, Update, log_spaced_steps
from attnlab.dynamics.engine import no_probe, together
from attnlab.models import token_selection
from attnlab.models.shallow_vit import Parameters, hidden_input
from attnlab.models.shallow_vit_initialisation import Sizes, Start, draw
from attnlab.numerics.random import stream_key
from attnlab.papers.li2023.engines.collapsed import Collapsed, sums_by_pattern
from attnlab.papers.li2023.engines.exact import Exact
from attnlab.papers.li2023.settings import TrainingSettings
from attnlab.papers.li2023.summaries import summarise
from attnlab.probes.lucky_neurons import (
    feature_growth,
    lucky_neurons,
    neuron_projections,
    value_gradient,
)
from attnlab.probes.pattern_attention import PatternContext, attention_by_role

MOMENTUM = 0.9
SMALL_M = 5
BATCH_ROOM = 20
"""Batches of at most this size share a compiled program."""
PROBED_SAMPLES = 24
"""Samples that the probes of a series look at."""
PROBES = {
    "outcome": no_probe,
    "dynamics": together(
        attention_by_role, lucky_neurons, neuron_projections, feature_growth, value_gradient
    ),
}
STREAMS = ("data", "init", "batches", "test", "selection")


class Program(NamedTuple):
    """What a compiled run depends on: shapes and switches that change the computation."""

    engine: str
    capacity: int
    L: int
    d: int
    patterns: int
    """Room for patterns: M is data above 5, and always for the exact engine."""
    classes: int
    set_size: int
    m: int
    m_a: int
    m_b: int
    heads: int
    combination: str
    skip: bool
    multinomial: bool
    normalise: bool
    exact_balance: bool
    initial: str
    error: str
    optimiser: str
    batch_room: int
    prunes: bool
    model_filter: bool
    test_samples: int
    probes: str
    records: int
    dtype: str


def program(cell: TrainingSettings) -> Program:
    """The program of a cell."""
    padded = cell.set_size == 1 and (cell.engine == "exact" or cell.M > SMALL_M)
    return Program(
        engine=cell.engine,
        capacity=cell.capacity,
        L=cell.L,
        d=cell.d,
        patterns=min(cell.d, cell.m_a, cell.m_b) if padded else cell.M,
        classes=cell.classes,
        set_size=cell.set_size,
        m=cell.m,
        m_a=cell.m_a,
        m_b=cell.m_b,
        heads=cell.heads,
        combination=cell.combination,
        skip=cell.skip,
        multinomial=cell.fractions == "multinomial",
        normalise=cell.normalise,
        exact_balance=cell.balance == "exact",
        initial=cell.initial,
        error=cell.error,
        optimiser=cell.optimiser,
        batch_room=max(cell.B, BATCH_ROOM),
        prunes=cell.selector != "none" or cell.engine == "exact",
        model_filter=cell.selector == "model",
        test_samples=cell.test_samples,
        probes=cell.probes,
        records=cell.records if cell.probes == "dynamics" else 2,
        dtype=cell.dtype,
    )


def numbers(cell: TrainingSettings) -> dict[str, Any]:
    """Everything else of a cell, as data."""
    of = program(cell)
    counts = np.zeros((cell.classes, of.patterns), int)
    counts[:, : cell.M] = _expected_counts(cell)
    vectors = np.zeros((of.patterns, cell.set_size, cell.d))
    vectors[: cell.M] = orthonormal_sets(cell.M, cell.d, cell.set_size, cell.set_distance)
    if of.patterns > cell.M:
        vectors[:, 0] = np.eye(of.patterns, cell.d)
    record_at = np.array([0, cell.steps])
    if cell.probes == "dynamics":
        record_at = log_spaced_steps(cell.steps, cell.records)
        # Of one length whatever the rounding merges, so that the records are data.
        record_at = np.pad(record_at, (cell.records - record_at.size, 0))
    selector = {"model": "attention"}.get(cell.selector, cell.selector)
    data: dict[str, Any] = {
        "counts": counts,
        "vectors": vectors,
        "M": cell.M,
        "N": cell.N,
        "B": cell.B,
        "record_at": record_at,
        "selector": token_selection.SELECTORS.index(selector),
        "kept": cell.kept,
        "zeroed": cell.removal == "zeroed",
        "prune_training": cell.prune_at == "both",
        "shuffled_order": cell.order == "shuffled",
        "shuffled_labels": cell.labels == "shuffled",
        "shared": cell.output_weights == "shared",
        "stop": cell.stop == "zero_loss",
        "score_gain": float(cell.attention != "uniform"),
        "score_rate": float(cell.attention == "trained"),
        "tau": cell.c0 * np.sqrt(cell.d),
    }
    names = ("c0", "noisy_share", "noisy_c0", "sigma", "delta", "xi", "eta", "margin")
    data |= {name: float(getattr(cell, name)) for name in names}
    return {name: jnp.asarray(value) for name, value in data.items()}


def _expected_counts(cell: TrainingSettings) -> np.ndarray:
    if cell.fractions == "fixed":
        return np.array(cell.counts())
    # Only their proportions are used: as fine as an integer allows.
    fine = 10**6
    other = (1 - cell.alpha_star - cell.sharp) / (cell.M - cell.classes)
    shares = np.full((cell.classes, cell.M), other)
    shares[:, : cell.classes] = cell.sharp / (cell.classes - 1)
    shares[np.arange(cell.classes), np.arange(cell.classes)] = cell.alpha_star
    return np.round(fine * shares).astype(int)


def train(cell: TrainingSettings, key: Key) -> Result:
    """One trial: draw, train until the loss is zero or T steps are done, and test."""
    keys = {stream: stream_key(key, stream) for stream in STREAMS}
    ended = _run(program(cell), keys, numbers(cell))
    values = summarise(cell, jax.tree.map(np.asarray, ended))
    bad = not np.isfinite(values["test_loss"])
    return Result(values, diverged="the loss became infinite or nan" if bad else "")


def start(cell: TrainingSettings, key: Key) -> tuple[Any, Parameters, Start]:
    """The engine with its first state, and how it was drawn (for tests and benchmarks)."""
    keys = {stream: stream_key(key, stream) for stream in STREAMS}
    return _start(program(cell), keys, numbers(cell))


@eqx.filter_jit
def _start(of: Program, keys: dict[str, PRNGKeyArray], data: dict[str, Array]) -> Any:
    drawn = _initial(of, keys, data)
    engine, _, state = _engine(of, keys, data, drawn)
    return engine, state, drawn


@eqx.filter_jit
def _run(of: Program, keys: dict[str, PRNGKeyArray], data: dict[str, Array]) -> dict[str, Array]:
    drawn = _initial(of, keys, data)
    engine, batch, state = _engine(of, keys, data, drawn)
    update = _update(of, data)
    stop = data["stop"]
    filtering = state
    if of.model_filter:
        # A model trained before on all tokens decides which of them are kept.
        everything = engine_with_all_tokens(engine)
        ends = jnp.stack([jnp.zeros_like(data["record_at"][0]), data["record_at"][-1]])
        args = (update, keys["batches"], data["B"], of.batch_room, ends)
        filtering = minibatch.train(everything, state, *args, stop_when_fitted=stop).state
        engine, batch = _pruned(of, keys, data, engine, batch, filtering)
    context = _context(of, data, drawn, state, batch, engine)
    ended = minibatch.train(
        engine,
        state,
        update,
        keys["batches"],
        data["B"],
        of.batch_room,
        data["record_at"],
        PROBES[of.probes],
        context,
        stop_when_fitted=stop,
    )
    at_test = jnp.where(data["prune_training"], 0, 1)
    selecting = jax.tree.map(lambda a, b: jnp.where(at_test, b, a), filtering, ended.state)
    test = _test(of, keys, data, drawn, engine, ended.state, selecting)
    return {
        **{f"series_{name}": x for name, x in ended.values.items()},
        "times": ended.times,
        "iterations": ended.end_time,
        "ending": ended.ending,
        "train_loss": ended.values["loss"][-1],
        **test,
        **_norms(drawn, data),
        **_token_statistics(of, data, drawn, batch),
        **(_class_projections(data, drawn, ended.state) if of.classes == 4 else {}),
    }


def _dtype(of: Program) -> Any:
    return jnp.dtype(of.dtype)


def _initial(of: Program, keys: dict[str, PRNGKeyArray], data: dict[str, Array]) -> Start:
    sizes = Sizes(
        d=of.d,
        M=of.patterns,
        L=of.L,
        m=of.m,
        m_a=of.m_a,
        m_b=of.m_b,
        H=of.heads,
        outputs=1 if of.classes == 2 else 2,
        combination=of.combination,  # pyright: ignore[reportArgumentType]
    )
    drawn = draw(
        keys["init"],
        sizes,
        _mean_directions(data),
        data,
        shared=data["shared"],
        scheme=of.initial,  # pyright: ignore[reportArgumentType]
        direction=of.error,  # pyright: ignore[reportArgumentType]
    )
    # Padding patterns have no feature: off the patterns in use, orthonormal, the maps are zero.
    used = (jnp.arange(of.patterns) < data["M"]).astype(float)
    mu = _mean_directions(data)
    onto = jnp.eye(of.d) if of.initial == "printed" else (mu.T * used) @ mu
    W_O, *maps = drawn.parameters
    cast = lambda x: x.astype(_dtype(of))  # noqa: E731
    parameters = Parameters(cast(W_O), *(cast(W @ onto) for W in maps))
    return Start(parameters, cast(drawn.a), drawn.features)


def _mean_directions(data: dict[str, Array]) -> Array:
    mean = data["vectors"].mean(1)
    return mean / jnp.linalg.norm(mean, axis=1, keepdims=True)


def _source(of: Program, data: dict[str, Array]) -> PatternVote:
    return PatternVote(
        vectors=data["vectors"],
        counts=data["counts"],
        c0=data["c0"],
        noisy_share=data["noisy_share"],
        noisy_c0=data["noisy_c0"],
        shuffled_order=data["shuffled_order"],
        multinomial=of.multinomial,
        normalise=of.normalise,
        exact_balance=of.exact_balance,
    )


def _engine(
    of: Program, keys: dict[str, PRNGKeyArray], data: dict[str, Array], drawn: Start
) -> tuple[Any, PatternBatch, Parameters]:
    """The engine on the training set, the set itself and the first state."""
    for_data, for_labels = jax.random.split(keys["data"])
    batch = _source(of, data).sample(for_data, of.capacity, of.L)
    permuted = shuffled(for_labels, batch, data["N"])
    types = jnp.where(data["shuffled_labels"], permuted.types, batch.types)
    # Only the labels are permuted: roles stay those of the true vote.
    labels = label_vectors(types, of.classes).astype(_dtype(of))
    state = drawn.parameters
    common = {
        "labels": labels,
        "size": data["N"],
        **{name: data[name].astype(_dtype(of)) for name in ("margin", "score_gain", "score_rate")},
        "combination": of.combination,
        "skip": of.skip,
    }
    if of.engine == "collapsed":
        engine = Collapsed(
            vectors=data["vectors"][:, 0].astype(_dtype(of)),
            counts=data["counts"].astype(_dtype(of)),
            sums=sums_by_pattern(batch, drawn.a, of.patterns, data["N"]),
            classes=batch.types - 1,
            **common,
        )
        return engine, batch, state
    batch = eqx.tree_at(lambda b: b.tokens, batch, batch.tokens.astype(_dtype(of)))
    engine = Exact(
        tokens=batch.tokens,
        kept=batch.kept,
        keys=batch.kept,
        a=drawn.a.transpose(0, 2, 1),
        **common,
    )
    if not of.model_filter:
        engine, batch = _pruned(of, keys, data, engine, batch, state)
    return engine, batch, state


def engine_with_all_tokens(engine: Exact) -> Exact:
    """The engine before any token is removed."""
    everything = jnp.ones_like(engine.kept)
    return eqx.tree_at(lambda e: (e.kept, e.keys), engine, (everything, everything))


def _kept(
    of: Program,
    key: PRNGKeyArray,
    data: dict[str, Array],
    batch: PatternBatch,
    selecting: Parameters,
) -> Array:
    """The tokens that the selector keeps, by the scores of the given weights."""
    if not of.prunes:
        return batch.kept
    score = token_selection.scores(
        batch.tokens,
        selecting,
        _mean_directions(data).astype(_dtype(of)),
        jnp.arange(of.patterns) < data["M"],
        relevant=batch.roles == 0,
        noisy=batch.noisy,
    )[data["selector"]]
    kept = token_selection.keep_largest(key, score, data["kept"])
    return jnp.where(data["selector"] == 0, batch.kept, kept)


def _pruned(
    of: Program,
    keys: dict[str, PRNGKeyArray],
    data: dict[str, Array],
    engine: Exact,
    batch: PatternBatch,
    selecting: Parameters,
) -> tuple[Exact, PatternBatch]:
    kept = _kept(of, jax.random.fold_in(keys["selection"], 0), data, batch, selecting)
    kept = jnp.where(data["prune_training"], kept, batch.kept)
    return _with_kept(engine, kept, data), eqx.tree_at(lambda b: b.kept, batch, kept)


def _with_kept(engine: Exact, kept: Array, data: dict[str, Array]) -> Exact:
    zeroed = data["zeroed"]
    tokens = jnp.where(zeroed & ~kept[..., None], 0, engine.tokens)
    keys = jnp.where(zeroed, True, kept)
    return eqx.tree_at(lambda e: (e.tokens, e.kept, e.keys), engine, (tokens, kept, keys))


def _update(of: Program, data: dict[str, Array]) -> Update:
    eta = data["eta"].astype(_dtype(of))
    if of.optimiser == "momentum":
        return OptaxStep(optax.sgd, {"learning_rate": eta, "momentum": MOMENTUM})
    if of.optimiser == "adam":
        return OptaxStep(optax.adam, {"learning_rate": eta})
    return minibatch.as_plain(eta, _dtype(of))


def _context(
    of: Program,
    data: dict[str, Array],
    drawn: Start,
    state: Parameters,
    batch: PatternBatch,
    engine: Any,
) -> PatternContext | None:
    if of.probes == "outcome":
        return None
    cast = lambda x: x.astype(_dtype(of))  # noqa: E731
    few = jax.tree.map(lambda x: x[:PROBED_SAMPLES], batch)
    few = eqx.tree_at(lambda b: b.tokens, few, cast(few.tokens))
    return PatternContext(
        batch=few,
        labels=cast(label_vectors(few.types, of.classes)),
        keys=few.kept | data["zeroed"],
        a=drawn.a.transpose(0, 2, 1),
        initial=state,
        p=cast(drawn.features.p[0]),
        q=cast(drawn.features.q[0]),
        patterns=cast(_mean_directions(data)),
        used=jnp.arange(of.patterns) < data["M"],
        cone=cast(data["sigma"] + data["tau"]),
        score_gain=engine.score_gain,
    )


def _test(
    of: Program,
    keys: dict[str, PRNGKeyArray],
    data: dict[str, Array],
    drawn: Start,
    engine: Any,
    state: Parameters,
    selecting: Parameters,
) -> dict[str, Array]:
    """The loss, the error rate and the smallest margin on samples that were not trained on."""
    batch = _source(of, data).sample(keys["test"], of.test_samples, of.L)
    labels = label_vectors(batch.types, of.classes).astype(_dtype(of))
    if of.engine == "collapsed":
        # a_(l) . h[y, j] for every place: then a sample is a sum of L numbers.
        h = engine.hidden(state)
        by_place = jnp.einsum("olm,cjm->ocjl", drawn.a, h)
        row = (batch.types - 1)[:, None]
        picked = by_place[:, row, batch.patterns, jnp.arange(of.L)]
        margins = (picked.mean(-1).T * labels).sum(1)
    else:
        batch = eqx.tree_at(lambda b: b.tokens, batch, batch.tokens.astype(_dtype(of)))
        kept = _kept(of, jax.random.fold_in(keys["selection"], 1), data, batch, selecting)
        tested = eqx.tree_at(
            lambda e: (e.tokens, e.labels, e.size),
            engine,
            (batch.tokens, labels, jnp.asarray(of.test_samples)),
        )
        margins = _with_kept(tested, kept, data).margins(state)
    return {
        "test_loss": jnp.maximum(engine.margin - margins, 0).mean(),
        "test_error": (margins <= 0).mean(),
        "least_margin": margins.min(),
        "steady_gates": _steady_gates(of, data, state, drawn),
    }


def _steady_gates(of: Program, data: dict[str, Array], state: Parameters, drawn: Start) -> Array:
    """The share of (neuron, pattern) whose ReLU gate is the same at the start and at the end."""
    mu = _mean_directions(data).astype(_dtype(of))[:2]
    keys = jnp.ones(2, bool)
    options = {"combination": of.combination, "skip": of.skip}
    before, after = (
        hidden_input(w, mu, keys, **options) @ w.W_O.T > 0 for w in (drawn.parameters, state)
    )
    return (before == after).mean()


def _norms(drawn: Start, data: dict[str, Array]) -> dict[str, Array]:
    """What Assumption 1 asks of the first maps: their errors at the patterns and their norms."""
    mu = _mean_directions(data)
    used = jnp.arange(mu.shape[0]) < data["M"]
    values = {}
    features = {"W_V": drawn.features.p, "W_K": drawn.features.q, "W_Q": drawn.features.r}
    for name, feature in features.items():
        W = getattr(drawn.parameters, name)[0].astype(float)
        heads = feature.shape[0] if name == "W_V" else 1
        error = jnp.linalg.norm(heads * W @ mu.T - feature[0], axis=0)
        values[f"error_{name}"] = jnp.where(used, error, 0).max()
        values[f"norm_{name}"] = jnp.linalg.norm(W, 2)
    return values


def _token_statistics(
    of: Program, data: dict[str, Array], drawn: Start, batch: PatternBatch
) -> dict[str, Array]:
    """What (5) and Assumptions 2 and 3 say of tokens, on the first samples drawn."""
    X = batch.tokens[:PROBED_SAMPLES].astype(float).reshape(-1, of.d)
    kind = batch.patterns[:PROBED_SAMPLES].reshape(-1)
    values = {}
    features = {"W_V": drawn.features.p, "W_K": drawn.features.q, "W_Q": drawn.features.r}
    for name, feature in features.items():
        W = getattr(drawn.parameters, name)[0].astype(float) * (of.heads if name == "W_V" else 1)
        values[f"token_error_{name}"] = jnp.linalg.norm(X @ W.T - feature[0].T[kind], axis=1).max()
    values["largest_noise"] = jnp.linalg.norm(X - _mean_directions(data)[kind], axis=1).max()
    some = X[: of.L]
    products = some @ some.T
    same = kind[: of.L, None] == kind[None, : of.L]
    values["least_same_product"] = jnp.where(same, products, jnp.inf).min()
    values["largest_other_product"] = jnp.where(same, -jnp.inf, products).max()
    return values


def _class_projections(data: dict[str, Array], drawn: Start, state: Parameters) -> dict[str, Array]:
    """G.1: change of the projections on p_1..p_4, mean over the neurons with a = (1, -1)/sqrt m.

    The neuron's sign at an output is that of its mean over positions.
    """
    a = drawn.a.mean(1)
    group = (a[0] > 0) & (a[1] < 0)
    moved = (state.W_O - drawn.parameters.W_O) @ drawn.features.p[0].astype(state.W_O.dtype)
    # Over the neurons whose gate is open at the class's own value feature at the start.
    open_gate = drawn.parameters.W_O @ drawn.features.p[0].astype(state.W_O.dtype) > 0
    weight = group[:, None] & open_gate
    change = (weight * moved).sum(0) / weight.sum(0)
    del data
    return {"class_projections": change[:4]}
