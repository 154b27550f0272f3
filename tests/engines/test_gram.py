"""The engine on Grams against the engine on the weights, term by term and run by run."""

import dataclasses
from unittest import mock

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from attnlab.core import BadInput
from attnlab.data.batch import Batch
from attnlab.data.word_cooccurrence import BalancedTrainingSet, IndependentSamples
from attnlab.engines import gram, gram_initialisation, word_weights
from attnlab.engines import gram_equations as equations
from attnlab.engines.gram_equations import Grams
from attnlab.engines.gram_momentum import GramMomentum
from attnlab.engines.gram_rows import as_rows, carried_words, row_count
from attnlab.models.linear_mlp_initialisation import Initialisation
from attnlab.models.linear_mlp_transformer import LinearMLPSizes, Parameters, word_view
from attnlab.probes.context import Context
from attnlab.probes.losses_by_type import margins
from attnlab.probes.word_scores import word_scores
from attnlab.training.descent import OptaxStep, PlainStep, descend
from attnlab.training.engine import Engine, together
from attnlab.training.flow import flow

SIZES = LinearMLPSizes(d=23, L=4, m=16, m1=12)
SCHEME = Initialisation(s0=0.3, s1=0.4)
HORIZON = 1.5
ETA = 0.7
"""Large, so that terms of second order show."""
NAMES = ("G", "rho", "V", "S", "K", "Q")
probe = together(word_scores, margins)


# --- one right-hand side and one step ---------------------------------------------------------

# (n, L, d, m, m1): M as a matrix, and M sample by sample.
SHAPES = {"dense": (8, 4, 9, 6, 5), "by_place": (4, 3, 40, 6, 5)}


def random_case(shape, seed: int):
    """Weights of order one, any labels, words that may repeat inside a sample."""
    n, L, d, m, m1 = shape
    rng = np.random.default_rng(seed)
    parameters = Parameters(
        *(jnp.asarray(rng.normal(size=s)) for s in [(m1, m), (m, d), (m, d), (m, d)])
    )
    words = jnp.asarray(rng.integers(0, d, (n, L)), jnp.int32)
    labels = jnp.asarray(rng.choice([-1, 1], n), jnp.int8)
    batch = Batch(words, labels, jnp.zeros((n, L), jnp.int8), labels, jnp.ones((n, L), bool))
    return parameters, jnp.asarray(rng.normal(size=m1)), batch


def engines_of(shape, seed, attention="trained"):
    parameters, a, batch = random_case(shape, seed)
    everything = jnp.arange(parameters.W_V.shape[1], dtype=jnp.int32)
    state, A = gram_initialisation.of_weights(parameters, a, everything)
    # Another start than the present state, so that its two equations are no copies of others.
    m = parameters.W.shape[1]
    u0 = jnp.linspace(-1, 1, m)
    state = state._replace(G_start=parameters.W_V.T @ u0, rho_start=u0 @ (parameters.W.T @ a))
    on_grams = gram.on_batch(batch, A, m, everything, attention=attention)
    return word_weights.on_batch(batch, a, attention=attention), on_grams, parameters, state, u0


def grams_of(parameters: Parameters, a, u0) -> Grams:
    of = word_view(parameters, a)
    u = a @ parameters.W
    return Grams(of.G, of.rho, of.V, of.S, of.K, of.Q, u0 @ parameters.W_V, u0 @ u)


@eqx.filter_jit
def both_fields(on_weights, on_grams, parameters, state, u0):
    """The derivative of the Grams: along the weights' own field, and by the engine."""
    loss, field = on_weights.loss_and_field(parameters)
    _, expected = jax.jvp(lambda p: grams_of(p, on_weights.a, u0), (parameters,), (field,))
    own_loss, got = on_grams.loss_and_field(state)
    return expected, got, own_loss - loss


@eqx.filter_jit
def both_steps(on_weights, on_grams, parameters, state, u0):
    """The change in one step: the change, or the start would hide a missing term."""
    after = on_weights.step(parameters, ETA)[1]
    expected, got = grams_of(after, on_weights.a, u0), on_grams.step(state, ETA)[1]
    return [jax.tree.map(jnp.subtract, x, state) for x in (expected, got)]


