"""The sizes of a mixture by hand, and what cannot be."""

import numpy as np
import pytest

from attnlab.core import BadInput
from attnlab.data.mixture_sizes import MixtureSizes

NOISY = MixtureSizes(T=2, d=7, M=2, S=2.0, zeta=0.5, Z_mu=0.3, Z_nu=0.8, Z=0.9)


def test_the_sizes_are_their_formulas() -> None:
    assert NOISY.relevant == 1
    assert NOISY.least_Z == pytest.approx(np.sqrt(2 * 0.09 / 4 + 0.64 / (2 * 4)))
    assert NOISY.rest_radius == pytest.approx(np.sqrt(0.81 - 0.045 - 0.08))
    assert NOISY.longest == pytest.approx(np.sqrt(4 + 0.81 + 0.8))
    assert NOISY.longest == NOISY.R
    assert MixtureSizes(T=2, d=4, M=2, S=0.5, zeta=0.5).R == 1.0
    assert not NOISY.noise_free
    # Z at its least is allowed, and a hair below it is not.
    least = {"T": 2, "d": 4, "M": 2, "S": 1.0, "zeta": 0.5, "Z_mu": 0.1, "Z_nu": 0.2}
    assert MixtureSizes(**least, Z=0.2).least_Z == pytest.approx(0.2)
    with pytest.raises(BadInput, match=r"Z >= 0\.2"):
        MixtureSizes(**least, Z=0.2 * (1 - 1e-9))
    # The largest support that is enumerated: 2 x 10^4 samples, and one place more is too much.
    assert MixtureSizes(T=5, d=12, M=10, S=1.0, zeta=0.2).require_atoms(True) == 20_000
    with pytest.raises(BadInput, match="100000 atoms"):
        MixtureSizes(T=5, d=12, M=10, S=1.0, zeta=0.2).require_atoms(False)
    assert MixtureSizes(T=2, d=3, M=1, S=1.0, zeta=0.5).atoms(False) == 4


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"d": 4}, ("d=4", "M=3", "d >= 5")),
        ({"zeta": 0.3}, ("zeta=0.3", "1.5", "whole")),
        ({"zeta": 1.0}, ("5 relevant", "from 1 to 4")),
        ({"zeta": 0.0}, ("0 relevant",)),
        ({"Z_mu": 1.0, "Z": 0.1}, ("Z^2=0.01", "Z^2 >= ", "= 2")),
        ({"Z": -1.0}, ("negative",)),
        ({"T": 1}, ("T=1",)),
        ({"M": 0}, ("M=0",)),
        ({"S": 0.0}, ("S=0.0",)),
        ({"Z_mu": -1.0}, ("negative",)),
        ({"Z_nu": -1.0}, ("negative",)),
    ],
)
def test_what_cannot_be_is_refused_with_the_numbers(changes, words):
    good = {"T": 5, "d": 7, "M": 3, "S": 1.0, "zeta": 0.4}
    MixtureSizes(**good)
    with pytest.raises(BadInput) as refusal:
        MixtureSizes(**{**good, **changes})
    for word in words:
        assert word in str(refusal.value)


def test_the_edges_of_what_can_be():
    """Each of these is the last that exists: one step further is refused."""
    MixtureSizes(T=2, d=3, M=1, S=1e-9, zeta=0.5)
    for zeta in (0.25, 0.75):
        assert MixtureSizes(T=4, d=3, M=1, S=1.0, zeta=zeta).relevant == 4 * zeta
    # 3 x 0.1 is no whole number in binary, but near enough.
    assert MixtureSizes(T=10, d=3, M=1, S=1.0, zeta=3 * 0.1).relevant == 3


def test_atoms_by_counting():
    assert MixtureSizes(T=4, d=5, M=2, S=1.0, zeta=0.5).atoms(False) == 2 * 6 * 4
    assert MixtureSizes(T=4, d=5, M=3, S=1.0, zeta=0.25).atoms(True) == 2 * 27
    with pytest.raises(BadInput, match="without noise"):
        NOISY.require_atoms(True)
