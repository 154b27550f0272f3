"""The runner: gives the tasks that have no record to an executor and writes what comes back."""

from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass

from attnlab.lab.executors import Executor
from attnlab.lab.ledger import Ledger
from attnlab.lab.outcomes import Outcome
from attnlab.lab.plan import Task

# A death by an outside signal says nothing about the run, so it is tried again many times.
# Any other failure is the run's own: once more, in case the machine was short of something.
ATTEMPTS = {"killed": 10, "crash": 2, "exception": 2, "timeout": 2, "memory": 2}
WORKER_START_SECONDS = 3.0
COMPILATION_SECONDS = 2.0


@dataclass(frozen=True)
class Estimate:
    """How much there is to do, before it is done."""

    finished: int
    to_do: int
    seconds: float
    from_timings: bool


@dataclass
class Progress:
    """What has happened so far in this command."""

    done: int = 0
    failed: int = 0
    diverged: int = 0
    requeued: int = 0
    first_failure: str = ""
    """Why the first run that was given up failed."""

    def add(self, other: "Progress") -> None:
        """Count what happened in a further stage too."""
        for name in ("done", "failed", "diverged", "requeued"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.first_failure = self.first_failure or other.first_failure


def unfinished(tasks: Iterable[Task], ledger: Ledger) -> list[Task]:
    """The tasks that have no record under today's code."""
    tasks = list(tasks)
    have = ledger.finished(tasks)
    return [task for task in tasks if task.identity not in have]


def estimate(tasks: list[Task], to_do: list[Task], ledger: Ledger, slots: int) -> Estimate:
    """The time that the remaining runs will take: earlier timings, else the study's own guess."""
    total, timed = 0.0, 0
    by_cell = Counter((task.study.id, task.cell) for task in to_do)
    first = {(task.study.id, task.cell): task for task in reversed(to_do)}
    for cell, runs in by_cell.items():
        mean = ledger.mean_seconds(first[cell])
        timed += mean is not None
        total += runs * (mean if mean is not None else first[cell].study.cost(first[cell].cell))
    # A guess knows runs, not compilation: each program is compiled once by the worker it is on.
    total += 0 if timed else COMPILATION_SECONDS * len(_groups(to_do))
    seconds = WORKER_START_SECONDS + total / max(1, min(slots, len(to_do))) if to_do else 0.0
    return Estimate(len(tasks) - len(to_do), len(to_do), seconds, timed > 0)


def estimate_most(
    further: Iterable[tuple[Task, int]], ledger: Ledger, slots: int
) -> tuple[int, float] | None:
    """The runs that a search can take at most, and their time; nothing where there is none.

    By the study's own guess at the largest size, or by an earlier timing if that is longer.
    """
    runs, total = 0, 0.0
    for task, count in further:
        guess = task.study.cost(task.cell)
        runs += count
        total += count * max(guess, ledger.mean_seconds(task) or 0.0)
    return (runs, total / slots) if runs else None


def run(
    to_do: list[Task],
    ledger: Ledger,
    executor: Executor,
    notify: Callable[[Progress], None] = lambda progress: None,
) -> Progress:
    """Compute the tasks and commit each one as it ends. Failures are counted, never dropped."""
    queue = _Queue(to_do)
    running: dict[Future, tuple[int, Task]] = {}
    attempts: Counter[tuple[str, str]] = Counter()
    idle = list(range(executor.slots))
    progress = Progress()
    while queue or running:
        while queue and idle:
            slot = idle.pop()
            task = queue.take(slot)
            running[executor.submit(slot, task)] = (slot, task)
        ended, _ = wait(running, timeout=0.5, return_when=FIRST_COMPLETED)
        for future in ended:
            slot, task = running.pop(future)
            idle.append(slot)
            _finish(task, executor.outcome(future), ledger, queue, attempts, progress)
        ledger.keep()
        notify(progress)
    return progress


def _finish(
    task: Task,
    outcome: Outcome,
    ledger: Ledger,
    queue: "_Queue",
    attempts: Counter[tuple[str, str]],
    progress: Progress,
) -> None:
    if outcome.answer is not None and outcome.kind == "finished":
        answer = outcome.answer
        ledger.save(task, answer.data, answer.diverged, answer.seconds, answer.preparing)
        progress.done += 1
        progress.diverged += bool(answer.diverged)
        return
    ledger.add_attempt(task, outcome.kind, outcome.message)
    attempts[task.identity, outcome.kind] += 1
    if attempts[task.identity, outcome.kind] < ATTEMPTS[outcome.kind]:
        queue.put_back(task)
        progress.requeued += 1
    else:
        ledger.add_attempt(task, "failed", f"given up after: {outcome.kind}")
        progress.failed += 1
        progress.first_failure = progress.first_failure or f"{outcome.kind}: {outcome.message}"


class _Queue:
    """Tasks in groups that share a compiled program; a slot stays with its group while it can."""

    def __init__(self, tasks: list[Task]):
        self._groups = {key: deque(group) for key, group in _groups(tasks).items()}
        self._last: dict[int, Hashable] = {}

    def __bool__(self) -> bool:
        return bool(self._groups)

    def take(self, slot: int) -> Task:
        """The next task for a slot: its own group, else one no slot is on, else the longest."""
        key = self._last.get(slot)
        if key not in self._groups:
            taken = set(self._last.values())
            free = [k for k in self._groups if k not in taken]
            key = free[0] if free else max(self._groups, key=lambda k: len(self._groups[k]))
        self._last[slot] = key
        task = self._groups[key].popleft()
        if not self._groups[key]:
            del self._groups[key]
        return task

    def put_back(self, task: Task) -> None:
        """A task that must be tried again, behind the others of its group."""
        self._groups.setdefault(task.group, deque()).append(task)


def _groups(tasks: Iterable[Task]) -> dict[Hashable, list[Task]]:
    groups: dict[Hashable, list[Task]] = {}
    for task in tasks:
        groups.setdefault(task.group, []).append(task)
    return groups