def relative_error(got, expected) -> float:
    return max(
        float(jnp.abs(x - y).max() / jnp.abs(y).max()) for x, y in zip(got, expected, strict=True)
    )


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_the_system_is_the_weights_own(shape, seed) -> None:
    case = engines_of(shape, seed)
    expected, got, loss_gap = both_fields(*case)
    assert relative_error(got, expected) < 1e-13
    assert abs(float(loss_gap)) < 1e-14
    expected, got = both_steps(*case)
    assert relative_error(got, expected) < 1e-13


@pytest.mark.parametrize("attention", ["frozen", "uniform"])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_the_switches_are_the_weights_own(shape, attention) -> None:
    case = engines_of(shape, 3, attention)
    expected, got, _ = both_fields(*case)
    stepped, own = both_steps(*case)
    for name in ("G", "rho", "V", "G_start", "rho_start"):
        pairs = [(getattr(got, name), getattr(expected, name))]
        pairs.append((getattr(own, name), getattr(stepped, name)))
        for x, y in pairs:
            assert jnp.abs(x - y).max() < 1e-13 * jnp.abs(y).max(), name
    for name in ("S", "K", "Q"):
        assert not getattr(got, name).any()
        assert not getattr(own, name).any()
    trained, _, _ = both_fields(*engines_of(shape, 3))
    assert attention == "frozen" or jnp.abs(trained.G - expected.G).max() > 1e-3


FLOW_TERMS = [
    *(("value_first", name, i) for name, i in [("G", 0), ("G", 1), ("rho", 0), ("V", 0), ("V", 1)]),
    *(("start_first", name, 0) for name in ("G_start", "rho_start")),
    *(("score_first", name, i) for name in ("S", "K", "Q") for i in (0, 1)),
]
STEP_TERMS = [
    *(("value_second", name, 0) for name in ("G", "rho", "V")),
    *(("score_second", name, 0) for name in ("S", "K", "Q")),
]


def score_second(M, S, K, Q):
    """What a step adds to S, K and Q in second order, written out."""
    return {
        "S": (M.times(M.transposed_times(S).T),),
        "K": (M.times(M.times(Q).T),),
        "Q": (M.transposed_times(M.transposed_times(K).T),),
    }


@pytest.fixture(scope="module")
def with_terms():
    """The system with a factor before each of its terms: one program for all mutations.

    Its step is written out in seven products, where the engine has six.
    """

    def run(case, kept):
        _, engine, _, state, _ = case
        with pytest.MonkeyPatch.context() as patch:

            def weighed(function, whole):
                def terms(*args):
                    return {
                        name: tuple(kept.get((function, name, i), 1) * x for i, x in enumerate(x))
                        for name, x in whole(*args).items()
                    }

                return terms

            for function in ("value_first", "value_second", "start_first", "score_first"):
                patch.setattr(equations, function, weighed(function, getattr(equations, function)))
            quadratic = weighed("score_second", score_second)

            def score_step(M, eta, S, K, Q):
                now = {"S": S, "K": K, "Q": Q}
                first = equations.score_first(M, S, K, Q)
                return equations.moved(now, eta, first, quadratic(M, S, K, Q))

            patch.setattr(equations, "score_step", score_step)
            field, moved = engine.loss_and_field(state)[1], engine.step(state, ETA)[1]
        return field, jax.tree.map(jnp.subtract, moved, state)

    compiled = eqx.filter_jit(run)

    def without(case, missing=None):
        kept = {t: jnp.asarray(float(t != missing)) for t in FLOW_TERMS + STEP_TERMS}
        return compiled(case, kept)

    return without


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_the_system_written_out_is_the_engine(with_terms, shape) -> None:
    case = engines_of(shape, 0)
    field, moved = with_terms(case)
    assert relative_error(field, both_fields(*case)[0]) < 1e-13
    assert relative_error(moved, both_steps(*case)[0]) < 1e-13


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("missing", FLOW_TERMS + STEP_TERMS, ids=lambda t: "_".join(map(str, t)))
def test_no_term_can_be_left_out(with_terms, shape, missing) -> None:
    case = engines_of(shape, 0)
    field, moved = with_terms(case, missing)
    errors = dict(zip(Grams._fields, map(error_of, moved, both_steps(*case)[0]), strict=True))
    if missing in FLOW_TERMS:
        exact = both_fields(*case)[0]
        errors = dict(zip(Grams._fields, map(error_of, field, exact), strict=True))
    assert errors.pop(missing[1]) > 1e-4
    assert max(errors.values()) < 1e-13


