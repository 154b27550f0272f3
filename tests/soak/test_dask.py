"""Runs on a Dask cluster: records as local ones, whatever is killed; nothing is left running."""

import contextlib
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from attnlab.lab.companion import Companion, Fingerprint, Order
from attnlab.lab.worker import Job

pytestmark = pytest.mark.soak

RUNS = 60
CHECK = ("check", "toy.theorem_5", "--scale", "smoke")
# 60 runs of 0.3 s each: time enough to be disturbed in the middle.
SLOW = (*CHECK, "--set", "sleep=0.3")
FOUR_RUNS = ("check", "toy.theorem_3", "--scale", "smoke", "--json", "-")


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


class Cluster:
    """A scheduler and workers of one thread on 127.0.0.1, each in a session of its own."""

    def __init__(self, folder: Path, environment: dict[str, str]):
        self.folder = folder
        self.environment = environment
        self.processes: list[subprocess.Popen] = []
        file = folder / "scheduler.json"
        self.scheduler = self._start("scheduler", "--port", "0", "--scheduler-file", file)
        wait_until(file.is_file, 30)
        wait_until(lambda: file.read_text().endswith("}"), 5)
        self.address = json.loads(file.read_text())["address"]
        assert self.address.startswith("tcp://127.0.0.1:")

    def add_worker(self, *options) -> psutil.Process:
        """Start a worker and wait until the scheduler has it."""
        before = self.count()
        options = ("--nthreads", "1", "--local-directory", self.folder, *options)
        process = self._start("worker", self.address, *options)
        wait_until(lambda: self.count() == before + 1, 60)
        return psutil.Process(process.pid)

    def count(self) -> int:
        """The workers that the scheduler has."""
        from distributed import Client

        with Client(self.address, timeout=10, set_as_default=False) as client:
            return len(client.nthreads())

    def companions(self) -> list[psutil.Process]:
        """The companions of all workers that live."""
        return [c for p in self.processes if psutil.pid_exists(p.pid) for c in companions(p.pid)]

    def stop(self) -> None:
        for process in reversed(self.processes):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def _start(self, *arguments) -> subprocess.Popen:
        command = [sys.executable, "-m", "dask", *map(str, arguments), "--host", "127.0.0.1"]
        with open(self.folder / f"{arguments[0]}-{len(self.processes)}.log", "w") as log:
            process = subprocess.Popen(
                [*command, "--no-dashboard"],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=self.environment,
                start_new_session=True,
            )
        self.processes.append(process)
        return process


def companions(pid: int) -> list[psutil.Process]:
    def is_companion(process: psutil.Process) -> bool:
        try:
            return "attnlab.lab.companion" in process.cmdline()
        except psutil.Error:
            return False

    try:
        return [c for c in psutil.Process(pid).children(recursive=True) if is_companion(c)]
    except psutil.NoSuchProcess:
        return []


@pytest.fixture
def empty_cluster(attnlab, tmp_path_factory):
    cluster = Cluster(tmp_path_factory.mktemp("cluster"), attnlab.environment)
    try:
        yield cluster
    finally:
        cluster.stop()


@pytest.fixture
def cluster(empty_cluster):
    """Two workers: the first plain, the second under a nanny."""
    empty_cluster.plain = empty_cluster.add_worker("--no-nanny")
    empty_cluster.nanny = empty_cluster.add_worker("--nanny")
    return empty_cluster


@pytest.fixture(scope="module")
def local(attnlab, tmp_path_factory):
    folder = tmp_path_factory.mktemp("local")
    attnlab(*SLOW, "--out", folder)
    return folder


def assert_same(attnlab, local, folder):
    (row,) = attnlab("ledger", folder, "--json").json
    assert (row["current"], row["runs"]) == (RUNS, RUNS)
    assert f"{RUNS} equal, 0 different" in attnlab("diff", local, folder).out
    return row["attempts"]


