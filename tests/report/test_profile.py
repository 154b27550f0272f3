"""Where the time goes: spans that overlap are counted once, programs by their settings."""

import shutil
import time

import pytest

from attnlab.lab.ledger_rows import Timed
from attnlab.lab.preparation import STAGES, Preparation
from attnlab.report.profile import Stages, profile


class Clock:
    """A clock that shows what it is told."""

    def __init__(self, monkeypatch):
        self.now = 0.0
        monkeypatch.setattr(time, "perf_counter", lambda: self.now)


def test_a_stage_inside_another_is_counted_once(monkeypatch):
    clock, found = Clock(monkeypatch), Preparation()
    for end, seconds in ((2.0, 1.0), (4.0, 1.0), (5.0, 4.5), (9.0, 2.0)):
        clock.now = end
        found._heard(f"{STAGES}any", seconds)
    clock.now = 9.5
    found._heard("/jax/something/else", 0.5)
    assert found.since(0.0) == pytest.approx(4.5 + 2.0)  # from .5 to 5 and from 7 to 9
    assert found.since(8.0) == pytest.approx(1.0)
    assert found.since(9.0) == 0.0


def test_a_worker_hears_of_compilation():
    jax = pytest.importorskip("jax")
    found = Preparation()
    found.listen()
    begin = time.perf_counter()
    compiled = jax.jit(lambda x: jax.numpy.sin(x) @ x.T)
    x = jax.numpy.ones((3, 3))
    compiled(x).block_until_ready()
    first = found.since(begin)
    assert 0 < first <= time.perf_counter() - begin
    again = time.perf_counter()
    compiled(x).block_until_ready()
    assert found.since(again) == 0.0


def test_runs_are_added_up_by_study_and_program(attnlab, toy_results):
    found = attnlab("profile", toy_results, "--json", "-").json
    rows = attnlab("ledger", toy_results, "--json", "-").json
    assert list(found["stages"]) == ["runs", "verdicts", "figures", "page"]
    assert {name: times["runs"] for name, times in found["studies"].items()} == {
        row["study"]: row["runs"] for row in rows
    }
    for study, times in found["studies"].items():
        mine = [t for name, t in found["programs"].items() if name.startswith(f"{study} #")]
        assert len(mine) == found["programs_of"][study]
        assert sum(t["runs"] for t in mine) == times["runs"]
        assert 0 <= times["preparing"] <= times["seconds"]
    assert any(times["preparing"] > 0 for times in found["studies"].values())
    assert "imports and compilation" in attnlab("profile", toy_results).out


def test_a_stale_row_of_a_study_that_is_gone_is_counted():
    runs = [Timed("gone.study", cell, 2.0, 0.5, "now") for cell in ("{}", "{}", '{"a":1}')]
    found = profile(runs, {})
    assert (found.studies["gone.study"].seconds, found.programs_of) == (6.0, {"gone.study": 2})


def test_stages_are_added_up():
    stage = Stages()
    with stage("a"):
        pass
    with pytest.raises(ValueError, match="no"), stage("b"):
        raise ValueError("no")
    assert list(stage.seconds) == ["a", "b"]


def test_a_file_of_stages_that_holds_something_else(attnlab, toy_results, tmp_path):
    shutil.copy(toy_results / "ledger.sqlite", tmp_path)
    (tmp_path / "times.json").write_text('{"runs": "long"}')
    assert "delete it" in attnlab("profile", tmp_path, expect=2).err
