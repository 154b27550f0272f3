"""Settings of the li2023 studies: data, network, first model, training, sparsification, engine."""

from dataclasses import dataclass, replace
from typing import Any, Literal

from attnlab.core import BadInput, setting
from attnlab.data.pattern_sizes import pattern_counts, require_fractions, require_patterns

Confusion = Literal["paper_slice", "constant_ratio", "number"]
Selector = Literal[
    "none", "random", "irrelevant", "noisy", "attention", "value_norm", "distance", "model"
]
Optimiser = Literal[
    "sgd", "momentum", "adam", "adamw", "adagrad", "adabelief", "adamax", "amsgrad", "nadam",
    "radam", "rmsprop", "lion", "lamb", "yogi", "novograd", "sign_sgd",
]  # fmt: skip
"""Plain descent, descent with momentum 0.9, or optax's rule of that name with its defaults."""
CAPACITIES = (128, 512, 2048, 8192)
"""Rows that a compiled program has room for: N itself is data."""
LARGEST_APPROXIMATE_NOISE = 0.05


def _prunes(cell: Any) -> bool:
    return cell.selector != "none"


def _has_noisy_tokens(cell: Any) -> bool:
    return cell.noisy_share > 0


@dataclass(frozen=True)
class TrainingSettings:
    """One training run of the shallow vision transformer on the pattern vote."""

    # --- training: what the paper leaves open comes first, for universes begin with it
    eta: float = setting(
        0.5,
        origin="ours",
        samples=False,
        symbol="eta",
        help="step size",
        alternatives={
            0.2: "a small step, as the proofs assume",
            1.0: "fewer steps for the same distance",
            0.1: "smaller still: nearer the flow",
        },
    )
    queries: Literal["other", "keys"] = setting(
        "other",
        origin="inferred",
        samples=False,
        help="first queries beyond the first two patterns: another basis, or those of the keys",
        alternatives={
            "keys": "the printed first model has W_Q = W_K",
            "other": "Assumption 1 asks q_j = r_j of the first two patterns only",
        },
    )
    stop: Literal["zero_loss", "fixed"] = setting(
        "zero_loss",
        origin="inferred",
        samples=False,
        # No alternatives: at zero loss the hinge has no gradient, so that T is the choice.
        help="stop at zero training loss, or at T",
    )
    B: int = setting(
        20,
        origin="ours",
        samples=False,
        symbol="B",
        help="mini-batch size",
        alternatives={
            5: "condition (9) asks for a constant number only",
            128: "larger than most N of the maps: full batches there",
        },
    )
    steps: int = setting(
        3000,
        origin="ours",
        samples=False,
        symbol="T",
        help="steps at most",
        alternatives={
            400: "until the loss is just zero",
            100: "while it still falls",
            1000: "well beyond",
        },
    )
    optimiser: Optimiser = setting(
        "sgd", origin="paper", samples=False, help="how the weights move"
    )
    # --- data
    N: int = setting(
        128,
        origin="ours",
        symbol="N",
        help="training samples",
        alternatives={64: "half as many", 128: "twice as many", 200: "figure 4's number"},
    )
    L: int = setting(100, origin="paper", symbol="|S|", help="tokens in a sample")
    M: int = setting(5, origin="paper", symbol="M", help="patterns")
    d: int = setting(10, origin="paper", symbol="d", help="dimension of a token")
    classes: Literal[2, 4] = setting(2, origin="paper", help="classes; 4 is extension G.1")
    alpha_star: float = setting(
        0.35, origin="paper", symbol="alpha_*", help="fraction of label-relevant tokens"
    )
    confusion: Confusion = setting(
        "number", origin="ours", help="how alpha_# follows: 0.5 - alpha_*, a ratio, or a number"
    )
    alpha_sharp: float = setting(
        0.15, origin="paper", symbol="alpha_#", help="fraction of confusion tokens (number)"
    )
    ratio: float = setting(
        0.3,
        origin="ours",
        help="alpha_# / alpha_* (constant_ratio)",
        symbol="alpha_#/alpha_*",
        alternatives={0.2: "further inside (8)", 0.1: "further still"},
        matters=lambda cell: cell.confusion == "constant_ratio",
    )
    fractions: Literal["fixed", "multinomial"] = setting(
        "fixed", origin="paper", help="the same counts in every sample, or independent tokens"
    )
    order: Literal["shuffled", "fixed"] = setting(
        "shuffled",
        origin="inferred",
        samples=False,
        help="order of the tokens",
        alternatives={"fixed": "the paper does not say that tokens are shuffled"},
    )
    normalise: bool = setting(
        False,
        origin="inferred",
        help="tokens scaled to unit norm",
        alternatives={
            True: "section 2 takes tokens of unit norm",
            False: "section 3.2 adds noise to patterns of unit norm",
        },
    )
    c0: float = setting(0.01, origin="paper", symbol="c_0", help="noise of a token's entries")
    noisy_share: float = setting(
        0.0,
        origin="ours",
        help="share of extra-noisy tokens",
        alternatives={0.2: "figure 5's share is lost", 0.4: "figure 5's share is lost"},
        matters=_has_noisy_tokens,
    )
    noisy_c0: float = setting(
        0.0,
        origin="ours",
        help="noise of an extra-noisy token's entries",
        alternatives={0.3: "figure 5's noise is lost", 1.0: "figure 5's noise is lost"},
        matters=_has_noisy_tokens,
    )
    set_size: int = setting(1, origin="paper", help="patterns in a set (G.2)")
    set_distance: float = setting(
        0.0,
        origin="ours",
        symbol="Delta",
        help="distance within a set (G.2)",
        alternatives={0.25: "closer together", 1.0: "near what 2 tau + Delta < kappa allows"},
        matters=lambda cell: cell.set_size > 1,
    )
    balance: Literal["exact", "random"] = setting(
        "exact",
        origin="inferred",
        help="as many samples of each class, or drawn",
        alternatives={"random": "labels drawn: the theorem allows a difference of order sqrt N"},
    )
    labels: Literal["true", "shuffled"] = setting(
        "true", origin="ours", samples=False, help="shuffled is a control: labels permuted"
    )
    # --- network
    m: int = setting(1000, origin="paper", symbol="m", help="neurons")
    m_a: int = setting(10, origin="paper", symbol="m_a", help="dimension of values")
    m_b: int = setting(10, origin="paper", symbol="m_b", help="dimension of keys and queries")
    output_weights: Literal["per_position", "shared"] = setting(
        "per_position", origin="paper", samples=False, help="a_(l) by position, or one for all"
    )
    attention: Literal["trained", "frozen", "uniform"] = setting(
        "trained", origin="paper", samples=False, help="frozen: without learned attention"
    )
    heads: int = setting(1, origin="paper", symbol="H", help="attention heads (G.3)")
    combination: Literal["sum", "concat"] = setting(
        "sum",
        origin="inferred",
        help="how heads are joined; the print is lost",
        alternatives={"concat": "side by side, as most networks do"},
        matters=lambda cell: cell.heads > 1,
    )
    skip: bool = setting(False, origin="paper", help="skip connection (G.4)")
    margin: float = setting(1.0, origin="paper", samples=False, help="margin of the hinge loss")
    # --- initial model
    sigma: float = setting(0.1, origin="paper", symbol="sigma", help="error of the first values")
    delta: float = setting(
        0.2, origin="paper", symbol="delta", help="error of the first keys and queries"
    )
    xi: float = setting(
        0.01,
        origin="inferred",
        symbol="xi",
        help="deviation of W_O's entries",
        alternatives={0.447: "Algorithm 1's 1/sqrt M, at M = 5; section 4 has 0.01"},
    )
    initial: Literal["assumption_1", "printed"] = setting(
        "assumption_1",
        origin="inferred",
        help="printed saturates the softmax and contradicts Assumption 1",
        alternatives={"printed": "section 4.1's own formula, though Assumption 1 excludes it"},
    )
    error: Literal["random", "worst"] = setting(
        "random",
        origin="ours",
        help="direction of the first errors",
        alternatives={"worst": "Assumption 1 bounds the error, whatever its direction"},
    )
    # --- sparsification
    selector: Selector = setting(
        "none", origin="paper", samples=False, help="which tokens are removed first"
    )
    removed: float = setting(
        0.0, origin="ours", samples=False, help="fraction of the tokens that is removed"
    )
    removal: Literal["excluded", "zeroed"] = setting(
        "excluded",
        origin="inferred",
        samples=False,
        help="left out of the softmax, or set to zero",
        alternatives={"zeroed": "a removed token set to zero still takes part in the softmax"},
        matters=_prunes,
    )
    positions: Literal["original", "renumbered"] = setting(
        "original",
        origin="inferred",
        samples=False,
        help="output weights of a kept token: of its first position, or counted among the kept",
        alternatives={"renumbered": "the network is written for the kept tokens, numbered anew"},
        matters=_prunes,
    )
    prune_at: Literal["both", "test"] = setting(
        "both",
        origin="inferred",
        samples=False,
        help="in training and test, or at test only",
        alternatives={"test": "practitioners prune a trained model"},
        matters=_prunes,
    )
    # --- measuring
    test_samples: int = setting(
        400,
        origin="ours",
        help="samples of the test loss",
        alternatives={200: "half as many", 1000: "a finer test loss"},
    )
    success: float = setting(
        1e-3, origin="paper", samples=False, help="test loss below which a trial is a success"
    )
    probes: Literal["outcome", "dynamics"] = setting(
        "outcome", origin="ours", samples=False, help="dynamics records series"
    )
    records: int = setting(40, origin="ours", samples=False, help="recorded steps of dynamics")
    engine: Literal["auto", "exact", "collapsed"] = setting(
        "auto", origin="ours", samples=False, help="auto: the cheapest that is exact"
    )
    approximate: bool = setting(
        False, origin="ours", samples=False, help="allow collapsed with little token noise"
    )
    dtype: Literal["float32", "float64"] = setting(
        "float32", origin="ours", samples=False, help="precision of training"
    )

    def __post_init__(self):
        require_patterns(self.M, self.d, self.classes)
        require_fractions(self.alpha_star, self.sharp)
        if self.fractions == "fixed":
            self.counts()
        for name in ("N", "L", "m", "m_a", "m_b", "B", "heads", "set_size", "test_samples"):
            if getattr(self, name) < 1:
                raise BadInput(f"got {name}={getattr(self, name)}; at least 1 is required")
        if self.steps < 1 or self.records < 2:
            raise BadInput(
                f"got steps={self.steps} and records={self.records}; at least 1 and 2 are required"
            )
        _require_range("sigma", self.sigma, 0.0, 1.0)
        _require_range("delta", self.delta, 0.0, 1.0)
        _require_range("noisy_share", self.noisy_share, 0.0, 1.0)
        _require_range("removed", self.removed, 0.0, 1.0)
        for name in ("c0", "noisy_c0", "xi"):
            if getattr(self, name) < 0:
                raise BadInput(f"got {name}={getattr(self, name)}; it may not be negative")
        for name in ("eta", "margin", "success"):
            if not getattr(self, name) > 0:
                raise BadInput(f"got {name}={getattr(self, name)}; it must be positive")
        if min(self.m_a, self.m_b) < self.M:
            raise BadInput(
                f"got m_a={self.m_a}, m_b={self.m_b} with M={self.M} patterns; orthonormal "
                f"features need both >= M: raise them to {self.M}"
            )
        if self.skip and self.m_a != self.d:
            raise BadInput(
                f"got skip=true with m_a={self.m_a} and d={self.d}; a skip connection adds tokens "
                "to values: take m_a equal to d"
            )
        if self.skip and self.combination == "concat" and self.heads > 1:
            raise BadInput(
                f"got skip=true with {self.heads} heads side by side, which give "
                f"{self.heads * self.m_a} numbers for a token of {self.d}; take combination=sum"
            )
        if round(self.removed * self.L) >= self.L:
            raise BadInput(f"got removed={self.removed:g} of L={self.L}; keep at least one token")
        if self.initial == "printed" and self.c0 == 0:
            raise BadInput("got initial=printed with c0=0; its formula divides by c0: give c0 > 0")
        if CAPACITIES[-1] < self.N:
            raise BadInput(f"got N={self.N}; at most {CAPACITIES[-1]} samples are supported")

    @property
    def sharp(self) -> float:
        """The fraction of confusion tokens by the chosen rule."""
        if self.confusion == "paper_slice":
            return round(0.5 - self.alpha_star, 9)
        if self.confusion == "constant_ratio":
            return round(self.ratio * self.alpha_star, 9)
        return self.alpha_sharp

    @property
    def gap(self) -> float:
        """alpha_* - alpha_#."""
        return round(self.alpha_star - self.sharp, 9)

    @property
    def capacity(self) -> int:
        """Rows of the padded training set."""
        return next(c for c in CAPACITIES if c >= self.N)

    @property
    def kept(self) -> int:
        """Tokens that are left after the sparsification."""
        return self.L - (round(self.removed * self.L) if self.selector != "none" else 0)

    def counts(self) -> tuple[tuple[int, ...], ...]:
        """Tokens of each pattern in a sample of each class."""
        return pattern_counts(self.L, self.M, self.classes, self.alpha_star, self.sharp)


