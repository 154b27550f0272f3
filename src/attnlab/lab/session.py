"""A session of runs as a person sees it: an estimate, a progress bar, Ctrl-C that loses nothing."""

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

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


def compute(
    tasks: list[Task],
    ledger: Ledger,
    *,
    workers: int | None,
    dask: str | None = None,
    console: Console,
    accepted: Callable[[], None] = lambda: None,
) -> runner.Progress:
    """Make the runs among the tasks that have no record yet.

    `accepted` is called once there is somebody to make them, before the first one.
    """
    require_workers(workers, dask)
    to_do = runner.unfinished(tasks, ledger)
    have = len(tasks) - len(to_do)
    summary = f"{len(tasks)} runs: {have} in the ledger, {len(to_do)} to make"
    if not to_do:
        accepted()
        console.print(summary, highlight=False)
        return runner.Progress()
    try:
        with _terminated_as_interrupted(), _executor(workers, dask, len(to_do)) as executor:
            accepted()
            guess = runner.estimate(tasks, to_do, ledger, executor.slots)
            basis = "from earlier timings" if guess.from_timings else "a first guess"
            plural = "worker" if executor.slots == 1 else "workers"
            about = f"about {duration(guess.seconds)} on {executor.slots} {plural} ({basis})"
            console.print(f"{summary}; {about}", highlight=False)
            with _shown(console, len(to_do)) as notify:
                progress = runner.run(to_do, ledger, executor, notify)
    except KeyboardInterrupt:
        done = len(ledger.finished(to_do))
        console.print(
            f"interrupted: {have + done} of {len(tasks)} runs are in {ledger.path}; "
            "give the same command again to go on",
            highlight=False,
            soft_wrap=True,
        )
        sys.exit(INTERRUPTED)
    if progress.failed:
        console.print(
            f"{progress.failed} runs failed and are counted as such; the last one: "
            f"{last_lines(ledger.failures()[-1]['message'], 1)}; `attnlab ledger "
            f"{ledger.path.parent} --failures` shows why, and the same command tries again",
            highlight=False,
            soft_wrap=True,
        )
    return progress


def duration(seconds: float) -> str:
    """A time in words: `40 s`, `3 min 20 s`, `2 h 5 min`."""
    whole = max(1, round(seconds))
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
