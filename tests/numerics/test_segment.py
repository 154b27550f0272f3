"""The largest value on a segment: where the maximum is known, and never above it."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attnlab.numerics.segment import largest_on_segment


@pytest.mark.parametrize("place", [0.0, 0.013, 0.31, 0.5, 0.77, 1.0])
def test_one_peak_is_found_wherever_it_is(place):
    with jax.enable_x64(True):
        found = largest_on_segment(lambda a: 3 - 7 * (a - place) ** 2)
    assert float(found) == pytest.approx(3, abs=1e-9)
    assert float(found) <= 3


@pytest.mark.parametrize("end", [0.0, 1.0])
def test_a_maximum_at_an_end_is_the_end(end):
    with jax.enable_x64(True):
        found = largest_on_segment(lambda a: jnp.exp(3 * a) if end else jnp.exp(-3 * a), 5, 4)
    assert float(found) == pytest.approx(np.exp(3 * end) if end else 1.0, rel=1e-14)


def test_it_beats_its_grid_and_many_points():
    with jax.enable_x64(True):

        def f(a):
            return jnp.sin(11 * a) * jnp.exp(-a)

        found = float(largest_on_segment(f))
        fine = float(jax.vmap(f)(jnp.linspace(0, 1, 100_001)).max())
        coarse = float(jax.vmap(f)(jnp.linspace(0, 1, 17)).max())
    assert coarse < fine <= found * (1 + 1e-9)
    assert found == pytest.approx(fine, rel=1e-7)


def test_the_grid_is_what_finds_a_second_peak():
    """Two peaks: golden sections alone would stay at the one beside the best place of the grid."""
    with jax.enable_x64(True):

        def two(a):
            return jnp.exp(-((a - 0.2) ** 2) / 0.002) + 1.1 * jnp.exp(-((a - 0.83) ** 2) / 0.002)

        assert float(largest_on_segment(two)) == pytest.approx(1.1, rel=1e-6)
        narrow = float(largest_on_segment(lambda a: jnp.exp(-(((a - 0.41) / 1e-3) ** 2)), 5, 4))
        assert narrow < 0.5  # what no grid point sees is missed: from below, never above


@pytest.mark.parametrize("side", [0, 1])
def test_the_two_first_places_of_the_golden_section_count(side):
    """Without a section: a grid of 0, 1/2, 1 and the two places that divide [0, 1]."""
    golden = (np.sqrt(5) - 1) / 2
    place = (1 - golden, golden)[side]
    with jax.enable_x64(True):
        # Largest of the grid at 1/2, so that both cells beside it are divided.
        found = largest_on_segment(
            lambda a: jnp.where(jnp.abs(a - place) < 1e-9, 2.0, 1 - (a - 0.5) ** 2), 3, 0
        )
    assert float(found) == 2
