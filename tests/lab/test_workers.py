"""Worker processes that are killed, stopped or slow, with the toy paper's runs."""

import os
import signal
import threading
import time

import jax
import pytest

from attnlab.core import BadInput
from attnlab.lab import companion, executors, plan, worker
from attnlab.lab.executors import LocalExecutor, require_workers

LONG = 120


@pytest.fixture
def executor():
    local = LocalExecutor(1)
    try:
        yield local
    finally:
        local.stop()


def a_task(**changes):
    words = {name: str(value) for name, value in changes.items()}
    return plan.tasks_for(["toy.overshoot"], plan.Request("smoke", changes=words))[0]


def ending(executor, task):
    return executor.outcome(submitted(executor, task))


def submitted(executor, task):
    future = executor.submit(0, task)
    future.exception(timeout=LONG)
    return future


def process_of(executor) -> int:
    end = time.monotonic() + LONG
    while executor._companions[0] is None:
        assert time.monotonic() < end
        time.sleep(0.001)
    return executor._companions[0].pid


@pytest.mark.parametrize("delay", [0.0, 0.02, 0.1, 0.3])
def test_a_worker_killed_before_it_takes_its_run_ends_that_attempt_only(executor, delay):
    future = executor.submit(0, a_task())
    pid = process_of(executor)
    time.sleep(delay)
    os.kill(pid, signal.SIGKILL)
    outcome = future.result(timeout=LONG)
    assert (outcome.kind, outcome.message) == ("killed", "the worker process got SIGKILL")
    assert ending(executor, a_task()).kind == "finished"
    assert process_of(executor) != pid


def test_a_worker_killed_between_two_runs_is_replaced(executor):
    assert ending(executor, a_task()).kind == "finished"
    pid = process_of(executor)
    os.kill(pid, signal.SIGKILL)
    assert ending(executor, a_task()).kind in ("finished", "killed")
    assert ending(executor, a_task()).kind == "finished"
    assert process_of(executor) != pid


def test_one_process_makes_the_runs_of_a_slot_as_long_as_it_lives(executor):
    assert ending(executor, a_task()).kind == "finished"
    pid = process_of(executor)
    assert ending(executor, a_task(eta=0.5)).kind == "finished"
    assert process_of(executor) == pid


def test_no_process_to_be_had_is_an_attempt(executor, monkeypatch):
    def none_left(path):
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(executors, "Companion", none_left)
    monkeypatch.setattr(executors, "NO_PROCESS_SECONDS", 0.01)
    outcome = ending(executor, a_task())
    assert outcome.kind == "killed"
    assert "no worker process could be started" in outcome.message
    monkeypatch.undo()
    assert ending(executor, a_task()).kind == "finished"


def short(task, seconds):
    """The task, with another limit of time for its study."""
    from dataclasses import replace

    return replace(task, study=replace(task.study, timeout=seconds))


def test_a_run_over_its_time_is_stopped(executor):
    started = time.monotonic()
    outcome = ending(executor, short(a_task(sleep=LONG), 0.5))
    assert outcome.kind == "timeout"
    assert "did not end within 0.5 s" in outcome.message
    assert time.monotonic() - started < LONG / 2
    assert ending(executor, a_task()).kind == "finished"


def test_a_stopped_worker_is_not_over_its_time(executor):
    assert ending(executor, a_task()).kind == "finished"
    pid = process_of(executor)
    future = executor.submit(0, short(a_task(sleep=0.5), 3.0))
    os.kill(pid, signal.SIGSTOP)
    try:
        time.sleep(5.0)
        assert not future.done()
    finally:
        os.kill(pid, signal.SIGCONT)
    assert future.result(timeout=LONG).kind == "finished"
    assert process_of(executor) == pid


def test_stop_ends_a_stopped_worker(executor):
    assert ending(executor, a_task()).kind == "finished"
    pid = process_of(executor)
    executor.submit(0, a_task(sleep=LONG))
    os.kill(pid, signal.SIGSTOP)
    executor.stop()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_running_time_leaves_out_what_nobody_ran_in(monkeypatch):
    now, stopped = [100.0], [False]
    monkeypatch.setattr(companion.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(companion, "_stopped", lambda pid: stopped[0])
    clock = companion.RunningTime(1)

    def after(seconds):
        now[0] += seconds
        return clock.tick()

    assert after(0.25) == 0.25
    assert after(3600.0) == 0.25 + companion.LONGEST_TICK_SECONDS  # a closed laptop
    assert after(0.25) == 1.5
    stopped[0] = True
    assert after(0.5) == 1.5
    stopped[0] = False
    assert after(0.5) == 2.0


def test_stopped_reads_the_state_of_a_process():
    import subprocess

    process = subprocess.Popen(["sleep", str(LONG)])
    try:
        assert not companion._stopped(process.pid)
        os.kill(process.pid, signal.SIGSTOP)
        os.waitid(os.P_PID, process.pid, os.WSTOPPED)
        assert companion._stopped(process.pid)
    finally:
        process.kill()
        process.wait()
    assert not companion._stopped(process.pid)


def test_code_that_is_edited_meanwhile_is_refused(executor, monkeypatch):
    def edited(job):
        return companion.Fingerprint("another code", "another stack")

    monkeypatch.setattr(executors.Fingerprint, "here", edited)
    future = submitted(executor, a_task())
    with pytest.raises(BadInput, match="would make other records"):
        executor.outcome(future)


def test_too_many_workers(monkeypatch):
    monkeypatch.setattr(executors, "available_cores", lambda: 2)
    require_workers(64, None)
    with pytest.raises(BadInput, match=r"--workers 65 is too many.*2 cores; give at most 64"):
        require_workers(65, None)
    monkeypatch.setattr(executors, "available_cores", lambda: 32)
    require_workers(128, None)
    with pytest.raises(BadInput, match="give at most 128"):
        require_workers(129, None)


def test_no_thread_is_left(executor):
    assert ending(executor, a_task()).kind == "finished"
    executor.stop()
    assert not [t for t in threading.enumerate() if t.name.startswith("attnlab-slot")]


def test_compiled_programs_are_forgotten_before_the_kernel_refuses_more(tmp_path, monkeypatch):
    program = jax.jit(lambda x: 2 * x)
    program(1.0)
    most = tmp_path / "max_map_count"
    monkeypatch.setattr(worker, "MOST_MAPPINGS", most)
    mappings = len(worker.MAPPINGS.read_text().splitlines())
    most.write_text(f"{4 * mappings}\n")
    assert not worker.make_room_for_programs()
    assert program._cache_size() == 1  # pyright: ignore
    most.write_text(f"{mappings}\n")
    assert worker.make_room_for_programs()
    assert program._cache_size() == 0  # pyright: ignore
    most.unlink()
    assert not worker.make_room_for_programs()  # not Linux: no such limit
