"""Lemma H.2's bound, by hand, by its equation and against draws."""

import math

import numpy as np
import pytest

from attnlab.papers.yang2024.theory.sizes import bernstein


def test_the_bound_by_hand():
    assert bernstein(100, 20.0) == pytest.approx(
        math.sqrt(4 / 100 * math.log(20)) + 4 / 100 * math.log(20), rel=1e-14
    )
    # b = sqrt(x) + x with x = 4 log(.)/m, so the square root of x solves a quadratic.
    root = (-1 + math.sqrt(1 + 4 * bernstein(7, 3.0))) / 2
    assert root**2 == pytest.approx(4 / 7 * math.log(3.0), rel=1e-12)


def test_norms_and_products_exceed_it_no_more_often_than_delta():
    m, delta = 40, 0.1
    w = np.random.default_rng(0).normal(size=(2, 4000, m)) / math.sqrt(m)
    limit = bernstein(m, 2 / delta)
    norms = np.abs((w[0] ** 2).sum(axis=1) - 1)
    products = np.abs((w[0] * w[1]).sum(axis=1))
    assert (norms >= limit).mean() <= delta
    assert (products >= limit).mean() <= delta
