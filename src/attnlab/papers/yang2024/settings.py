"""Settings of the yang2024 studies: sizes, data, initialisation, training, engine."""

from dataclasses import dataclass, replace
from typing import Literal

from attnlab.core import BadInput, setting
from attnlab.data.word_sizes import SIGNALS, random_words_required, require_sizes, type_counts

Sampler = Literal["balanced", "independent"]
Words = Literal["distinct", "repeated"]
Labels = Literal["true", "shuffled"]
Attention = Literal["trained", "frozen", "uniform"]
Weights = Literal["theory", "kaiming_normal", "kaiming_uniform", "linear_default"]
OutputLayer = Literal["sign", "sign_over_m1", "same_as_weights"]
Method = Literal["flow", "descent", "momentum", "adam"]


@dataclass(frozen=True)
class TrainingSettings:
    """One training run of the linear-MLP transformer on the co-occurrence task."""

    n: int = setting(60, origin="paper", symbol="n", help="training samples")
    L: int = setting(5, origin="paper", symbol="L", help="words in a sample")
    d: int = setting(
        0, origin="ours", symbol="d", help="words in all; 0: as many as distinct words need"
    )
    m: int = setting(128, origin="paper", symbol="m", help="embedding dimension")
    m1: int = setting(
        64,
        origin="ours",
        symbol="m_1",
        help="neurons",
        alternatives={32: "half as many", 256: "appendix A's number"},
        matters=lambda cell: cell.weights == "theory",  # appendix A gives it for figure 1
    )
    sampler: Sampler = setting(
        "balanced", origin="paper", help="exact shares of the types, or independent samples"
    )
    words: Words = setting("distinct", origin="paper", help="whether a random word may recur")
    labels: Labels = setting(
        "true", origin="ours", samples=False, help="shuffled is a control: labels permuted"
    )
    weights: Weights = setting(
        "theory",
        origin="paper",
        help="scheme of the initial matrices",
        alternatives={
            "kaiming_normal": "appendix A names Kaiming, not which of its schemes",
            "kaiming_uniform": "the same, uniform",
            "linear_default": "what a linear layer of PyTorch does, Kaiming with another gain",
        },
    )
    output_layer: OutputLayer = setting(
        "sign",
        origin="paper",
        symbol="a",
        help="scheme of a",
        alternatives={
            "sign": "section 2's fixed signs",
            "sign_over_m1": "signs over the number of neurons",
            "same_as_weights": "appendix A names one scheme for all weights",
        },
    )
    c0: float = setting(
        0.1,
        origin="ours",
        symbol="c_0",
        samples=False,  # it only multiplies what is drawn: scales are compared by draw
        help="sigma_0 = c0 / sqrt(L m), scheme theory only",
        alternatives={
            1.0: "Condition 1's tilde with constant one",
            0.03: "smaller: the tilde hides logarithms",
        },
        matters=lambda cell: cell.weights == "theory",
    )
    attention: Attention = setting(
        "trained", origin="paper", samples=False, help="frozen and uniform are controls"
    )
    method: Method = setting("flow", origin="paper", samples=False, help="how it is trained")
    horizon: float = setting(
        100.0,
        origin="ours",
        samples=False,
        help="end of the flow, in units of 1/rho(0)",
        alternatives={1000.0: "ten times as long"},
        matters=lambda cell: cell.method == "flow",
    )
    target_loss: float = setting(
        0.0, origin="ours", samples=False, help="the flow stops at this loss; 0: at the horizon"
    )
    learning_rate: float = setting(
        0.01, origin="paper", samples=False, symbol="eta", help="step size of descent"
    )
    steps: int = setting(30_000, origin="paper", samples=False, help="steps of descent")
    records: int = setting(120, origin="ours", samples=False, help="recorded times")
    rtol: float = setting(
        1e-6,
        origin="ours",
        samples=False,
        help="relative tolerance of the flow's solver",
        alternatives={1e-8: "a hundred times as fine"},
        matters=lambda cell: cell.method == "flow",
    )
    probes: Literal["auto", "words", "neurons"] = setting(
        "words",
        origin="ours",
        samples=False,
        help="neurons adds those of single neurons; auto: if the engine follows them",
    )
    engine: Literal["auto", "weights", "gram", "symmetric"] = setting(
        "auto", origin="ours", samples=False, help="auto: the cheapest that is exact"
    )
    initial: Literal["auto", "weights", "bartlett", "mean"] = setting(
        "auto",
        origin="ours",
        samples=False,
        help="first Grams of drawn weights, drawn without weights (auto: above m = 4096), or mean",
    )

    def __post_init__(self):
        require_sizes(self.vocabulary, self.L)
        if self.sampler == "balanced":
            type_counts(self.n)
            self._require_words()
        for name in ("m", "m1", "n", "steps"):
            if getattr(self, name) < 1:
                raise BadInput(f"got {name}={getattr(self, name)}; at least 1 is required")
        for name in ("learning_rate", "horizon", "rtol"):
            if not getattr(self, name) > 0:
                raise BadInput(f"got {name}={getattr(self, name)}; it must be positive")
        if self.c0 < 0 or self.target_loss < 0:
            raise BadInput(
                f"got c0={self.c0} and target_loss={self.target_loss}; neither may be negative"
            )
        if self.records < 2:
            raise BadInput(f"got records={self.records}; at least 2 are required")

    @property
    def vocabulary(self) -> int:
        """The number of words d, with 0 replaced by what distinct words need."""
        if self.d:
            return self.d
        counts = type_counts(self.n) if self.n % 6 == 0 else (0, 0, 0, self.n)
        return SIGNALS + max(1, random_words_required(counts, self.L))

    def _require_words(self) -> None:
        required = random_words_required(type_counts(self.n), self.L)
        if self.words == "distinct" and self.vocabulary - SIGNALS < required:
            raise BadInput(
                f"got d={self.d}, that is {self.d - SIGNALS} random words, but n={self.n} samples "
                f"of L={self.L} words with distinct ones need {required}; take "
                f"d={required + SIGNALS} or d=0, fewer or shorter samples, or words=repeated"
            )


