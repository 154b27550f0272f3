"""Another value of any setting gives another record, or a sentence, or a declared nothing."""

import pytest

from tiny_runs import COSTLY, Tiny, compiled_sooner, require_effects, require_traced, tiny_runs

pytestmark = pytest.mark.soak
REST = [tiny for tiny in tiny_runs() if tiny.short_id in COSTLY]


@pytest.fixture(scope="module", autouse=True)
def sooner():
    with compiled_sooner():
        yield


@pytest.mark.parametrize("tiny", REST, ids=lambda tiny: tiny.id)
def test_a_run_reads_every_setting_but_the_irrelevant_ones(tiny: Tiny):
    require_traced(tiny)


@pytest.mark.parametrize("tiny", tiny_runs(), ids=lambda tiny: tiny.id)
def test_another_value_changes_the_record(tiny: Tiny):
    require_effects(tiny)
