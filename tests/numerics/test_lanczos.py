"""The ends of a spectrum that is known."""

import numpy as np
import pytest

from attnlab.core import BadInput
from attnlab.numerics.lanczos import SpectrumEnds, spectrum_ends


@pytest.mark.parametrize("spectrum", [(-3.0, -1.0, 0.5, 2.0), (0.5, 1.0, 2.0, 7.0)])
def test_both_ends_of_a_known_spectrum(spectrum) -> None:
    Q, _ = np.linalg.qr(np.random.default_rng(1).normal(size=(4, 4)))
    A = Q @ np.diag(spectrum) @ Q.T
    ends = spectrum_ends(lambda x: A @ x, 4)
    assert ends.smallest == pytest.approx(spectrum[0], rel=1e-12)
    assert ends.largest == pytest.approx(spectrum[-1], rel=1e-12)
    assert 0 <= ends.smallest_residual < 1e-12
    assert 0 <= ends.largest_residual < 1e-12
    assert ends.norm == pytest.approx(max(abs(x) for x in spectrum))
    again = spectrum_ends(lambda x: A @ x, 4)
    assert ends == again


def test_a_loose_tolerance_shows_in_the_residual() -> None:
    random = np.random.default_rng(2)
    A = random.normal(size=(60, 60))
    A = A + A.T
    exact = np.linalg.eigvalsh(A)
    ends = spectrum_ends(lambda x: A @ x, 60, tol=0.05)
    assert max(ends.smallest_residual, ends.largest_residual) > 1e-6
    assert abs(ends.smallest - exact[0]) <= ends.smallest_residual
    assert abs(ends.largest - exact[-1]) <= ends.largest_residual


def test_three_numbers_are_the_least() -> None:
    ends = spectrum_ends(lambda x: np.array([1.0, 2.0, 5.0]) * x, 3)
    assert (ends.smallest, ends.largest) == pytest.approx((1.0, 5.0))
    with pytest.raises(BadInput, match="2 numbers"):
        spectrum_ends(lambda x: x, 2)
    assert SpectrumEnds(-4.0, 1.0, 0.0, 0.0).norm == 4.0