def error_of(got, expected) -> float:
    return relative_error([got], [expected])


# --- runs -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def drawn():
    """Both engines from one key."""

    @jax.jit
    def draw(key):
        data, init = jax.random.split(key)
        batch = BalancedTrainingSet(SIZES.d, SIZES.L).sample(data, 12)
        return (
            batch,
            word_weights.start(init, batch, SIZES, SCHEME),
            gram.start(init, batch, SIZES, SCHEME),
        )

    return draw(jax.random.key(5))


@pytest.fixture(scope="module")
def flown(drawn):
    batch, of_weights, of_grams = drawn
    times = np.linspace(0, HORIZON, 5)
    tight = flow(*of_weights, times, probe, Context(batch), rtol=1e-12, atol=1e-14)
    runs = {}
    for rtol in (1e-6, 1e-9):
        settings = of_grams[0].flow_settings(of_grams[1], rtol, 1e-2 * rtol)
        runs[rtol] = flow(*of_grams, times, probe, Context(batch), **settings)
    return tight, runs


def test_one_key_gives_one_start(drawn) -> None:
    _, (on_weights, parameters), (on_grams, state) = drawn
    assert isinstance(on_grams, Engine)
    expected = on_weights.view(parameters)
    view = on_grams.view(state)
    for name in (*NAMES, "A", "score_scale"):
        np.testing.assert_allclose(getattr(view, name), getattr(expected, name), rtol=1e-14)
    assert view.neurons is None


def test_flow_on_grams_is_flow_on_weights(flown) -> None:
    tight, runs = flown
    for rtol, run in runs.items():
        assert run.complete
        for name in ("margins", "scores", "value_correlations", "signal_outputs", "rho"):
            exact = np.asarray(tight.values[name])
            error = np.abs(np.asarray(run.values[name]) - exact).max() / np.abs(exact).max()
            assert error < 10 * rtol, (name, rtol, error)
    # It went somewhere.
    loss = np.asarray(tight.values["loss"])
    assert loss[-1] < 0.7 * loss[0]


def conserved(engine, state) -> dict[str, float]:
    A, sq = engine.A, lambda x: jnp.sum(x**2)
    return {
        "trace of u u^T - A W_V W_V^T": state.rho - A * jnp.trace(state.V),
        "trace of its square": state.rho**2 - 2 * A * sq(state.G) + A**2 * sq(state.V),
        "its value at u_0": state.rho_start**2 - A * sq(state.G_start),
        "trace of W_K W_K^T - W_Q W_Q^T": jnp.trace(state.K) - jnp.trace(state.Q),
        "trace of that square": sq(state.K) + sq(state.Q) - 2 * sq(state.S),
    }


def test_the_flow_conserves_what_it_must(drawn, flown) -> None:
    _, _, (engine, state) = drawn
    before, after = conserved(engine, state), conserved(engine, flown[1][1e-9].state)
    for name, value in before.items():
        assert abs(float(after[name] - value)) < 1e-7 * abs(float(value)), name
    moved = jax.tree.map(lambda x, y: float(jnp.abs(x - y).max()), flown[1][1e-9].state, state)
    assert moved.V > 0.1
    assert moved.K > 1e-3


def apart_after_30_000_steps(batch, of_weights, of_grams, eta: float) -> dict[str, float]:
    """How far the two descents are apart at the worst record, relative to the largest value."""
    record_at, update = np.array([0, 10, 100, 1000, 30_000]), PlainStep(eta)
    exact = descend(*of_weights, update, record_at, probe, Context(batch))
    got = descend(*of_grams, update, record_at, probe, Context(of_grams[0].rows_of(batch)))
    loss = np.asarray(exact.values["loss"])
    assert loss[-1] < 0.05 * loss[0]
    return {
        name: float(jnp.abs(got.values[name] - x).max() / jnp.abs(x).max())
        for name, x in exact.values.items()
    }


