"""The engine on seven classes of words against the engine on Grams."""

import dataclasses
from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attnlab.core import BadInput, Key
from attnlab.data.word_cooccurrence import BalancedTrainingSet, IndependentSamples
from attnlab.engines import gram, gram_rows, symmetric, symmetric_words
from attnlab.engines import gram_equations as equations
from attnlab.engines.symmetric_sectors import CLASSES
from attnlab.models.linear_mlp_initialisation import Initialisation
from attnlab.models.linear_mlp_transformer import LinearMLPSizes
from attnlab.papers.yang2024.runs import training
from attnlab.papers.yang2024.settings import TrainingSettings
from attnlab.papers.yang2024.studies.resolving import resolve
from attnlab.probes.context import Context
from attnlab.probes.losses_by_type import losses_by_type
from attnlab.training.descent import PlainStep, descend
from attnlab.training.engine import Engine
from attnlab.training.flow import flow

# n, L, numbers of the types. At L=3 the class r_1 is empty; the last has no samples of type 4.
CASES = {"n12_L4": (12, 4, None), "n12_L3": (12, 3, None), "no_type_4": (10, 4, (5, 3, 2, 0))}
LONGER = {"n18_L5": (18, 5, None), "unbalanced": (11, 4, (5, 3, 2, 1))}
EMPTY = {"n12_L3": ["r_1"], "no_type_4": ["r_4"]}
SCHEME = Initialisation(s0=0.3, s1=0.2)
BY_TYPE = ("margin_by_type", "gradient_by_type", "loss_by_type")


def by_type(t, view, args):
    """The names of `losses_by_type`, from the view by classes."""
    del t, args
    values = (view.margins, view.gradients, view.losses)
    return dict(zip(BY_TYPE, values, strict=True)) | {"mean_loss": view.loss}


def both_engines(n, L, counts, scheme=SCHEME, attention="trained", m=16, m1=12):
    plain = BalancedTrainingSet(1000, L, type_counts=counts)
    d = gram_rows.row_count(plain, n)
    distribution, sizes = dataclasses.replace(plain, d=d), LinearMLPSizes(d, L, m, m1)

    @jax.jit
    def draw(key):
        batch = distribution.sample(key, n)
        options = {"initial": "mean", "rows": d, "attention": attention}
        return (
            batch,
            gram.start(key, batch, sizes, scheme, **options),
            symmetric.start(distribution, n, sizes, scheme, attention=attention),
        )

    return draw(jax.random.key(0))


def gap(got, expected) -> float:
    """The largest difference, where both have a value, and both must lack the same ones."""
    got, expected = np.asarray(got), np.asarray(expected)
    np.testing.assert_array_equal(np.isnan(got), np.isnan(expected))
    return float(np.nanmax(np.abs(got - expected)))


def assert_entries(entries, X, batch) -> None:
    """An invariant matrix against its entries for each pair of words of the batch."""
    words, types = np.asarray(batch.words), np.asarray(batch.types)
    sample_of = {int(w): i for i, row in enumerate(words) for w in row if w >= 3}
    X, across = np.asarray(X), np.asarray(entries.across)
    own, same_sample = np.asarray(entries.own), np.asarray(entries.same_sample)
    expected = np.empty_like(X)
    classes = [w if w < 3 else 2 + int(types[sample_of[w]]) for w in range(len(X))]
    for v, c in enumerate(classes):
        for w, e in enumerate(classes):
            expected[v, w] = across[c, e]
            if v >= 3 and w >= 3 and sample_of[v] == sample_of[w]:
                expected[v, w] = own[c - 3] if v == w else same_sample[c - 3]
    np.testing.assert_allclose(X, expected, atol=1e-13)


@pytest.mark.parametrize(
    "case", [*CASES, *(pytest.param(c, marks=pytest.mark.soak) for c in LONGER)]
)
def test_descent_by_classes_is_descent_on_grams(case) -> None:
    batch, on_grams, on_classes = both_engines(*(CASES | LONGER)[case])
    record_at, update = np.array([0, 1, 300]), PlainStep(0.05)
    exact = descend(*on_grams, update, record_at, losses_by_type, Context(batch))
    got = descend(*on_classes, update, record_at, by_type)
    for name in (*BY_TYPE, "mean_loss"):
        assert gap(got.values[name], exact.values[name]) < 1e-13, name
    view = on_classes[0].view(got.state)
    for name in ("S", "K", "Q", "V"):
        assert_entries(getattr(view, name), getattr(exact.state, name), batch)
    np.testing.assert_allclose(view.G[:3], exact.state.G[:3], atol=1e-13)
    np.testing.assert_allclose(view.rho, exact.state.rho, rtol=1e-13)
    assert float(exact.values["mean_loss"][-1]) < 0.1
    lacking = [c for c, x in zip(CLASSES, np.asarray(view.G), strict=True) if np.isnan(x)]
    assert lacking == EMPTY.get(case, [])


