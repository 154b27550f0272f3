"""Targets, directions and starts of runs by the definitions: one head and one sample at a time."""

import math
from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest

from attnlab.cells import Key
from attnlab.core import BadInput
from attnlab.engines.heads_arithmetic import length
from attnlab.papers.deora2023.runs import preparation, targets
from attnlab.papers.deora2023.runs.samples import draw, uniform_number
from attnlab.papers.deora2023.settings import GuaranteedSettings, TrainingSettings
from attnlab.papers.deora2023.settings.training import resolve
from attnlab.papers.deora2023.theory.conditions import heads_needed

CELL = resolve(TrainingSettings(T=2, d=4, M=2, S=1.3, n=5, n1=32, H=7.0, K=9, eta=0.0))
COUNTS = np.array([5.0, 2.0])
OUTPUTS = ("full", "pooled", "last")


def key(cell) -> Key:
    return Key.of(cell, 4)


def expanded(direction, counts) -> list[tuple[np.ndarray, np.ndarray]]:
    """Every head's part of a direction of two groups."""
    return [
        (np.asarray(direction.U[g]), np.asarray(direction.W[g]))
        for g in range(2)
        for _ in range(int(counts[g]))
    ]


@pytest.mark.parametrize("output", OUTPUTS)
def test_tangent_features_are_the_heads_gradient(plain, output):
    cell = replace(CELL, output=output)
    drawn = draw(cell, key(cell))
    found = targets.features_of(drawn, output)
    u = {"full": np.tile(drawn.v, (2, 1)), "pooled": 2 * drawn.v, "last": drawn.v}[output]
    for i, X in enumerate(drawn.tokens):
        of_u = plain.gradient(lambda x, X=X: plain.head(x, np.zeros((4, 4)), X, output), u)
        of_W = plain.gradient(lambda x, X=X: plain.head(u, x, X, output), np.zeros((4, 4)))
        np.testing.assert_allclose(found[i], np.r_[of_u.ravel(), of_W.ravel()], atol=1e-9)


@pytest.mark.parametrize("engine", ["collapsed_heads", "weights"])
def test_a_direction_over_all_heads_has_the_margin_of_one_head(plain, engine):
    """The slope of the whole model along it is that of one head of sign +1, and so the length."""
    cell = replace(CELL, engine=engine)
    drawn = draw(cell, key(cell))
    made = targets.make_engine(cell, drawn, COUNTS)
    signs = targets.group_signs(cell, COUNTS)
    assert signs.tolist() == ([1, -1] if engine == "collapsed_heads" else [1] * 5 + [-1] * 2)
    w = np.random.default_rng(0).normal(size=2 * 4 + 16)
    over = targets.spread(w, made, signs)
    assert float(length(over, made)) == pytest.approx(float(np.linalg.norm(w)), rel=1e-12)
    counts = COUNTS if engine == "collapsed_heads" else np.ones(7)
    start = [np.asarray(x) for x in made.start]
    features = targets.features_of(drawn)
    for i, X in enumerate(drawn.tokens):
        up, down = (
            plain.model(
                start[0] + s * np.asarray(over.U), start[1] + s * np.asarray(over.W), counts, 7.0, X
            )
            for s in (1e-5, -1e-5)
        )
        assert (up - down) / 2e-5 == pytest.approx(float(features[i] @ w), abs=1e-8)


def test_the_papers_direction_entry_by_entry():
    sizes = CELL.mixture()
    w = targets.paper_direction(sizes)
    U, W = w[:8].reshape(2, 4), w[8:].reshape(4, 4)
    expected = np.zeros((2, 4))
    expected[:, 0], expected[:, 1] = 0.5, -0.5
    np.testing.assert_allclose(U, expected, atol=1e-15)
    asks = np.zeros((4, 4))
    asks[0, 0] = asks[1, 1] = 1
    asks[2:, :2] = 1  # every irrelevant pattern asks for both relevant ones
    np.testing.assert_allclose(W, asks / math.sqrt(6), atol=1e-15)


