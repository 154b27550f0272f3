"""Section 7's question on other starts: their kernels."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

from attnlab.cells import Key
from attnlab.models.multihead import Heads, outputs
from attnlab.papers.deora2023.runs import other_starts
from attnlab.papers.deora2023.runs.samples import draw, host_random
from attnlab.papers.deora2023.settings import OtherStartSettings
from attnlab.probes.tangent_kernel import tangent_gram


def key(cell) -> Key:
    return Key.of(cell, 0)


def test_the_kernel_of_normal_multipliers_is_that_of_all_heads():
    cell = OtherStartSettings(T=2, d=4, M=1, n=6, n1=64, H=5, variant="gaussian")
    drawn = draw(cell, key(cell))
    start = other_starts._start(cell, key(cell), drawn)
    random = host_random(key(cell), "signs")
    random.choice([-1.0, 1.0], cell.H)
    alpha = random.normal(size=cell.H)
    U = alpha[:, None, None] * np.broadcast_to(drawn.v, (cell.T, cell.d))
    heads = Heads(jnp.asarray(U), jnp.zeros((cell.H, cell.d, cell.d)))
    tokens = jnp.asarray(drawn.tokens)
    grams, output = other_starts._at_start(start.heads, jnp.asarray(start.shares), tokens)
    gram = np.tensordot(start.parts, np.asarray(grams), 1)
    assert np.abs(gram - eqx.filter_jit(tangent_gram)(heads, tokens)).max() <= 1e-14
    exact = eqx.filter_jit(outputs)(heads, jnp.full(cell.H, cell.H**-0.5), tokens)
    assert np.abs(output - exact).max() <= 1e-14
    longest = np.linalg.norm(U.reshape(cell.H, -1), axis=1).max()
    assert start.longest == pytest.approx(longest)


@pytest.mark.parametrize("variant", ["phase_1", "steps"])
def test_phase_1_beside_itself_and_after_steps(variant):
    cell = OtherStartSettings(T=2, d=4, M=1, n=6, n1=64, variant=variant, steps=1, eta=1e-9)
    values = other_starts.other_start(cell, key(cell)).values
    assert values["margin_over_phase_1"] == pytest.approx(1, abs=1e-6)
