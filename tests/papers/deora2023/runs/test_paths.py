"""Whole paths: all their steps, and the long walk beside the short one."""

from dataclasses import replace

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

from attnlab.core import Key
from attnlab.engines.heads_arithmetic import scaled
from attnlab.papers.deora2023.runs import paths, targets
from attnlab.papers.deora2023.runs.preparation import beside_target, sign_counts
from attnlab.papers.deora2023.runs.samples import draw
from attnlab.papers.deora2023.settings import PathSettings
from attnlab.papers.deora2023.settings.training import resolve
from attnlab.probes.head_curvature import curvature

SMALL = resolve(PathSettings(T=2, d=3, M=1, n=6, n1=64, H=6.0, K=40, eta=0.2, signs="balanced"))
PATH = PathSettings(H=1e4, signs="balanced", eta=0.5, n=6, n1=40, engine="collapsed_heads")


def key(cell) -> Key:
    return Key.of(cell, 0)


def test_a_long_walk_is_the_walk():
    cell = replace(SMALL, H=1e6, eta=0.0)
    short = paths.walk(cell, key(cell)).values
    long = paths.long_walk(cell, key(cell)).values
    names = (
        "mean_loss",
        "last_loss",
        "moved_over_4D",
        "iterates_over_3D",
        "target_D",
        "loss_bound",
    )
    for name in (*names, "moved_by_descent", "rho_k_over_rho_sharp"):
        assert float(short[name]) == pytest.approx(float(long[name]), rel=1e-9), name
    assert long["losses"] == pytest.approx(short["losses"][np.asarray(long["times"], int)])


def test_a_long_path_has_the_mean_of_steps_that_it_does_not_record():
    cell = replace(SMALL, H=1e6, K=1500, eta=0.3)
    long = paths.long_walk(cell, key(cell)).values
    losses = stepped(cell, key(cell), 1500)
    assert len(long["losses"]) <= 21
    assert long["mean_loss"] == pytest.approx(np.mean(losses[1:]), rel=1e-10)
    assert long["last_loss"] == pytest.approx(losses[-1], rel=1e-10)


def test_the_smallest_eigenvalue_of_a_segment_beside_a_fine_grid():
    """By the curvature probe at 201 places of the first segment of a path with few heads."""
    cell = replace(SMALL, H=4.0, K=1, eta=0.1, aim="horizon")
    instance = beside_target(cell, key(cell), draw(cell, key(cell)))
    target = scaled(instance.direction, instance.target.D)
    engine, points = instance.engine, targets.points_of(instance.engine)
    walked = paths._walk(
        engine, instance.direction, jnp.asarray(instance.target.D), jnp.asarray(0.1),
        jnp.asarray(1), 100,
    )  # fmt: skip
    fine = [
        float(curvature(engine.view(scaled(target, a)), points).smallest)
        for a in np.linspace(0, 1, 201)
    ]
    assert float(walked.segment_lambda[0]) == pytest.approx(min(fine), rel=1e-3)


def stepped(cell, key, K):
    """The losses of K steps, one after the other."""
    drawn = draw(cell, key)
    engine = targets.make_engine(cell, drawn, sign_counts(cell, key))
    state, losses = engine.zero(), []
    step = eqx.filter_jit(lambda engine, state, eta: engine.step(state, eta))
    for _ in range(K):
        loss, state = step(engine, state, jnp.asarray(cell.eta))
        losses.append(float(loss))
    return [*losses, float(engine.loss(state))]


def test_a_path_of_more_than_a_hundred_steps_is_whole():
    cell = replace(PATH, K=123)
    own = Key.of(cell, 0)
    found = paths.walk(cell, own).values
    assert len(found["losses"]) == 124
    np.testing.assert_allclose(found["losses"], stepped(cell, own, 123), rtol=1e-10)
