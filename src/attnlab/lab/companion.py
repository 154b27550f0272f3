"""A companion: a one-core worker process that makes runs for the command or for a Dask worker.

Records are never computed inside either: a command has loaded what it likes, and a Dask worker has
many threads and an environment of its own. Both start `python -m attnlab.lab.companion` and talk
to it over two pipes: messages are MessagePack, framed by `multiprocessing.connection` as bytes.
Its `send` and `recv` are never used, for they would pickle.

    companion -> (empty)       once it is ready
    Order     ->               companion
    companion -> Reply         for each order, in turn
"""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from multiprocessing.connection import Connection, Pipe
from pathlib import Path

import msgspec

from attnlab.core import BadInput
from attnlab.lab import fingerprint, outcomes, worker

COMMAND = ("-P", "-m", "attnlab.lab.companion")  # -P: the current folder is not a place to import
START_SECONDS = 120.0
IDLE_SECONDS = 60.0
# Nobody gives an order to a companion that is about to end for want of one.
REUSE_SECONDS = IDLE_SECONDS - 10.0
TICK_SECONDS = 0.25
# A longer gap between two looks at the clock means that this process was not running.
LONGEST_TICK_SECONDS = 1.0
END_SECONDS = 5.0
# The rest of a message whose beginning is there, even on a machine that has no memory left.
REST_SECONDS = 30.0


class OtherCode(BadInput):
    """A companion's code or stack is not the order's."""


@dataclass(frozen=True)
class Fingerprint:
    """What a record rests on: the code that its run imports, and the numerical stack."""

    code: str
    stack: str

    @classmethod
    def here(cls, job: worker.Job) -> "Fingerprint":
        """The fingerprint of what this process would import to do the job."""
        try:
            code = fingerprint.of_run(job.run, job.settings, job.cell)
        except BadInput:
            code = "not installed"
        return cls(code, fingerprint.stack())

    def __str__(self) -> str:
        return f"code {self.code[:16]}, {self.stack}"


@dataclass(frozen=True)
class Order:
    """A run to make, and the fingerprint under which the ledger will file it."""

    job: worker.Job
    wanted: Fingerprint


@dataclass(frozen=True)
class Reply:
    """The companion's own fingerprint, and the answer unless the fingerprints differ."""

    found: Fingerprint
    answer: worker.Answer | None


class RunningTime:
    """The seconds that a process had for its work, watched from another one.

    Neither counts: time in which the watching process did not run (a closed laptop, SIGSTOP to the
    group), and time in which the watched one is stopped.
    """

    def __init__(self, pid: int):
        self._pid = pid
        self._last = time.monotonic()
        self._seconds = 0.0

    def tick(self) -> float:
        """Look at the clock, which must be done often, and tell the seconds so far."""
        now = time.monotonic()
        if not _stopped(self._pid):
            self._seconds += min(now - self._last, LONGEST_TICK_SECONDS)
        self._last = now
        return self._seconds


def _stopped(pid: int) -> bool:
    """Whether a process is stopped by a signal or a debugger; unknown, where there is no /proc."""
    try:
        line = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return False
    return line.rpartition(b")")[2].split()[:1] in ([b"T"], [b"t"])


