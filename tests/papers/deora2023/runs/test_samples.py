"""What a run draws: atoms, phase 1 on them, and shuffled labels."""

from dataclasses import replace

import pytest

from attnlab.core import Key
from attnlab.papers.deora2023.runs import mixture
from attnlab.papers.deora2023.runs.samples import draw
from attnlab.papers.deora2023.settings import ExpressivitySettings, MixtureSettings

NOISE = {"Z_mu": 0.05, "Z_nu": 0.05, "Z": 0.5}


ATOMS = MixtureSettings(points="atoms", n1=100_000)


def values(run, cell, seed=0):
    return run(cell, Key.of(cell, seed)).values


def test_phase_1_on_atoms_takes_any_number_of_samples():
    found = values(mixture.first_step, ATOMS)
    assert found["coefficient"] == pytest.approx(0.25, abs=0.01)
    assert found["p_over_bound"] < 1
    few = values(mixture.first_step, replace(ATOMS, n1=100))
    assert few["p_norm"] > 5 * found["p_norm"]


def test_phase_1_on_atoms_is_the_step_that_training_takes():
    own = Key.of(ATOMS, 0)
    assert mixture.first_step(ATOMS, own).values["p_norm"] == pytest.approx(
        draw(ATOMS, own).p_norm, rel=1e-9
    )


@pytest.mark.parametrize(
    ("run", "cell", "name", "true", "coins"),
    [
        (mixture.describe_data, MixtureSettings(**NOISE), "relevant_token_error", 0, 1),
        (mixture.first_step, MixtureSettings(), "coefficient", 0.25, 0),
        (mixture.attend, ExpressivitySettings(), "margin_over_promised", 1, -1),
    ],
)
def test_shuffled_labels_are_coins_in_studies_without_training(run, cell, name, true, coins):
    assert values(run, cell)[name] == pytest.approx(true, abs=0.15)
    assert values(run, replace(cell, labels="shuffled"))[name] == pytest.approx(coins, abs=0.15)
