"""Claims that are not registered yet obey the registry's rules all the same."""

import pytest

from attnlab.evidence.evaluate import control_outcome
from attnlab.lab import registry
from attnlab.papers.yang2024.claims import CLAIMS, PENDING


@pytest.mark.parametrize("claim", PENDING, ids=[c.id for c in PENDING])
def test_a_pending_claim_has_a_fixture_and_controls_that_bite(claim):
    assert claim.controls
    assert claim.id not in {registered.id for registered in CLAIMS}
    assert all(registry.study(name) for name in claim.studies)
    positive = claim.positive()
    assert claim.measure(positive, claim.law).outcome == "supported"
    for control in claim.controls:
        if control.law is not None and not control.changes:
            assert control_outcome(claim, control, positive) == "contradicted", control.name
