"""The runner's rules, with an executor whose outcomes are given."""

from collections import Counter
from concurrent.futures import Future

import pytest

from attnlab.lab import payload, plan, runner
from attnlab.lab.executors import Executor
from attnlab.lab.ledger import writing
from attnlab.lab.outcomes import Outcome
from attnlab.lab.worker import Answer


class Scripted(Executor):
    """Ends each attempt at a run as told; `finished` once the script is used up."""

    def __init__(self, script=None, slots=2):
        self.slots = slots
        self.script = {seed: list(kinds) for seed, kinds in (script or {}).items()}
        self.started: list[tuple[int, plan.Task]] = []

    def submit(self, slot, task):
        self.started.append((slot, task))
        future = Future()
        kinds = self.script.get(task.seed)
        future.set_result(kinds.pop(0) if kinds else "finished")
        return future

    def outcome(self, future):
        kind = future.result()
        if kind != "finished":
            return Outcome(kind, "as told")
        return Outcome(kind, answer=Answer("finished", payload.encode({"x": 1.0}), seconds=0.1))

    def stop(self):
        pass


@pytest.fixture
def tasks():
    return plan.tasks_for(["toy.overshoot"], plan.Request("smoke"))


def run(tmp_path, tasks, executor):
    with writing(tmp_path) as ledger:
        progress = runner.run(runner.unfinished(tasks, ledger), ledger, executor)
        return progress, ledger.records(tasks), ledger.summary()[0]


@pytest.mark.parametrize(
    ("kind", "allowed"),
    [("exception", 1), ("timeout", 1), ("memory", 1), ("crash", 1), ("killed", 9)],
)
def test_how_often_a_run_is_tried_again(tmp_path, tasks, kind, allowed):
    progress, records, summary = run(tmp_path / "a", tasks, Scripted({1: [kind] * allowed}))
    assert (progress.done, progress.failed, records.failed) == (len(tasks), 0, 0)
    assert summary.attempts == {kind: allowed}
    progress, records, summary = run(tmp_path / "b", tasks, Scripted({1: [kind] * (allowed + 1)}))
    assert (progress.done, progress.failed, records.failed) == (len(tasks) - 1, 1, 1)
    assert summary.attempts == {kind: allowed + 1}


def test_finished_runs_are_not_made_again_and_failed_ones_are_tried_by_the_next_command(
    tmp_path, tasks
):
    run(tmp_path, tasks, Scripted({1: ["exception"] * 2}))
    second = Scripted()
    _, records, summary = run(tmp_path, tasks, second)
    assert [task.seed for _, task in second.started] == [1]
    assert (records.failed, summary.runs) == (0, len(tasks))
    third = Scripted()
    run(tmp_path, tasks, third)
    assert third.started == []


def test_a_slot_stays_with_the_runs_that_share_a_program(tmp_path):
    tasks = plan.tasks_for(["toy.descent"], plan.Request("smoke"))
    executor = Scripted()
    run(tmp_path, tasks, executor)
    changes = Counter()
    last = {}
    for slot, task in executor.started:
        changes[slot] += last.get(slot) != task.group
        last[slot] = task.group
    assert sum(changes.values()) <= len({t.group for t in tasks}) + 1
    assert len(executor.started) == len(tasks)


def test_estimate_takes_earlier_timings(tmp_path, tasks):
    with writing(tmp_path) as ledger:
        first = runner.estimate(tasks, tasks, ledger, 2)
        assert (first.to_do, first.from_timings) == (len(tasks), False)
        ledger.save(tasks[0], payload.encode({}), "", 100.0)
        later = runner.estimate(tasks, tasks[1:], ledger, 2)
        assert later.from_timings
        assert later.finished == 1
        assert later.seconds == pytest.approx(runner.WORKER_START_SECONDS + 3 * 100 / 2)