LARGEST_DRAWN_WIDTH = 4096
MOST_NEURONS = 1024
"""What auto follows: each costs as many numbers as there are words."""


def resolve(cell: TrainingSettings) -> TrainingSettings:
    """Replace d=0 and every auto by what they stand for; refuse what no engine can do."""
    engine, initial = cell.engine, cell.initial
    if cell.probes == "auto":
        drawn = engine != "symmetric" and initial != "mean" and cell.m1 <= MOST_NEURONS
        followed = drawn and cell.method in ("flow", "descent")
        cell = replace(cell, probes="neurons" if followed else "words")
    if engine == "symmetric":
        _require_symmetric(cell)
        return replace(cell, d=cell.vocabulary, initial="mean")
    if initial == "mean" and (engine == "weights" or cell.probes == "neurons"):
        raise BadInput(
            f"got initial=mean with engine={engine} and probes={cell.probes}; the mean has neither "
            "weights nor neurons: take --engine gram and probes=words, or initial=weights"
        )
    if engine == "auto":
        # Measured: a step of descent on Grams is the cheaper one from about m = 2 d on.
        slower = cell.method != "flow" and cell.m <= 2 * cell.vocabulary
        engine = "weights" if slower or _needs_weights(cell) else "gram"
    if engine == "gram" and _needs_weights(cell):
        raise BadInput(
            f"got engine=gram with method={cell.method} and probes={cell.probes}; Grams do not "
            "close under adam, and neurons are not followed under momentum; take --engine weights"
        )
    normal = cell.weights in ("theory", "kaiming_normal")
    if initial == "auto":
        drawn = engine == "weights" or cell.m <= LARGEST_DRAWN_WIDTH or not normal
        initial = "weights" if drawn else "bartlett"
    if initial == "bartlett" and not normal:
        raise BadInput(
            f"got initial=bartlett with weights={cell.weights}; Bartlett's factors need normal "
            "weights: take weights=theory, or initial=weights"
        )
    if initial == "bartlett" and engine == "weights":
        raise BadInput("got initial=bartlett with engine=weights; take --engine gram")
    if initial == "bartlett" and cell.m < 2 * cell.vocabulary:
        raise BadInput(
            f"got m={cell.m} with {cell.vocabulary} words and initial=bartlett, which needs "
            f"m >= {2 * cell.vocabulary}; take initial=weights or --engine weights"
        )
    if initial == "bartlett" and cell.probes == "neurons" and cell.m <= cell.vocabulary + cell.m1:
        raise BadInput(
            f"got m={cell.m} with {cell.vocabulary} words, m1={cell.m1} neurons and "
            f"initial=bartlett, which follows neurons if m > {cell.vocabulary + cell.m1}; take "
            "probes=words, initial=weights or --engine weights"
        )
    return replace(cell, d=cell.vocabulary, engine=engine, initial=initial)