@pytest.mark.parametrize("engine", ["collapsed_heads", "weights"])
def test_the_target_of_a_run(plain, engine):
    cell = replace(CELL, engine=engine)
    drawn = draw(cell, key(cell))
    made = targets.prepare(cell, drawn, COUNTS)
    target = made.target
    features = targets.features_of(drawn)
    counts = COUNTS if engine == "collapsed_heads" else np.ones(7)
    assert float(length(made.direction, made.engine)) == pytest.approx(1, rel=1e-12)
    # The direction has the margin that the programme says, and D is log K over it.
    w = np.r_[np.asarray(made.direction.U[0]).ravel(), np.asarray(made.direction.W[0]).ravel()]
    margins = drawn.labels * (features @ w) * math.sqrt(7)
    assert margins.min() == pytest.approx(made.margin.margin, rel=1e-9)
    assert pytest.approx(math.log(9) / margins.min(), rel=1e-9) == target.D
    U, W = (
        np.asarray(a) + target.D * np.asarray(b)
        for a, b in zip(made.engine.start, made.direction, strict=True)
    )
    data = (drawn.tokens, drawn.labels, drawn.weights)
    assert target.loss == pytest.approx(plain.loss(U, W, counts, 7.0, *data), rel=1e-9)
    start = [np.asarray(x) for x in made.engine.start]
    assert target.start_loss == pytest.approx(plain.loss(*start, counts, 7.0, *data), rel=1e-9)
    assert target.m == pytest.approx(max(float(np.linalg.norm(u)) for u in U), rel=1e-9)
    assert (target.T, target.d, target.R, target.H) == (2, 4, pytest.approx(1.3), 7)
    assert (target.K, target.least_count) == (9, 2)
    values = targets.target_values(made)
    assert values == {
        "target_R": pytest.approx(1.3), "target_H": 7, "target_D": target.D,
        "target_m": target.m, "target_loss": target.loss, "target_start_loss": target.start_loss,
        "target_K": 9, "target_least_count": 2, "eta": made.eta,
        "tangent_margin": pytest.approx(math.sqrt(2) * made.margin.margin),
        "tangent_gap": made.margin.gap,
    }  # fmt: skip
    assert made.eta == targets.largest_step(target, "symmetric", 1)
    points = targets.points_of(made.engine)
    np.testing.assert_array_equal(points.tokens, drawn.tokens)
    np.testing.assert_array_equal(points.weights, drawn.weights)


def test_a_given_step_is_taken_and_K_1_counts_as_2():
    cell = replace(CELL, eta=0.25, K=1)
    drawn = draw(cell, key(cell))
    made = targets.prepare(cell, drawn, COUNTS)
    assert made.eta == 0.25
    assert pytest.approx(math.log(2) / made.margin.margin) == made.target.D


def test_a_group_that_nobody_is_in_does_not_count():
    drawn = draw(CELL, key(CELL))
    made = targets.prepare(CELL, drawn, np.array([7.0, 0.0]))
    longest = [
        np.linalg.norm(np.asarray(made.engine.start.U[g] + made.target.D * made.direction.U[g]))
        for g in (0, 1)
    ]
    assert made.target.m == pytest.approx(float(longest[0]))
    assert made.target.least_count == 7


def test_inseparable_labels_get_the_papers_direction():
    cell = replace(CELL, points="atoms", n1=0)
    drawn = draw(cell, key(cell))
    twice = {
        name: np.concatenate([getattr(drawn, name)] * 2) for name in ("tokens", "labels", "weights")
    }
    half = len(drawn.labels)
    twice["labels"][half:] *= -1
    twice["weights"] /= 2
    made = targets.prepare(cell, replace(drawn, **twice), COUNTS)
    w = targets.paper_direction(cell.mixture()) / math.sqrt(2)
    expected = targets.spread(w, made.engine, np.array([1.0, -1.0]))
    np.testing.assert_allclose(made.direction.U, expected.U, rtol=1e-12)
    assert pytest.approx(math.log(9) / (1e-3 * 1.3), rel=1e-6) == made.target.D


# --- starts -------------------------------------------------------------------------------------


def test_signs_come_from_their_own_stream():
    for signs in ("random", "balanced"):
        cell = replace(CELL, signs=signs, H=101.0)
        counts = preparation.sign_counts(cell, key(cell))
        assert counts.sum() == 101
        if signs == "balanced":
            assert counts.tolist() == [51, 50]
        else:
            # The smallest k whose binomial probability of at most k reaches the uniform number.
            u = uniform_number(key(cell), "signs")
            below = 0
            k = -1
            while below < u * 2**101:
                k += 1
                below += math.comb(101, k)
            assert counts[0] == k


