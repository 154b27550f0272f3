"""Leave-one-out models: atoms against samples, and all their steps."""

from dataclasses import replace

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

from attnlab.core import Key
from attnlab.papers.deora2023.runs import stability, targets
from attnlab.papers.deora2023.runs.preparation import sign_counts
from attnlab.papers.deora2023.runs.samples import Drawn, draw
from attnlab.papers.deora2023.runs.targets import prepare
from attnlab.papers.deora2023.settings import PathSettings, StabilitySettings
from attnlab.papers.deora2023.settings.training import USUAL_STEPS, resolve

SMALL = resolve(PathSettings(T=2, d=3, M=1, n=6, n1=64, H=6.0, K=40, eta=0.2, signs="balanced"))
PATH = PathSettings(H=1e4, signs="balanced", eta=0.5, n=6, n1=40, engine="collapsed_heads")


def key(cell) -> Key:
    return Key.of(cell, 0)


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
        constants = stability.Constants(
            *map(jnp.asarray, (9.0, 0.3, cell.K, 1.0)), jnp.asarray([2.0, 2.0])
        )
        arrays = stability._leave_one_out(instance.engine, constants, data.test, USUAL_STEPS)
        found.append({name: np.asarray(x) for name, x in arrays.items()})
    by_atoms, by_samples = found
    assert np.abs(by_atoms["apart"][repeated] - by_samples["apart"]).max() <= 1e-14
    assert np.abs(by_atoms["own_loss"][repeated] - by_samples["own_loss"]).max() <= 1e-14
    assert drawn.weights @ by_atoms["apart"] == pytest.approx(by_samples["apart"].mean(), rel=1e-12)


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


@pytest.mark.parametrize("K", [40, 123])
def test_leave_one_out_models_go_all_their_steps(K):
    cell = StabilitySettings(**{**vars(PATH), "K": K, "n": 3})
    own = Key.of(cell, 0)
    found = stability.leave_one_out(cell, own).values
    assert found["loss"] == pytest.approx(stepped(cell, own, K)[-1], rel=1e-10)
    assert all(np.isfinite(x) for x in found.values())


def test_a_long_path_in_parts_is_as_at_once():
    states = targets.Heads(jnp.arange(606.0).reshape(202, 3), jnp.arange(404.0).reshape(202, 2, 1))
    found = stability._at_every(lambda s: s.U.sum() * s.W.sum(), states)
    np.testing.assert_array_equal(found, states.U.sum(1) * states.W.sum((1, 2)))
