"""Shared fixtures: the command line in a process of its own, and no silent skips."""

import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PLUGINS = ROOT / "tests" / "plugins"


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
    if reporter.stats.get("skipped"):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


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
        self.environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "COLUMNS": "200"}
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


@pytest.fixture(scope="session")
def attnlab() -> Attnlab:
    return Attnlab()


@pytest.fixture(scope="session")
def attnlab_from():
    """`attnlab` from another source tree."""
    return Attnlab


@pytest.fixture(scope="session")
def toy_results(attnlab, tmp_path_factory) -> Path:
    """The toy paper reproduced at scale smoke, once for all tests that only read it."""
    folder = tmp_path_factory.mktemp("toy") / "results"
    attnlab("reproduce", "toy", "--scale", "smoke", "--out", folder)
    return folder