def test_the_start_after_phase_1():
    drawn = draw(CELL, key(CELL))
    engine, eta, numbers = preparation.engine_and_step(CELL, key(CELL), drawn, COUNTS)
    made = targets.prepare(CELL, drawn, COUNTS)
    assert eta == made.eta
    assert numbers["loss_bound"] == pytest.approx(
        2 * made.target.loss + 5 * made.target.D**2 / (4 * eta * 9), rel=1e-12
    )
    assert numbers["target_D"] == made.target.D
    given = replace(CELL, eta=0.5)
    engine, eta, numbers = preparation.engine_and_step(given, key(given), drawn, COUNTS)
    assert (eta, numbers) == (0.5, {})
    np.testing.assert_allclose(engine.start.U[1], np.tile(-drawn.v, (2, 1)))


def beta_2(m: float, H: float) -> float:
    one = math.sqrt(2) * 1.3 * math.sqrt(1.3**4 * m**2 + 1)
    return math.sqrt(2) * 1.3**3 * (2 * 1.3**2 * m + 1) / math.sqrt(H) + one**2 / 4


def test_the_start_at_zero_steps_by_the_smoothness_around_it():
    cell = replace(CELL, start="zero", eta=0.0)
    drawn = draw(cell, key(cell))
    engine, eta, numbers = preparation.engine_and_step(cell, key(cell), drawn, COUNTS)
    assert numbers == {}
    assert not np.asarray(engine.start.U).any()
    assert np.asarray(engine.counts).tolist() == [5, 2]
    assert float(engine.H) == 7
    assert eta == pytest.approx(1 / beta_2(1.0, 7.0), rel=1e-12)
    each = replace(cell, engine="weights")
    engine, _, _ = preparation.engine_and_step(each, key(each), drawn, COUNTS)
    assert engine.start.U.shape == (7, 2, 4)


def test_random_starts_step_by_the_smoothness_around_the_longest_head():
    cell = replace(CELL, start="random", engine="weights", scale=2.0, eta=0.0)
    drawn = draw(cell, key(cell))
    engine, eta, _ = preparation.engine_and_step(cell, key(cell), drawn, COUNTS)
    assert engine.start.U.shape == (7, 2, 4)
    m = max(float(np.linalg.norm(np.asarray(u))) for u in engine.start.U)
    assert eta == pytest.approx(1 / beta_2(m + 1, 7.0), rel=1e-12)
    given = replace(cell, eta=0.5)
    assert preparation.engine_and_step(given, key(given), drawn, COUNTS)[1] == 0.5
    assert jnp.allclose(
        preparation.engine_and_step(replace(given, scale=4.0), key(cell), drawn, COUNTS)[0].start.U,
        2 * engine.start.U,
    )
    with pytest.raises(BadInput):
        replace(CELL, start="random", engine="collapsed_heads")


# --- where a target is -----------------------------------------------------------------------

AIMED = resolve(
    GuaranteedSettings(T=4, d=3, M=1, zeta=0.75, points="atoms", n=40, n1=0, H=1e10, K=5000,
                       proof="corrected")
)  # fmt: skip


def losses_along(plain, instance, drawn, distances) -> list[float]:
    """The loss at each distance along the instance's direction, in plain numpy."""
    engine = instance.engine
    U, W = (np.asarray(x) for x in engine.start)
    dU, dW = (np.asarray(x) for x in instance.direction)
    counts, H = np.asarray(engine.counts), float(engine.H)
    data = (drawn.tokens, drawn.labels, drawn.weights)
    return [plain.loss(U + D * dU, W + D * dW, counts, H, *data) for D in distances]


