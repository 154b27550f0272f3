"""Findings of ours beyond the paper, and the trends of our own figures under their ids."""

from dataclasses import replace

from attnlab.claims import Constant, Control, Part, Reading, Scalar, Source
from attnlab.evidence.laws import AtLeast, AtMost, Between, Equal, Power, Range, Share, stored
from attnlab.evidence.paired_laws import Paired
from attnlab.evidence.statement import statement
from attnlab.papers.yang2024.claims import phase_2 as w
from attnlab.papers.yang2024.claims.common import FROZEN, PROBABILITY, SHUFFLED, drawn_hypotheses
from attnlab.papers.yang2024.scalars import examples, samples
from attnlab.papers.yang2024.scalars import phase_2 as s
from attnlab.papers.yang2024.settings.paths import MapSettings
from attnlab.papers.yang2024.theory.asymptote import samples_for_unseen_words


def _fixed(name: str, scalar: Scalar, inside: Range) -> Part:
    """In most drawn runs of the study that our figures show: one n and L, several widths."""
    path = "m from 2^10 to 2^20 at n = 24, L = 4, each to a loss of 1e-6"
    return Part(name, "phase_2", scalar, Share(inside, PROBABILITY), path=path)


def _shuffled(part: str) -> Control:
    return replace(SHUFFLED, part=part)


OURS = "Cutoffs are ours and were fixed before the port to this language."

# --- what attention adds ----------------------------------------------------------------------

_TAUS = tuple(10.0**k for k in range(7))


def _paired(ratio: float, tolerance: float) -> Paired:
    by = ("n", "L", "m", "c0")
    return Paired("attention", "trained", "frozen", Equal(ratio, tolerance), by=by)


def _frozen_over(name: str, scalar: Scalar, tolerance: float) -> Part:
    path = "m = 128 and 1024 at n = 24, L = 4, c0 = 1"
    return Part(name, "frozen", scalar, _paired(1.0, tolerance), path=path)


FROZEN_ATTENTION = statement("yang2024.finding_frozen_attention", "finding",
    title="Freezing attention hardly changes training",
    statement="With the initialisation of Condition 1, s0 = 1/sqrt(L m), training keys and "
    "queries or leaving them as they are changes the loss by less than 5 % at any time until it "
    "is 1e-6, and T1 by less than 1 %.",
    source=Source("", "beside Theorem 3.3"),
    stated="loss with trained over frozen attention: 1 at all times; T1 the same",
    measured="Flows with trained and with frozen attention, paired by seed: the ratio of the "
    "losses at seven times, a power of ten in rho(0) t apart, and of T1.",
    why=OURS,
    parts=(
        *(_frozen_over(f"loss at rho(0) t = {tau:g}", samples.loss_at(tau), 0.05) for tau in _TAUS),
        _frozen_over("T1", s.T1, 0.01)),
    controls=(
        Control("attention matters", "m = 16 and s0 = 10/sqrt(L m): scores learn as fast as G",
            changes={"m": 16, "c0": 10.0}),
        Control("a tenth apart", "the loss is a tenth larger with trained attention",
            "loss at rho(0) t = 100", law=_paired(1.1, 0.05))),
    positive=examples.loss_curve(), hypotheses=drawn_hypotheses,
    notes="The theorems on attention are about its direction; this is about its effect. As m "
    "grows the coefficients of theorem_3_3, over sqrt(m) in the softmax, vanish like m^-2. "
    "Before, the largest difference over all records of a pair was taken.",
)  # fmt: skip


def _on_map(name: str, scalar: Scalar, inside: Range, cells) -> Part:
    law = Paired("attention", "trained", "frozen", inside, by=("n", "L", "m", "m1", "c0", "keys"))
    return Part(name, "attention_map", scalar, law, cells=cells, path="a grid of m, c0 and keys")


def _size(cell: MapSettings) -> float:
    return cell.c0 * cell.keys / cell.m