def _require_range(name: str, value: float, low: float, high: float) -> None:
    if not low <= value < high:
        raise BadInput(
            f"got {name}={value:g}; it lies from {low:g} up to, but not including, {high:g}"
        )


def resolve(cell: TrainingSettings) -> TrainingSettings:
    """Replace auto by the engine it stands for; refuse the collapsed one where it is not exact."""
    engine = cell.engine
    why = _not_collapsible(cell)
    if engine == "auto":
        engine = "exact" if why else "collapsed"
    if engine == "collapsed" and why:
        raise BadInput(f"got engine=collapsed with {why}; take --engine exact")
    return replace(cell, engine=engine)


def _not_collapsible(cell: TrainingSettings) -> str:
    """Why patterns with counts are not exact for a cell, or nothing."""
    if cell.noisy_share > 0:
        return f"noisy_share={cell.noisy_share:g}: noisy tokens are not their pattern"
    if cell.c0 >= LARGEST_APPROXIMATE_NOISE:
        return f"c0={cell.c0:g}: from {LARGEST_APPROXIMATE_NOISE:g} on tokens are not their pattern"
    if cell.c0 > 0 and not cell.approximate:
        return f"c0={cell.c0:g}, for which it is approximate (approximate=true allows that)"
    if cell.fractions != "fixed":
        return "fractions=multinomial: every sample has its own counts"
    if cell.set_size > 1:
        return f"set_size={cell.set_size}: a token is not told by its set"
    if cell.selector != "none":
        return f"selector={cell.selector}: samples keep different tokens"
    return ""


