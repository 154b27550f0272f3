"""Settings of the yang2024 studies: trainings, starts, classes of words, single formulas."""

from dataclasses import dataclass
from typing import Literal

from attnlab.core import BadInput, setting, shape
from attnlab.data.word_sizes import SIGNALS, random_words_required, require_sizes, type_counts

Sampler = Literal["balanced", "independent"]
Words = Literal["distinct", "repeated"]
Labels = Literal["true", "shuffled"]
Attention = Literal["trained", "frozen", "uniform"]
Weights = Literal["theory", "kaiming_normal", "kaiming_uniform", "linear_default"]
OutputLayer = Literal["sign", "sign_over_m1", "same_as_weights"]
Method = Literal["flow", "descent", "momentum", "adam"]
Engine = Literal["auto", "weights", "gram", "symmetric"]
FIRST_RECORD = 1e-2
"""The first recorded time of a flow after its start, in units of 1/rho(0)."""
SMALLEST_TARGET = 1e-300
"""A smaller target loss is never met: `flow` takes it for none."""
FINEST, COARSEST = 1e-14, 1.0
"""Relative tolerances that a solver in double precision can keep, and that say something."""


def _in_steps(cell: "TrainingSettings") -> str:
    return "" if cell.method == "flow" else f"it is of the flow, not of method={cell.method}"


def _in_flow(cell: "TrainingSettings") -> str:
    return "a flow has no steps (method=flow)" if cell.method == "flow" else ""


