"""Settings of a training with several heads, or with random words that follow each other."""

from dataclasses import dataclass

from attnlab.core import BadInput, setting
from attnlab.data.word_sizes import require_sizes
from attnlab.papers.yang2024.settings import Attention, Labels, TrainingSettings


@dataclass(frozen=True)
class HeadSettings:
    """Descent of the linear-MLP transformer, its width split into heads side by side."""

    n: int = setting(24, origin="ours", symbol="n", shape=True, help="training samples")
    L: int = setting(4, origin="ours", symbol="L", shape=True, help="words in a sample")
    d: int = setting(
        0, origin="ours", symbol="d", shape=True, help="words in all; 0: as distinct words need"
    )
    m: int = setting(512, origin="ours", symbol="m", shape=True, help="width of all heads together")
    m1: int = setting(64, origin="ours", symbol="m_1", shape=True, help="neurons")
    c0: float = setting(0.1, origin="ours", symbol="c_0", help="sigma_0 = c0 / sqrt(L m)")
    # Rows are drawn before they are split: the same draw for every number of heads.
    heads: int = setting(1, origin="ours", samples=False, shape=True, help="heads of width m/heads")
    chain: float = setting(
        0.0,
        origin="ours",
        help="chance that a random word is the successor of the one before it in the sample; "
        "above 0 random words recur",
    )
    attention: Attention = setting(
        "trained", origin="paper", samples=False, help="or frozen, or uniform"
    )
    labels: Labels = setting("true", origin="ours", samples=False, help="shuffled is a control")
    learning_rate: float = setting(2e-4, origin="ours", samples=False, help="step size of descent")
    steps: int = setting(500, origin="ours", samples=False, help="steps of descent")

    def __post_init__(self):
        TrainingSettings(n=self.n, L=self.L, m=self.m, m1=self.m1, c0=self.c0)
        require_sizes(self.vocabulary, self.L)
        if self.heads < 1 or self.m % self.heads:
            raise BadInput(
                f"got heads={self.heads} at m={self.m}; the width is split evenly: give a number "
                "of heads that divides m"
            )
        if not 0 <= self.chain <= 1:
            raise BadInput(f"got chain={self.chain}; it is a chance: give a number from 0 to 1")
        if not self.chain and self.vocabulary < TrainingSettings(n=self.n, L=self.L).vocabulary:
            raise BadInput(
                f"got d={self.d} at n={self.n}, L={self.L} with distinct words; give d=0, or a "
                "chain above 0, with which words recur"
            )
        if not self.learning_rate > 0 or self.steps < 1:
            raise BadInput(
                f"got learning_rate={self.learning_rate}, steps={self.steps}; both are positive"
            )

    @property
    def vocabulary(self) -> int:
        """The number of words."""
        return self.d or TrainingSettings(n=self.n, L=self.L).vocabulary
