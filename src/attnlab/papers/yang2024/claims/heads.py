"""Section 5's directions beyond the paper's network and data: several heads, words in a chain."""

from attnlab.claims import Control, Part, Source
from attnlab.evidence.laws import AtLeast, Equal, Power, Share, stored
from attnlab.evidence.paired_laws import Paired
from attnlab.evidence.statement import statement
from attnlab.papers.yang2024.settings.heads import HeadSettings

_MOST = 8
_SCORES = stored("least_score_change", "least signed change of the four scores over all heads")
_MOVED = stored("attention_moved", "largest change of an attention weight")
_END = stored("T1_every_sample", "T1 in steps")
_RIGHT = Share(AtLeast(1e-300), 0.8)
_WHY = "Ours, written before any run of the study: a share of 0.8 of the runs"
_MEASURED = "500 steps at n = 24, L = 4, m = 512, m1 = 64 from the theory's initialisation: "


def _plain(cell: HeadSettings) -> bool:
    return cell.chain == 0


def _chained(cell: HeadSettings) -> bool:
    return cell.chain > 0


def _against_one(ratio: float) -> Paired:
    return Paired("heads", _MOST, 1, Equal(ratio, 0.05), by=("n", "L", "m", "m1", "c0", "chain"))


HEADS = statement("yang2024.finding_heads", "finding",
    title="Several heads: each learns the same scores, and less of them",
    statement="With the width split over 1 to 8 heads the scores of every head go the way of "
    "Theorem 3.2, T1 stays the same, and attention moves by one over the number of heads.",
    source=Source("5", "multi-headed attention, left to future work"),
    stated="scores as in Theorem 3.2 in every head in 0.8 of the runs; T1 of 8 heads over one: 1; "
    "largest change of attention: exponent -1 in the number of heads",
    measured=_MEASURED + "the least signed change of the four scores over all heads; T1 with 8 "
    "heads over that with one, from the same weights; the largest change of attention over heads.",
    why=_WHY + ", 5 % for T1, 0.3 for the exponent, which follows from the sizes: a head has 1/H "
    "of the output and of the keys' squares, and a softmax scale larger by sqrt(H), twice.",
    parts=(Part("scores of every head", "heads", _SCORES, _RIGHT, cells=_plain),
        Part("T1", "heads", _END, _against_one(1.0), cells=_plain),
        Part("change of attention", "heads", _MOVED, Power("heads", -1.0, "equal", 0.3),
            cells=_plain, path="1 to 8 heads at m = 512",
            whole_range="beyond 8 heads of width 64 a head is no wider than the vocabulary")),
    controls=(Control("shuffled labels", "labels permuted", "scores of every head",
            changes={"labels": "shuffled"}),
        Control("half of T1", "8 heads need half of the steps", "T1", law=_against_one(0.5)),
        Control("as much in every head", "exponent 0", "change of attention",
            law=Power("heads", 0.0, "equal", 0.3))),
    positive={"least_score_change": 1.0},
    notes="The first run had 1,500 steps, which changed no outcome: 500 are eight times T1.",
)  # fmt: skip

CHAINS = statement("yang2024.finding_chained_words", "finding",
    title="Random words that follow each other train alike",
    statement="If a random word is in four cases of five the successor of the one before it, every "
    "training sample comes out correct and the scores go the way of Theorem 3.2.",
    source=Source("5", "tokens generated in a correlated fashion, left to future work"),
    stated="every sample correct, scores as in Theorem 3.2, each in 0.8 of the runs",
    measured=_MEASURED + "twelve random words in a cycle; whether T1 exists, and the least signed "
    "change of the four scores.",
    why=_WHY + ".",
    parts=(Part("all correct", "heads", _END, Share(AtLeast(0.0), 0.8), cells=_chained),
        Part("scores", "heads", _SCORES, _RIGHT, cells=_chained)),
    controls=(Control("shuffled labels", "labels permuted", "scores",
            changes={"labels": "shuffled"}),),
    positive={"T1_every_sample": 60.0, "least_score_change": 1.0},
    notes="Of next-token prediction, which section 5 names beside it, there is nothing here.",
)  # fmt: skip

HEAD_FINDINGS = (HEADS, CHAINS)
