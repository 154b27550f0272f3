"""Fuzzing: thousands of commands in this process, each held to what every command must keep.

A case runs the function of the console script with captured output. Runs are not made: planning,
validation, hypotheses, the ledger and the report are the real ones, and in the place of the
executor stands one that gives nothing back.
"""

import io
import json
import os
import re
import shutil
import signal
import sys
import traceback
import warnings
from collections import Counter
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from types import SimpleNamespace

import platformdirs
import pytest
from hypothesis import HealthCheck, settings

SHARES = {
    "command lines": 2500,
    "settings": 1500,
    "bounds": 600,
    "toml": 400,
    "ledger files": 300,
    "rows": 400,
    "forged": 200,
    "processes": 40,
}
"""How many cases of each kind there are, at least."""
assert sum(SHARES.values()) >= 5000
SECONDS = 60
EXIT_CODES = {0, 1, 2, 3, 130}
NOT_FINITE = re.compile(r"(?<![\w.'-])[-+]?(nan|inf|infinity)\b(?!:)", re.IGNORECASE)
"""A number that is none (`inf: no such T` explains a word)."""
CHANGING = {"os.mkdir": 1, "os.remove": 1, "os.rmdir": 1, "os.truncate": 1, "os.rename": 2}
CHANGING |= {"os.link": 2, "os.symlink": 2}
"""Audit events that change files, with how many of their arguments are paths."""
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def fuzzed(cases: int) -> settings:
    """The same cases in every run, so many of them."""
    return settings(
        max_examples=cases,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )


class Hang(BaseException):
    """A case took longer than it may; no `except Exception` stops it."""


class Writes:
    """The files that this process makes, changes or removes while it is watched."""

    def __init__(self):
        self.watching = False
        self.paths: set[str] = set()
        sys.addaudithook(self._heard)

    def _heard(self, event: str, arguments: tuple) -> None:
        if not self.watching:
            return
        if event == "open":
            written = arguments[:1] if (arguments[2] or 0) & WRITING else ()
        else:
            written = arguments[: CHANGING.get(event, 0)]
        for path in written:
            self._add(path)

    def _add(self, path) -> None:
        if isinstance(path, int) or path is None:
            return
        place = os.path.realpath(os.fsdecode(path))
        if not place.startswith(("/dev/", "/proc")) and "__pycache__" not in place:
            self.paths.add(place)


class Fuzz:
    """Runs cases and counts them."""

    def __init__(self, folder: Path):
        self.cases: Counter[str] = Counter()
        self.folder = folder
        self.writes = Writes()

    def fresh(self) -> Path:
        """The folder in which a case runs, empty; `..` is a case's own too."""
        shutil.rmtree(self.folder.parent, ignore_errors=True)
        self.folder.mkdir(parents=True)
        return self.folder

    def __call__(self, kind: str, arguments: list[str]) -> SimpleNamespace:
        """Run one command in `folder`; an AssertionError if it breaks a promise."""
        self.cases[kind] += 1
        before = os.getcwd()
        os.chdir(self.folder)
        try:
            done = self._run(arguments)
        finally:
            os.chdir(before)
        keeps_its_promises(arguments, done)
        # `train` compiles in this process: its programs go to the user's own cache.
        allowed = (self.folder.parent, platformdirs.user_cache_path("attnlab", appauthor=False))
        outside = [p for p in self.writes.paths if not any(map(Path(p).is_relative_to, allowed))]
        assert not outside, f"{arguments} wrote {outside}"
        return done

    def _run(self, arguments: list[str]) -> SimpleNamespace:
        from attnlab import cli

        # As Python sets them up for a program: a letter that is no letter fails on the one.
        out = io.TextIOWrapper(io.BytesIO(), "utf-8", "strict")
        err = io.TextIOWrapper(io.BytesIO(), "utf-8", "backslashreplace")
        trace = ""
        self.writes.paths = set()
        with warnings.catch_warnings(record=True) as heard, _alarm(), redirect_stdout(out):
            warnings.simplefilter("always")
            self.writes.watching = True
            try:
                with redirect_stderr(err):
                    code = cli.main(list(arguments))
            except SystemExit as left:
                code = left.code
            except (Exception, Hang):
                code, trace = None, traceback.format_exc()
            finally:
                self.writes.watching = False
        text = [_text(stream) for stream in (out, err)]
        words = [str(w.message) for w in heard if w.category is not ResourceWarning]
        return SimpleNamespace(code=code, out=text[0], err=text[1], trace=trace, warnings=words)


def keeps_its_promises(arguments, done) -> None:
    """What holds after every command, whatever it was given."""
    shown = f"{arguments}\nexit {done.code}\n{done.out[:500]}\n{done.err[-1500:]}\n{done.trace}"
    assert "Traceback" not in done.trace + done.err, shown
    assert done.code in EXIT_CODES, shown
    assert not done.warnings, f"{shown}\n{done.warnings}"
    if done.code == 0:
        assert not NOT_FINITE.search(done.out), f"{NOT_FINITE.search(done.out)}\n{shown}"
        if done.out.startswith(("[", "{")):
            _no_number_is_missing(json.loads(done.out), shown)
    if done.code in (2, 3):
        # What was got, and after it what to do; or the parser's own, which names the help.
        assert re.search(r"attnlab: .+; .+|--help", done.err, re.DOTALL), shown


def _no_number_is_missing(value, shown: str) -> None:
    """Conditions and bounds have a value, in digits or in words."""
    if isinstance(value, dict):
        if "threshold" in value:
            assert value["value"] is not None, f"{value}\n{shown}"
            assert value["threshold"] is not None or "relation" not in value, f"{value}\n{shown}"
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            _no_number_is_missing(item, shown)


@contextmanager
def _alarm():
    def ring(signum, frame):
        raise Hang(f"no end after {SECONDS} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    return stream.buffer.getvalue().decode()  # type: ignore[attr-defined]


@pytest.fixture(scope="session")
def cut():
    """Commands stop where they would make runs: the executor gives nothing back."""
    import matplotlib.figure  # noqa: F401  its own folder of settings is not what we look at

    from attnlab.lab import runner, session

    @contextmanager
    def nowhere(workers, dask, most):
        yield SimpleNamespace(slots=min(workers or 2, most))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(session, "_executor", nowhere)
        patch.setattr(runner, "run", lambda *_: runner.Progress())
        yield


@pytest.fixture(scope="session")
def fuzz(cut, tmp_path_factory) -> Fuzz:
    return Fuzz(tmp_path_factory.mktemp("fuzz") / "above" / "here")


@pytest.fixture(autouse=True)
def counted(fuzz, record_property):
    """The cases of a test are a property of it, so that several processes can be added up."""
    before = fuzz.cases.copy()
    yield
    for kind, count in (fuzz.cases - before).items():
        record_property(f"fuzz: {kind}", count)


class Shares:
    """The number of cases of a kind: asked of hypothesis, and counted afterwards."""

    def __init__(self, counted: Counter[str]):
        self._counted = counted

    @staticmethod
    def of(kind: str) -> settings:
        return fuzzed(SHARES[kind])

    def reached(self, kind: str) -> None:
        assert self._counted[kind] >= SHARES[kind]


@pytest.fixture(scope="session")
def promises():
    return keeps_its_promises


@pytest.fixture(scope="session")
def shares(fuzz) -> Shares:
    return Shares(fuzz.cases)
