"""Executors: where runs are computed. One protocol, so that a cluster can stand in for cores."""

import multiprocessing
import os
import signal
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass
from typing import Literal, Protocol

from pebble import ProcessExpired, ProcessPool

from attnlab import cells
from attnlab.lab import worker
from attnlab.lab.plan import Task

# Signals that a process raises by its own fault. Any other signal came from outside.
OWN_FAULT = {signal.SIGSEGV, signal.SIGABRT, signal.SIGILL, signal.SIGBUS, signal.SIGFPE}

Ending = Literal["finished", "exception", "memory", "timeout", "crash", "killed"]


@dataclass(frozen=True)
class Outcome:
    """How an attempt at a run ended."""

    kind: Ending
    message: str = ""
    answer: worker.Answer | None = None


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
    """Worker processes on this machine, one pool of one process per slot.

    One pool a slot, not one pool of many: then the runner can keep the runs that share a
    compiled program on the process that has compiled it, and a killed process takes down its
    own run only.
    """

    def __init__(self, slots: int):
        self.slots = slots
        spawn = multiprocessing.get_context("spawn")
        self._pools = [
            ProcessPool(max_workers=1, context=spawn, initializer=worker.prepare)
            for _ in range(slots)
        ]

    def submit(self, slot: int, task: Task) -> Future:
        """Start a run on a slot."""
        return self._pools[slot].submit(worker.compute, task.study.timeout, job_of(task))

    def outcome(self, future: Future) -> Outcome:
        """How a run that has ended did end."""
        try:
            answer: worker.Answer = future.result()
        except FutureTimeout as error:
            return Outcome("timeout", str(error.args[-1] if error.args else error))
        except ProcessExpired as error:
            return expired(error.exitcode or 0)
        return answered(answer)

    def stop(self) -> None:
        """End the processes, whatever they are doing."""
        for pool in self._pools:
            pool.stop()
        for pool in self._pools:
            pool.join()


def answered(answer: worker.Answer) -> Outcome:
    """The outcome of an attempt that a worker process has answered."""
    return Outcome(answer.kind, answer.message, answer)


def expired(code: int) -> Outcome:
    """The outcome of an attempt whose worker process ended, with this exit code, before it did."""
    if code < 0 and signal.Signals(-code) not in OWN_FAULT:
        return Outcome("killed", f"the worker process got {signal.Signals(-code).name}")
    return Outcome("crash", f"the worker process ended with exit code {code}")


def job_of(task: Task) -> worker.Job:
    """A task as plain values for another process."""
    settings = task.study.settings
    return worker.Job(
        run=task.study.run,
        settings=f"{settings.__module__}:{settings.__qualname__}",
        cell=cells.as_dict(task.cell),
        seed=task.seed,
    )


def available_cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