_LOSS_ON_MAP = stored("loss_at_10000", "loss at rho(0) t = 10,000")
_NEW_ON_MAP = stored("test_at_10000", "loss of new samples at rho(0) t = 10,000")
ATTENTION_MATTERS = statement("yang2024.attention_matters", "finding",
    title="Attention matters where keys and queries are large against m",
    statement="Training keys and queries changes the training loss and that of new samples by less "
    "than 1 % where c0 times the scale of keys and queries is at most m/64, and lowers both by 5 % "
    "and more where it is at least m/4, c0 being at most 1; T1 it hardly changes.",
    source=Source("", "beside Theorem 3.3 and section 5"),
    stated="trained over frozen: 1 within 0.01 below m/64, at most 0.95 above m/4",
    measured="Flows on classes of words at n = 96, L = 4, m1 = 64 with attention trained and "
    "frozen: the mean ratio over the cells of a grid, and its interval over them.",
    why="Ours, from the size of the coefficients, (c0 keys/m)^2, when four cells at m = 16 had "
    "been seen and before the grid was run.",
    parts=(_on_map("loss, small", _LOSS_ON_MAP, Equal(1.0, 0.01), lambda c: _size(c) <= 1 / 64),
        _on_map("new samples, small", _NEW_ON_MAP, Equal(1.0, 0.01), lambda c: _size(c) <= 1 / 64),
        _on_map("loss, large", _LOSS_ON_MAP, AtMost(0.95, owner="ours", trivial=1.0),
            lambda c: _size(c) >= 1 / 4 and c.c0 <= 1),
        _on_map("new samples, large", _NEW_ON_MAP, AtMost(0.95, owner="ours", trivial=1.0),
            lambda c: _size(c) >= 1 / 4 and c.c0 <= 1)),
    controls=(Control("half the loss", "training attention halves the loss of small cells too",
            "loss, small", law=Paired("attention", "trained", "frozen", Equal(0.5, 0.05),
                by=("n", "L", "m", "m1", "c0", "keys"))),),
    positive={key: lambda cell, _, x=1.0: 1.0 if cell.attention == "frozen" or _size(cell) < 0.1
        else 0.7 for key in ("loss_at_10000", "test_at_10000")},
    notes="At c0 = 1 and equal scales, as Condition 1 has it, the loss changes by 0.9 % at m = 16 "
    "and by less than 0.03 % from m = 256 on.",
)  # fmt: skip

# --- the constants ----------------------------------------------------------------------------

_TWO_PER_CENT = Equal(1.0, 0.02)


def _widest(name: str, scalar: Scalar, inside: Range = _TWO_PER_CENT) -> Part:
    """At the largest width, where the limit speaks; 20 runs can show a share of 0.8."""
    return Part(name, "phase_2", scalar, Share(inside, 0.8), cells=lambda c: c.m == 2**20,
                path="m = 2^20 at n = 24, L = 4")  # fmt: skip


def _on_grid(name: str, scalar: Scalar, inside: Range, reading: str = "") -> Part:
    """On the grid up to n = 480: theorem_3_3's larger n would drown both sides of a threshold."""
    return Part(name, "classes_late", scalar, Share(inside, PROBABILITY), reading,
                cells=lambda c: c.n <= 480 and c.n != 360,
                path="a grid of n and L at m = 2^14")  # fmt: skip


SVM_DUALS = statement("yang2024.finding_svm_duals", "finding",
    title="The constants of Theorem F.8 and Lemma 4.5 are hard-margin duals",
    statement="Late in training 1/loss grows at the rate (rho(0) + s0^2 m m1)/(A1 + A2 + A3 + "
    "A4), -G3'/max(G1', G2') is -w3/w1, and the random words' part of an output grows like log t "
    "with a constant of the duals, where A are the duals, summed by type, and w the solution of "
    "the hard-margin problem on the samples' bags of words.",
    source=Source("", "beside Theorem F.8, Lemma 4.5 and Corollary F.15"),
    stated="each over the closed form for balanced sets with distinct words: 1",
    measured="Flows to a loss of 1e-6 at the largest width, and on classes of words over a grid "
    "of n and L: each constant over its closed form.",
    why=OURS + " Within 2 %, random words within 5 %.",
    parts=(_widest("loss", s.LOSS_OVER["limit"]), _widest("R", s.R_OVER["limit"]),
        _on_grid("loss over n and L", s.LOSS_OVER["limit"], _TWO_PER_CENT),
        _on_grid("R over n and L", s.R_OVER["limit"], _TWO_PER_CENT),
        _widest("random words", s.RANDOM_SUM_OVER_LIMIT, Equal(1.0, 0.05))),
    controls=(
        Control("the duals of twice the samples", "the loss's", "loss",
            scalar=s.LOSS_OVER["twice n"]),
        Control("the duals of many samples, 17", "the loss's", "loss", scalar=s.LOSS_OVER["many"]),
        Control("R of twice the samples", "R's", "R", scalar=s.R_OVER["twice n"]),
        Control("R of many samples, 3/2", "R's", "R", scalar=s.R_OVER["many"]), SHUFFLED),
    positive=examples.duals(), hypotheses=drawn_hypotheses,
    constants=(Constant("sum of the duals at n = 24, L = 4", "given", 6.330),
        Constant("R at n = 24, L = 4", "given", 1.111)),
    notes="The random words stood aside before, with a share of 0.9 that 20 runs cannot show; the "
    "0.8 of the other parts was taken for it after that was seen.",
)  # fmt: skip

