"""Runs on drawn samples without training, sample by sample in loops."""

import math
from dataclasses import replace

import numpy as np
import pytest

from attnlab.cells import Key
from attnlab.data.token_mixture import directions
from attnlab.papers.deora2023.runs import mixture
from attnlab.papers.deora2023.runs.samples import draw_pool
from attnlab.papers.deora2023.settings import (
    ExpressivitySettings,
    ImpossibilitySettings,
    MixtureSettings,
)

NOISY = MixtureSettings(
    T=4, d=7, M=2, S=1.3, zeta=0.25, Z_mu=0.05, Z_nu=0.06, Z=0.4, noise="uniform", n=8, n1=100
)  # fmt: skip


def key(cell) -> Key:
    return Key.of(cell, 1)


def pool(cell):
    drawn = draw_pool(cell, key(cell))
    return np.asarray(drawn.tokens), np.asarray(drawn.labels), np.asarray(drawn.roles)


def test_the_data_of_a_pool():
    values = mixture.describe_data(NOISY, key(NOISY)).values
    X, y, roles = pool(NOISY)
    mu_plus, mu_minus, nu = directions(NOISY.mixture())
    along_mu, along_nu, size, longest = [], [], [], []
    for i in range(len(X)):
        for t in range(4):
            longest.append(np.linalg.norm(X[i, t]))
            if roles[i, t]:
                assert (X[i, t] == (mu_plus if y[i] > 0 else mu_minus)).all()
                continue
            noises = [X[i, t] - pattern for pattern in nu]
            z = min(noises, key=np.linalg.norm)
            along_mu += [abs(z @ mu_plus), abs(z @ mu_minus)]
            along_nu += [abs(z @ pattern) for pattern in nu]
            size.append(np.linalg.norm(z))
    R = math.sqrt(1.3**2 + 0.4**2 + 2 * 0.06 / 2)
    expected = {
        "longest_over_R": max(longest) / R,
        "longest_over_formula": max(longest) / R,
        "longest_over_S": max(longest) / 1.3,
        "relevant_share_error": 0.0,
        "relevant_token_error": 0.0,
        "label_share": sum(y > 0) / len(y),
        "wrong_labels": 0.0,
        "along_mu_over_bound": max(along_mu) / 0.05,
        "along_nu_over_bound": max(along_nu) / 0.03,
        "noise_norm_over_bound": max(size) / 0.4,
    }
    assert values == pytest.approx(expected, rel=1e-10, abs=1e-14)


def test_broken_data_are_seen(monkeypatch):
    """A pool with a wrong label, a relevant token off by 0.01 and one place too few."""
    made = draw_pool(NOISY, key(NOISY))
    X, y, roles = (np.array(x) for x in (made.tokens, made.labels, made.roles))
    y[0] = 3
    i, t = np.argwhere(roles == 1)[40]
    X[i, t, 0] += 0.01
    j, s = np.argwhere(roles == 1)[80]
    roles[j, s] = 0
    broken = replace(made, tokens=X, labels=y, roles=roles)
    monkeypatch.setattr(mixture, "draw_batch", lambda cell, key: broken)
    values = mixture.describe_data(NOISY, key(NOISY)).values
    assert values["wrong_labels"] == 1
    assert values["relevant_token_error"] == pytest.approx(0.01)
    assert values["relevant_share_error"] == pytest.approx(0.25)


def test_without_noise_sizes_are_not_divided():
    clean = replace(NOISY, Z_mu=0.0, Z_nu=0.0, Z=0.0)
    values = mixture.describe_data(clean, key(clean)).values
    for name in ("along_mu", "along_nu", "noise_norm"):
        assert values[f"{name}_over_bound"] == 0
    small = replace(clean, S=0.5)
    values = mixture.describe_data(small, key(small)).values
    assert values["longest_over_R"] == pytest.approx(0.5)
    assert values["longest_over_formula"] == values["longest_over_S"] == 1


def test_the_first_step():
    values = mixture.first_step(NOISY, key(NOISY)).values
    X, y, _ = pool(NOISY)
    v = sum(y[i] * X[i].mean(axis=0) for i in range(100)) / 200
    mu_plus, mu_minus, _ = directions(NOISY.mixture())
    u_star = mu_plus - mu_minus
    along = v @ u_star / (u_star @ u_star) / 0.25
    p = np.linalg.norm(v - 0.25 / 4 * u_star)
    R, log = math.sqrt(1.3**2 + 0.4**2 + 0.06), math.log(10)
    expected = {
        "coefficient": along,
        "pooled_coefficient": along,
        "last_coefficient": along,
        "attention_moved": 0.0,
        "places_differ": 0.0,
        "p_norm": p,
        "p_over_bound": p / (R / 20 * (1 + math.sqrt(2 * log))),
        "p_over_printed": p / ((2 * 1.3 + 0.4) * (math.sqrt(0.07) + math.sqrt(log / 100))),
    }
    assert values == pytest.approx(expected, rel=1e-9, abs=1e-14)


