import jax.numpy as jnp
import numpy as np

from attnlab.numerics.derivatives import directional_difference


def test_the_error_estimate_covers_the_true_error_and_is_not_idle() -> None:
    points = np.linspace(-2, 2, 9)
    for step in (1e-1, 1e-2, 1e-3):
        for x in points:
            got = directional_difference(jnp.sin, jnp.asarray(x), jnp.asarray(1.0), step)
            assert abs(float(got.value) - np.cos(x)) <= float(got.error)
            assert float(got.error) < 1e-7


def test_a_direction_in_a_tree() -> None:
    point = {"a": jnp.asarray([1.0, 2.0]), "b": jnp.asarray(3.0)}
    direction = {"a": jnp.asarray([0.5, -1.0]), "b": jnp.asarray(2.0)}
    got = directional_difference(lambda p: p["b"] * p["a"] ** 3, point, direction)
    a, b = np.array([1.0, 2.0]), 3.0
    np.testing.assert_allclose(
        got.value, 2.0 * a**3 + b * 3 * a**2 * np.array([0.5, -1.0]), atol=float(got.error.max())
    )


def test_a_wrong_derivative_is_outside_the_error() -> None:
    got = directional_difference(jnp.exp, jnp.asarray(0.3), jnp.asarray(1.0))
    assert abs(float(got.value) - np.exp(0.3) * (1 + 1e-8)) > float(got.error)


def test_differences_by_hand() -> None:
    """Three central differences, and Richardson's two cancellations, in plain numbers."""
    x, h = 0.7, 0.4
    D = [(np.exp(x + k) - np.exp(x - k)) / (2 * k) for k in (h, h / 2, h / 4)]
    once = [(4 * D[1] - D[0]) / 3, (4 * D[2] - D[1]) / 3]
    twice = (16 * once[1] - once[0]) / 15
    got = directional_difference(jnp.exp, jnp.asarray(x), jnp.asarray(1.0), h)
    np.testing.assert_allclose(got.value, twice, rtol=1e-13)
    rounding = 16 * 2.0**-52 * np.exp(x + h) / (h / 4)
    np.testing.assert_allclose(got.error, abs(twice - once[1]) + rounding, rtol=1e-6)
    # Of a parabola every difference is exact, and only the rounding is left.
    exact = directional_difference(lambda y: y**2, jnp.asarray(1.0), jnp.asarray(1.0), 0.5)
    np.testing.assert_allclose(exact.error, 16 * 2.0**-52 * 2.25 / 0.125, rtol=1e-6)


def test_the_rounding_is_that_of_the_largest_entry() -> None:
    def linear(y):
        return jnp.asarray([1e6, 1.0]) * y

    got = directional_difference(linear, jnp.asarray(0.0), jnp.asarray(1.0), 0.5)
    np.testing.assert_allclose(got.error, 16 * 2.0**-52 * 5e5 / 0.125, rtol=1e-3)