def flows(batch, on_grams, on_classes, horizon, rtol):
    times = np.r_[0, np.geomspace(0.1, horizon, 8)] * float(gram.time_unit(on_grams[1]))
    exact = flow(
        *on_grams,
        times,
        losses_by_type,
        Context(batch),
        **on_grams[0].flow_settings(on_grams[1], rtol, 1e-2 * rtol),
    )
    settings = on_classes[0].flow_settings(on_classes[1], rtol, 1e-2 * rtol)
    return exact, flow(*on_classes, times, by_type, **settings)


@pytest.mark.parametrize("case", ["n12_L4", pytest.param("n12_L3", marks=pytest.mark.soak)])
def test_flow_by_classes_is_flow_on_grams(case) -> None:
    engines = both_engines(*CASES[case])
    exact, got = flows(*engines, 3000, 1e-9)
    assert gap(got.values["margin_by_type"], exact.values["margin_by_type"]) < 1e-6
    assert float(exact.values["loss"][-1]) < 1e-3
    engine, state = engines[2]
    for name, value in conserved(engine, state).items():
        after = conserved(engine, got.state)[name]
        assert abs(float(after - value)) < 1e-6 * abs(float(value)) + 1e-8, name


def conserved(engine, state) -> dict:
    """Traces over all words: a sector counts as often as it has dimensions."""
    n, k = engine.layout
    there = jnp.r_[jnp.ones(3), (n * k > 0).astype(float)]
    dimensions = jnp.stack([jnp.maximum(n - 1, 0), n * jnp.maximum(k - 1, 0)]) * (n * k > 0)

    def trace(blocks):
        return there @ jnp.diagonal(blocks.means) + jnp.sum(dimensions * blocks.rest)

    def square(blocks):
        inner = jnp.sum(jnp.outer(there, there) * blocks.means**2)
        return inner + jnp.sum(dimensions * blocks.rest**2)

    S, K, Q = state.S, state.K, state.Q
    V, A, G, rho = state.V, engine.A, state.G, state.rho
    rest = engine.kappa**2 * (jnp.sum(n * k * (n * k > 0)) - there[3:].sum())
    return {
        "value trace": rho - A * (there @ jnp.diagonal(V)),
        "value square": rho**2
        - 2 * A * G @ G
        + A**2 * (jnp.sum(there * V**2 * there[:, None]) + rest),
        "score trace": trace(K) - trace(Q),
        "score square": square(K) + square(Q) - 2 * square(S),
    }


@pytest.mark.soak
@pytest.mark.parametrize("m", [1024, 10**6])
def test_flow_at_the_paper_size(m) -> None:
    """n = 60, L = 5, hence 163 words, from the theory's scales."""
    engines = both_engines(60, 5, None, Initialisation(), m=m, m1=m)
    exact, got = flows(*engines, 1e4, 1e-9)
    assert gap(got.values["margin_by_type"], exact.values["margin_by_type"]) < 1e-6
    assert float(exact.values["loss"][-1]) < 1e-2


@pytest.mark.parametrize("attention", ["frozen", "uniform"])
def test_the_switches_are_those_of_grams(attention) -> None:
    batch, on_grams, on_classes = both_engines(*CASES["n12_L4"], attention=attention)
    record_at, update = np.array([0, 1, 300]), PlainStep(0.05)
    exact = descend(*on_grams, update, record_at, losses_by_type, Context(batch))
    got = descend(*on_classes, update, record_at, by_type)
    assert gap(got.values["margin_by_type"], exact.values["margin_by_type"]) < 1e-13
    assert not got.state.S.means.any()
    np.testing.assert_array_equal(got.state.K.rest, on_classes[1].K.rest)


TERMS = [
    *(("value_first", name, i) for name, i in [("G", 0), ("G", 1), ("rho", 0), ("V", 0), ("V", 1)]),
    *(("score_first", name, i) for name in ("S", "K", "Q") for i in (0, 1)),
]


