"""Kills and interruptions: nothing is lost, nothing is computed twice, nothing is left running."""

import os
import signal
import sqlite3
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.soak

# 60 runs of 0.3 s each: time enough to be interrupted in the middle.
COMMAND = ("check", "toy.theorem_5", "--scale", "smoke", "--set", "sleep=0.3")
RUNS = 60


def finished(folder: Path) -> int:
    try:
        db = sqlite3.connect(f"file:{folder / 'ledger.sqlite'}?mode=ro", uri=True)
        try:
            return db.execute("SELECT COUNT(*) FROM record").fetchone()[0]
        finally:
            db.close()
    except sqlite3.OperationalError:
        return 0


def wait_until(condition, seconds=90):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)


def children(pid: int) -> list[int]:
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    threads = Path(f"/proc/{pid}/task").iterdir()
    found += [c for t in threads for c in (t / "children").read_text().split()]
    return sorted({int(c) for c in found})


def workers(pid: int) -> list[int]:
    """The processes that compute."""
    return [c for c in children(pid) if b"attnlab.lab.companion" in command_line(c)]


def command_line(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""


@pytest.fixture(scope="module")
def undisturbed(attnlab, tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed")
    attnlab(*COMMAND, "--out", folder, "--workers", "1")
    return folder


def assert_same(attnlab, undisturbed, folder):
    assert f"{RUNS} equal, 0 different" in attnlab("diff", undisturbed, folder).out


def test_parent_killed_in_the_middle_and_the_command_given_again(attnlab, undisturbed, tmp_path):
    process = attnlab.start(*COMMAND, "--out", tmp_path)
    wait_until(lambda: finished(tmp_path) >= 8)
    helpers = children(process.pid)
    assert len(workers(process.pid)) == 2
    process.kill()
    process.communicate()
    # Workers end with their parent.
    wait_until(lambda: not any(b"attnlab.lab.companion" in command_line(c) for c in helpers), 10)
    done = finished(tmp_path)
    assert 8 <= done < RUNS
    second = attnlab(*COMMAND, "--out", tmp_path)
    assert f"{done} in the ledger, {RUNS - done} to make" in second.err
    (row,) = attnlab("ledger", tmp_path, "--json").json
    assert (row["current"], row["runs"]) == (RUNS, RUNS)
    assert_same(attnlab, undisturbed, tmp_path)


def test_worker_killed(attnlab, undisturbed, tmp_path):
    process = attnlab.start(*COMMAND, "--out", tmp_path)
    for count in (5, 20, 30):
        wait_until(lambda n=count: finished(tmp_path) >= n and workers(process.pid))
        os.kill(workers(process.pid)[0], signal.SIGKILL)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    (row,) = attnlab("ledger", tmp_path, "--json").json
    assert (row["current"], row["runs"]) == (RUNS, RUNS)
    assert row["attempts"].get("killed", 0) >= 1
    assert_same(attnlab, undisturbed, tmp_path)


def test_workers_killed_as_they_start(attnlab, undisturbed, tmp_path):
    process = attnlab.start(*COMMAND, "--out", tmp_path)
    killed: set[int] = set()
    while len(killed) < 8:
        wait_until(lambda: set(workers(process.pid)) - killed)
        victim = min(set(workers(process.pid)) - killed)
        time.sleep(0.04 * len(killed))
        os.kill(victim, signal.SIGKILL)
        killed.add(victim)
    _, errors = process.communicate(timeout=240)
    assert process.returncode == 0, errors
    assert "Traceback" not in errors
    (row,) = attnlab("ledger", tmp_path, "--json").json
    assert row["attempts"].get("killed", 0) >= 4
    assert_same(attnlab, undisturbed, tmp_path)


@pytest.mark.parametrize("whom", ["group", "parent", "worker"])
def test_a_suspended_machine_is_no_timeout(attnlab, tmp_path, whom):
    import subprocess

    # Runs of 3 s with a limit of 8, stopped in the middle for 12.
    slow = ("check", "toy.theorem_3", "--scale", "smoke", "--set", "sleep=3", "--workers", "1")
    process = subprocess.Popen(
        [*attnlab.command, *slow, "--out", str(tmp_path)],
        stderr=subprocess.PIPE,
        text=True,
        env=attnlab.environment,
        start_new_session=True,
    )
    wait_until(lambda: finished(tmp_path) >= 1)
    time.sleep(0.5)
    (worker,) = workers(process.pid)
    send, to = (os.killpg, process.pid) if whom == "group" else (os.kill, process.pid)
    to = worker if whom == "worker" else to
    send(to, signal.SIGSTOP)
    time.sleep(12)
    send(to, signal.SIGCONT)
    _, errors = process.communicate(timeout=240)
    assert process.returncode == 0, errors
    (row,) = attnlab("ledger", tmp_path, "--json").json
    assert (row["current"], row["attempts"]) == (4, {})


def test_ledger_deleted_in_the_middle(attnlab, undisturbed, tmp_path):
    import shutil

    folder = tmp_path / "results"
    process = attnlab.start(*COMMAND, "--out", folder)
    for count in (6, 20):
        wait_until(lambda n=count: finished(folder) >= n)
        shutil.rmtree(folder)
        wait_until((folder / "ledger.sqlite").exists, 5)
    _, errors = process.communicate(timeout=240)
    assert process.returncode == 0, errors
    (row,) = attnlab("ledger", folder, "--json").json
    assert (row["current"], row["runs"]) == (RUNS, RUNS)
    assert_same(attnlab, undisturbed, folder)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("moment", [0, 6])
def test_interrupted_and_resumed(attnlab, undisturbed, tmp_path, number, moment):
    process = attnlab.start(*COMMAND, "--out", tmp_path)
    wait_until(lambda: workers(process.pid) and finished(tmp_path) >= moment)
    time.sleep(0.3)
    helpers = children(process.pid)
    process.send_signal(number)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 130, errors
    assert "interrupted:" in errors
    assert "again to go on" in errors
    assert "Traceback" not in errors
    wait_until(lambda: not any(b"attnlab.lab.companion" in command_line(c) for c in helpers), 10)
    attnlab(*COMMAND, "--out", tmp_path)
    (row,) = attnlab("ledger", tmp_path, "--json").json
    assert (row["current"], row["runs"]) == (RUNS, RUNS)
    assert_same(attnlab, undisturbed, tmp_path)


def test_ctrl_c_at_a_terminal_reaches_the_whole_group(attnlab, tmp_path):
    import subprocess

    process = subprocess.Popen(
        [*attnlab.command, *COMMAND, "--out", str(tmp_path)],
        stderr=subprocess.PIPE,
        text=True,
        env=attnlab.environment,
        start_new_session=True,
    )
    wait_until(lambda: finished(tmp_path) >= 4)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "Traceback" not in errors


def test_second_writer_is_refused_and_readers_are_not(attnlab, tmp_path):
    process = attnlab.start(*COMMAND, "--out", tmp_path)
    wait_until(lambda: finished(tmp_path) >= 2)
    refused = attnlab("check", "toy.theorem_2", "--out", tmp_path, expect=2)
    assert f"pid {process.pid}" in refused.err
    (row,) = attnlab("ledger", tmp_path, "--json").json
    assert 2 <= row["current"] <= RUNS
    attnlab("report", tmp_path)
    page = (tmp_path / "report.html").read_text()
    assert "runs are not made yet" in page
    process.communicate(timeout=120)
    assert process.returncode == 0
    assert finished(tmp_path) == RUNS


def test_a_run_over_its_time_is_stopped_tried_once_more_and_counted(attnlab, tmp_path):
    common = ("--scale", "smoke", "--out", tmp_path, "--json", "-")
    done = attnlab("check", "toy.theorem_3", "--set", "fault=timeout", *common)
    assert done.json[0]["failed_runs"] == 1
    assert done.json[0]["trials"] == 3
    (row,) = attnlab("ledger", tmp_path, "--json").json
    assert row["attempts"] == {"timeout": 2}
