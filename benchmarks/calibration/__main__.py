"""The court on trial: verdicts on synthetic records whose truth is known, law by law.

    python -m benchmarks.calibration                # prints the table
    python -m benchmarks.calibration --write        # and puts it, with a figure, into docs/

A case is a statement, a way to draw records of a given truth, and a few truths: clearly true, at
the edge of what is stated, false by a little, false by a lot. The edge is the hardest truth: a
verdict there is as likely wrong as it will ever be, whichever side the edge is counted to. Every
verdict goes through `judge`, with a second route that always agrees, so that nothing but the law
stands between chance and a wrong word.
"""

import argparse
import functools
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.calibration.cases import Truth, cases

DOCS = Path(__file__).parent.parent.parent / "docs"
MARK = "<!-- calibration: python -m benchmarks.calibration --write -->"
ALLOWED = 0.05


@dataclass(frozen=True)
class Row:
    """How often each verdict was given for one truth."""

    case: str
    kind: str
    truth: Truth
    counts: Counter
    repetitions: int

    def share(self, outcome: str) -> float:
        """The share of repetitions with an outcome."""
        return self.counts[outcome] / self.repetitions

    @property
    def wrong(self) -> int:
        """The worst count of a wrong verdict."""
        return max((self.counts[word] for word in self.truth.wrong), default=0)

    @property
    def calibrated(self) -> bool:
        """Whether the wrong verdicts are as rare as chance allows at 5 %."""
        from scipy.stats import binom

        return self.wrong <= binom.ppf(0.99, self.repetitions, ALLOWED)


# --- running ----------------------------------------------------------------------------------


def run_truth(job: tuple[int, int], repetitions: int) -> Row:
    """One truth of one case; the seeds are its own."""
    index, number = job
    case = cases()[index]
    truth = case.truths[number]
    random = np.random.default_rng(job)
    repetitions = max(repetitions // case.cost, 50)
    counts = Counter(case.verdict(truth.effect, random) for _ in range(repetitions))
    return Row(case.name, case.claim.kind, truth, counts, repetitions)


def calibrate(repetitions: int = 600, workers: int = 2) -> list[Row]:
    """Every truth of every case, over worker processes, the expensive ones first."""
    found = cases()
    jobs = [(i, k) for i, case in enumerate(found) for k in range(len(case.truths))]
    order = sorted(jobs, key=lambda job: -found[job[0]].cost)
    with ProcessPoolExecutor(workers) as pool:
        rows = pool.map(functools.partial(run_truth, repetitions=repetitions), order)
        by_job = dict(zip(order, rows, strict=True))
    return [by_job[job] for job in jobs]


# --- showing ----------------------------------------------------------------------------------

LETTERS = {"supported": "S", "contradicted": "C", "depends": "D", "vacuous": "V"}


def table(rows: Sequence[Row]) -> str:
    """A line per case: the verdicts at each truth in percent, and the worst share of wrong ones."""
    lines = [
        "| law, runs | kind | verdicts in % by truth | wrong |",
        "|---|---|---|---|",
    ]
    for name in dict.fromkeys(row.case for row in rows):
        own = [row for row in rows if row.case == name]
        verdicts = "; ".join(f"{row.truth.name}: {_shares(row)}" for row in own)
        wrong = max(row.wrong / row.repetitions for row in own)
        lines.append(f"| {name} | {own[0].kind} | {verdicts} | {100 * wrong:.1f} |")
    return "\n".join(lines)


def _shares(row: Row) -> str:
    shown = [
        f"{100 * row.share(word):.0f} {letter}"
        for word, letter in LETTERS.items()
        if row.share(word) >= 0.005
    ]
    return ", ".join(shown) or "–"


POWER = {
    "AtMost, mean of 8": (0.0, 2.0),
    "Share .9 of 40": (0.5, 1.0),
    "Power, 7 levels of 4": (0.6, 1.6),
    "Monotone, 4 levels of 8": (-1.0, 1.0),
    "Paired ratio, 8 pairs": (0.3, 1.8),
    "two readings that differ": (0.0, 2.0),
}
"""The cases of the figure, and the effects that it shows."""


def draw_power(path: Path, repetitions: int = 300) -> None:
    """Verdicts against the size of the effect, for six cases."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 4.6), layout="constrained")
    panels = figure.subplots(2, 3, sharey=True)
    known = {case.name: case for case in cases()}
    for axes, (name, (low, high)) in zip(panels.flat, POWER.items(), strict=True):
        case, effects = known[name], np.linspace(low, high, 13)
        rows = []
        for k, effect in enumerate(effects):
            random = np.random.default_rng((99, k))
            rows.append(Counter(case.verdict(float(effect), random) for _ in range(repetitions)))
        for word, colour in (
            ("supported", "#1b7837"),
            ("contradicted", "#b2182b"),
            ("depends", "#e08214"),
        ):
            shares = [row[word] / repetitions for row in rows]
            if any(shares):
                axes.plot(effects, shares, ".-", color=colour, label=word)
        for truth in case.truths:
            if "edge" in truth.name or truth.name == "flat":
                axes.axvline(truth.effect, color="0.6", lw=1, ls="--")
        axes.axhline(ALLOWED, color="0.8", lw=1)
        axes.set_title(name, fontsize=9)
        axes.set_ylim(-0.03, 1.03)
    for axes in (panels[0, 0], panels[1, 2]):
        axes.legend(fontsize=8)
    figure.supxlabel("true effect (dashed: the edge of what is stated)", fontsize=9)
    figure.supylabel("share of verdicts", fontsize=9)
    figure.savefig(path, dpi=110, metadata={"Software": None})


def write(rows: Sequence[Row]) -> None:
    """The table between its marks in docs/evidence.md, and the figure."""
    page = DOCS / "evidence.md"
    before, _, after = page.read_text(encoding="utf-8").split(MARK)
    page.write_text(f"{before}{MARK}\n{table(rows)}\n{MARK}{after}", encoding="utf-8")
    draw_power(DOCS / "images" / "calibration.png")


def main() -> int:
    """Print the table; fail if a verdict is wrong too often."""
    parser = argparse.ArgumentParser(description="Calibrate the court.")
    parser.add_argument("--repetitions", type=int, default=600)
    parser.add_argument("--write", action="store_true", help="write docs/evidence.md's table")
    given = parser.parse_args()
    rows = calibrate(given.repetitions)
    print(table(rows))
    if given.write:
        write(rows)
    for row in rows:
        if not row.calibrated:
            share = f"{row.wrong} of {row.repetitions}"
            print(f"not calibrated: {row.case}, {row.truth.name}: {share} are wrong")
    return int(any(not row.calibrated for row in rows))


if __name__ == "__main__":
    raise SystemExit(main())
