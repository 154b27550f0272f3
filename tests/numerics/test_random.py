import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from attnlab.cells import Key
from attnlab.numerics import random


def test_a_stream_is_set_by_its_key_and_name() -> None:
    draws = {
        name: random.normal(random.stream_key(key, stream), (4,), 1.0)
        for name, key, stream in [
            ("again", Key("{}", 0), "data"),
            ("stream", Key("{}", 0), "init"),
            ("seed", Key("{}", 1), "data"),
            ("cell", Key('{"n":12}', 0), "data"),
        ]
    }
    first = random.normal(random.stream_key(Key("{}", 0), "data"), (4,), 1.0)
    assert (first == draws.pop("again")).all()
    assert all((first != other).all() for other in draws.values())


def test_a_key_keeps_its_bits() -> None:
    data = jax.random.key_data(random.stream_key(Key("{}", 0), "data"))
    assert data.dtype == jnp.uint32
    assert tuple(int(word) for word in data) == Key("{}", 0).words("data")


def test_a_float32_draw_is_the_float64_draw_cast() -> None:
    key = random.stream_key(Key("{}", 3), "init")
    for draw in (random.normal, random.uniform):
        double = draw(key, (100,), 0.3)
        assert double.dtype == jnp.float64
        np.testing.assert_array_equal(draw(key, (100,), 0.3, jnp.float32), double.astype("float32"))


def test_32_bit_mode_is_refused() -> None:
    key = random.stream_key(Key("{}", 3), "init")
    with jax.enable_x64(False), pytest.raises(RuntimeError, match="JAX_ENABLE_X64=1"):
        random.normal(key, (4,), 1.0)


def test_signs_are_fair_signs() -> None:
    signs = np.asarray(random.signs(random.stream_key(Key("{}", 5), "init"), (10_000,)))
    assert set(signs) == {-1.0, 1.0}
    assert abs(signs.mean()) < 4 / np.sqrt(10_000)


def test_chi_squared_numbers_have_their_moments_and_do_not_depend_on_their_number():
    freedom = np.array([3, 50, 1_000_000] * 90)
    draw = np.asarray(random.chi_squared(jax.random.key(0), freedom))
    few = np.asarray(random.chi_squared(jax.random.key(0), freedom[:6]))
    np.testing.assert_array_equal(draw[:6], few)
    standard = (draw - freedom) / np.sqrt(2 * freedom)
    assert abs(standard.mean()) < 4 / np.sqrt(freedom.size)
    assert abs(standard.var() - 1) < 4 * np.sqrt(6 / freedom.size)


def test_every_draw_has_its_shape_and_its_distribution() -> None:
    key, shape = random.stream_key(Key("{}", 7), "init"), (40, 50)
    drawn = {
        "uniform": (random.uniform(key, shape, 0.3), stats.uniform(-0.3, 0.6)),
        "normal": (random.normal(key, shape, 0.3), stats.norm(0, 0.3)),
        "fractions": (random.fractions(key, shape), stats.uniform()),
    }
    for name, (numbers, distribution) in drawn.items():
        assert numbers.shape == shape
        flat = np.asarray(numbers, float).ravel()
        assert stats.kstest(flat, distribution.cdf).pvalue > 1e-3, name
        # The shape is given after the draw: the numbers are those of the flat one.
        again = {"uniform": random.uniform, "normal": random.normal}.get(name)
        if again:
            np.testing.assert_array_equal(flat, again(key, (2000,), 0.3))
    assert drawn["fractions"][0].dtype == jnp.float32
    assert random.signs(key, (2, 3), jnp.float32).dtype == jnp.float32
    assert random.signs(key, (2, 3)).shape == (2, 3)


@pytest.mark.parametrize("size", [1, 256, 257])
def test_chi_squared_numbers_come_in_whole_blocks(size) -> None:
    assert random.chi_squared(jax.random.key(0), np.full(size, 4)).shape == (size,)


def test_chi_squared_needs_64_bits() -> None:
    with jax.enable_x64(False), pytest.raises(RuntimeError, match="JAX_ENABLE_X64=1"):
        random.chi_squared(jax.random.key(0), np.array([3]))