class Companion:
    """The outside of a companion process: start it, give it orders, end it."""

    def __init__(self, path: Iterable[str] | None = None):
        """Start the process, with the places to import from in `path` (default: as any Python)."""
        environment = dict(os.environ)
        if path is not None:
            environment["PYTHONPATH"] = os.pathsep.join(filter(None, path))
        orders, self._orders = Pipe(duplex=False)
        self._replies, replies = Pipe(duplex=False)
        # Ctrl-C at a terminal reaches the whole group: it must not end a process that is starting.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            with orders, replies:
                self._process = subprocess.Popen(
                    [sys.executable, *COMMAND],
                    stdin=orders.fileno(),
                    stdout=replies.fileno(),
                    env=environment,
                )
        except BaseException:
            self._close()
            raise
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        self._ready = False
        self._last: Order | None = None
        self._idle_since = time.monotonic()

    @property
    def pid(self) -> int:
        """The process's id."""
        return self._process.pid

    @property
    def usable(self) -> bool:
        """Whether it can take an order: alive, and not about to end because it is idle."""
        rested = time.monotonic() - self._idle_since
        return self._process.poll() is None and rested < REUSE_SECONDS

    def fit(self, order: Order) -> int:
        """How well it fits an order: 2 same program, 1 same code, 0 perhaps not at all."""
        if self._last is None or self._last.wanted != order.wanted:
            # Of another study, or of an earlier state of the same files: it will say which.
            return 0
        last, job = self._last.job, order.job
        return 2 if (last.run, last.cell) == (job.run, job.cell) else 1

    def make(self, order: Order, timeout: float, needed: Callable[[], bool]) -> outcomes.Outcome:
        """Make a run. `needed` is asked now and then; once it says no, the process is ended.

        Whatever is not an answer also ends the process. Raises OtherCode if the companion's
        code or stack is not the order's.
        """
        self._last = order
        try:
            reply = self._reply(order, timeout, needed)
        except EOFError:
            return self._expired()
        except TimeoutError as error:
            self.end()
            return outcomes.Outcome("timeout" if self._ready else "killed", str(error))
        except InterruptedError as error:
            self.end()
            return outcomes.Outcome("killed", str(error))
        except BaseException:
            self.end()
            raise
        self._idle_since = time.monotonic()
        if reply.answer is None:
            self.end()
            raise OtherCode(
                "a worker process would make other records than this command: it has "
                f"{reply.found}; required is {order.wanted}; let nobody change the code during a "
                "command, install the same attnlab, paper and packages on both sides of a cluster "
                "and start its workers again, then give the same command again"
            )
        return outcomes.answered(reply.answer)

    def end(self) -> None:
        """End the process, whatever it is doing."""
        self._process.kill()
        self._process.wait()
        self._close()

    def _reply(self, order: Order, timeout: float, needed: Callable[[], bool]) -> Reply:
        if not self._ready:
            # A run's time does not include its process's start.
            self._receive(START_SECONDS, needed, "the companion process did not start", most=0)
            self._ready = True
        try:
            self._orders.send_bytes(msgspec.msgpack.encode(order))
        except BrokenPipeError:
            raise EOFError from None
        data = self._receive(timeout, needed, "the run did not end")
        return msgspec.msgpack.decode(data, type=Reply)

    def _receive(
        self, seconds: float, needed: Callable[[], bool], complaint: str, most: int | None = None
    ) -> bytes:
        """The next message, of `most` bytes at most."""
        clock = RunningTime(self._process.pid)
        ready = False
        while not ready:
            left = seconds - clock.tick()
            if left <= 0:
                raise TimeoutError(f"{complaint} within {seconds:g} s")
            if not needed():
                raise InterruptedError("nobody waits for the run any more")
            ready = self._replies.poll(min(left, TICK_SECONDS))
        # A process that stops in the middle of a message would leave us waiting for its end.
        limit = threading.Timer(REST_SECONDS, self._process.kill)
        limit.start()
        try:
            return self._replies.recv_bytes(most)
        except OSError as error:  # it ended in the middle of a message, or wrote something else
            raise EOFError from error
        finally:
            limit.cancel()

    def _expired(self) -> outcomes.Outcome:
        try:
            code = self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:  # it has closed or misused its pipe, and goes on
            self.end()
            return outcomes.Outcome("crash", "the worker process left its pipe")
        self._close()
        return outcomes.expired(code)

    def _close(self) -> None:
        self._orders.close()
        self._replies.close()


def main() -> None:
    """The inside: answer orders until the pipe closes, or none comes for a while."""
    orders, replies = _private_pipes()
    worker.prepare()
    replies.send_bytes(b"")
    while orders.poll(IDLE_SECONDS):
        try:
            data = orders.recv_bytes()
        except (EOFError, OSError):  # nobody is there any more
            return
        order = msgspec.msgpack.decode(data, type=Order)
        found = Fingerprint.here(order.job)  # before anything of the paper is imported
        answer = worker.compute(order.job) if found == order.wanted else None
        replies.send_bytes(msgspec.msgpack.encode(Reply(found, answer)))


def _private_pipes() -> tuple[Connection, Connection]:
    """Move the two pipes away from descriptors 0 and 1, which a run may read and print to."""
    orders = Connection(os.dup(0), writable=False)
    replies = Connection(os.dup(1), readable=False)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return orders, replies


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # a reply that nobody reads ends the process
    main()
