"""Every setting of every study is read by its run, or is declared not to be."""

import pytest

from tiny_runs import COSTLY, Tiny, compiled_sooner, require_traced, tiny_runs

TRACED = [tiny for tiny in tiny_runs() if tiny.short_id not in COSTLY]


@pytest.fixture(scope="module", autouse=True)
def sooner():
    with compiled_sooner():
        yield


@pytest.mark.parametrize("tiny", TRACED, ids=lambda tiny: tiny.id)
def test_a_run_reads_every_setting_but_the_irrelevant_ones(tiny: Tiny):
    require_traced(tiny)