@pytest.mark.parametrize("factor", [1.0, 0.3])
def test_attention_of_proposition_3(plain, factor):
    cell = ExpressivitySettings(
        T=4, d=7, M=2, S=1.3, zeta=0.25, Z_mu=0.05, Z_nu=0.06, Z=0.4, noise="extreme", n=8,
        epsilon=0.2, Gamma_factor=factor,
    )  # fmt: skip
    values = mixture.attend(cell, key(cell)).values
    X, y, roles = pool(cell)
    S = 1.3
    W = np.zeros((7, 7))
    W[0, 0] = W[1, 1] = S**2
    W[2:4, :2] = S**2
    Gamma = factor * 8 * math.sqrt(6) / (3 * S**2) * math.log(3 / 0.2)
    W_opt = W / np.linalg.norm(W)
    u = np.zeros(7)
    u[:2] = 1 / math.sqrt(8), -1 / math.sqrt(8)
    relevant, irrelevant, lowest, highest, masses, outputs = [], [], [], [], [], []
    for i in range(512):
        on = roles[i] == 1
        logits = np.array([[a @ W @ b for b in X[i]] for a in X[i]])
        relevant.append(np.abs(logits[:, on] - S**4).max())
        irrelevant.append(np.abs(logits[:, ~on]).max())
        lowest.append(logits[:, on].min())
        highest.append(logits[:, ~on].max())
        P = plain.attention(Gamma * W_opt, X[i])
        masses.append(P[:, ~on].sum(axis=1).max())
        outputs.append(y[i] * sum(u @ (P[t] @ X[i]) for t in range(4)))
    gap = min(lowest) - max(highest)
    promised = math.sqrt(2) / S * (S**2 * 0.8 - 0.4 * 0.05)
    expected = {
        "relevant_logit_error": max(relevant) / (S**2 * 0.11),
        "irrelevant_logit": max(irrelevant) / (2 * 0.05 * (S**2 + 0.11)),
        "logit_gap": gap,
        "optimal_logit_gap": gap / np.linalg.norm(W),
        "mass_over_epsilon": max(masses) / 0.2,
        "margin_over_promised": min(outputs) / promised,
        "margin_equality_error": max(outputs) / promised - 1,
        "Gamma": Gamma,
    }
    assert values == pytest.approx(expected, rel=1e-9)
    assert (values["mass_over_epsilon"] <= 1) == (factor == 1)


def test_without_noise_a_logit_is_exact_to_rounding():
    cell = ExpressivitySettings(T=4, d=7, M=2, S=1.3, zeta=0.25, n=8, Gamma_power=1)
    values = mixture.attend(cell, key(cell)).values
    assert values["relevant_logit_error"] <= 1
    assert values["irrelevant_logit"] == 0
    assert values["Gamma"] == pytest.approx(8 * math.sqrt(6) / (3 * 1.3) * math.log(3 / 0.1))


@pytest.mark.parametrize("S", [0.8, 3.2])
@pytest.mark.parametrize("Z_mu", [0.0, 0.3])
def test_margins_side_by_side(S, Z_mu):
    cell = MixtureSettings(T=4, d=7, M=2, S=S, zeta=0.5, Z_mu=Z_mu, Z_nu=0.0, Z=1.2)
    values = mixture.compare_margins(cell, key(cell)).values
    bracket = 0.5 * S**4 - 7 * Z_mu * S**2 - 12 * Z_mu**2 - 16 * Z_mu**3 / S**2
    linear = S * math.sqrt(2) * (0.5 - Z_mu / S**2)
    star = 4 * 0.25 * bracket / (4 * math.sqrt(6)) + linear
    attention = S * math.sqrt(2)
    expected = {
        "gamma_star": star,
        "gamma_linear": linear,
        "gamma_attention": attention,
        "attention_over_star": attention / star,
        "star_over_linear": star / linear,
        "order_rule_fails": 0.0,
        "linear_rule_fails": 0.0,
    }
    assert values == pytest.approx(expected, rel=1e-12)


def test_rules_that_were_wrong_would_be_counted(monkeypatch):
    cell = MixtureSettings(T=4, d=7, M=2, S=0.8, zeta=0.5)
    monkeypatch.setattr(mixture.margins, "largest_S_for_order", lambda sizes: 0.1)
    assert mixture.compare_margins(cell, key(cell)).values["order_rule_fails"] == 1
    monkeypatch.setattr(mixture.margins, "gamma_linear", lambda sizes: 9.0)
    assert mixture.compare_margins(cell, key(cell)).values["linear_rule_fails"] == 0
    monkeypatch.setattr(mixture.margins, "gamma_star", lambda sizes: 8.0)
    assert mixture.compare_margins(cell, key(cell)).values["linear_rule_fails"] == 1


@pytest.mark.parametrize(("power", "possible"), [(3.0, False), (1.0, True)])
def test_the_search_for_a_scaling(power, possible):
    cell = ImpossibilitySettings(power=power)
    values = mixture.search_scaling(cell, key(cell)).values
    assert values["feasible"] == float(possible)
    assert (values["grid_points"] > 0) == possible
