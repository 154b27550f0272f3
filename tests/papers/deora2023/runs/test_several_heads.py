"""Section 7's question on several heads: the parity of two tokens."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attnlab.cells import Key
from attnlab.engines import explicit_heads
from attnlab.models.multihead import Heads, outputs
from attnlab.papers.deora2023.runs import several_heads
from attnlab.papers.deora2023.settings import ParitySettings
from attnlab.training.inputs import compiled

PARITY = ParitySettings()


def key(cell) -> Key:
    return Key.of(cell, 0)


def saturated_heads() -> Heads:
    """Two heads that compute the parity: each is silenced by one value of the second token."""
    d, S = PARITY.d, PARITY.S
    U, W = np.zeros((2, d)), np.zeros((2, d, d))
    for h, sign in enumerate((1, -1)):
        U[h, :2] = sign, -sign
        attend = np.full(d, -40.0)
        attend[:2] = 0.0
        attend[2 + (1 - h)] = 40.0
        W[h, several_heads.QUERY] = attend / S**2
    return Heads(jnp.asarray(U), jnp.asarray(W))


def test_two_heads_can_compute_the_parity():
    train, test = several_heads.draw_parity(PARITY, np.random.default_rng(0))
    for points in (train, test):
        margins = points.labels * outputs(saturated_heads(), jnp.ones(2), points.tokens, "last")
        assert float(margins.min()) > 1


def test_no_single_head_errs_on_less_than_a_quarter():
    _, test = several_heads.draw_parity(PARITY, np.random.default_rng(0))
    random = np.random.default_rng(1)
    sizes = 10 ** random.uniform(-1, 1, 400)
    heads = Heads(
        jnp.asarray(random.normal(size=(400, PARITY.d))),
        jnp.asarray(sizes[:, None, None] * random.normal(size=(400, PARITY.d, PARITY.d))),
    )
    one = jax.jit(lambda u, W: outputs(Heads(u[None], W[None]), jnp.ones(1), test.tokens, "last"))
    errors = [float((test.labels * one(u, W) <= 0).mean()) for u, W in zip(*heads, strict=True)]
    assert min(errors) >= 0.25
    assert min(errors) < 0.3


def test_absent_heads_do_not_count():
    train, test = several_heads.draw_parity(PARITY, np.random.default_rng(0))
    start = explicit_heads.random_heads(jax.random.key(0), 4, PARITY.T, PARITY.d, 1.0, "last")
    given = compiled(replace(PARITY, eta=2.0, K=50)), train, test
    padded = several_heads._train_all(
        *given, Heads(*(x[None] for x in start)), jnp.array([1.0, 1, 0, 0])
    )
    two = several_heads._train_all(*given, Heads(*(x[None, :2] for x in start)), jnp.ones(2))
    assert float(padded["loss"][0]) == pytest.approx(float(two["loss"][0]), rel=1e-12)
    assert float(padded["margin"][0]) == pytest.approx(float(two["margin"][0]), rel=1e-12)


def test_one_head_is_enough_for_one_token():
    cell = replace(PARITY, rule="one_token", H=2)
    values = several_heads.several_heads(cell, key(cell)).values
    assert values["least_one_error"] == 0
    parity = several_heads.several_heads(PARITY, key(PARITY)).values
    assert parity["least_one_error"] >= 0.25
    assert parity["many_test_error"] == 0
