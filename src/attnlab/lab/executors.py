"""Executors: where runs are computed. One protocol, so that a cluster can stand in for cores."""

import os
import sys
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Protocol

from attnlab import cells
from attnlab.core import BadInput
from attnlab.lab import fingerprint, worker
from attnlab.lab.companion import Companion, Fingerprint, Order
from attnlab.lab.outcomes import Outcome
from attnlab.lab.plan import Task

# More workers than cores only share them, and each takes about 300 MB.
WORKERS_PER_CORE = 4
ALWAYS_ALLOWED = 64
# A machine that can start no process now may do so in a moment.
NO_PROCESS_SECONDS = 1.0


class Executor(Protocol):
    """A number of slots, each computing one run at a time."""

    slots: int

    def submit(self, slot: int, task: Task) -> Future:
        """Start a run on a slot."""
        ...

    def outcome(self, future: Future) -> Outcome:
        """How a run that has ended did end."""
        ...

    def stop(self) -> None:
        """End every run under way and give the slots back."""
        ...


class LocalExecutor(Executor):
    """Worker processes on this machine, one companion per slot.

    The runner keeps the runs that share a compiled program on the slot that has compiled it.
    A slot's process may be killed at any moment, even before it has taken a run: that ends one
    attempt, and the slot starts another process for the next.
    """

    def __init__(self, slots: int):
        self.slots = slots
        self._companions: list[Companion | None] = [None] * slots
        self._stopping = threading.Event()
        self._threads = ThreadPoolExecutor(slots, thread_name_prefix="attnlab-slot")

    def submit(self, slot: int, task: Task) -> Future:
        """Start a run on a slot."""
        order = order_of(task)
        return self._threads.submit(self._make, slot, order, task.study.timeout)

    def outcome(self, future: Future) -> Outcome:
        """How a run that has ended did end. Raises BadInput if the code was edited meanwhile."""
        return future.result()

    def stop(self) -> None:
        """End the processes, whatever they are doing."""
        self._stopping.set()
        self._threads.shutdown(wait=True, cancel_futures=True)
        for companion in self._companions:
            if companion is not None:
                companion.end()

    def _make(self, slot: int, order: Order, timeout: float) -> Outcome:
        companion = self._companions[slot]
        if companion is None or not companion.usable:
            if companion is not None:
                companion.end()
            self._companions[slot] = None
            try:
                companion = Companion(sys.path)
            except OSError as error:
                time.sleep(NO_PROCESS_SECONDS)
                return Outcome("killed", f"no worker process could be started: {error}")
            self._companions[slot] = companion
        return companion.make(order, timeout, lambda: not self._stopping.is_set())


def order_of(task: Task) -> Order:
    """A task as an order to make it with the code and the stack that this process has."""
    job = job_of(task)
    return Order(job, Fingerprint.here(job))


def job_of(task: Task) -> worker.Job:
    """A task as plain values for another process."""
    return worker.Job(
        run=task.study.run,
        settings=fingerprint.settings_name(task.study.settings),
        cell=cells.as_dict(task.cell),
        seed=task.seed,
    )


def require_workers(workers: int | None, dask: str | None) -> None:
    """Refuse a number of workers that makes no sense."""
    if workers is None:
        return
    if dask is not None:
        raise BadInput(
            f"--workers {workers} and --dask {dask} were both given, but the cluster decides how "
            "many workers it has; leave one of them out"
        )
    if workers < 1:
        raise BadInput(f"--workers {workers} is too few; give 1 or more")
    cores = available_cores()
    most = max(ALWAYS_ALLOWED, WORKERS_PER_CORE * cores)
    if workers > most:
        raise BadInput(
            f"--workers {workers} is too many: each is a process of its own, and this machine has "
            f"{cores} cores; give at most {most}, or leave --workers out for one per core"
        )


def available_cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