def test_descent_stays_together(drawn) -> None:
    errors = apart_after_30_000_steps(*drawn, 0.003)
    assert max(errors.values()) < 1e-11, errors


@pytest.mark.soak
def test_descent_stays_together_at_the_size_of_figure_1() -> None:
    sizes, n = LinearMLPSizes(d=64, L=5, m=128, m1=256), 60

    @jax.jit
    def draw(key):
        data, init = jax.random.split(key)
        scheme = Initialisation("linear_default", "same_as_weights")
        distribution = BalancedTrainingSet(sizes.d, sizes.L, distinct=False)
        batch = distribution.sample(data, n)
        on_grams = gram.start(init, batch, sizes, scheme, rows=row_count(distribution, n))
        return batch, word_weights.start(init, batch, sizes, scheme), on_grams

    errors = apart_after_30_000_steps(*draw(jax.random.key(2)), 0.01)
    assert max(errors.values()) < 1e-11, errors


def decayed_momentum(learning_rate, momentum, weight_decay):
    return optax.chain(
        optax.add_decayed_weights(weight_decay), optax.sgd(learning_rate, momentum=momentum)
    )


@pytest.mark.parametrize(("momentum", "decay"), [(0.9, 0.0), (0.0, 0.1), (0.9, 0.01)])
def test_momentum_and_weight_decay_close(drawn, momentum, decay) -> None:
    batch, of_weights, of_grams = drawn
    record_at = np.array([0, 1, 2, 50, 400])
    rule = {"learning_rate": 0.03, "momentum": momentum, "weight_decay": decay}
    exact = descend(
        *of_weights, OptaxStep(decayed_momentum, rule), record_at, probe, Context(batch)
    )
    got = descend(*of_grams, GramMomentum(**rule), record_at, probe, Context(batch))
    for name, x in exact.values.items():
        assert jnp.abs(got.values[name] - x).max() < 1e-12 * jnp.abs(x).max(), name
    plain = descend(*of_weights, PlainStep(0.03), record_at, probe, Context(batch))
    gap = jnp.abs(plain.values["margins"] - exact.values["margins"])[-1].max()
    assert float(gap) > 0.1


def test_momentum_zero_is_the_plain_step(drawn) -> None:
    _, _, (engine, state) = drawn
    update = GramMomentum(0.3)
    _, moved, _ = eqx.filter_jit(update.apply)(engine, state, update.init(state))
    _, plain = eqx.filter_jit(engine.step)(state, 0.3)
    for x, y in zip(moved, plain, strict=True):
        np.testing.assert_allclose(x, y, atol=1e-14)


def test_controls_run_in_the_same_program(drawn) -> None:
    _, _, (engine, state) = drawn
    traces = []

    def count(t, view, args):
        traces.append(1)
        return word_scores(t, view, args)

    frozen = dataclasses.replace(engine, score_rate=jnp.zeros_like(engine.score_rate))
    wider = dataclasses.replace(engine, score_scale=engine.score_scale / 10)
    runs = [
        descend(e, state, PlainStep(0.05), np.array([0, 100]), count)
        for e in (engine, frozen, wider, engine)
    ]
    assert len(traces) == 1
    for name in ("S", "K", "Q"):
        np.testing.assert_array_equal(getattr(runs[1].state, name), getattr(state, name))
    assert jnp.abs(runs[0].state.S - state.S).max() > 1e-3
    assert eqx.tree_equal(runs[0], runs[3])


# --- huge widths ------------------------------------------------------------------------------


