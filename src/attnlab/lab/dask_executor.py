"""Runs on a Dask cluster (`dask scheduler`, `dask worker`), behind the executor protocol.

The client's side is `DaskExecutor`; `perform` is what the cluster's workers call. A record is
computed in a companion process of the Dask worker, so it has the bits of a local one.
"""

import asyncio
import logging
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from typing import Any

import msgspec

from attnlab.cells import own_parts
from attnlab.core import BadInput
from attnlab.lab import executors, fingerprint, registry
from attnlab.lab.companion import Companion, Order, OtherCode
from attnlab.lab.outcomes import Outcome
from attnlab.lab.plan import Task

CONNECT_SECONDS = 5
FIRST_WORKER_SECONDS = 10
# A result that waits at a Dask worker takes milliseconds to fetch, unless the worker is lost.
FETCH_SECONDS = 30
CLOSE_SECONDS = 5

_idle: list[Companion] = []
_idle_lock = threading.Lock()


class DaskExecutor(executors.Executor):
    """The threads of a Dask cluster's workers, as they are when the executor connects.

    A slot prefers one Dask worker, so that runs which share a compiled program meet it there;
    if that worker is lost, the slot's runs go to any other.
    """

    def __init__(self, address: str, most: int):
        """Connect to the scheduler at `address` and take at most `most` threads."""
        self._address = address
        self._client = _connect(address)
        try:
            threads = _threads(self._client, address)
        except BaseException:
            self.stop()
            raise
        homes = [home for home, count in threads.items() for _ in range(count)]
        self._homes = homes[:most]
        self.slots = len(self._homes)

    def submit(self, slot: int, task: Task) -> Future:
        """Start a run on a slot."""
        if self._client.status != "running":
            raise BadInput(
                f"the connection to the Dask scheduler at {self._address} is lost; what was "
                "finished is in the ledger; start the scheduler and its workers, then give the "
                "same command again"
            )
        order = executors.order_of(task)
        theirs = self._client.submit(
            perform,
            msgspec.msgpack.encode(order),
            task.study.timeout,
            pure=False,
            workers=[self._homes[slot]],
            allow_other_workers=True,
        )
        ended: Future = Future()
        theirs.add_done_callback(ended.set_result)
        return ended

    def outcome(self, future: Future) -> Outcome:
        """How a run that has ended did end. Raises BadInput if the cluster's code is not ours."""
        from distributed import KilledWorker

        try:
            data = future.result().result(timeout=FETCH_SECONDS)
        except BadInput:
            raise
        except (KilledWorker, CancelledError, OSError) as error:
            # OSError: lost connections and results, and a machine that could start no process.
            return Outcome("killed", f"the Dask worker was lost: {error!r}")
        except Exception as error:
            if isinstance(error, ImportError) or "deserialization" in str(error):
                raise BadInput(
                    f"the Dask cluster at {self._address} cannot import this attnlab "
                    f"({_one_line(error)}); required is the same attnlab on the scheduler and on "
                    "every worker; install it there and start them again"
                ) from None
            return Outcome("crash", f"the Dask task failed: {error!r}")
        return msgspec.msgpack.decode(data, type=Outcome)

    def stop(self) -> None:
        """Leave the cluster. It drops our runs, and `perform` then ends their processes."""
        try:
            self._client.close(timeout=CLOSE_SECONDS)
        except (OSError, RuntimeError):  # the scheduler is gone: nothing to leave
            return


def perform(order: bytes, timeout: float) -> bytes:
    """Make a run. Called in a thread of a Dask worker; speaks bytes both ways."""
    wanted = msgspec.msgpack.decode(order, type=Order)
    _require_registered(wanted)
    needed = _needed()
    companion = _take(wanted)
    try:
        outcome = companion.make(wanted, timeout, needed) if companion else None
    except OtherCode:  # it may have read an earlier state of the files than a new one will
        outcome = None
    if companion is None or outcome is None:
        companion = Companion()
        outcome = companion.make(wanted, timeout, needed)
    if companion.usable:
        with _idle_lock:
            _idle.append(companion)
    return msgspec.msgpack.encode(outcome)


def _require_registered(order: Order) -> None:
    """Refuse what no installed study runs: an order comes from the network, and names imports."""
    job = order.job
    known = {
        (study.run, fingerprint.settings_name(study.settings))
        for paper in registry.papers().values()
        for study in paper.studies
    }
    if own := own_parts(job.cell):
        raise BadInput(
            f"got {', '.join(own)} in an order to a Dask worker, which runs nothing but installed "
            "papers; make runs with parts of your own on this machine, without --dask"
        )
    if (job.run, job.settings) not in known:
        raise BadInput(
            f"a Dask worker was asked for {job.run!r} with {job.settings!r}, which no study of a "
            "paper installed there runs; install the same attnlab and papers on both sides and "
            "start the Dask workers again"
        )


def _take(order: Order) -> Companion | None:
    """The idle companion that fits the order best, or None."""
    with _idle_lock:
        for companion in [c for c in _idle if not c.usable]:
            _idle.remove(companion)
            companion.end()
        best = max(_idle, key=lambda c: c.fit(order), default=None)
        if best is not None:
            _idle.remove(best)
        return best


def _needed() -> Callable[[], bool]:
    """A function that says whether the task of the calling thread is still wanted.

    Dask cannot stop a task that has begun. It marks the task when its client has left or died,
    and goes on; so the mark is what tells us to end the run.
    """
    from distributed import Status, get_worker

    dask_worker: Any = get_worker()
    key = dask_worker.get_current_task()
    leaving = (Status.closing, Status.closed, Status.failed)

    def needed() -> bool:
        task = dask_worker.state.tasks.get(key)
        cancelled = task is None or task.state == "cancelled"
        return not cancelled and dask_worker.status not in leaving

    return needed


def _connect(address: str) -> Any:
    try:
        import distributed
    except ImportError:
        raise BadInput(
            f"--dask {address} needs the package `distributed`, which is not installed; "
            "pip install 'attnlab[dask]'"
        ) from None
    for name in ("distributed", "distributed.client"):  # what matters, we say in a sentence
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        asyncio.run(_knock(address))
        return distributed.Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except Exception as error:  # whatever it is that answers there, it is not a scheduler
        raise BadInput(
            f"no Dask scheduler answers at {address!r} ({_one_line(error)}); required is the "
            "address of a running one, e.g. tcp://127.0.0.1:8786; start it with `dask scheduler` "
            "and workers with `dask worker ADDRESS`, or leave --dask out"
        ) from None


async def _knock(address: str) -> None:
    """Connect and leave again, in bounded time, because a Client that cannot connect hangs."""
    from distributed.comm.core import connect
    from distributed.security import Security

    settings = Security().get_connection_args("client")
    async with asyncio.timeout(2 * CONNECT_SECONDS):  # Dask's own does not cover the handshake
        comm = await connect(address, CONNECT_SECONDS, **settings)
        await comm.close()


def _threads(client: Any, address: str) -> dict[str, int]:
    """The number of threads of each Dask worker, by its address."""
    try:
        client.wait_for_workers(1, timeout=FIRST_WORKER_SECONDS)
    except TimeoutError:
        raise BadInput(
            f"the Dask scheduler at {address} has 0 workers after {FIRST_WORKER_SECONDS} s; "
            f"required is at least 1; start one with `dask worker {address}`"
        ) from None
    return client.nthreads()


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
