"""Mutants against the tests of their modules.

    python -m benchmarks.mutation                           # 240 mutants over all modules
    python -m benchmarks.mutation --only data/ probes/      # these modules only
    python -m benchmarks.mutation --only probes/phase.py --per-module 50
    python -m benchmarks.mutation --write                   # and docs/mutation.md

Why no ready tool: cosmic-ray changes the work tree in place and knows one test command for all
modules; mutmut forks after the import, which jax's threads do not survive.
"""

import argparse
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import zip_longest
from pathlib import Path
from queue import SimpleQueue

from benchmarks.mutation import report
from benchmarks.mutation.mutants import Mutant, mutants
from benchmarks.mutation.targets import PACKAGE, targets
from benchmarks.mutation.trial import Tree

SLOWEST_BASELINE = 300
GENEROUS = 60.0
"""The seconds of a test file that was not measured."""


def sample(modules: list[str], total: int | None, per_module: int | None) -> list[Mutant]:
    """The first mutants by rank of every module in turn: a prefix is spread evenly too."""
    lists = []
    for module in modules:
        found = mutants(module, (PACKAGE / module).read_text())
        lists.append(sorted(found, key=lambda mutant: mutant.rank)[:per_module])
    turns = [mutant for turn in zip_longest(*lists) for mutant in turn if mutant is not None]
    return turns[: None if per_module else total]


def main() -> int:
    """Run the sample; 1 if too few mutants are killed."""
    options = _options()
    tests = targets(options.only)
    chosen = sample(list(tests), options.mutants, options.per_module)
    if options.list:
        print("\n".join(f"{mutant.module}:{mutant.line} {mutant.key}" for mutant in chosen))
        return 0
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="mutation-") as folder:
        rows = _run(chosen, tests, options, Path(folder), began + 60 * options.minutes)
    print(f"\n{report.table(rows)}\n{(time.monotonic() - began) / 60:.1f} minutes")
    if len(rows) < len(chosen):
        print(f"{len(chosen) - len(rows)} mutants were left out: the time was up")
    for mutant in report.survivors(rows):
        if mutant.key not in report.reasons():
            print(f"unexplained: {mutant.key}")
    if options.write:
        report.PAGE.write_text(report.page(rows))
    return int(report.score(rows) < report.REQUIRED)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mutation")
    parser.add_argument("--only", nargs="*", default=[], help="modules below src/attnlab: prefixes")
    parser.add_argument("--mutants", type=int, default=240, help="how many in all")
    parser.add_argument("--per-module", type=int, help="how many of each module instead")
    parser.add_argument("--minutes", type=float, default=28, help="then no new mutant is begun")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--assume-green", action="store_true", help="do not run the tests as is")
    parser.add_argument("--list", action="store_true", help="name the mutants and run nothing")
    parser.add_argument("--write", action="store_true", help="write docs/mutation.md")
    options = parser.parse_args()
    if options.write and (options.only or options.per_module or options.assume_green):
        parser.error("got --write with a part of the work; the page is of the whole sample")
    return options


def _run(
    chosen: list[Mutant],
    tests: dict[str, list[str]],
    options: argparse.Namespace,
    folder: Path,
    deadline: float,
) -> list[report.Row]:
    trees: SimpleQueue[Tree] = SimpleQueue()
    for worker in range(options.workers):
        trees.put(Tree(folder / str(worker)))
    files = sorted({test for mutant in chosen for test in tests[mutant.module]})

    def baseline(file: str) -> float:
        if options.assume_green:
            return GENEROUS
        tree = trees.get()
        try:
            trial = tree.run([file], SLOWEST_BASELINE)
        finally:
            trees.put(tree)
        if trial.outcome != "survived":
            raise SystemExit(f"{file} fails without any mutant:\n{trial.words}")
        print(f"{trial.seconds:5.1f} s {file}", flush=True)
        return trial.seconds

    def attempt(mutant: Mutant) -> report.Row | None:
        if time.monotonic() > deadline:
            return None
        files = tests[mutant.module]
        allowed = 20 + 3 * sum(seconds[file] for file in files)
        tree = trees.get()
        try:
            trial = tree.run_mutated(mutant.module, mutant.source, files, allowed)
        finally:
            trees.put(tree)
        print(
            f"{trial.outcome:8s} {trial.seconds:5.1f} s line {mutant.line} {mutant.key}", flush=True
        )
        return report.Row(mutant, trial.outcome)

    with ThreadPoolExecutor(options.workers) as pool:
        seconds = dict(zip(files, pool.map(baseline, files), strict=True))
        rows = pool.map(attempt, chosen)
        return [row for row in rows if row is not None]


if __name__ == "__main__":
    sys.exit(main())
