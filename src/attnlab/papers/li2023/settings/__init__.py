"""Settings of the li2023 studies: data, network, first model, training, sparsification, engine."""

from dataclasses import dataclass
from typing import Literal

from attnlab.core import BadInput, setting, shape
from attnlab.data import pattern_sizes
from attnlab.papers.li2023.theory.choices import Confusion as Confusion
from attnlab.papers.li2023.theory.choices import (
    Optimiser,
    Selector,
    exact_anyway,
    has_noisy_tokens,
    keeps_all,
    other_confusion,
    printed,
    removes_none,
)

CAPACITIES = (512, 2048, 8192)
"""Rows that a compiled program has room for: N itself is data."""
BATCH_ROOM = 20
"""Batches of at most this size share a compiled program."""
FEW_PATTERNS = 5
"""So few patterns, or fewer, the collapsed engine is compiled for one by one."""
SMALLEST_NUMBER = {"float32": 2.0**-126, "float64": 2.0**-1022}
"""Below it a number loses its digits, and is 0 where the weights are trained."""


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
            0.5: "a usual step for weights of unit norm",
            1.0: "fewer steps for the same distance",
            0.1: "smaller still: nearer the flow",
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
        matters=lambda cell: cell.stop == "fixed",
    )
    positions: Literal["original", "renumbered"] = setting(
        "original",
        origin="inferred",
        samples=False,
        help="output weights of a kept token: of its first position, or counted among the kept",
        alternatives={"renumbered": "the network is written for the kept tokens, numbered anew"},
        idle=keeps_all,
    )
    prune_at: Literal["both", "test"] = setting(
        "both",
        origin="inferred",
        samples=False,
        help="in training and test, or at test only",
        alternatives={"test": "practitioners prune a trained model"},
        idle=keeps_all,
    )
    removal: Literal["excluded", "zeroed"] = setting(
        "excluded",
        origin="inferred",
        samples=False,
        help="left out of the softmax, or set to zero",
        alternatives={"zeroed": "a removed token set to zero still takes part in the softmax"},
        idle=keeps_all,
    )
    queries: Literal["keys", "other"] = setting(
        "keys",
        origin="inferred",
        samples=False,
        help="first queries beyond the first two patterns: those of the keys, or another basis",
        alternatives={
            "other": "Assumption 1 asks q_j = r_j of the first two patterns only",
            "keys": "the printed first model has W_Q = W_K",
        },
        idle=printed,
    )
    sigma_as: Literal["error", "worst", "scale", "free"] = setting(
        "error",
        origin="inferred",
        samples=False,
        help="sigma is an error with norms of at most 1, the worst one, a scale, or any error",
        alternatives={
            "worst": "Assumption 1 bounds the error, whatever its direction",
            "scale": "the printed W_V = (sigma/c_0)^2 U has sigma as the size of the values",
            "free": "errors of norm exactly sigma in independent directions; norms above 1",
        },
        idle=printed,
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
    replacement: bool = setting(
        True,
        origin="inferred",
        samples=False,
        help="whether a batch may hold a sample twice; else one of B > N is the whole set",
        alternatives={False: "Algorithm 1 does not say how a batch is drawn"},
    )
    optimiser: Optimiser = setting(
        "sgd", origin="paper", samples=False, shape=True, own=True, help="how the weights move"
    )
    # --- data
    N: int = setting(
        128,
        origin="ours",
        symbol="N",
        help="training samples",
        alternatives={64: "half as many", 128: "twice as many", 200: "figure 4's number"},
    )
    L: int = setting(100, origin="paper", shape=True, symbol="|S|", help="tokens in a sample")
    M: int = setting(5, origin="paper", symbol="M", help="patterns")
    d: int = setting(10, origin="paper", shape=True, symbol="d", help="dimension of a token")
    classes: Literal[2, 4] = setting(
        2, origin="paper", shape=True, help="classes; 4 is extension G.1"
    )
    alpha_star: float = setting(
        0.35, origin="paper", symbol="alpha_*", help="fraction of label-relevant tokens"
    )
    confusion: Confusion = setting(
        "number", origin="ours", help="how alpha_# follows: 0.5 - alpha_*, a ratio, or a number"
    )
    alpha_sharp: float = setting(
        0.15,
        origin="paper",
        symbol="alpha_#",
        help="fraction of confusion tokens (number)",
        idle=lambda cell: other_confusion(cell, "number"),
    )
    ratio: float = setting(
        0.3,
        origin="ours",
        help="alpha_# / alpha_* (constant_ratio)",
        symbol="alpha_#/alpha_*",
        alternatives={0.2: "further inside (8)", 0.1: "further still"},
        idle=lambda cell: other_confusion(cell, "constant_ratio"),
    )
    fractions: Literal["fixed", "multinomial", "in_turn"] = setting(
        "fixed",
        origin="paper",
        shape=True,
        help="the same counts in every sample; independent tokens; or where L alpha is not whole "
        "the numbers below and above it in turn",
        alternatives={"multinomial": "section 3.2 draws tokens by their fractions"},
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
        matters=lambda cell: cell.engine != "collapsed",
    )
    layer_norm: bool = setting(
        False,
        origin="ours",
        help="patterns as a layer norm makes them: centred, of unit norm; first weights as before",
    )
    c0: float = setting(0.01, origin="paper", symbol="c_0", help="noise of a token's entries")
    noisy_share: float = setting(
        0.0,
        origin="ours",
        help="share of extra-noisy tokens",
        alternatives={0.2: "figure 5's share is lost", 0.4: "figure 5's share is lost"},
        matters=has_noisy_tokens,
    )
    noisy_c0: float = setting(
        0.0,
        origin="ours",
        help="noise of an extra-noisy token's entries",
        alternatives={0.3: "figure 5's noise is lost", 1.0: "figure 5's noise is lost"},
        idle=lambda cell: "" if has_noisy_tokens(cell) else "no token is noisy (noisy_share=0)",
    )
    set_size: int = setting(1, origin="paper", shape=True, help="patterns in a set (G.2)")
    set_distance: float = setting(
        0.0,
        origin="ours",
        symbol="Delta",
        help="distance within a set (G.2)",
        alternatives={0.25: "closer together", 1.0: "near what 2 tau + Delta < kappa allows"},
        idle=lambda cell: "" if cell.set_size > 1 else "a set has one pattern (set_size=1)",
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
    m: int = setting(1000, origin="paper", shape=True, symbol="m", help="neurons")
    m_a: int = setting(10, origin="paper", shape=True, symbol="m_a", help="dimension of values")
    m_b: int = setting(
        10, origin="paper", shape=True, symbol="m_b", help="dimension of keys and queries"
    )
    output_weights: Literal["per_position", "shared"] = setting(
        "per_position", origin="paper", samples=False, help="a_(l) by position, or one for all"
    )
    attention: Literal["trained", "frozen", "uniform"] = setting(
        "trained", origin="paper", samples=False, help="frozen: without learned attention"
    )
    heads: int = setting(1, origin="paper", shape=True, symbol="H", help="attention heads (G.3)")
    combination: Literal["sum", "concat"] = setting(
        "sum",
        origin="inferred",
        shape=True,
        help="how heads are joined; the print is lost",
        alternatives={"concat": "side by side, as most networks do"},
        idle=lambda cell: "" if cell.heads > 1 else "there is one head (heads=1)",
    )
    skip: bool = setting(False, origin="paper", help="skip connection (G.4)")
    margin: float = setting(1.0, origin="paper", samples=False, help="margin of the hinge loss")
    loss: Literal["hinge", "logistic"] = setting(
        "hinge",
        origin="paper",
        samples=False,
        help="what is descended; tests are by the hinge (logistic: engine collapsed, and no stop)",
    )
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
        shape=True,
        help="printed saturates the softmax and contradicts Assumption 1",
        alternatives={"printed": "section 4.1's own formula, though Assumption 1 excludes it"},
    )
    # --- sparsification
    selector: Selector = setting(
        "none",
        origin="paper",
        samples=False,
        own=True,
        help="which tokens are removed first",
        idle=removes_none,
    )
    removed: float = setting(
        0.0,
        origin="ours",
        samples=False,
        help="fraction of the tokens that is removed",
        idle=lambda cell: keeps_all(cell) if cell.selector == "none" else "",
    )
    # --- measuring
    test_samples: int = setting(
        400,
        origin="ours",
        shape=True,
        help="samples of the test loss",
        alternatives={200: "half as many", 1000: "a finer test loss"},
    )
    success: float = setting(
        1e-3, origin="paper", samples=False, help="test loss below which a trial is a success"
    )
    probes: Literal["outcome", "dynamics"] = setting(
        "outcome", origin="ours", samples=False, shape=True, help="dynamics records series"
    )
    records: int = setting(
        40,
        origin="ours",
        samples=False,
        help="recorded steps of dynamics",
        idle=lambda cell: "" if cell.probes == "dynamics" else "no series (probes=outcome)",
    )
    engine: Literal["auto", "exact", "collapsed"] = setting(
        "auto", origin="ours", samples=False, shape=True, help="auto: the cheapest that is exact"
    )
    approximate: bool = setting(
        False,
        origin="ours",
        samples=False,
        help="allow collapsed with little token noise",
        idle=exact_anyway,
    )
    dtype: Literal["float32", "float64"] = setting(
        "float32", origin="ours", samples=False, shape=True, help="precision of training"
    )

    def __post_init__(self):
        pattern_sizes.require_patterns(self.M, self.d, self.classes)
        pattern_sizes.require_sets(self.M, self.d, self.set_size, self.set_distance)
        pattern_sizes.require_fractions(self.alpha_star, self.sharp)
        if self.fractions != "multinomial":
            self.counts()
        for name in ("N", "L", "m", "m_a", "m_b", "B", "heads", "set_size", "test_samples"):
            if getattr(self, name) < 1:
                raise BadInput(f"got {name}={getattr(self, name)}; at least 1 is required")
        if self.steps < 1 or self.records < 2:
            raise BadInput(
                f"got steps={self.steps} and records={self.records}; at least 1 and 2 are required"
            )
        for name in ("sigma", "delta", "noisy_share", "removed"):
            require_range(name, getattr(self, name), 0.0, 1.0)
        for name in ("c0", "noisy_c0", "xi"):
            if getattr(self, name) < 0:
                raise BadInput(f"got {name}={getattr(self, name)}; it may not be negative")
        for name in ("eta", "margin", "success"):
            if not getattr(self, name) > 0:
                raise BadInput(f"got {name}={getattr(self, name)}; it must be positive")
        for name in ("eta", "margin"):
            if getattr(self, name) < SMALLEST_NUMBER[self.dtype]:
                raise BadInput(
                    f"got {name}={getattr(self, name):g} with dtype={self.dtype}, in which it is "
                    f"no more than 0; it must be at least {SMALLEST_NUMBER[self.dtype]:.2g}"
                )
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
    @shape
    def capacity(self) -> int:
        """Rows of the padded training set."""
        return next(c for c in CAPACITIES if c >= self.N)

    @property
    @shape
    def pattern_room(self) -> int:
        """Rows of the padded patterns: M is data above 5, and always for the exact engine."""
        padded = self.set_size == 1 and (self.engine == "exact" or self.M > FEW_PATTERNS)
        return min(self.d, self.m_a, self.m_b) if padded else self.M

    @property
    @shape
    def batch_room(self) -> int:
        """Rows of a padded mini-batch."""
        return max(self.B, BATCH_ROOM)

    @property
    @shape
    def token_room(self) -> int:
        """Tokens that a training sample has room for: L, halved while the kept ones fit."""
        room = self.L
        if self.removal == "excluded" and self.prune_at == "both":
            while self.kept <= (half := -(-room // 2)) < room:
                room = half
        return room

    @property
    @shape
    def recorded(self) -> int:
        """Steps that are recorded, the first and the last among them."""
        return self.records if self.probes == "dynamics" else 2

    @property
    def kept(self) -> int:
        """Tokens that are left after the sparsification."""
        return self.L - (round(self.removed * self.L) if self.selector != "none" else 0)

    def counts(self) -> tuple[tuple[int, ...], ...]:
        """Tokens of each pattern in a sample of each class; in turn: first the fewer ones."""
        sizes = (self.L, self.M, self.classes, self.alpha_star, self.sharp)
        if self.fractions == "in_turn":
            return sum(pattern_sizes.counts_in_turn(*sizes), ())
        return pattern_sizes.pattern_counts(*sizes)


def require_range(name: str, value: float, low: float, high: float) -> None:
    """Refuse a number that is out of its range."""
    if not low <= value < high:
        raise BadInput(
            f"got {name}={value:g}; it lies from {low:g} up to, but not including, {high:g}"
        )
