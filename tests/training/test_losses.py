"""Every loss and its slope at points, by hand."""

import math

import jax.numpy as jnp
import numpy as np
import pytest

from attnlab.training.losses import (
    ChosenLoss,
    exponential,
    heavy_tailed,
    hinge,
    logistic,
    squared,
)

POINTS = (-2.0, 0.0, 0.5, 3.0)


@pytest.mark.parametrize(
    ("loss", "value", "slope"),
    [
        (logistic, lambda x: math.log1p(math.exp(-x)), lambda x: 1 / (1 + math.exp(x))),
        (exponential, lambda x: math.exp(-x), lambda x: math.exp(-x)),
        (squared, lambda x: (1 - x) ** 2, lambda x: 2 - 2 * x),
        (
            heavy_tailed,
            lambda x: 2 / (2 + x) if x > 0 else 1 - x / 2,
            lambda x: 2 / (2 + x) ** 2 if x > 0 else 0.5,
        ),
        (hinge(0.5), lambda x: max(0.5 - x, 0.0), lambda x: float(x < 0.5)),
        (hinge(), lambda x: max(1.0 - x, 0.0), lambda x: float(x < 1)),
    ],
)
def test_values_and_slopes(loss, value, slope) -> None:
    x = jnp.asarray(POINTS)
    np.testing.assert_allclose(loss.value(x), [value(p) for p in POINTS], rtol=1e-14)
    np.testing.assert_allclose(loss.slope(x), [slope(p) for p in POINTS], rtol=1e-14)


def test_a_chosen_loss_is_the_one_at_its_place() -> None:
    x = jnp.asarray(POINTS)
    for place, loss in enumerate((squared, exponential)):
        chosen = ChosenLoss((squared, exponential), jnp.asarray(place))
        np.testing.assert_array_equal(chosen.value(x), loss.value(x))
        np.testing.assert_array_equal(chosen.slope(x), loss.slope(x))