def test_a_sweep_on_a_cluster_is_the_local_one(attnlab, cluster, tmp_path):
    sweep = ("sweep", "toy.descent", "--grid", "eta=.25,.125", "--seeds", 5)
    attnlab(*sweep, "--out", tmp_path / "local", "--workers", 1)
    attnlab(*sweep, "--out", tmp_path / "dask", "--dask", cluster.address)
    assert "10 equal, 0 different" in attnlab("diff", tmp_path / "local", tmp_path / "dask").out


def test_the_records_are_the_local_ones(attnlab, cluster, tmp_path):
    attnlab(*CHECK, "--out", tmp_path / "local")
    done = attnlab(*CHECK, "--out", tmp_path / "dask", "--dask", cluster.address)
    assert "on 2 workers" in done.err
    assert assert_same(attnlab, tmp_path / "local", tmp_path / "dask") == {}
    assert len(cluster.companions()) == 2  # one a thread, kept from run to run


@pytest.mark.parametrize("lost", ["plain", "nannied"])
def test_a_whole_dask_worker_is_killed(attnlab, cluster, local, tmp_path, lost):
    process = attnlab.start(*SLOW, "--out", tmp_path, "--dask", cluster.address)
    wait_until(lambda: finished(tmp_path) >= 10 and len(cluster.companions()) == 2)
    if lost == "plain":
        victim = cluster.plain
    else:  # the nanny starts another one
        (victim,) = {c.parent() for c in companions(cluster.nanny.pid)}
        assert victim.pid != cluster.nanny.pid
    orphans = companions(victim.pid)
    assert len(orphans) == 1
    victim.kill()
    # Companions end with their Dask worker.
    assert psutil.wait_procs(orphans, timeout=10)[1] == []
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    assert "Traceback" not in errors
    assert_same(attnlab, local, tmp_path)


def test_a_companion_is_killed(attnlab, cluster, local, tmp_path):
    process = attnlab.start(*SLOW, "--out", tmp_path, "--dask", cluster.address)
    for count in (5, 20, 30):
        wait_until(lambda n=count: finished(tmp_path) >= n and cluster.companions())
        cluster.companions()[0].kill()
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    assert assert_same(attnlab, local, tmp_path).get("killed", 0) >= 1


@pytest.mark.parametrize(
    ("fault", "ending"),
    [("exception", "exception"), ("segfault", "crash"), ("timeout", "timeout")],
)
def test_a_run_that_fails_is_tried_once_more_and_counted(attnlab, cluster, tmp_path, fault, ending):
    fault = ("--set", f"fault={fault}")
    done = attnlab(*FOUR_RUNS, *fault, "--out", tmp_path, "--dask", cluster.address)
    assert (done.json[0]["failed_runs"], done.json[0]["trials"]) == (1, 3)
    (row,) = attnlab("ledger", tmp_path, "--json").json
    assert row["attempts"] == {ending: 2}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_the_runs_under_way_end_with_their_command(attnlab, cluster, local, tmp_path, number):
    slower = (*CHECK, "--set", "sleep=6")
    process = attnlab.start(*slower, "--out", tmp_path / "a", "--dask", cluster.address)
    wait_until(lambda: len(cluster.companions()) == 2)
    time.sleep(2)
    busy = cluster.companions()
    process.send_signal(number)
    _, errors = process.communicate(timeout=20)
    assert "Traceback" not in errors
    if number == signal.SIGINT:
        assert process.returncode == 130, errors
        assert "again to go on" in errors
    assert psutil.wait_procs(busy, timeout=3)[1] == []
    # The cluster is free for the next command.
    attnlab(*SLOW, "--out", tmp_path / "b", "--dask", cluster.address)
    assert_same(attnlab, local, tmp_path / "b")


