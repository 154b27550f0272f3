"""Directions of targets, and the kernel in which they are found."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

from attnlab.cells import Key
from attnlab.engines import collapsed_heads, explicit_heads
from attnlab.engines.heads_arithmetic import length
from attnlab.papers.deora2023.runs.samples import draw
from attnlab.papers.deora2023.runs.targets import features_of, paper_direction, spread
from attnlab.papers.deora2023.settings import PathSettings
from attnlab.papers.deora2023.settings.training import resolve
from attnlab.probes.tangent_kernel import tangent_gram

SMALL = resolve(PathSettings(T=2, d=3, M=1, n=6, n1=64, H=6.0, K=40, eta=0.2, signs="balanced"))


def key(cell) -> Key:
    return Key.of(cell, 0)


def test_the_tangent_kernel_depends_on_neither_heads_nor_signs():
    cell = SMALL
    drawn = draw(cell, key(cell))
    features = features_of(drawn)
    for counts in ((1.0, 4.0), (5.0, 0.0)):
        heads = explicit_heads.phase_1_heads(jnp.asarray(drawn.v), jnp.asarray(counts), 5, cell.T)
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
