"""Names that settings of li2023 take, and why one changes nothing in a cell, in words."""

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from attnlab.papers.li2023.settings import TrainingSettings

Confusion = Literal["paper_slice", "constant_ratio", "number"]
Selector = Literal[
    "none", "random", "irrelevant", "noisy", "attention", "value_norm", "distance", "model"
]
Optimiser = Literal[
    "sgd", "momentum", "adam", "adamw", "adagrad", "adabelief", "adamax", "amsgrad", "nadam",
    "radam", "rmsprop", "lion", "lamb", "yogi", "novograd", "sign_sgd",
]  # fmt: skip
"""Plain descent, descent with momentum 0.9, or optax's rule of that name with its defaults."""


def keeps_all(cell: "TrainingSettings") -> str:
    """Why no token is removed."""
    if cell.selector == "none":
        return "no token is removed (selector=none)"
    return removes_none(cell)


def removes_none(cell: "TrainingSettings") -> str:
    """Why a share of tokens is none."""
    nothing = round(cell.removed * cell.L) == 0
    return f"no token is removed (removed={cell.removed:g} of L={cell.L})" if nothing else ""


def has_noisy_tokens(cell: "TrainingSettings") -> bool:
    """Whether some tokens have extra noise."""
    return cell.noisy_share > 0


def other_confusion(cell: "TrainingSettings", confusion: Confusion) -> str:
    """Why a number that fixes alpha_# is not the one that does."""
    return "" if cell.confusion == confusion else f"alpha_# follows by confusion={cell.confusion}"


def printed(cell: "TrainingSettings") -> str:
    """Why the first errors do not matter."""
    return "the printed first model has none (initial=printed)" * (cell.initial == "printed")


def exact_anyway(cell: "TrainingSettings") -> str:
    """Why nothing is approximate."""
    if cell.engine == "exact":
        return "engine=exact approximates nothing"
    return "" if cell.c0 > 0 else "without token noise (c0=0) nothing is approximate"
