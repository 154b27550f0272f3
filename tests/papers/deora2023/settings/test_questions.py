"""Settings of section 7's questions refuse what cannot be, with the numbers."""

from dataclasses import replace

import pytest

from attnlab.core import BadInput
from attnlab.papers.deora2023.settings import (
    LossSettings,
    OtherStartSettings,
    ParitySettings,
    RankSettings,
)

SMALL = RankSettings(T=2, d=4, M=1, n=6, n1=64, d_h=2, K=40)


PARITY = ParitySettings()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: replace(SMALL, d_h=5), "d_h=5"),
        (lambda: replace(SMALL, eta=0.0), "positive size"),
        (lambda: LossSettings(K=0), "0 steps"),
        (lambda: OtherStartSettings(few=0), "few=0"),
        (lambda: OtherStartSettings(n1=16), "n1=16"),
        (lambda: OtherStartSettings(delta=1.0), "delta=1.0"),
        (lambda: replace(PARITY, H=9), "H=9"),
        (lambda: replace(PARITY, S=0.0), "S=0.0"),
    ],
)
def test_settings_refuse_with_the_numbers(make, words):
    with pytest.raises(BadInput, match=words):
        make()
