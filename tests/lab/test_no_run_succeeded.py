"""Commands whose runs all fail: exit code 3 with the first reason, and no pass by --strict."""

import math
import sqlite3
from dataclasses import replace

import pytest

from attnlab.claims import Verdict
from attnlab.commands.running import strictly
from attnlab.core import BadInput
from attnlab.lab import plan, registry

# So many steps that no counter holds them: every run fails, and every claim is about these.
ALL_FAIL = ("--set", "eta=1e-300", "--scale", "smoke")


def test_a_command_of_which_no_run_succeeded_exits_with_3(attnlab, tmp_path):
    done = attnlab("check", "toy.theorem_3", *ALL_FAIL, "--out", tmp_path, expect=3)
    assert "none of" in done.err
    assert "runs succeeded" in done.err
    assert "OverflowError" in done.err
    assert done.out == ""
    again = attnlab("check", "toy.theorem_3", *ALL_FAIL, "--strict", "--out", tmp_path, expect=3)
    assert "OverflowError" in again.err
    with sqlite3.connect(tmp_path / "ledger.sqlite") as db:
        assert db.execute("SELECT COUNT(*) FROM record").fetchone() == (0,)
        kinds = dict(db.execute("SELECT kind, COUNT(*) FROM attempt GROUP BY kind"))
    db.close()
    assert kinds["exception"] == 2 * kinds["failed"]


def test_a_figure_of_which_no_run_succeeded_exits_with_3(attnlab, tmp_path):
    done = attnlab("run", "toy.figure_1", *ALL_FAIL, "--out", tmp_path, expect=3)
    assert "OverflowError" in done.err
    assert not (tmp_path / "figures").exists()


@pytest.mark.parametrize(
    ("cost", "resolve"),
    [
        (lambda cell: 1 / (cell.eta - cell.eta), lambda cell: cell),
        (lambda cell: math.inf, lambda cell: cell),
        (lambda cell: 1.0, lambda cell: replace(cell, dimension=int(1 / (cell.eta - cell.eta)))),
    ],
)
def test_sizes_at_which_no_plan_can_be_made_are_refused(cost, resolve):
    study = replace(registry.study("toy.overshoot"), cost=cost, resolve=resolve)
    with pytest.raises(BadInput, match=r"a cell of toy\.overshoot cannot be run at these settings"):
        plan.study_tasks(study, plan.Request("smoke"), {})


def test_one_failed_run_of_four_is_inconclusive_and_no_pass(attnlab, tmp_path):
    common = ("--set", "fault=exception", "--scale", "smoke", "--out", tmp_path)
    attnlab("check", "toy.theorem_3", *common, expect=0)
    done = attnlab("check", "toy.theorem_3", *common, "--strict", expect=1)
    assert "no claim was decided" in done.err


def verdict(outcome, trials=4, failed=0):
    values = dict.fromkeys(Verdict.__dataclass_fields__)
    values |= {"id": "a.claim", "outcome": outcome, "trials": trials, "failed_runs": failed}
    return Verdict(**values)  # type: ignore[arg-type]


def test_strict_never_passes_on_nothing(capsys):
    assert strictly([verdict("supported")]) == 0
    assert strictly([verdict("supported"), verdict("inconclusive")]) == 0
    assert strictly([verdict("not_applicable")]) == 0
    assert strictly([verdict("supported"), verdict("contradicted")]) == 1
    assert capsys.readouterr().err == ""
    assert strictly([verdict("inconclusive")]) == 1
    assert "no claim was decided" in capsys.readouterr().err
    assert strictly([verdict("supported"), verdict("inconclusive", trials=0, failed=4)]) == 1
    assert "all runs of a.claim failed" in capsys.readouterr().err
    assert strictly([]) == 1
