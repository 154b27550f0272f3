"""A session of runs as a person sees it: an estimate, a progress bar, Ctrl-C that loses nothing."""

import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import NamedTuple

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.progress import Progress as Bar

from attnlab.lab import runner
from attnlab.lab.executors import (
    Executor,
    LocalExecutor,
    available_cores,
    require_workers,
)
from attnlab.lab.ledger import Ledger, last_lines
from attnlab.lab.plan import Task

INTERRUPTED = 130
LONGEST = 1000 * 365.25 * 86400
"""In seconds: a time that is not worth an exact word, and may be infinite."""


class Stage(NamedTuple):
    """Runs that are made together: those of a command, then those that their records lead to."""

    tasks: list[Task]
    further: Sequence[tuple[Task, int]] = ()
    """Runs that later rounds of a search can take at most."""
    words: str = ""
    """What is said before it begins."""


Following = Callable[[runner.Progress], Iterator[Stage]]
"""The stages after the first, each chosen by the records of those before it."""


def compute(
    tasks: list[Task],
    ledger: Ledger,
    *,
    workers: int | None,
    dask: str | None = None,
    console: Console,
    accepted: Callable[[], None] = lambda: None,
    further: Sequence[tuple[Task, int]] = (),
    following: Following = lambda progress: iter(()),
) -> runner.Progress:
    """Make the runs among the tasks that have no record yet, then those of the stages after it.

    `accepted` is called once there is somebody to make them, before the first one. All stages
    share their workers, which are started with the first run that is to be made.
    """
    require_workers(workers, dask)
    progress, stage = runner.Progress(), Stage(tasks, further)
    stages = _stages(stage, lambda: following(progress))
    try:
        with _terminated_as_interrupted(), ExitStack() as stack:
            executor = None
            for number, stage in enumerate(stages):
                to_do = runner.unfinished(stage.tasks, ledger)
                if stage.words:
                    console.print(stage.words, highlight=False)
                if to_do and executor is None:
                    room = len(to_do) + sum(runs for _, runs in stage.further)
                    executor = stack.enter_context(_executor(workers, dask, room))
                if number == 0:
                    accepted()
                if executor is None or not to_do:
                    console.print(_summary(stage.tasks, to_do), highlight=False)
                    continue
                _tell(stage, to_do, ledger, executor.slots, console)
                with _shown(console, len(to_do)) as notify:
                    progress.add(runner.run(to_do, ledger, executor, notify))
    except KeyboardInterrupt:
        done = len(ledger.finished(stage.tasks))
        console.print(
            f"interrupted: {done} of {len(stage.tasks)} runs are in {ledger.path}; "
            "give the same command again to go on",
            highlight=False,
            soft_wrap=True,
        )
        sys.exit(INTERRUPTED)
    if progress.failed:
        console.print(
            f"{progress.failed} runs failed and are counted as such; the last one: "
            f"{last_lines(ledger.failures()[-1].message, 1)}; `attnlab ledger "
            f"{ledger.path.parent} --failures` shows why, and the same command tries again",
            highlight=False,
            soft_wrap=True,
        )
    return progress


def _stages(first: Stage, following: Callable[[], Iterator[Stage]]) -> Iterator[Stage]:
    yield first
    yield from following()


def _summary(tasks: list[Task], to_do: list[Task]) -> str:
    have = len(tasks) - len(to_do)
    return f"{len(tasks)} runs: {have} in the ledger, {len(to_do)} to make"


def _tell(stage: Stage, to_do: list[Task], ledger: Ledger, slots: int, console: Console) -> None:
    """How much there is to do, and how much more it can become."""
    guess = runner.estimate(stage.tasks, to_do, ledger, slots)
    basis = "from earlier timings" if guess.from_timings else "a first guess"
    plural = "worker" if slots == 1 else "workers"
    about = f"about {duration(guess.seconds)} on {slots} {plural} ({basis})"
    console.print(f"{_summary(stage.tasks, to_do)}; {about}", highlight=False)
    if most := runner.estimate_most(stage.further, ledger, slots):
        runs, seconds = most
        more = f"  then a search in rounds: at most {runs} runs more, {duration(seconds)}"
        console.print(more, highlight=False)


def duration(seconds: float) -> str:
    """A time in words: `40 s`, `3 min 20 s`, `2 h 5 min`, `more than 1000 years`."""
    if seconds > LONGEST:
        return "more than 1000 years"
    whole = round(max(1.0, seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


@contextmanager
def _executor(workers: int | None, dask: str | None, most: int) -> Iterator[Executor]:
    """Where the runs are made: the cores of this machine, or a cluster; at most `most` slots."""
    if dask is None:
        executor = LocalExecutor(min(workers or available_cores(), most))
    else:
        from attnlab.lab.dask_executor import DaskExecutor

        executor = DaskExecutor(dask, most)
    try:
        yield executor
    finally:
        executor.stop()


@contextmanager
def _shown(console: Console, total: int) -> Iterator:
    """A progress bar on a terminal; elsewhere a line at each tenth."""
    if not console.is_terminal:
        tenths, started = 0, False

        def notify_lines(progress: runner.Progress) -> None:
            nonlocal tenths, started
            ended = progress.done + progress.failed
            if not started and not ended:
                console.print("  compiling the first programs", highlight=False)
            started = True
            if ended * 10 // total > tenths:
                tenths = ended * 10 // total
                console.print(f"  {ended}/{total} runs{_troubles(progress)}", highlight=False)

        yield notify_lines
        return
    columns = (
        TextColumn("{task.fields[doing]}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[troubles]}"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(elapsed_when_finished=False),
    )
    with Bar(*columns, console=console) as bar:
        # Nothing has ended yet: the workers start and compile, which takes a while.
        line = bar.add_task("runs", total=total, troubles="", doing="compiling")

        def notify_bar(progress: runner.Progress) -> None:
            ended = progress.done + progress.failed
            doing = "runs" if ended else "compiling"
            troubles = _troubles(progress).strip(", ")
            bar.update(line, completed=ended, troubles=troubles, doing=doing)

        yield notify_bar


def _troubles(progress: runner.Progress) -> str:
    named = (("failed", progress.failed), ("diverged", progress.diverged))
    named += (("tried again", progress.requeued),)
    return "".join(f", {count} {name}" for name, count in named if count)


@contextmanager
def _terminated_as_interrupted() -> Iterator[None]:
    """SIGTERM ends a command as Ctrl-C does."""

    def interrupt(signum, frame):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