def _needs_weights(cell: TrainingSettings) -> bool:
    return cell.method == "adam" or (cell.method == "momentum" and cell.probes == "neurons")


def _require_symmetric(cell: TrainingSettings) -> None:
    """Refuse what the engine on classes of words is not exact for, and name one that is."""
    words = cell.vocabulary - SIGNALS
    conditions = [
        (cell.sampler == "balanced", f"sampler={cell.sampler}", "exact shares (sampler=balanced)"),
        (cell.words == "distinct", f"words={cell.words}", "distinct words (words=distinct)"),
        (cell.labels == "true", f"labels={cell.labels}", "one label for each type (labels=true)"),
        (cell.method in ("flow", "descent"), f"method={cell.method}", "method=flow or descent"),
        (cell.initial in ("auto", "mean"), f"initial={cell.initial}", "initial=mean"),
        (cell.probes == "words", f"probes={cell.probes}", "probes=words: a mean has no neurons"),
    ]
    for holds, got, required in conditions:
        if not holds:
            raise BadInput(
                f"got {got} with engine=symmetric, which needs {required}; take --engine gram"
            )
    required = random_words_required(type_counts(cell.n), cell.L)
    if words != required:
        raise BadInput(
            f"got d={cell.d}, that is {words} random words, with engine=symmetric, which needs "
            f"each of them in a sample: d={required + SIGNALS} or d=0; or take --engine gram"
        )


@dataclass(frozen=True)
class BoundsSettings:
    """The sizes that `attnlab bounds yang2024` takes."""

    n: float = setting(60.0, origin="paper", symbol="n", help="training samples")
    L: float = setting(5.0, origin="paper", symbol="L", help="words in a sample")
    d: int = setting(64, origin="paper", symbol="d", help="words in all")
    m: float = setting(128.0, origin="paper", symbol="m", help="embedding dimension")
    m1: float = setting(256.0, origin="paper", symbol="m_1", help="neurons")
    c0: float = setting(1.0, origin="ours", symbol="c_0", help="sigma_0 = c0 / sqrt(L m)")


@dataclass(frozen=True)
class ComparisonSettings:
    """A comparison of formulas at random parameters."""

    n: int = setting(12, origin="ours", symbol="n", help="samples")
    L: int = setting(5, origin="paper", symbol="L", help="words in a sample")
    m: int = setting(8, origin="ours", symbol="m", help="embedding dimension")
    m1: int = setting(6, origin="ours", symbol="m_1", help="neurons")
    c0: float = setting(3.0, origin="ours", symbol="c_0", help="large: softmax far from uniform")

    def __post_init__(self):
        TrainingSettings(n=self.n, L=self.L, m=self.m, m1=self.m1)


@dataclass(frozen=True)
class SystemSettings(ComparisonSettings):
    """One comparison of the dynamical system of appendix C."""

    formula: Literal["printed", "first_terms"] = setting(
        "printed",
        origin="paper",
        samples=False,
        help="first_terms is a control: the second sum of each equation left out",
    )


@dataclass(frozen=True)
class GradientSettings(ComparisonSettings):
    """One comparison of the gradients of appendix B."""

    formula: Literal["printed", "uncentred"] = setting(
        "printed",
        origin="paper",
        samples=False,
        help="uncentred is a control: appendix B without the subtracted mean",
    )
