"""The comparison of two ledgers by the digests of their records, each taken anew."""

from dataclasses import dataclass

from attnlab.lab.ledger import Ledger
from attnlab.lab.ledger_rows import Newest


@dataclass(frozen=True)
class Comparison:
    """How many records are equal, and a sentence on each that is not."""

    equal: int
    differences: tuple[str, ...]


def compare(first: Ledger, second: Ledger) -> Comparison:
    """Compare the newest record of every identity that either ledger holds."""
    a, b = first.newest_rows(), second.newest_rows()
    sentences = [f"only in {first.path}: {_name(a[i])}" for i in a if i not in b]
    sentences += [f"only in {second.path}: {_name(b[i])}" for i in b if i not in a]
    both = [i for i in a if i in b]
    unequal = [i for i in both if a[i].digest != b[i].digest]
    sentences += [f"differs: {_name(a[i])}: {_differing(a[i], b[i])}" for i in unequal]
    return Comparison(len(both) - len(unequal), tuple(sentences))


def _name(row: Newest) -> str:
    return f"{row.study} seed {row.seed} {row.cell}"


def _differing(a: Newest, b: Newest) -> str:
    import numpy as np

    if a.diverged != b.diverged:
        return f"ended {a.diverged or 'finite'} and {b.diverged or 'finite'}"
    left, right = a.values, b.values
    words = [f"{name} is in one only" for name in sorted(left.keys() ^ right.keys())]
    for name in sorted(left.keys() & right.keys()):
        x, y = left[name], right[name]
        if isinstance(x, str) or isinstance(y, str):
            words += [f"{name}: {x!r} and {y!r}"] if x is not y and str(x) != str(y) else []
        elif x.shape != y.shape or x.dtype != y.dtype:
            words.append(f"{name}: {x.dtype}{list(x.shape)} and {y.dtype}{list(y.shape)}")
        elif x.tobytes() != y.tobytes():
            with np.errstate(invalid="ignore", over="ignore"):
                gaps = np.abs(x.astype(np.float64) - y.astype(np.float64))
            gap = np.max(gaps, initial=0.0, where=np.isfinite(gaps))
            finite = np.isfinite(x) == np.isfinite(y)
            words.append(
                f"{name} by up to {gap:.3g}" if finite.all() else f"{name}: one not finite"
            )
    return ", ".join(words)
