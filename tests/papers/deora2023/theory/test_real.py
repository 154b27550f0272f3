import math

import mpmath
import pytest

from attnlab.papers.deora2023.theory.real import exp, log


def test_logarithms_and_exponentials_of_floats_and_of_mpmath():
    assert log(3) == math.log(3)
    assert exp(3) == math.exp(3)
    with mpmath.workdps(30):
        assert mpmath.exp(log(mpmath.mpf(3))) == pytest.approx(3, abs=1e-28)
        assert mpmath.log(exp(mpmath.mpf(3))) == pytest.approx(3, abs=1e-28)
        assert isinstance(log(mpmath.mpf(3)), mpmath.mpf)
        assert isinstance(exp(mpmath.mpf(3)), mpmath.mpf)