# --- how many samples new ones need -----------------------------------------------------------

_RIGHT = AtLeast(w.POSITIVE)
SAMPLES_NEEDED = statement("yang2024.finding_samples_needed", "finding",
    title="New random words need n > 3 (L + 1)",
    statement="Late in training the smallest margin, over types, of a sample whose random words "
    "were never seen is positive, and grows, exactly if there are more than 3 (L + 1) training "
    "samples.",
    source=Source("", "beside Condition 1"),
    stated="the margin's sign, and that of its slope in log t, is that of n - 3 (L + 1)",
    measured="Flows to a loss of 1e-6 on classes of words, from the mean start, over a grid of n "
    "and L: the margin that the three signals alone give under uniform attention.",
    why=OURS + " A share of 0.9 of the grid.",
    parts=(_on_grid("margin at the end", samples.unseen_margin(), _RIGHT),
        _on_grid("growth of the margin", samples.UNSEEN_GROWTH, _RIGHT)),
    controls=(
        Control("n > L^2", "a threshold of L^2", "margin at the end",
            scalar=samples.unseen_margin(lambda L: L**2)),
        Control("n > L + 1", "a threshold of L + 1", "margin at the end",
            scalar=samples.unseen_margin(lambda L: L + 1))),
    positive=examples.sides(),
    notes="Linear in L, where Condition 1 asks for n of the order L^2. New samples may draw the "
    "random words of training, memorised ones, and take more (test_loss). At n = 3 (L + 1) the "
    "ratio R of lemma_4_5 passes 1, so that its band is empty below.",
)  # fmt: skip

_WORST, _LOSS = "by the worst margin", "by the test loss"
TEST_LOSS = statement("yang2024.test_loss", "finding",
    title="Test samples need about 20 L samples",
    statement="Late in training new samples, whose random words are those of the training set, "
    "come out better and better exactly if n is above a threshold: 47 at L = 4, about 20.6 L for "
    "long samples. Below it they come out worse and worse.",
    source=Source("", "beside Theorem 3.3"),
    stated="the worst margin grows, and the test loss falls, exactly for n above the threshold",
    measured="Flows to a loss of 1e-6 on classes of words over a grid of n and L, on both sides "
    "of the asymptote's threshold: the slopes in log t, over the later half, of the smallest "
    "margin over types and words of training, and of the test loss.",
    why=OURS + " A share of 0.9 of the grid.",
    readings=(
        Reading(_WORST, "a new sample may hold any words of training: the worst decide in the end"),
        Reading(_LOSS, "Theorem 3.3 speaks of the test loss itself")),
    parts=(_on_grid("growth of the worst margin", samples.worst_growth(), _RIGHT, _WORST),
        _on_grid("fall of the test loss", samples.TEST_LOSS_FALL, _RIGHT, _LOSS)),
    controls=(
        Control("as unseen words", "a threshold of 3 (L + 1)", "growth of the worst margin",
            scalar=samples.worst_growth(samples_for_unseen_words)),
        Control("n > 4 L", "a threshold of 4 L", "growth of the worst margin",
            scalar=samples.worst_growth(lambda L: 4 * L))),
    positive=examples.sides(),
    notes="The flow starts at the mean of the initialisation: a cell is one run. When the "
    "training loss is 1e-6 the test loss still falls below the threshold too, for most samples "
    "come out right and the few wrong ones have not taken over yet; how late one looks decides.",
)  # fmt: skip

# --- the trends of our figures ----------------------------------------------------------------

