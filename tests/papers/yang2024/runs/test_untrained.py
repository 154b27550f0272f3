"""Softmax and tails against plain draws."""

import math
from dataclasses import replace

import numpy as np
import pytest

from attnlab.cells import Key
from attnlab.papers.yang2024.runs import untrained
from attnlab.papers.yang2024.settings import (
    SoftmaxSettings,
    TailSettings,
)


def test_the_remainder_of_the_softmax():
    cell = SoftmaxSettings(L=3, size=0.05, draws=2000)
    value = untrained.perturb_softmax(cell, Key.of(cell, 0)).values["remainder"]
    random = np.random.default_rng(0)
    worst = 0.0
    for _ in range(2000):
        s, direction = random.normal(size=(2, 3))
        e = 0.05 * direction / np.linalg.norm(direction)
        p, q = (np.exp(x) / np.exp(x).sum() for x in (s, s + e))
        worst = max(worst, float(np.linalg.norm(q - p - (np.diag(p) - np.outer(p, p)) @ e)))
    assert value == pytest.approx(worst, rel=0.05)
    uncentred = untrained.perturb_softmax(replace(cell, jacobian="diagonal"), Key.of(cell, 0))
    assert uncentred.values["remainder"] > 10 * value


def test_the_tails_of_gaussian_vectors():
    cell = TailSettings(m=50, delta=0.2, draws=4000)
    values = untrained.draw_tails(cell, Key.of(cell, 0)).values
    b = math.sqrt(4 / 50 * math.log(10)) + 4 / 50 * math.log(10)
    # Variances 2/m of a squared norm and 1/m of a product.
    assert np.sqrt(np.mean(values["norms"] ** 2)) * b == pytest.approx(math.sqrt(2 / 50), rel=0.05)
    assert np.sqrt(np.mean(values["products"] ** 2)) * b == pytest.approx(50**-0.5, rel=0.05)