def test_a_million_neurons_of_width_a_million() -> None:
    """Scores change by 1e-10, and the change is known to several digits."""
    sizes = LinearMLPSizes(d=SIZES.d, L=SIZES.L, m=10**6, m1=10**6)

    @jax.jit
    def draw(key):
        batch = BalancedTrainingSet(sizes.d, sizes.L).sample(key, 12)
        scheme = Initialisation(c0=0.5)
        return batch, *gram.start(key, batch, sizes, scheme, initial="bartlett")

    batch, engine, state = draw(jax.random.key(0))
    times = np.linspace(0, 100, 5) * float(gram.time_unit(state))
    runs = []
    for rtol in (1e-6, 1e-10):
        settings = engine.flow_settings(state, rtol, 1e-2 * rtol)
        runs.append(flow(engine, state, times, probe, Context(batch), **settings))
    assert float(runs[0].values["loss"][-1]) < 0.1
    rough, tight = (np.asarray(run.values["scores"]) for run in runs)
    change = tight[-1] - tight[0]
    assert 1e-11 < np.abs(change).max() < 1e-9
    np.testing.assert_allclose(rough[-1] - rough[0], change, atol=1e-4 * np.abs(change).max())


def gram_vector(state: Grams, A):
    upper = np.triu_indices(state.G.shape[0])
    parts = [A[None], state.rho[None], state.G, state.V[upper], state.S.reshape(-1)]
    return jnp.concatenate([*parts, state.K[upper], state.Q[upper]])


def moments(x):
    """Means, and products of deviations, with the variance of each average."""
    centred = x - x.mean(0)
    products = (centred[:, :, None] * centred[:, None, :]).reshape(len(x), -1)
    upper = np.triu_indices(x.shape[1])
    products = products[:, np.ravel_multi_index(upper, (x.shape[1],) * 2)]
    both = np.concatenate([x, products], axis=1)
    return both.mean(0), both.var(0) / len(x)


def test_bartlett_draws_the_law_of_drawn_weights() -> None:
    """Means and covariances of A and all Grams of three words, against direct draws.

    There are 29 means and 435 covariances; the largest of 464 standard normals is below 4.5 with
    probability 0.997. One more row of weights must be seen as different.
    """
    sizes, count, draws = LinearMLPSizes(d=9, L=4, m=8, m1=5), 3, 20_000
    s0, s1 = 0.7, 0.6
    scheme = Initialisation(s0=s0, s1=s1, output_layer="same_as_weights")
    keys = jax.random.split(jax.random.key(3), draws)

    def directly(key, m):
        deviations, shapes = [s1, s0, s0, s0, s1], [(sizes.m1, m), *[(m, count)] * 3, (sizes.m1,)]
        drawn = [
            deviation * jax.random.normal(k, shape)
            for k, deviation, shape in zip(
                jax.random.split(key, 5), deviations, shapes, strict=True
            )
        ]
        return gram_initialisation.of_weights(Parameters(*drawn[:4]), drawn[4], jnp.arange(count))

    def by_factors(key):
        return gram_initialisation.bartlett(key, sizes, scheme, count)

    direct, factors, wrong = (
        np.asarray(jax.jit(lambda keys, draw=draw: jax.lax.map(draw, keys))(keys))
        for draw in (
            lambda key: gram_vector(*directly(key, sizes.m)),
            lambda key: gram_vector(*by_factors(key)),
            lambda key: gram_vector(*directly(key, sizes.m + 1)),
        )
    )
    mean, variance = moments(factors)
    scores = []
    for other in (direct, wrong):
        own, spread = moments(other)
        scores.append(np.abs(own - mean) / np.sqrt(variance + spread))
    assert scores[0].max() < 4.5, scores[0].max()
    assert scores[1].max() > 10
    # And exactly: E A = s1^2 m1, E rho = s1^2 m E A.
    exact = np.array([s1**2 * sizes.m1, s1**2 * sizes.m * s1**2 * sizes.m1])
    assert np.abs((mean[:2] - exact) / np.sqrt(variance[:2])).max() < 4.5


def test_the_mean_start_is_the_mean() -> None:
    sizes = LinearMLPSizes(d=9, L=4, m=400, m1=50)
    state, A = gram_initialisation.mean(sizes, Initialisation(), 4)
    assert float(A) == 50
    np.testing.assert_allclose(state.V, np.eye(4) / 4, rtol=1e-14)
    np.testing.assert_allclose(float(state.rho), 400, rtol=1e-14)
    assert not state.S.any()


# --- rows -------------------------------------------------------------------------------------