@pytest.mark.parametrize("theorem", [1, 2])
def test_the_target_of_the_least_bound(plain, theorem):
    """By every limit of the step and the print of (4) or (5), on the 64 distances in a loop."""
    cell = replace(AIMED, theorem=theorem)
    drawn = draw(cell, key(cell))
    counts = np.array([5e9 + 2e4, 5e9 - 2e4])
    instance = targets.prepare(cell, drawn, counts, "least_bound")
    gamma, T, d, K = instance.margin.margin, 4, 3, cell.K
    outputs = [
        abs(plain.model(*(np.asarray(x) for x in instance.engine.start), counts, 1e10, X))
        for X in drawn.tokens
    ]
    reach = (2 * max(1.0, *outputs) + math.log(K)) / gamma
    distances = [reach * 0.02 ** (1 - k / 63) for k in range(64)]
    losses = losses_along(plain, instance, drawn, distances)
    first = losses_along(plain, instance, drawn, [0.0])[0]
    best = (math.inf, 0.0)
    for D, loss in zip(distances, losses, strict=True):
        U = np.asarray(instance.engine.start.U) + D * np.asarray(instance.direction.U)
        m = max(np.linalg.norm(u) for u in U)
        three = 2 * math.sqrt(T * d) * (3 * math.sqrt(d) * (m + 3 * D) + 1)
        if ((18 if theorem == 1 else 72) * three * D**2) ** 2 > 1e10:
            continue
        alpha = 3 * math.sqrt(d) * (3 * math.sqrt(T) * (3 * D + m) + 2 * math.sqrt(T))
        rho = (2 * math.sqrt(T * d) / 1e5 + T / 4) * alpha**2
        eta = min(1.0, 1 / rho, D**2 / (K * loss), D**2 / first)
        promise = 2 * loss + 5 * D**2 / (4 * eta * K)
        if theorem == 2:
            promise = 4 / 40 * (2 * K * loss + 9 * D**2 / (4 * eta))
        best = min(best, (promise, D))
    assert pytest.approx(best[1], rel=1e-9) == instance.target.D
    assert heads_needed(instance.target, "corrected", theorem) <= 1e10


def test_the_target_of_corollary_2(plain):
    drawn = draw(AIMED, key(AIMED))
    counts = np.array([5e9 + 3e5, 5e9 - 3e5])
    instance = targets.prepare(AIMED, drawn, counts, "corollary_2")
    start = [np.asarray(x) for x in instance.engine.start]
    B = max(1.0, *(abs(plain.model(*start, counts, 1e10, X)) for X in drawn.tokens))
    g = (2 * B + math.log(5000)) / (math.sqrt(2) * instance.margin.margin)
    assert pytest.approx(math.sqrt(2) * g, rel=1e-6) == instance.target.D


def test_heads_that_all_differ_have_a_direction_of_their_own(plain):
    """Its slope on every sample is at least the margin, by differences of the whole model."""
    cell = resolve(
        GuaranteedSettings(T=3, d=4, M=2, zeta=1 / 3, n=4, n1=0, H=5.0, K=9, start="random",
                           scale=0.5, proof="sharp")
    )  # fmt: skip
    drawn = draw(cell, key(cell))
    instance = preparation.beside_target(cell, key(cell), drawn, any_start=True)
    assert instance.target.least_count == 1
    U, W = (np.asarray(x) for x in instance.engine.start)
    assert len({u.tobytes() for u in U}) == 5
    dU, dW = (np.asarray(x) for x in instance.direction)
    assert math.sqrt((dU**2).sum() + (dW**2).sum()) == pytest.approx(1.0, rel=1e-9)
    h, slopes = 1e-5, []
    for X, y in zip(drawn.tokens, drawn.labels, strict=True):
        ahead, behind = (plain.model(U + s * dU, W + s * dW, np.ones(5), 5.0, X) for s in (h, -h))
        slopes.append(y * (ahead - behind) / (2 * h))
    assert min(slopes) == pytest.approx(instance.margin.margin, rel=1e-6)


def test_inseparable_samples_have_the_mean_token_for_a_direction():
    cell = resolve(
        GuaranteedSettings(T=2, d=3, M=1, n=4, n1=0, H=3.0, K=5, start="random", scale=0.3)
    )
    drawn = draw(cell, key(cell))
    engine = preparation.random_engine(cell, key(cell), drawn)
    found = targets.of_all_heads(None, engine)
    mean = np.mean([y * X.mean(0) for X, y in zip(drawn.tokens, drawn.labels, strict=True)], axis=0)
    U = np.asarray(found.U)
    assert np.asarray(found.W).max() == 0
    assert (U**2).sum() == pytest.approx(1.0)
    np.testing.assert_allclose(U[1, 0] / np.linalg.norm(U[1, 0]), mean / np.linalg.norm(mean))
