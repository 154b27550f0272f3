"""How an attempt at a run can end, wherever it was made."""

import signal
from dataclasses import dataclass
from typing import Literal

from attnlab.lab import worker

# Signals that a process raises by its own fault. Any other signal came from outside.
OWN_FAULT = {signal.SIGSEGV, signal.SIGABRT, signal.SIGILL, signal.SIGBUS, signal.SIGFPE}

Ending = Literal["finished", "exception", "memory", "timeout", "crash", "killed"]


@dataclass(frozen=True)
class Outcome:
    """How an attempt at a run ended."""

    kind: Ending
    message: str = ""
    answer: worker.Answer | None = None


def answered(answer: worker.Answer) -> Outcome:
    """The outcome of an attempt that a worker process has answered."""
    return Outcome(answer.kind, answer.message, answer)


def expired(code: int) -> Outcome:
    """The outcome of an attempt whose worker process ended, with this exit code, before it did."""
    if code == 0:  # it was idle for long, and its end and the order crossed
        return Outcome("killed", "the worker process ended before it took the run")
    if code < 0 and -code not in OWN_FAULT:
        return Outcome("killed", f"the worker process got {_signal_name(-code)}")
    return Outcome("crash", f"the worker process ended with exit code {code}")


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # a real-time signal has no name
        return f"signal {number}"
