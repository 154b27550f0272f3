"""Run every benchmark, each in a process of its own: `make bench`, or `make bench ARGS=weights`.

A script that misses a requirement is run once more, for the machine may have been busy: what is
missed twice is missed. `--write` keeps the numbers in benchmarks/ratios.json (and as a figure of
the docs); `--check` names those that are worse than the kept ones by more than a quarter.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from benchmarks.measuring import FILE, Line

HERE = Path(__file__).parent
KEPT = HERE / "ratios.json"
PICTURE = HERE.parent / "docs" / "images" / "benchmarks.png"
WORSE = 0.75


def run(script: Path) -> list[Line]:
    """What one script measures; an exception if it ends without having said anything."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "lines"
        environment = {**os.environ, FILE: str(path), "PYTHONPATH": str(HERE.parent)}
        code = subprocess.run([sys.executable, script], env=environment, check=False).returncode
        if code not in (0, 1) or not path.is_file():
            raise SystemExit(f"{script.name} ended with {code} before it had measured anything")
        return [Line(**json.loads(text)) for text in path.read_text().splitlines()]


def twice_if_missed(script: Path) -> list[Line]:
    """The script's lines; those of a second run where the first one missed and it did not."""
    print(f"== {script.stem}", flush=True)
    lines = run(script)
    if all(line.met for line in lines):
        return lines
    print("== a requirement was missed: once more", flush=True)
    again = {line.name: line for line in run(script)}
    return [line if line.met else again.get(line.name, line) for line in lines]


def worse(lines: list[Line], kept: list[Line]) -> list[str]:
    """A sentence on each number that is worse than the kept one by more than a quarter."""
    before = {(line.bench, line.name): line for line in kept}
    sentences = []
    for line in lines:
        old = before.get((line.bench, line.name))
        if old is None or min(old.median, line.median) <= 0:
            continue
        change = line.median / old.median if line.at_least else old.median / line.median
        if change < WORSE:
            sentences.append(f"{line.bench}, {line.name}: {line.median:.3g}, was {old.median:.3g}")
    return sentences


def draw(lines: list[Line]) -> None:
    """What was measured over what is required, as a figure."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    shown = [line for line in lines if line.required is not None]
    figure, axes = plt.subplots(figsize=(8, 0.34 * len(shown) + 1.0), layout="constrained")
    for row, line in enumerate(shown):
        assert line.required is not None
        low, mid, high = (
            x / line.required if line.at_least else line.required / max(x, 1e-9)
            for x in (line.low, line.median, line.high)
        )
        axes.plot([low, high], [row, row], color="0.6", lw=3, zorder=1)
        axes.plot(mid, row, "o", color="tab:blue" if line.met else "tab:red", zorder=2)
    axes.axvline(1.0, color="0.2", lw=0.8)
    axes.set(
        xscale="log",
        xlabel="times better than required (median and range over repetitions)",
        yticks=range(len(shown)),
        yticklabels=[f"{line.bench}: {line.name}" for line in shown],
    )
    axes.invert_yaxis()
    axes.tick_params(labelsize=7)
    figure.savefig(PICTURE, dpi=120)


def main() -> int:
    """Run the scripts whose name holds one of the words given (all without a word)."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("words", nargs="*")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    scripts = [
        script
        for script in sorted(HERE.glob("bench_*.py"))
        if not options.words or any(word in script.stem for word in options.words)
    ]
    lines = [line for script in scripts for line in twice_if_missed(script)]
    print("\n== all")
    for line in lines:
        print(f"{line.bench}: {line}")
    fell = worse(lines, _kept()) if options.check else []
    for sentence in fell:
        print(f"worse by more than a quarter: {sentence}")
    if options.write:
        others = [line for line in _kept() if line.bench not in {x.bench for x in lines}]
        found = sorted([*others, *lines], key=lambda line: line.bench)
        KEPT.write_text(json.dumps([asdict(line) for line in found], indent=1) + "\n")
        draw(found)
    return int(bool(fell) or not all(line.met for line in lines))


def _kept() -> list[Line]:
    if not KEPT.is_file():
        return []
    return [Line(**row) for row in json.loads(KEPT.read_text())]


if __name__ == "__main__":
    sys.exit(main())
