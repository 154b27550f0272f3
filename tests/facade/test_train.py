"""`train` agrees with the study's own record; and what a paper without a bench gives."""

import numpy as np
import pytest

import attnlab as al
from attnlab import cells
from attnlab.lab import sweeps, worker

SMALL = {
    "li2023 on tokens": (
        "li2023",
        {"N": 24, "L": 20, "m": 40, "alpha_sharp": 0.1, "steps": 120},
        5e-5,  # float32: the order of sums differs between threads and record times
    ),
    "li2023 on patterns": (
        "li2023",
        {"N": 24, "L": 20, "m": 40, "alpha_sharp": 0.1, "c0": 0.0, "steps": 120},
        5e-5,
    ),
    "deora2023": ("deora2023", {"eta": 0.5, "H": 10.0, "K": 60, "n": 24, "n1": 128}, 1e-10),
    "deora2023 explicit": (
        "deora2023",
        {"eta": 0.5, "H": 4.0, "K": 60, "n": 24, "start": "random"},
        1e-10,
    ),
    "yang2024 in steps": (
        "yang2024",
        {"n": 12, "L": 4, "m": 16, "m1": 8, "method": "descent", "steps": 60, "records": 12},
        1e-10,
    ),
    "yang2024 by flow": (
        "yang2024",
        {"n": 12, "L": 4, "m": 16, "m1": 8, "horizon": 20.0, "records": 12, "engine": "weights"},
        1e-6,
    ),
}


def recorded(paper, settings):
    """The study's own run."""
    study, _ = sweeps.study_of(paper)
    cell = sweeps.cell_of(study, settings)
    return worker.import_string(study.run)(cell, cells.Key.of(cell, 3)).values


@pytest.mark.parametrize("name", SMALL)
def test_a_run_agrees_with_the_record(name):
    paper, settings, tolerance = SMALL[name]
    run = al.train(paper, seed=3, **settings)
    record = recorded(paper, settings)
    if paper == "li2023":
        assert run.series["loss"][-1] == pytest.approx(float(record["train_loss"]), abs=tolerance)
        assert run.series["test_loss"][-1] == pytest.approx(
            float(record["test_loss"]), abs=tolerance
        )
        assert run.score(run.test).accuracy == pytest.approx(1 - float(record["test_error"]))
        return
    ends = np.asarray(record["times"])[-1], np.asarray(record["loss"])[-1]
    assert run.at[-1] == pytest.approx(ends[0], rel=1e-9)
    assert run.series["loss"][-1] == pytest.approx(ends[1], rel=tolerance)
    assert run.score().loss == pytest.approx(ends[1], rel=max(tolerance, 1e-6))
    test_loss = record["test_loss"]
    assert run.series["test_loss"][-1] == pytest.approx(np.asarray(test_loss)[-1], rel=1e-6)


def test_another_seed_is_another_run():
    paper, settings, _ = SMALL["deora2023 explicit"]
    one, other = (al.train(paper, seed=seed, **settings) for seed in (0, 1))
    assert one.series["loss"][-1] != other.series["loss"][-1]


def test_attention_by_role_is_that_of_the_maps():
    """A plain second computation, from the maps of the last weights."""
    run = al.train("deora2023", **SMALL["deora2023"][1])
    maps, roles = run.attention().mean(1), np.asarray(run.batch.roles)
    by_role = np.zeros((2, 2))
    for query in (0, 1):
        rows = [
            [p[place][roles[i] == key].sum() for key in (0, 1)]
            for i, p in enumerate(maps)
            for place in range(4)
            if roles[i, place] == query
        ]
        by_role[query] = np.mean(rows, axis=0)
    np.testing.assert_allclose(run.series["attention_by_role"][-1], by_role, rtol=1e-6)
    assert run.roles == ("irrelevant", "relevant")
    data = run.to_xarray()["attention_by_role"]
    assert data.dims == ("step", "query_role", "key_role")
    assert list(data["key_role"].values) == ["irrelevant", "relevant"]


def test_reductions_say_why_there_are_no_weights():
    run = al.train("yang2024", n=12, L=4, m=16, m1=8, horizon=5.0, records=6, engine="gram")
    with pytest.raises(al.BadInput, match="engine='weights'"):
        _ = run.parameters
    many = al.train("deora2023", H=1e6, eta=0.5, K=5)
    with pytest.raises(al.BadInput, match="groups"):
        _ = many.parameters


def test_a_study_of_its_own_kind_gives_its_numbers():
    run = al.train("yang2024.tails", draws=20)
    assert run.scalars
    with pytest.raises(al.BadInput, match="keeps no weights"):
        _ = run.parameters


@pytest.mark.parametrize(
    ("paper", "settings", "words"),
    [
        ("li2032", {}, "did you mean li2023"),
        ("li2023", {"alpha_stra": 0.3}, "did you mean alpha_star"),
        ("li2023", {"N": 0}, "at least 1"),
        ("li2023", {"N": "many"}, "N='many'"),
        ("li2023", {"classes": 4, "alpha_sharp": 0.09}, "2 classes"),
        ("li2023", {"seed": -1}, "whole number"),
        ("li2023.theorem_1", {}, "claim"),
        ("deora2023", {"T": 4, "zeta": 0.3}, "whole"),
    ],
)
def test_bad_settings_get_a_sentence(paper, settings, words):
    with pytest.raises(al.BadInput, match=words):
        al.train(paper, **settings)
