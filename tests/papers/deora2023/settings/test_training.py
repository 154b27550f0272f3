"""Settings of training refuse what cannot be, with the numbers."""

from dataclasses import replace

import pytest

from attnlab.core import BadInput
from attnlab.papers.deora2023.settings import PathSettings
from attnlab.papers.deora2023.settings.training import resolve, resolve_guaranteed

SMALL = resolve(PathSettings(T=2, d=3, M=1, n=6, n1=64, H=6.0, K=40, eta=0.2, signs="balanced"))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"H": 0.5}, "H=0.5"),
        ({"H": 1e5, "engine": "weights"}, "collapsed_heads"),
        ({"start": "random", "engine": "collapsed_heads"}, "start apart"),
        ({"K": 0}, "K=0"),
        ({"n": 5000}, "4096"),
        ({"points": "atoms", "Z": 0.5}, "finite"),
    ],
)
def test_settings_refuse_with_the_numbers(changes, words):
    with pytest.raises(BadInput, match=words):
        replace(SMALL, **changes)


def test_a_run_beside_a_target_has_no_start_at_zero():
    with pytest.raises(BadInput, match="start=phase_1 or start=random"):
        resolve_guaranteed(replace(SMALL, start="zero"))
    assert resolve_guaranteed(replace(SMALL, engine="auto")).engine == "collapsed_heads"
    assert resolve_guaranteed(replace(SMALL, engine="auto", start="random")).engine == "weights"
