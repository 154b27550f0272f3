"""What every `auto` of a training's settings stands for: the cheapest engine that is exact.

What an engine is exact for is said in `attnlab.data.word_exactness`; here is only the choice.
"""

from dataclasses import replace

from attnlab.core import BadInput
from attnlab.data.word_exactness import (
    NORMAL,
    gram_why_not,
    grams_close,
    symmetric_why_not,
    unused_words_why_not,
    weights_why_not,
)
from attnlab.data.word_sizes import random_words_required, type_counts
from attnlab.papers.yang2024.settings import Engine, TrainingSettings

LARGEST_DRAWN_WIDTH = 4096
MOST_NEURONS = 1024
"""What auto follows: each costs as many numbers as there are words."""


def resolve(cell: TrainingSettings) -> TrainingSettings:
    """Replace d=0 and every auto by what they stand for; refuse what no engine can do."""
    if cell.probes == "auto":
        drawn = cell.engine != "symmetric" and cell.initial != "mean" and cell.m1 <= MOST_NEURONS
        followed = drawn and grams_close(cell.method, neurons=True)
        cell = replace(cell, probes="neurons" if followed else "words")
    cell = replace(cell, d=cell.vocabulary, engine=_engine(cell))
    if cell.engine == "symmetric":
        _refuse(_why_not_symmetric(cell))
        return replace(cell, initial="mean")
    if cell.initial == "auto":
        drawn = cell.m <= LARGEST_DRAWN_WIDTH or cell.weights not in NORMAL
        by_weights = cell.engine == "weights" or drawn
        cell = replace(cell, initial="weights" if by_weights else "bartlett")
    asked = {name: getattr(cell, name) for name in ("method", "probes", "weights", "initial")}
    if cell.engine == "weights":
        _refuse(weights_why_not(**asked))
    else:
        _refuse(gram_why_not(**asked, d=cell.d, m=cell.m, m1=cell.m1))
    return cell


def _engine(cell: TrainingSettings) -> Engine:
    """The engine that is asked for, or the cheapest that is exact."""
    if cell.engine != "auto":
        return cell.engine
    # Measured: a step of descent on Grams is the cheaper one from about m = 2 d on.
    narrow = cell.method != "flow" and cell.m <= 2 * cell.vocabulary and cell.initial != "mean"
    closed = grams_close(cell.method, neurons=cell.probes == "neurons")
    return "weights" if narrow or not closed else "gram"


def _why_not_symmetric(cell: TrainingSettings) -> str:
    names = ("sampler", "words", "labels", "method", "initial", "probes")
    asked = {name: getattr(cell, name) for name in names}
    reason = symmetric_why_not(**asked)
    # Only a balanced set has a number of words that it needs.
    return reason or unused_words_why_not(
        cell.d, random_words_required(type_counts(cell.n), cell.L)
    )


def _refuse(reason: str) -> None:
    if reason:
        raise BadInput(reason)


def resolve_start(cell: TrainingSettings) -> TrainingSettings:
    """The same for studies of the weights as they are drawn: no other engine has them."""
    if cell.engine not in ("auto", "weights"):
        raise BadInput(
            f"got engine={cell.engine} where the weights are measured as they are drawn; take "
            "--engine weights"
        )
    return resolve(replace(cell, engine="weights"))
