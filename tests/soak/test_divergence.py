"""Divergence is named: what takes seconds to compile, and whole commands."""

import re
import time

import numpy as np
import pytest

from attnlab import cells
from attnlab.core import BadInput
from attnlab.lab import payload, registry
from divergence import (
    FIGURES,
    SMALL_FLOW,
    assert_named,
    changed,
    cheapest,
    named,
    require_figure,
    require_named_initialisation,
    require_named_steps,
    run,
    studies,
)

pytestmark = pytest.mark.soak


@pytest.mark.parametrize("study", **studies("step", quick=False))
def test_a_huge_step_is_a_named_divergence(study):
    require_named_steps(study)


@pytest.mark.parametrize("rate", [5e-324, 1e-200])
@pytest.mark.parametrize("study", **studies("small step", quick=False))
def test_a_step_without_effect_is_named(study, rate):
    assert_named(run(study, changed(study, eta=rate)))


@pytest.mark.parametrize("scale", [0.0, 1e8, 1e30, 1e300])
@pytest.mark.parametrize("study", **studies("start", quick=False))
def test_a_huge_start_is_a_named_divergence(study, scale):
    assert_named(run(study, changed(study, scale=scale)))


@pytest.mark.parametrize("c0", [1e8, 1e300])
@pytest.mark.parametrize("study", **studies("initialisation", quick=False))
def test_a_huge_initialisation_is_a_named_divergence(study, c0):
    require_named_initialisation(study, c0)


def test_what_a_run_does_not_have_is_not_divergence():
    """A frozen run has no score that moves, and roles without a token no mass."""
    for study in ("yang2024.frozen", "li2023.dynamics"):
        answer = run(registry.study(study), cheapest(registry.study(study)))
        values = payload.decode(answer.data)
        assert any(np.isnan(x).any() for x in values.values() if x.dtype.kind == "f")
        assert not answer.diverged


@pytest.fixture(scope="module")
def one_run_each():
    """The values of one run of a study, by its program: found once, used for every cell."""
    known = {}

    def values(study, cell):
        key = (study.run, study.program(cell))
        if key not in known:
            known[key] = payload.decode(run(study, cell).data)
        return known[key]

    return values


@pytest.mark.parametrize("figure", **named(FIGURES))
def test_a_figure_over_runs_that_diverged_is_drawn_or_says_why_not(figure, one_run_each):
    require_figure(figure, one_run_each)


# --- flows ------------------------------------------------------------------------------------

ENDS = [
    {"horizon": 1e300},
    {"horizon": 0.011},
    {"rtol": 1e-14},
    {"rtol": 0.99},
    {"rtol": 0.99, "horizon": 1e300},
    {"target_loss": 1e300},
    {"target_loss": 1e-300},
]


@pytest.mark.parametrize("name", ["yang2024.phase_1", "yang2024.classes_late"])
def test_an_extreme_flow_ends_and_says_how(name):
    study = registry.study(name)
    run(study, cells.override(cheapest(study), SMALL_FLOW))  # compiles
    for change in ENDS:
        before = time.perf_counter()
        assert_named(run(study, cells.override(cheapest(study), {**SMALL_FLOW, **change})))
        assert time.perf_counter() - before < 60, change


@pytest.mark.parametrize("name", ["yang2024.phase_1", "yang2024.classes_late"])
@pytest.mark.parametrize("change", [{"horizon": 5e-324}, {"target_loss": 5e-324}], ids=str)
def test_a_flow_without_a_course_is_refused(name, change):
    with pytest.raises(BadInput, match="5e-324"):
        cells.override(cheapest(registry.study(name)), change)


# --- whole commands ---------------------------------------------------------------------------

COMMANDS = {
    "check deora2023.convexity": "eta=1e300",
    "run deora2023.convexity": "eta=1e300",
    "check deora2023.required_heads": "eta=1e300",
    "check deora2023.low_rank_heads": "eta=1e300",
    "check deora2023.several_heads": "eta=1e300",
    "check deora2023.other_good_starts": "eta=1e300",
    "check li2023.extension_g1": "eta=1e300",
    "check li2023.figure_7a": "eta=1e300",
    "run li2023.figure_7a": "eta=1e300",
    "check yang2024.figure_1": "learning_rate=1e300",
    "run yang2024.figure_1": "learning_rate=1e300",
}
"""One claim of each family of runs that train, and figures over the same runs."""


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return tmp_path_factory.mktemp("results")


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_over_runs_that_diverge_says_so(attnlab, results, command):
    extreme = ("--scale", "smoke", "--set", COMMANDS[command], "--out", results)
    done = attnlab(*command.split(), *extreme, expect=None)
    assert done.code in (0, 2, 3)
    said = done.out + done.err
    assert "diverge" in said or "infinite or nan" in said
    without = said.replace("infinite or nan", "").replace("nan or infinite", "")
    assert not re.findall(r"(?<![a-z_])(?:nan|inf|-inf)(?![a-z_])", without.lower())
