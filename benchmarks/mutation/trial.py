"""One mutant against its tests, in a copy of the tree: the work tree is never touched."""

import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from benchmarks.mutation.targets import ROOT

Outcome = Literal["killed", "timeout", "survived"]
# pytest's exit codes: 1 a test failed, 2 the mutant cannot be imported.
FAILED = (1, 2)


@dataclass(frozen=True)
class Trial:
    """How a run of tests ended."""

    outcome: Outcome
    seconds: float
    words: str


class Tree:
    """A copy of what tests read, for one process at a time."""

    def __init__(self, folder: Path):
        self.folder = folder
        skipped = shutil.ignore_patterns("__pycache__", ".hypothesis")
        for name in ("src", "tests", "docs", "benchmarks"):
            shutil.copytree(ROOT / name, folder / name, ignore=skipped)
        for name in ("pyproject.toml", "README.md", "Makefile"):
            shutil.copy(ROOT / name, folder)
        paths = [folder / "src", folder / "tests" / "plugins", folder]
        self.environment = os.environ | {
            "PYTHONPATH": os.pathsep.join(map(str, paths)),
            # Programs that the mutant does not change are compiled once.
            "JAX_COMPILATION_CACHE_DIR": str(folder.parent / "compiled"),
            "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0.1",
        }

    def run(self, tests: list[str], seconds: float) -> Trial:
        """The tests on the tree as it is."""
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-m", "not soak"]
        command += ["-p", "no:cacheprovider", "-p", "benchmarks.mutation.quick_hypothesis", *tests]
        began = time.monotonic()
        process = subprocess.Popen(
            command,
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            words, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return Trial("timeout", time.monotonic() - began, "")
        took = time.monotonic() - began
        if process.returncode == 0:
            return Trial("survived", took, words)
        if process.returncode in FAILED or process.returncode < 0:
            return Trial("killed", took, words)
        raise SystemExit(f"pytest ended with {process.returncode} on {tests}:\n{words}")

    def run_mutated(self, module: str, source: str, tests: list[str], seconds: float) -> Trial:
        """The tests with one module replaced, which is put back afterwards."""
        path = self.folder / "src" / "attnlab" / module
        before = path.read_text()
        try:
            self._write(path, source)
            return self.run(tests, seconds)
        finally:
            self._write(path, before)

    def _write(self, path: Path, text: str) -> None:
        path.write_text(text)
        # A text of the same length within the same second would pass for the compiled one.
        for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
            compiled.unlink()