@pytest.fixture(scope="module")
def fields():
    """A trained state in both forms, and the field by classes with a factor before each term."""
    batch, on_grams, on_classes = both_engines(*CASES["n12_L4"])
    record_at, update = np.array([0, 1, 300]), PlainStep(0.05)
    state = descend(*on_grams, update, record_at, losses_by_type, Context(batch)).state
    engine, by_classes = on_classes[0], descend(*on_classes, update, record_at, by_type).state
    _, exact = eqx.filter_jit(on_grams[0].loss_and_field)(state)

    def weighed(engine, state, kept):
        def with_factors(function, whole):
            def terms(*args):
                return {
                    name: tuple(kept[function, name, i] * x for i, x in enumerate(parts))
                    for name, parts in whole(*args).items()
                }

            return terms

        with pytest.MonkeyPatch.context() as patch:
            for function in ("value_first", "score_first"):
                terms = with_factors(function, getattr(equations, function))
                patch.setattr(equations, function, terms)
            _, field = engine.loss_and_field(state)
        # The field's entries: the view of a state that is the field itself.
        still = dataclasses.replace(engine, kappa=jnp.zeros_like(engine.kappa))
        return still.view(field)

    compiled = eqx.filter_jit(weighed)

    def without(missing=None):
        return compiled(engine, by_classes, {t: jnp.asarray(float(t != missing)) for t in TERMS})

    return batch, exact, without


def errors_of(view, exact, batch) -> dict[str, float]:
    random = np.asarray(batch.words)[0][np.asarray(batch.words)[0] >= 3]  # of one sample, type 1
    word = int(random[0])

    def entries(name):
        X, of = np.asarray(getattr(exact, name)), getattr(view, name)
        got = [*np.asarray(of.across)[:3, :3].reshape(-1), of.own[0], *np.asarray(of.across)[:3, 3]]
        expected = [*X[:3, :3].reshape(-1), X[word, word], *X[:3, word]]
        return np.asarray(got), np.asarray(expected)

    pairs = {name: entries(name) for name in ("S", "K", "Q", "V")}
    pairs["G"] = (np.asarray(view.G)[:4], np.asarray(exact.G)[[0, 1, 2, word]])
    pairs["rho"] = (np.asarray(view.rho), np.asarray(exact.rho))
    return {name: np.abs(x - y).max() / np.abs(y).max() for name, (x, y) in pairs.items()}


def test_the_field_by_classes_is_the_field_on_grams(fields) -> None:
    batch, exact, without = fields
    assert max(errors_of(without(), exact, batch).values()) < 1e-12


@pytest.mark.parametrize("missing", TERMS, ids=lambda t: "_".join(map(str, t)))
def test_no_term_can_be_left_out(fields, missing) -> None:
    batch, exact, without = fields
    errors = errors_of(without(missing), exact, batch)
    assert errors.pop(missing[1]) > 1e-3
    assert max(errors.values()) < 1e-12


# --- a sweep over real numbers ----------------------------------------------------------------


def run_at(n, L, m):
    """From the mean of the theory's start with m1 = m: the flow to 300 / rho_0."""
    engine, state = symmetric.start_at(n, L, m, A=m, rho=m, kappa=1 / L)
    times = jnp.linspace(0, 300, 9) / m
    run = flow(engine, state, times, by_type, **engine.flow_settings(state))
    return run.values["margin_by_type"], run.ending


@pytest.fixture(scope="module")
def swept():
    n, L = np.meshgrid([12, 30.5, 60, 90], [4, 4.5, 5, 8])
    n, L = n.reshape(-1), L.reshape(-1)
    m = np.full_like(n, 4096.0)
    sweep = jax.jit(lambda *x: jax.lax.map(lambda numbers: run_at(*numbers), x))
    margins, endings = sweep(n, L, m)
    return n, L, m, np.asarray(margins), np.asarray(endings)


def test_n_and_L_are_real_numbers(swept) -> None:
    _, _, _, margins, endings = swept
    assert (endings == 0).all()
    # Between whole numbers the margins lie between theirs, in both directions.
    last = margins[:, -1].reshape(4, 4, 4)  # L, n, type
    for axis in (0, 1):
        steps = np.diff(last[..., 0], axis=axis)
        assert (steps > 0).all() or (steps < 0).all()


def test_a_sweep_gives_what_single_runs_give(swept) -> None:
    n, L, m, margins, _ = swept
    for i in (0, 5, 15):
        np.testing.assert_array_equal(run_at(n[i], L[i], m[i])[0], margins[i])