@dataclass(frozen=True)
class TrainingSettings:
    """One training run of the linear-MLP transformer on the co-occurrence task."""

    n: int = setting(60, origin="paper", symbol="n", shape=True, help="training samples")
    L: int = setting(5, origin="paper", symbol="L", shape=True, help="words in a sample")
    d: int = setting(
        0,
        origin="ours",
        symbol="d",
        shape=True,
        help="words in all; 0: as many as distinct words need",
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
        "balanced",
        origin="paper",
        shape=True,
        help="exact shares of the types, or independent samples",
    )
    words: Words = setting(
        "distinct",
        origin="paper",
        shape=True,
        help="whether a random word may recur",
        idle=lambda cell: (
            "" if cell.sampler == "balanced" else "words of independent samples may always recur"
        ),
    )
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
        idle=lambda cell: "" if cell.weights == "theory" else f"weights={cell.weights} has no c0",
    )
    attention: Attention = setting(
        "trained", origin="paper", samples=False, help="frozen and uniform are controls"
    )
    method: Method = setting(
        "flow", origin="paper", samples=False, shape=True, help="how it is trained"
    )
    horizon: float = setting(
        100.0,
        origin="ours",
        samples=False,
        help="end of the flow, in units of 1/rho(0)",
        alternatives={1000.0: "ten times as long"},
        idle=_in_steps,
    )
    target_loss: float = setting(
        0.0,
        origin="ours",
        samples=False,
        help="the flow stops at this loss; 0: at the horizon",
        idle=_in_steps,
    )
    learning_rate: float = setting(
        0.01,
        origin="paper",
        samples=False,
        symbol="eta",
        help="step size of descent",
        idle=_in_flow,
    )
    steps: int = setting(
        30_000, origin="paper", samples=False, help="steps of descent", idle=_in_flow
    )
    records: int = setting(120, origin="ours", samples=False, shape=True, help="recorded times")
    rtol: float = setting(
        1e-6,
        origin="ours",
        samples=False,
        help="relative tolerance of the flow's solver",
        alternatives={1e-8: "a hundred times as fine"},
        idle=_in_steps,
    )
    probes: Literal["auto", "words", "neurons"] = setting(
        "words",
        origin="ours",
        samples=False,
        shape=True,
        help="neurons adds those of single neurons; auto: if the engine follows them",
    )
    engine: Engine = setting(
        "auto", origin="ours", samples=False, shape=True, help="auto: the cheapest that is exact"
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
        if not self.learning_rate > 0:
            raise BadInput(f"got learning_rate={self.learning_rate}; it must be positive")
        if self.c0 < 0:
            raise BadInput(f"got c0={self.c0}; it may not be negative")
        require_end(self.horizon, self.target_loss)
        require_tolerance(self.rtol)
        if self.records < 2:
            raise BadInput(f"got records={self.records}; at least 2 are required")

    @property
    def vocabulary(self) -> int:
        """The number of words d, with 0 replaced by what distinct words need."""
        if self.d:
            return self.d
        counts = type_counts(self.n) if self.n % 6 == 0 else (0, 0, 0, self.n)
        return SIGNALS + max(1, random_words_required(counts, self.L))

    @property
    @shape
    def width(self) -> tuple[int, ...]:
        """m and m1, as far as arrays have them: Grams have neither, but for followed neurons."""
        if self.engine == "weights":
            return self.m, self.m1
        return (self.m1,) if self.probes == "neurons" else ()

    @property
    @shape
    def last_step(self) -> int:
        """The number of steps, 0 for a flow."""
        return 0 if self.method == "flow" else self.steps

    @property
    @shape
    def stops_at_target(self) -> bool:
        """Whether the flow looks for its target loss.

        On Grams all widths are one program, with and without a target. On weights each width is
        one of its own, and is compiled sooner without the search for a time that is never met.
        """
        return self.engine != "weights" or self.target_loss > 0

    def _require_words(self) -> None:
        required = random_words_required(type_counts(self.n), self.L)
        if self.words == "distinct" and self.vocabulary - SIGNALS < required:
            raise BadInput(
                f"got d={self.d}, that is {self.d - SIGNALS} random words, but n={self.n} samples "
                f"of L={self.L} words with distinct ones need {required}; take "
                f"d={required + SIGNALS} or d=0, fewer or shorter samples, or words=repeated"
            )


def require_tolerance(rtol: float) -> None:
    """Refuse a relative tolerance that no solver in double precision can keep."""
    if not FINEST <= rtol < COARSEST:
        raise BadInput(
            f"got rtol={rtol}; it lies from {FINEST:g}, about what the solver's numbers hold, up "
            f"to, but not including, {COARSEST:g}"
        )


def require_end(horizon: float, target_loss: float) -> None:
    """Refuse an end of a flow before its first record, and a loss that it cannot come down to."""
    if not horizon > FIRST_RECORD:
        raise BadInput(
            f"got horizon={horizon}; a flow is recorded from {FIRST_RECORD:g} on: give a later one"
        )
    if target_loss and not target_loss >= SMALLEST_TARGET:
        raise BadInput(
            f"got target_loss={target_loss}; give 0 for none, or at least {SMALLEST_TARGET:g}"
        )


@dataclass(frozen=True)
class StartSettings(TrainingSettings):
    """The start of a training run, which is not trained."""

    attention: Attention = setting(
        "trained",
        origin="paper",
        samples=False,
        help="uniform is a control",
        idle=lambda cell: (
            "before training, frozen attention is as trained" if cell.attention == "frozen" else ""
        ),
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

    n: int = setting(12, origin="ours", symbol="n", shape=True, help="samples")
    L: int = setting(5, origin="paper", symbol="L", shape=True, help="words in a sample")
    m: int = setting(8, origin="ours", symbol="m", shape=True, help="embedding dimension")
    m1: int = setting(6, origin="ours", symbol="m_1", shape=True, help="neurons")
    c0: float = setting(
        3.0, origin="ours", symbol="c_0", shape=True, help="large: softmax far from uniform"
    )

    def __post_init__(self):
        TrainingSettings(n=self.n, L=self.L, m=self.m, m1=self.m1)

    @property
    @shape
    def vocabulary(self) -> int:
        """As many words as distinct ones need."""
        return TrainingSettings(n=self.n, L=self.L, m=self.m, m1=self.m1).vocabulary


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


@dataclass(frozen=True)
class SoftmaxSettings:
    """One batch of perturbations of a softmax."""

    L: int = setting(
        8, origin="ours", symbol="l", shape=True, help="length of the vector of scores"
    )
    size: float = setting(
        0.1, origin="ours", samples=False, symbol="|epsilon|", help="norm of the perturbation"
    )
    spread: float = setting(1.0, origin="ours", help="standard deviation of the scores")
    draws: int = setting(200, origin="ours", shape=True, help="perturbations in a run")
    jacobian: Literal["printed", "diagonal"] = setting(
        "printed",
        origin="paper",
        samples=False,
        help="diagonal is a control: the derivative without the product of probabilities",
    )

    def __post_init__(self):
        _require_positive(self, "L", "size", "spread", "draws")


@dataclass(frozen=True)
class TailSettings:
    """One batch of pairs of Gaussian vectors."""

    m: int = setting(64, origin="ours", symbol="m", shape=True, help="dimension of the vectors")
    delta: float = setting(
        0.1, origin="ours", samples=False, symbol="delta", help="failure probability of the bound"
    )
    draws: int = setting(200, origin="ours", shape=True, help="pairs of vectors in a run")

    def __post_init__(self):
        _require_positive(self, "m", "delta", "draws")
        if self.delta >= 1:
            raise BadInput(f"got delta={self.delta}; a failure probability is below 1")


@dataclass(frozen=True)
class ClassSettings:
    """One flow on seven classes of words, from the mean of the theory's initialisation."""

    n: int = setting(96, origin="ours", symbol="n", help="training samples")
    L: int = setting(4, origin="ours", symbol="L", help="words in a sample; 3, or 4 and more")
    m: int = setting(2**14, origin="ours", symbol="m", help="embedding dimension")
    m1: int = setting(
        64,
        origin="ours",
        symbol="m_1",
        help="neurons",
        alternatives={32: "half as many", 256: "appendix A's number"},
    )
    c0: float = setting(
        0.1,
        origin="ours",
        symbol="c_0",
        help="sigma_0 = c0 / sqrt(L m)",
        alternatives={1.0: "Condition 1's tilde with constant one", 0.03: "smaller"},
    )
    horizon: float = setting(
        100.0,
        origin="ours",
        help="end of the flow, in units of 1/rho(0)",
        alternatives={1000.0: "ten times as long"},
    )
    target_loss: float = setting(
        0.0, origin="ours", samples=False, help="the flow stops at this loss; 0: at the horizon"
    )
    records: int = setting(100, origin="ours", samples=False, shape=True, help="recorded times")

    def __post_init__(self):
        _require_positive(self, "n", "m", "m1", "c0")
        if self.L < 3 or self.records < 3:
            raise BadInput(
                f"got L={self.L} and records={self.records}; at least 3 of each are required"
            )
        require_end(self.horizon, self.target_loss)

    @property
    def vocabulary(self) -> int:
        """As many words as distinct ones need, n (L - 7/3) of them random, to the nearest."""
        return SIGNALS + round(self.n * (self.L - 7 / 3))


def _require_positive(cell: object, *names: str) -> None:
    for name in names:
        if not getattr(cell, name) > 0:
            raise BadInput(f"got {name}={getattr(cell, name)}; it must be positive")