def test_only_some_words_carry_rows() -> None:
    """Of 61 words: as many as the cell needs, and those asked for; the run is the same."""
    sizes = LinearMLPSizes(d=61, L=4, m=16, m1=12)
    distribution = BalancedTrainingSet(sizes.d, sizes.L, distinct=False, pool=30)
    count = row_count(distribution, 12)
    assert count == 3 + 20
    key = jax.random.key(2)

    @jax.jit
    def draw(key):
        batch = distribution.sample(key, 12)
        test = IndependentSamples(sizes.d, sizes.L).sample(key, 5)
        also = test.words.reshape(-1)
        whole = gram.start(key, batch, sizes, SCHEME, rows=sizes.d)
        few = carried_words(batch.words, also[:0], sizes.d, count)
        asked = gram.start(key, batch, sizes, SCHEME, rows=count + also.size, also=also)
        return batch, test, whole, few, asked

    batch, test, whole, few, asked = draw(key)
    np.testing.assert_array_equal(whole[0].carried, np.arange(sizes.d))
    occurring = {0, 1, 2, *np.asarray(batch.words).reshape(-1).tolist()}
    assert occurring <= set(np.asarray(few).tolist())
    assert few.shape == (count,)
    rows = np.asarray(asked[0].carried)
    assert len(rows) < sizes.d

    @eqx.filter_jit
    def run(engine, state, batch):
        after = jax.lax.fori_loop(0, 200, lambda _, x: engine.step(x, 0.03)[1], state)
        return after, margins(jnp.asarray(0.0), engine.view(after), Context(engine.rows_of(batch)))

    of_whole, of_asked = run(*whole, test), run(*asked, test)
    np.testing.assert_allclose(of_asked[0].G, of_whole[0].G[rows], atol=1e-12)
    np.testing.assert_allclose(of_asked[0].S, of_whole[0].S[np.ix_(rows, rows)], atol=1e-12)
    np.testing.assert_allclose(of_asked[1]["margins"], of_whole[1]["margins"], atol=1e-12)
    # The outputs of words that do not occur move: that is why they must be carried.
    unseen = np.setdiff1d(np.arange(sizes.d), list(occurring))
    assert jnp.abs(of_whole[0].G - whole[1].G)[unseen].max() > 0.01
    with pytest.raises(BadInput, match=r"carries no row.*also"):
        as_rows(few, test.words)


def test_row_counts_depend_on_the_cell_alone() -> None:
    assert row_count(BalancedTrainingSet(163, 5), 60) == 163
    assert row_count(BalancedTrainingSet(64, 5, distinct=False), 60) == 64
    assert row_count(BalancedTrainingSet(803, 5, distinct=False), 60) == 163
    assert row_count(IndependentSamples(803, 5), 60) == 243


def test_too_few_rows_are_noticed_inside_a_compiled_run() -> None:
    words = jnp.asarray([[0, 2, 5, 6]], jnp.int32)
    none = jnp.zeros(0, jnp.int32)
    with pytest.raises(BadInput, match="rows=4"):
        carried_words(words, none, 9, 4)
    # A worker takes such checks as nan; by default they raise.
    with (
        mock.patch("equinox._errors.EQX_ON_ERROR", "raise"),
        pytest.raises(Exception, match="rows=4"),
    ):
        jax.block_until_ready(jax.jit(lambda w: carried_words(w, none, 9, 4))(words))
    carried = carried_words(words, none, 9, 5)
    np.testing.assert_array_equal(as_rows(carried, words), [[0, 2, 3, 4]])


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (
            lambda: gram_initialisation.bartlett(jax.random.key(0), SIZES, SCHEME, 9),
            "9 words.*m >= 18",
        ),
        (
            lambda: gram_initialisation.bartlett(
                jax.random.key(0), SIZES, Initialisation("linear_default"), 3
            ),
            "linear_default.*normal weights.*initial=weights",
        ),
        (lambda: carried_words(jnp.zeros((1, 3), int), jnp.zeros(0, int), 9, 10), "rows=10"),
    ],
)
def test_bad_settings_are_refused(make, sentence) -> None:
    with pytest.raises(BadInput, match=sentence):
        make()
