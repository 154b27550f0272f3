"""Shared fixtures: the command line in a process of its own, and no silent skips."""

import json
import os
import resource
import signal
import subprocess
import sys
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from attnlab.lab import worker

ROOT = Path(__file__).parent.parent
PLUGINS = ROOT / "tests" / "plugins"

BEFORE = dict(os.environ)
"""The environment of commands, which see to theirs themselves."""
# As in a worker, and before any test or any folder's conftest imports jax or equinox. Programs are
# kept on disk: two processes and many files of tests compile the same ones.
os.environ.update(worker.ENVIRONMENT)
if (CACHE := worker.compilation_cache()) is not None:
    os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(CACHE))


def pytest_addoption(parser):
    parser.addoption("--forbid-skips", action="store_true", help="a skipped test fails the run")


def pytest_configure(config):
    # A shell starts background jobs with SIGINT ignored, and children inherit that: tests which
    # interrupt a command would wait in vain.
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session, exitstatus):
    if not session.config.getoption("--forbid-skips") or exitstatus != 0:
        return
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    # A process of pytest-xdist has no reporter: the one that started it counts for all.
    if reporter is not None and reporter.stats.get("skipped"):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter):
    """How many cases were fuzzed, in all processes together (tests/soak/fuzz/conftest.py)."""
    reports = [report for some in terminalreporter.stats.values() for report in some]
    counts: Counter[str] = Counter()
    for report in reports:
        if getattr(report, "when", "") == "teardown":
            counts.update({k: n for k, n in report.user_properties if k.startswith("fuzz: ")})
    if counts:
        each = ", ".join(f"{count} {kind.removeprefix('fuzz: ')}" for kind, count in counts.items())
        terminalreporter.write_line(f"fuzz: {sum(counts.values())} cases: {each}")


@dataclass(frozen=True)
class Completed:
    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)


class Attnlab:
    """Runs `attnlab` as a user would, with the toy paper installed."""

    def __init__(self, source: Path = ROOT / "src", plugins: Path = PLUGINS):
        paths = [str(source), str(plugins)]
        self.environment = {**BEFORE, "PYTHONPATH": os.pathsep.join(paths), "COLUMNS": "200"}
        self.command = [sys.executable, "-m", "attnlab.cli"]
        self.timeout = 300

    def __call__(self, *arguments, expect: int | None = 0, **environment) -> Completed:
        process = subprocess.run(
            [*self.command, *map(str, arguments)],
            capture_output=True,
            text=True,
            env=self.environment | environment,
            timeout=self.timeout,
            check=False,
        )
        done = Completed(process.returncode, process.stdout, process.stderr)
        assert "Traceback" not in done.err, done.err
        assert expect is None or done.code == expect, f"exit {done.code}\n{done.out}\n{done.err}"
        return done

    def start(self, *arguments) -> subprocess.Popen:
        return subprocess.Popen(
            [*self.command, *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=self.environment,
        )


@pytest.fixture(autouse=True)
def room_for_programs():
    """Hundreds of tests compile programs in one process, as hundreds of runs do in a worker."""
    yield
    worker.make_room_for_programs()


@pytest.fixture(scope="session")
def attnlab() -> Attnlab:
    return Attnlab()


@pytest.fixture(scope="session")
def attnlab_from():
    """`attnlab` from another source tree."""
    return Attnlab


@pytest.fixture(scope="session")
def plain():
    """Multi-head attention in plain numpy: a second computation of everything about heads."""
    import plain_heads

    return plain_heads


@contextmanager
def no_file_beyond(size: int):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.fixture(scope="session")
def full_disk():
    """`with full_disk(size)`: no file of this process may grow beyond a size.

    As on a full disk, and without a right to mount a small one.
    """
    return no_file_beyond


@pytest.fixture(scope="session")
def toy_results(attnlab, tmp_path_factory) -> Path:
    """The toy paper reproduced at scale smoke, once for all tests that only read it."""
    folder = tmp_path_factory.mktemp("toy") / "results"
    attnlab("reproduce", "toy", "--scale", "smoke", "--out", folder)
    return folder
