"""Sequential designs in the laboratory: rounds from the ledger, the estimate, interruptions."""

import random

import pytest

from attnlab.core import Records
from attnlab.lab import ledger as ledgers
from attnlab.lab import payload, plan, registry, rounds

STUDY = registry.study("toy.arrival")
REQUEST = plan.Request("smoke")
SEARCH = STUDY.designs["smoke"].search


def made(ledger, tasks):
    """Make runs by a rule of ours: a run arrives after 5 / lambda, give or take its seed."""
    for task in tasks:
        late = task.cell.horizon < (4.5 + (task.seed * 7 % 5) / 5) / task.cell.curvature
        data = payload.encode({"start": 1.0, "distance": float(late)})
        ledger.save(task, data, "", 0.01)


def finished(folder, order, stop_after=None):
    """Walk through the rounds, making the runs of each in an order; the ledger's tasks."""
    with ledgers.writing(folder) as ledger:
        for _ in range(100):
            tasks = plan.study_tasks(STUDY, REQUEST, {}, ledger=ledger)
            have = ledger.finished(tasks)
            missing = [t for t in tasks if t.identity not in have]
            if not missing:
                return [t.identity for t in tasks]
            order(missing)
            made(ledger, missing[:stop_after])
    raise AssertionError("the search does not end")


def test_the_runs_do_not_depend_on_order_or_interruption(tmp_path):
    plain = finished(tmp_path / "a", lambda tasks: None)
    backwards = finished(tmp_path / "b", lambda tasks: tasks.reverse())
    piecemeal = finished(tmp_path / "c", random.Random(1).shuffle, stop_after=3)
    assert plain == backwards == piecemeal
    assert len(set(plain)) == len(plain) <= SEARCH.most * len(STUDY.designs["smoke"].cells)


def test_a_round_waits_for_the_one_before_it(tmp_path):
    with ledgers.writing(tmp_path) as ledger:
        first = plan.study_tasks(STUDY, REQUEST, {}, ledger=ledger)
        assert first == plan.study_tasks(STUDY, REQUEST, {})
        made(ledger, first[:-1])
        arms = plan.study_tasks(STUDY, REQUEST, {}, ledger=ledger)
        slowest = [t for t in arms if t.cell.curvature == first[-1].cell.curvature]
        assert len(slowest) == 8  # the last arm misses one run of its first round
        assert len(arms) > len(first)  # the others go on


def test_a_run_that_was_given_up_does_not_hold_up_its_arm(tmp_path):
    with ledgers.writing(tmp_path) as ledger:
        first = plan.study_tasks(STUDY, REQUEST, {}, ledger=ledger)
        made(ledger, first[1:])
        ledger.add_attempt(first[0], "failed", "given up after: crash")
        arms = plan.study_tasks(STUDY, REQUEST, {}, ledger=ledger)
        assert len([t for t in arms if t.cell.curvature == first[0].cell.curvature]) > 8


def test_seeds_follow_on_at_a_size_that_is_tried_again():
    cell = STUDY.resolve(STUDY.designs["smoke"].cells[0])

    class Twice:
        size, sizes, most = "horizon", (8.0,), 6

        def further(self, records):
            return (8.0,) * 3 if len(records) < 6 else ()

    class Everything:
        def record(self, task):
            return Records([]) or object()

        def has_failed(self, task):
            return False

    tasks = rounds.grown(STUDY, [cell], Twice(), 5, None)
    assert [t.seed for t in tasks] == [5, 6, 7]
    tasks = rounds.grown(STUDY, [cell], Twice(), 5, Everything())
    assert [t.seed for t in tasks] == [5, 6, 7, 8, 9, 10]


def test_a_given_size_turns_the_search_off():
    fixed = plan.Request("smoke", changes={"horizon": "8.0"})
    tasks = plan.study_tasks(STUDY, fixed, {})
    assert {t.cell.horizon for t in tasks} == {8.0}
    assert len(tasks) == len(STUDY.designs["smoke"].cells) * STUDY.designs["smoke"].trials


def test_the_estimate_knows_the_most(attnlab, tmp_path):
    claim = registry.resolve("toy.theorem_9").claims
    tasks = plan.everything_for(claim, REQUEST)
    most = plan.most_further(claim, REQUEST, tasks)
    arms = len(STUDY.designs["smoke"].cells)
    assert sum(runs for _, runs in most) == arms * (SEARCH.most - 8)
    done = attnlab("check", "toy.theorem_9", "--scale", "smoke", "--out", tmp_path)
    assert f"at most {arms * (SEARCH.most - 8)} runs more" in done.err
    again = attnlab("check", "toy.theorem_9", "--scale", "smoke", "--out", tmp_path)
    assert "runs are in" in again.err


@pytest.mark.parametrize("workers", ["1", "2"])
def test_workers_do_not_change_a_search(attnlab, tmp_path, toy_results, workers):
    attnlab("check", "toy.theorem_9", "--scale", "smoke", "--out", tmp_path, "--workers", workers)
    with ledgers.reading(tmp_path) as one, ledgers.reading(toy_results) as two:
        own, other = (plan.study_tasks(STUDY, REQUEST, {}, ledger=x) for x in (one, two))
        assert own == other
        assert not one.records(own).missing
        assert list(one.records(own).column("distance")) == list(
            two.records(other).column("distance")
        )