def test_the_state_is_small() -> None:
    engine, state = symmetric.start_at(60, 5, 1e6, A=1e6, rho=1e6, kappa=0.2)
    assert isinstance(engine, Engine)
    assert sum(x.size for x in jax.tree.leaves(state)) == 228


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (
            lambda s: s(IndependentSamples(163, 5), 60),
            r"sampler=independent.*exact shares.*engine gram",
        ),
        (
            lambda s: s(BalancedTrainingSet(163, 5, distinct=False), 60),
            r"words=repeated.*distinct words.*engine gram",
        ),
        (
            lambda s: s(BalancedTrainingSet(163, 5, shuffled_labels=True), 60),
            r"labels=shuffled.*one label.*engine gram",
        ),
        (
            lambda s: s(BalancedTrainingSet(163, 5), 60, initial="bartlett"),
            r"initial=bartlett.*initial=mean.*engine gram",
        ),
        (lambda s: s(BalancedTrainingSet(100, 5), 60), r"d=100.*d>=163"),
        (lambda s: s(BalancedTrainingSet(163, 5), 61), r"n=61.*divisible by 6"),
        (lambda s: symmetric.start_at(60, 3.5, 64, A=1, rho=1, kappa=1), r"L=3\.5.*L >= 4"),
    ],
)
def test_what_it_is_not_exact_for_is_refused(make, sentence) -> None:
    def start(distribution, n, **options):
        sizes = LinearMLPSizes(d=distribution.d, L=5, m=1024, m1=64)
        return symmetric.start(distribution, n, sizes, Initialisation(), **options)

    with pytest.raises(BadInput, match=sentence):
        make(start)


@pytest.mark.soak
def test_seen_by_words_it_is_gram_from_the_mean() -> None:
    """Every probe on words, along a whole flow, at the solver's tolerance."""
    cell = TrainingSettings(n=12, L=4, m=200, rtol=1e-9, records=12, target_loss=1e-2, horizon=1e4)
    values = {
        engine: training.train(chosen, Key.of(chosen, 0)).values
        for engine in ("gram", "symmetric")
        for chosen in [resolve(replace(cell, engine=engine, initial="mean"))]
    }
    on_grams, on_classes = values["gram"], values["symmetric"]
    series = [
        name for name, x in on_grams.items() if np.ndim(x) and name not in ("words", "labels")
    ]
    assert len(series) > 30
    for name in series:
        size = np.abs(np.nan_to_num(on_grams[name])).max()
        np.testing.assert_allclose(
            on_classes[name], on_grams[name], rtol=1e-6, atol=1e-7 * size, err_msg=name
        )


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"words": "repeated"}, ("words=repeated", "distinct words", "--engine gram")),
        ({"sampler": "independent"}, ("sampler=independent", "exact shares", "--engine gram")),
        ({"labels": "shuffled"}, ("labels=shuffled", "one label", "--engine gram")),
        ({"method": "adam"}, ("method=adam", "flow or descent", "--engine gram")),
        ({"initial": "bartlett"}, ("initial=bartlett", "initial=mean")),
        ({"probes": "neurons"}, ("probes=neurons", "no neurons")),
        ({"d": 99}, ("d=99", "96 random words", "d=43")),
    ],
)
def test_settings_it_is_not_exact_for_get_a_sentence(changes, words) -> None:
    with pytest.raises(BadInput) as refused:
        resolve(TrainingSettings(**{"n": 24, "L": 4, "engine": "symmetric", **changes}))
    for word in words:
        assert word in str(refused.value)


def test_what_samples_it_is_not_exact_for_gets_a_sentence() -> None:
    """The same conditions, read off a batch of arrays."""
    scheme, key = Initialisation(), jax.random.key(0)
    plain = BalancedTrainingSet(23, 4).sample(key, 12)
    sizes = LinearMLPSizes(d=23, L=4, m=64, m1=8)
    assert symmetric_words.why_not(sizes, plain, scheme) == ""
    cases = {
        "sampler=independent": IndependentSamples(23, 4).sample(key, 12),
        "words=repeated": BalancedTrainingSet(23, 4, distinct=False).sample(key, 12),
        "labels=shuffled": BalancedTrainingSet(23, 4, shuffled_labels=True).sample(key, 12),
    }
    for words, batch in cases.items():
        reason = symmetric_words.why_not(sizes, batch, scheme)
        assert reason.startswith(f"got {words} with engine=symmetric, which needs")
        with pytest.raises(BadInput, match=words):
            symmetric_words.start(batch, sizes, scheme)
    assert "method=adam" in symmetric_words.why_not(sizes, plain, scheme, method="adam")
    assert "initial=mean" in symmetric_words.why_not(sizes, plain, scheme, initial="weights")
    unused = symmetric_words.why_not(replace(sizes, d=30), plain, scheme)
    assert "27 random words" in unused
    assert "d=23" in unused
