"""The inside of a worker process: a fixed environment, and one run at a time.

Records are computed only here, in spawned processes of one core, because a result must not
depend on how many runs share the machine or on what the parent process has loaded. Of the
environment variables that XLA reads, `NPROC=1` is the one that holds it to one core.
"""

import hashlib
import importlib
import os
import platform
import signal
import stat
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import platformdirs

from attnlab import cells
from attnlab.core import Result
from attnlab.lab import payload
from attnlab.lab.preparation import Preparation

ENVIRONMENT = {
    "NPROC": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false",
    "JAX_PLATFORMS": "cpu",
    "JAX_ENABLE_X64": "1",
    # equinox's checks as nan, not as calls back into Python: jax keeps no program with such calls
    # in its cache on disk, so that each flow was compiled anew by every process.
    "EQX_ON_ERROR": "nan",
    "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0.3",
    "TF_CPP_MIN_LOG_LEVEL": "3",
}
PARENT_CHECK_SECONDS = 0.5
MAPPINGS = Path("/proc/self/maps")
MOST_MAPPINGS = Path("/proc/sys/vm/max_map_count")
COMPILING_SECONDS = 0.2
"""A run that took less compiled nothing that counts."""
OVERFLOWS = (
    "Numerical result out of range",
    "math range error",
    "int too large to convert to float",
    "cannot convert float infinity to integer",
)
"""What Python's own numbers raise where an array's become infinite: divergence, not a defect."""


@dataclass(frozen=True)
class Job:
    """A task as plain values that another process can rebuild it from."""

    run: str
    settings: str
    cell: dict[str, cells.SettingValue]
    seed: int


@dataclass(frozen=True)
class Answer:
    """What a worker sends back: a finished run, or how it failed."""

    kind: Literal["finished", "exception", "memory"]
    data: bytes = b""
    diverged: str = ""
    message: str = ""
    seconds: float = 0.0
    preparing: float = 0.0
    """Of these seconds, those of imports and compilation."""


PREPARATION = Preparation()


def prepare() -> None:
    """Set the process up. Runs before anything imports jax."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    for name in list(os.environ):
        if name.startswith(("JAX_", "XLA_")):  # a user's setting must not change a record
            del os.environ[name]
    os.environ.update(ENVIRONMENT)
    cache = compilation_cache()
    if cache is not None:
        os.environ["JAX_COMPILATION_CACHE_DIR"] = str(cache)
    # A cache entry cut short by a kill is compiled again; nobody needs to read about it.
    warnings.filterwarnings("ignore", message=".*persistent compilation cache.*")
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()


def compute(job: Job) -> Answer:
    """Make one run. Its failure is an answer, not an exception."""
    started = time.perf_counter()
    try:
        run = import_string(job.run)
        cell = cells.from_dict(import_string(job.settings), job.cell)
        PREPARATION.add(time.perf_counter() - started)
        PREPARATION.listen()
        with _quiet():
            result = run(cell, cells.Key.of(cell, job.seed))
        if not isinstance(result, Result):
            raise TypeError(f"{job.run} returned {type(result).__name__}, not a Result")
        data = payload.encode(result.values)
        diverged = result.diverged or payload.not_finite(result.values, result.absent)
    except (Exception, SystemExit) as error:
        if isinstance(error, OverflowError) and str(error.args[-1:]).strip("(),'") in OVERFLOWS:
            why = f"a number was beyond the largest there is ({error}); give less extreme settings"
            seconds = time.perf_counter() - started
            return Answer("finished", payload.encode({}), why, seconds=seconds)
        out_of_memory = isinstance(error, MemoryError) or "RESOURCE_EXHAUSTED" in str(error)
        kind = "memory" if out_of_memory else "exception"
        where = "".join(traceback.format_tb(error.__traceback__)[-2:])
        return Answer(kind, message=f"{type(error).__name__}: {error}\n{where}")
    seconds = time.perf_counter() - started
    if seconds > COMPILING_SECONDS:
        make_room_for_programs()
    preparing = PREPARATION.since(started)
    return Answer("finished", data, diverged, seconds=seconds, preparing=preparing)


def make_room_for_programs() -> bool:
    """Forget jax's compiled programs if they hold half of what the kernel lets a process map.

    Each holds hundreds of mappings, and a compiler that gets no more of them ends the process.
    """
    if "jax" not in sys.modules or not (MAPPINGS.exists() and MOST_MAPPINGS.exists()):
        return False
    full = MAPPINGS.read_bytes().count(b"\n") > int(MOST_MAPPINGS.read_text()) / 2
    if full:
        sys.modules["jax"].clear_caches()
    return full


@contextmanager
def _quiet() -> Iterator[None]:
    """Without numpy's warnings of overflow and the like: the record says what came of them."""
    import numpy as np

    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        yield


def import_string(text: str) -> Any:
    """The object that `package.module:name` names."""
    module, _, name = text.partition(":")
    return getattr(importlib.import_module(module), name)


def compilation_cache() -> Path | None:
    """The folder of compiled programs, one per machine: they hold its instructions.

    Whoever can write there decides what our processes execute, so a folder that is not ours alone
    is not used: then one among the temporary files is, if that is ours alone, else a new one.
    None where no folder can be made, e.g. on a full disk: then every process compiles for itself.
    """
    name = f"xla-{_machine()}"
    usual = platformdirs.user_cache_path("attnlab", appauthor=False) / name
    if usual.is_absolute() and _is_private(usual):  # a user without a home has no folder of theirs
        return usual
    try:
        other = Path(tempfile.gettempdir()) / f"attnlab-{os.getuid()}-{name}"
        return other if _is_private(other) else Path(tempfile.mkdtemp(prefix=f"attnlab-{name}-"))
    except OSError:
        return None


def _is_private(folder: Path) -> bool:
    """Make the folder if it is not there; whether it is the user's own, closed to all others."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = os.lstat(folder)
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
            return False
        if stat.S_IMODE(found.st_mode) == 0o700:
            return True
        if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            return False  # others may have put programs there already
        folder.chmod(0o700)
        return True
    except OSError:
        return False


def _machine() -> str:
    description = platform.machine() + platform.processor()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.is_file():
        lines = cpuinfo.read_text(errors="replace").splitlines()
        description += "".join(sorted({x for x in lines if x.startswith(("flags", "model name"))}))
    return hashlib.sha256(description.encode()).hexdigest()[:12]


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(PARENT_CHECK_SECONDS)
    os._exit(1)