_FIGURES = "A share of 0.9 of the runs is ours. "
PHASE_PORTRAIT = statement("yang2024.phase_portrait", "finding",
    title="Late in training the common token's rate is within the band",
    statement="At a loss of 1e-6 the output of the common token falls faster than either signal's "
    "rises and slower than both together.",
    source=Source("", "our figure, beside Lemma 4.5"),
    stated="-G3' over the larger of G1', G2' above 1, over their sum below 1",
    measured="Both ratios at the end of flows to a loss of 1e-6, at several widths.", why=_FIGURES,
    parts=(_fixed("above the larger", s.LATE_OVER_LARGER, AtLeast(1.0)),
        _fixed("below the sum", s.LATE_OVER_SUM, Between(0.0, 1.0))),
    controls=(_shuffled("above the larger"),
        w.other("at R = 3/2, the limit of many samples", "above the larger", Equal(1.5, 0.1))),
    hypotheses=drawn_hypotheses,
)  # fmt: skip

GRADIENT_BALANCE = statement("yang2024.gradient_balance", "finding",
    title="Gradients balance, at the ratio of the max-margin duals",
    statement="At a loss of 1e-6 the types with one signal have loss derivatives within a factor "
    "of 2 of each other, and R is within 5 % of its limit of infinite width and time.",
    source=Source("", "our figure, beside Lemmas 4.4 and 4.5"),
    stated="type 2 over type 3 in [1/2, 2]; R over its limit 1",
    measured="Both at the end of flows to a loss of 1e-6, at several widths.",
    why=_FIGURES + "So are the 5 %; the factor of 2 is Definition F.1's.",
    parts=(_fixed("types 2 and 3", s.LATE_TYPES, Between(0.5, 2.0)),
        _fixed("R", s.LATE_R, Equal(1.0, 0.05))),
    controls=(_shuffled("R"),
        w.other("R of many samples, 1.35 times as large", "R", Equal(1.35, 0.05))),
    hypotheses=drawn_hypotheses,
)  # fmt: skip

LOSS_RATE = statement("yang2024.loss_rate", "finding",
    title="The loss falls like the limit's constant over time",
    statement="At a loss of 1e-6 and the largest width, loss x rate x time is within 5 % of the "
    "limit of infinite width.",
    source=Source("", "our figure, beside Theorem F.8"),
    stated="loss x rate x time over its limit: 1",
    measured="At the end of the runs of the largest width.",
    why="A share of 0.8 of 20 runs, and the 5 %, are ours.",
    parts=(_widest("loss over its limit", s.LATE_LOSS, Equal(1.0, 0.05)),),
    controls=(replace(SHUFFLED, part="loss over its limit"),
        w.other("twice the constant", "loss over its limit", Equal(2.0, 0.1))),
    hypotheses=drawn_hypotheses,
)  # fmt: skip

COEFFICIENTS = statement("yang2024.coefficients", "finding",
    title="Signals have larger attention coefficients than random words",
    statement="At a loss of 1e-6 each of C12, C21, -C31, -C32 is larger than every coefficient of "
    "a pair with a random word.",
    source=Source("", "our figure, beside Theorem 3.3"),
    stated="least of the four over the largest of the others above 1",
    measured="At the end of flows to a loss of 1e-6, at several widths.", why=_FIGURES,
    parts=(_fixed("signals ahead", s.LATE_C_RATIO, AtLeast(1.0)),),
    controls=(replace(FROZEN, part="signals ahead"), _shuffled("signals ahead"),
        w.other("by n = 24", "signals ahead", AtLeast(24.0))),
    hypotheses=drawn_hypotheses,
)  # fmt: skip

SCALING = statement("yang2024.scaling", "finding",
    title="The first phase lasts 1/m", statement="T1 falls like one over the width.",
    source=Source("", "our figure, beside Theorem 3.1"), stated="exponent -1 in m",
    measured="The time at which the last sample becomes correct, over m.",
    why="The tolerance of 0.1 is ours: a logarithm of m is an exponent of about 0.1.",
    parts=(Part("T1", "phase_1", s.T1, Power("m", -1.0), path="m from 2^9 to 2^20"),),
    controls=tuple(w.exponent(f"m^{power:g}", "T1", power, "equal") for power in (-1.5, -0.5)),
    hypotheses=drawn_hypotheses,
)  # fmt: skip

FINDINGS = (
    FROZEN_ATTENTION, ATTENTION_MATTERS, SVM_DUALS, SAMPLES_NEEDED, TEST_LOSS,
    PHASE_PORTRAIT, GRADIENT_BALANCE, LOSS_RATE, COEFFICIENTS, SCALING,
)  # fmt: skip