def test_a_scheduler_that_is_lost(attnlab, cluster, local, tmp_path):
    process = attnlab.start(*SLOW, "--out", tmp_path, "--dask", cluster.address)
    wait_until(lambda: finished(tmp_path) >= 5)
    cluster.scheduler.kill()
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 2, errors
    assert "is lost" in errors
    assert "Traceback" not in errors
    attnlab(*SLOW, "--out", tmp_path)
    (row,) = attnlab("ledger", tmp_path, "--json").json
    assert (row["current"], row["runs"]) == (RUNS, RUNS)
    assert f"{RUNS} equal, 0 different" in attnlab("diff", local, tmp_path).out


def test_a_cluster_with_other_code_is_refused(attnlab, attnlab_from, tmp_path_factory, tmp_path):
    plugins = tmp_path / "plugins"
    shutil.copytree(attnlab.environment["PYTHONPATH"].split(os.pathsep)[1], plugins)
    runs = plugins / "attnlab_toy" / "runs.py"
    runs.write_text(runs.read_text() + "\nUNUSED = 1\n")
    other = attnlab_from(plugins=plugins)
    cluster = Cluster(tmp_path_factory.mktemp("cluster"), other.environment)
    try:
        cluster.add_worker("--no-nanny")
        command = (*FOUR_RUNS, "--out", tmp_path / "out", "--dask", cluster.address)
        refused = attnlab(*command, expect=2)
        assert "would make other records" in refused.err
        # Theirs and ours; the sentence has the word for other things too.
        assert len(set(re.findall(r"code ([0-9a-f]{16})", refused.err))) == 2
        assert finished(tmp_path / "out") == 0
        # A companion that has imported the earlier state of a file makes no further run.
        attnlab(*FOUR_RUNS, "--out", tmp_path / "b", "--dask", cluster.address, expect=2)
        runs.write_text(runs.read_text().replace("\nUNUSED = 1\n", ""))
        attnlab(*FOUR_RUNS, "--out", tmp_path / "b", "--dask", cluster.address)
        assert finished(tmp_path / "b") == 4
    finally:
        cluster.stop()


def test_a_cluster_without_attnlab_is_refused(attnlab, tmp_path_factory, tmp_path):
    (tmp_path / "attnlab.py").write_text("raise ImportError('no attnlab here')")
    environment = attnlab.environment | {"PYTHONPATH": str(tmp_path)}
    cluster = Cluster(tmp_path_factory.mktemp("cluster"), environment)
    try:
        cluster.add_worker("--no-nanny")
        command = (*FOUR_RUNS, "--out", tmp_path / "out", "--dask", cluster.address)
        assert "cannot import this attnlab" in attnlab(*command, expect=2).err
    finally:
        cluster.stop()


def test_a_cluster_without_workers_is_refused(attnlab, empty_cluster, tmp_path):
    command = (*FOUR_RUNS, "--out", tmp_path, "--dask", empty_cluster.address)
    done = attnlab(*command, expect=2)
    assert "has 0 workers" in done.err
    assert f"dask worker {empty_cluster.address}" in done.err


NOISY = """
import os, sys
from dataclasses import dataclass
from attnlab.core import Result

@dataclass(frozen=True)
class Settings:
    pass

def run(cell, key):
    print("on standard output", flush=True)
    os.write(1, b"and below it")
    os.system("echo from a child; cat")
    return Result({"read": float(len(sys.stdin.read())), "seed": key.seed})
"""


def test_what_a_run_prints_and_reads_does_not_reach_the_pipes(monkeypatch, tmp_path):
    package = tmp_path / "noisy"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "runs.py").write_text(NOISY)
    monkeypatch.syspath_prepend(tmp_path)
    paths = [str(tmp_path), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, paths)))
    companion = Companion()
    try:
        for seed in range(3):
            job = Job("noisy.runs:run", "noisy.runs:Settings", {}, seed)
            order = Order(job, Fingerprint.here(job))
            outcome = companion.make(order, 30, lambda: True)
            assert outcome.kind == "finished", outcome.message
        assert companion.usable
    finally:
        companion.end()
    assert not psutil.pid_exists(companion.pid)