@dataclass(frozen=True)
class BoundsSettings:
    """The sizes that `attnlab bounds li2023` takes."""

    alpha_star: float = setting(0.35, origin="paper", symbol="alpha_*", help="relevant fraction")
    alpha_sharp: float = setting(0.15, origin="paper", symbol="alpha_#", help="confusion fraction")
    sigma: float = setting(0.1, origin="paper", symbol="sigma", help="error of the first values")
    delta: float = setting(0.2, origin="paper", symbol="delta", help="error of keys and queries")
    tau: float = setting(0.0, origin="ours", symbol="tau", help="noise of a token, as a norm")
    M: int = setting(5, origin="paper", symbol="M", help="patterns")
    m: int = setting(1000, origin="paper", symbol="m", help="neurons")
    N: int = setting(200, origin="paper", symbol="N", help="training samples")
    B: int = setting(20, origin="ours", symbol="B", help="mini-batch size")
    eta: float = setting(0.5, origin="ours", symbol="eta", help="step size")

    def __post_init__(self):
        require_fractions(self.alpha_star, self.alpha_sharp)
        _require_range("sigma", self.sigma, 0.0, 1.0)
        _require_range("delta", self.delta, 0.0, 1.0)
        if self.tau < 0 or min(self.M - 2, self.m, self.N - 1, self.B) < 1 or not self.eta > 0:
            raise BadInput(
                f"got tau={self.tau:g}, M={self.M}, m={self.m}, N={self.N}, B={self.B}, "
                f"eta={self.eta:g}; need tau >= 0, M >= 3, N >= 2, m, B >= 1 and eta > 0"
            )
