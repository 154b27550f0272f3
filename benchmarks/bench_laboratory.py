"""What the laboratory adds to the runs: workers, the ledger, and a ledger of many records.

1. Two workers against one, the same sweep, compiled programs cached (required: 1.8 times);
2. the ledger's and the runner's own time a run at 2,000 runs (required: below 3 ms), by an executor
   whose runs are done at once;
3. a ledger of many records, made up: opened, filtered by study, exported to a table.

    python -m benchmarks.bench_laboratory
"""

import argparse
import subprocess
import sys
import tempfile
import time
from concurrent.futures import Future
from pathlib import Path

from attnlab.lab import export, ledger, payload, plan, rounds, runner
from attnlab.lab.executors import Executor
from attnlab.lab.outcomes import Outcome
from attnlab.lab.registry import study
from attnlab.lab.worker import Answer
from benchmarks.measuring import measured, quotients

STUDY = "li2023.figure_1a"
SWEEP = ("sweep", "li2023", "--grid", "N=100", "--set", "steps=2000", "--set", "engine=exact")


class AtOnce(Executor):
    """Runs that are done as soon as they are asked for."""

    slots = 2
    answer = Answer("finished", payload.encode({"x": 1.0}), seconds=0.1)

    def submit(self, slot: int, task: plan.Task) -> Future:
        """A run that has ended."""
        future: Future = Future()
        future.set_result(None)
        return future

    def outcome(self, future: Future) -> Outcome:
        """Always the same."""
        return Outcome("finished", answer=self.answer)

    def stop(self) -> None:
        """Nothing runs."""


def tasks(count: int) -> list[plan.Task]:
    """So many runs of one cell."""
    of = study(STUDY)
    cell = of.resolve(of.designs["smoke"].cells[0])
    return [rounds.task(of, cell, seed) for seed in range(count)]


def workers(folder: Path, repetitions: int, seeds: int) -> bool:
    """The same sweep by one worker and by two."""
    taken: dict[int, list[float]] = {1: [], 2: []}
    for repetition in range(-1, repetitions):  # the first round compiles
        for count, times in taken.items():
            out = folder / f"sweep-{repetition}-{count}"
            options = ("--seeds", str(seeds), "--workers", str(count), "--out", str(out))
            begin = time.perf_counter()
            subprocess.run(
                [sys.executable, "-m", "attnlab.cli", *SWEEP, *options],
                check=True,
                capture_output=True,
            )
            if repetition >= 0:
                times.append(time.perf_counter() - begin)
    return measured("two workers, times one", quotients(taken[1], taken[2]), 1.8)


def ledger_time(folder: Path, repetitions: int) -> bool:
    """Milliseconds that the runner and the ledger take a run."""
    found, asked = [], tasks(2000)
    for repetition in range(repetitions):
        with ledger.writing(folder / f"ledger-{repetition}") as book:
            begin = time.perf_counter()
            runner.run(runner.unfinished(asked, book), book, AtOnce())
            found.append(1000 * (time.perf_counter() - begin) / len(asked))
    return measured("ledger and runner, ms a run", found, 3.0, at_least=False)


def many_records(folder: Path, count: int) -> bool:
    """A ledger of many records: written in one transaction, then used as any other."""
    out = folder / "many"
    with ledger.writing(out) as book:
        runner.run(tasks(1), book, AtOnce())
        names = "identity, code, stack, study, cell, seed, diverged, digest, payload, seconds"
        with book._db:
            book._db.execute(
                f"WITH RECURSIVE k(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM k WHERE i < {count})"
                f" INSERT INTO record({names}, finished, preparing)"
                " SELECT printf('%064x', i), code, stack, CASE i % 2 WHEN 0 THEN study ELSE"
                " 'gone.study' END, cell, i, diverged, digest, payload, seconds, finished,"
                " preparing"
                " FROM k, (SELECT * FROM record LIMIT 1)"
            )
    begin = time.perf_counter()
    with ledger.reading(out) as book:
        measured(f"{count:.0e} records, seconds to open and check", time.perf_counter() - begin)
        begin = time.perf_counter()
        rows = {row.study: row.current for row in book.summary()}
        measured(f"{count:.0e} records, seconds to count by study", time.perf_counter() - begin)
        assert rows[STUDY] == count // 2 + 1
        begin = time.perf_counter()
        table = export.rows(book)[STUDY]
        measured(f"{count:.0e} records, seconds to read half", time.perf_counter() - begin)
        assert len(table) == count // 2 + 1
    return True


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--records", type=int, default=10**6)
    parser.add_argument("--seeds", type=int, default=24)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        met = [
            workers(folder, options.repetitions, options.seeds),
            ledger_time(folder, options.repetitions),
            many_records(folder, options.records),
        ]
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
