"""Numbers of a trial on images, by hand; and what claims make of small synthetic ledgers."""

import numpy as np
import pytest

from attnlab.core import Record, Records
from attnlab.evidence.court import measure
from attnlab.lab import registry
from attnlab.papers.li2023.scalars import images as scalars
from attnlab.papers.li2023.settings.images import ImageSettings

RECORD = Record(
    "li2023.images_attention",
    ImageSettings(),
    0,
    {
        "groups": np.array([[0.9, -1.0], [0.4, 0.7]]),
        "mass_before": np.array([0.5, 0.5, 0.5, 0.5, 0.5]),
        "mass_after": np.array([0.6, 0.8, 0.7, 0.6, 0.55]),
        "object_share": 0.5,
    },
)


def test_scalars_by_hand():
    assert scalars.WORST_GROUP.of(RECORD) == 0.4  # a group without images does not count
    assert scalars.RISE.of(RECORD) == pytest.approx(0.15)
    assert scalars.MIDDLE_OVER_LAST.of(RECORD) == pytest.approx(0.7 - 0.55)
    assert scalars.LEAST_LIFT.of(RECORD) == pytest.approx(1.1)


def trials(gain_of_removal, gain_of_images):
    """Trials of figure 6a with these gains, four seeds."""
    random = np.random.default_rng(0)
    return Records(
        Record(
            "li2023.images",
            ImageSettings(N=N, removed=removed),
            seed,
            {
                "accuracy": 0.6
                + gain_of_removal * removed
                + gain_of_images * np.log2(N / 120)
                + 0.005 * random.normal(),
                "success": False,
            },
        )
        for N in (120, 240)
        for removed in (0.0, 1.0)
        for seed in range(4)
    )


@pytest.mark.parametrize(
    ("removal", "images", "outcome"),
    [
        (0.1, 0.1, "supported"),
        (0.0, 0.1, "contradicted"),  # below the cutoff of two points
        (-0.1, 0.1, "contradicted"),
        (0.1, 0.0, "contradicted"),
    ],
)
def test_figure_6a_asks_for_both_gains(removal, images, outcome):
    (claim,) = registry.resolve("li2023.figure_6a").claims
    assert measure(claim, trials(removal, images)).outcome == outcome


@pytest.mark.parametrize(("removal", "outcome"), [(0.15, "supported"), (0.05, "contradicted")])
def test_figure_6b_asks_that_half_the_images_suffice(removal, outcome):
    (claim,) = registry.resolve("li2023.figure_6b").claims
    assert measure(claim, trials(removal, 0.1)).outcome == outcome
