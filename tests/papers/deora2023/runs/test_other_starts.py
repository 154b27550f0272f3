"""Section 7's question on other starts: every head of them by hand, and their kernels."""

import math
from dataclasses import replace

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

from attnlab.cells import Key
from attnlab.models.multihead import Heads, outputs
from attnlab.papers.deora2023.runs import other_starts
from attnlab.papers.deora2023.runs.samples import draw, draw_pool, host_random
from attnlab.papers.deora2023.settings import OtherStartSettings
from attnlab.papers.deora2023.settings.mixture import TEST_SAMPLES
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


T, D, S, H, N1 = 2, 4, 1.5, 5, 40
CELL = OtherStartSettings(
    T=T, d=D, M=1, S=S, Z_mu=0.02, Z_nu=0.02, Z=0.2, noise="uniform", n=5, n1=N1, H=H, few=4,
    steps=2, eta=0.7, scale=1.3, delta=0.2,
)  # fmt: skip


def heads_by_hand(plain, cell) -> tuple[np.ndarray, np.ndarray]:
    """U_h and W_h of every head, from the samples of phase 1 one by one."""
    pool = draw_pool(cell, key(cell))
    X, y, roles = (
        np.asarray(x)[TEST_SAMPLES : TEST_SAMPLES + N1]
        for x in (pool.tokens, pool.labels, pool.roles)
    )
    random = host_random(key(cell), "signs")
    alpha = random.choice([-1.0, 1.0], H)
    if cell.variant == "gaussian":
        alpha = random.normal(size=H)
    samples = 4 if cell.variant == "few_samples" else N1
    v = sum(y[i] * X[i].mean(axis=0) for i in range(samples)) / (2 * samples)
    if cell.variant == "class_means":
        tokens = {
            sign: [X[i, t] for i in range(N1) for t in range(T) if y[i] == sign and roles[i, t]]
            for sign in (1, -1)
        }
        v = (np.mean(tokens[1], axis=0) - np.mean(tokens[-1], axis=0)) / 2
    if cell.variant == "zero":
        v = np.zeros(D)
    U, W = np.array([np.tile(a * v, (T, 1)) for a in alpha]), np.zeros((H, D, D))
    if cell.variant == "steps":
        data = (X[:5], y[:5], np.full(5, 1 / 5))
        for _ in range(2):
            of_U = plain.gradient(lambda x, W=W: plain.loss(x, W, np.ones(H), H, *data), U)
            of_W = plain.gradient(lambda x, U=U: plain.loss(U, x, np.ones(H), H, *data), W)
            U, W = U - 0.7 * of_U, W - 0.7 * of_W
    return 1.3 * U, W


@pytest.mark.parametrize(
    "variant", ["phase_1", "gaussian", "class_means", "few_samples", "zero", "steps"]
)
def test_every_scalar_of_a_start_by_hand(plain, variant):
    cell = replace(CELL, variant=variant)
    values = other_starts.other_start(cell, key(cell)).values
    drawn = draw(cell, key(cell))
    U, W = heads_by_hand(plain, cell)

    def margin(U: np.ndarray, W: np.ndarray) -> float:
        features = [plain.head_gradients(u, w, drawn.tokens) for u, w in zip(U, W, strict=True)]
        stacked = np.concatenate(features, axis=1) / math.sqrt(len(U))
        return math.sqrt(2) * plain.best_margin(stacked, drawn.labels)

    own = margin(U, W)
    phase_1 = margin(np.tile(drawn.v, (1, T, 1)), np.zeros((1, D, D)))
    R = math.sqrt(S**2 + 0.2**2 + 2 * 0.02)
    P = R / (2 * math.sqrt(N1)) * (1 + math.sqrt(2 * math.log(5)))
    B_2 = max(1, math.sqrt(T) * (S + P))
    B_Phi = max(1, T * R * (S + P) * math.sqrt(2 * math.log(5 / 0.2)))
    longest = max(math.hypot(np.linalg.norm(U[h]), np.linalg.norm(W[h])) for h in range(H))
    output = max(abs(plain.model(U, W, np.ones(H), H, X)) for X in drawn.tokens)
    linear = S * math.sqrt(T / 2) * (0.5 - 0.02 / S**2)
    expected = {
        "start_margin": own,
        "phase_1_margin": phase_1,
        "margin_over_phase_1": own / phase_1,
        "margin_over_linear": own / linear,
        "head_over_B_2": longest / B_2,
        "output_over_B_Phi": output / B_Phi,
    }
    found = {name: float(values[name]) for name in expected}
    assert found == pytest.approx(expected, rel=1e-5, abs=1e-12)
    assert abs(values["start_gap"]) <= 1e-9
