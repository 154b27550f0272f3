"""Runs against slower or independent routes, and what settings refuse."""

from dataclasses import replace

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

from attnlab.cells import Key
from attnlab.core import BadInput
from attnlab.papers.deora2023 import path_runs, stability_runs, training_runs
from attnlab.papers.deora2023.drawing import Drawn, draw
from attnlab.papers.deora2023.engines import collapsed_heads, weights
from attnlab.papers.deora2023.engines.arithmetic import length
from attnlab.papers.deora2023.settings import TrainingSettings, resolve
from attnlab.papers.deora2023.targets import (
    features_of,
    paper_direction,
    prepare,
    spread,
)
from attnlab.probes.tangent_kernel import tangent_gram

SMALL = resolve(TrainingSettings(T=2, d=3, M=1, n=6, n1=64, H=6.0, K=40, eta=0.2, signs="balanced"))


def key(cell) -> Key:
    return Key.of(cell, 0)


def test_the_tangent_kernel_depends_on_neither_heads_nor_signs():
    cell = SMALL
    drawn = draw(cell, key(cell))
    features = features_of(drawn)
    for counts in ((1.0, 4.0), (5.0, 0.0)):
        heads = weights.phase_1_heads(jnp.asarray(drawn.v), jnp.asarray(counts), 5, cell.T)
        gram = eqx.filter_jit(tangent_gram)(heads, jnp.asarray(drawn.tokens))
        assert np.abs(np.asarray(gram) - features @ features.T).max() <= 1e-14


def test_the_papers_direction_has_length_sqrt_2_however_it_is_spread():
    cell = SMALL
    drawn = draw(cell, key(cell))
    w = paper_direction(cell.mixture())
    assert np.linalg.norm(w) == pytest.approx(2**0.5)
    counts = np.array([1000.0, 234.0])
    engine = collapsed_heads.engine(drawn.train, jnp.asarray(drawn.v), jnp.asarray(counts))
    spread_out = spread(w, engine, np.array(collapsed_heads.SIGNS))
    assert float(length(spread_out, engine)) == pytest.approx(2**0.5)


def test_collapsed_and_explicit_runs_give_the_same_record():
    both = [
        training_runs.train(replace(SMALL, engine=engine), key(SMALL))
        for engine in ("collapsed_heads", "weights")
    ]
    for name in ("loss", "test_loss", "lambda_min", "hessian_norm", "gradient_norm", "moved"):
        a, b = (result.values[name] for result in both)
        assert np.abs(a - b).max() <= 1e-12, name
    first, second = (result.values["relevant_mass"] for result in both)
    assert np.abs(first[:, 0] - second[:, 0]).max() <= 1e-13
    assert np.abs(first[:, -1] - second[:, -1]).max() <= 1e-13


def test_a_long_walk_is_the_walk():
    cell = replace(SMALL, H=1e6, eta=0.0)
    short = path_runs.walk(cell, key(cell)).values
    long = path_runs.long_walk(cell, key(cell)).values
    for name in ("mean_loss", "last_loss", "moved_over_4D", "iterates_over_3D", "target_D"):
        assert float(short[name]) == pytest.approx(float(long[name]), rel=1e-9), name
    assert float(short["descent"]) == pytest.approx(float(long["descent"]), rel=1e-6)


def test_leave_one_out_by_atoms_is_that_of_the_samples():
    cell = replace(SMALL, points="atoms", n=9, n1=0, eta=0.3, H=100.0)
    drawn = draw(cell, key(cell))
    counts = np.round(drawn.weights * cell.n).astype(int)
    repeated = np.repeat(np.arange(len(counts)), counts)
    assert len(repeated) == 9
    samples = Drawn(
        **{
            **vars(drawn),
            "tokens": drawn.tokens[repeated],
            "labels": drawn.labels[repeated],
            "weights": np.full(9, 1 / 9),
        }
    )
    heads = np.array([50.0, 50.0])
    found = []
    for data in (drawn, samples):
        instance = prepare(cell, data, heads)
        constants = stability_runs.Constants(
            *map(jnp.asarray, (9.0, 0.3, cell.K, 1.0)), jnp.asarray([2.0, 2.0])
        )
        arrays = stability_runs._leave_one_out(instance.engine, constants, data.test)
        found.append({name: np.asarray(x) for name, x in arrays.items()})
    by_atoms, by_samples = found
    assert np.abs(by_atoms["apart"][repeated] - by_samples["apart"]).max() <= 1e-14
    assert np.abs(by_atoms["own_loss"][repeated] - by_samples["own_loss"]).max() <= 1e-14
    assert drawn.weights @ by_atoms["apart"] == pytest.approx(by_samples["apart"].mean(), rel=1e-12)


@pytest.mark.parametrize("K", [1, 5, 24, 1000])
def test_a_run_has_always_the_same_number_of_records(K):
    steps = training_runs.record_steps(K)
    assert len(steps) == training_runs.RECORDS
    assert steps[0] == 0
    assert steps[-1] == K
    assert (np.diff(steps) >= 0).all()


def test_random_and_zero_starts_train():
    for start in ("random", "zero"):
        cell = resolve(replace(SMALL, start=start, engine="auto", eta=0.5))
        assert cell.engine == ("weights" if start == "random" else "collapsed_heads")
        series = training_runs.train(cell, key(cell)).values
        assert series["loss"][-1] < series["loss"][0]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"H": 0.5}, "H=0.5"),
        ({"H": 1e5, "engine": "weights"}, "collapsed_heads"),
        ({"start": "random", "engine": "collapsed_heads"}, "start apart"),
        ({"K": 0}, "K=0"),
        ({"n": 5000}, "4096"),
        ({"points": "atoms", "Z": 0.5}, "finite"),
    ],
)
def test_settings_refuse_with_the_numbers(changes, words):
    with pytest.raises(BadInput, match=words):
        replace(SMALL, **changes)
