"""How the attention takes part in training: trained, frozen at its start, or uniform.

Two numbers say it, so that all three run in one compiled program: what the scores are multiplied
by (the gain), and what the gradients of keys and queries are (the rate).
"""

from typing import Literal

Attention = Literal["trained", "frozen", "uniform"]
GAIN_AND_RATE: dict[str, tuple[float, float]] = {
    "trained": (1.0, 1.0),
    "frozen": (1.0, 0.0),
    "uniform": (0.0, 0.0),
}
