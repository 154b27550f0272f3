"""Settings of the image studies (figure 6): pictures, network, initial model, training, removal."""

from dataclasses import dataclass
from functools import cache
from typing import Literal

from attnlab.core import BadInput, setting, shape

CAPACITY = 1400
"""Rows that a compiled program has room for where the set splits anew in every run; N is data."""
BY_ROLE = ("oracle", "random", "object")
"""Selectors that look at no model: they share a compiled program."""
ALL_CLASSES = 10
"""Outputs of the network; a task of fewer classes closes the others."""
FEW_DIGITS, FEW_COLOUR = 120, 5000
"""Training images that are few, of the embedded digits and of the sets of tens of thousands."""
LETTERS = ("better", "weak", "textured")
"""Initial models that are embedded: trained on letters."""


@dataclass(frozen=True)
class Pretraining:
    """How an initial model that is not embedded is trained."""

    images: int
    """Of each class."""
    steps: int
    B: int
    eta: float


PRETRAINING = {
    "better": Pretraining(5000, 6000, 64, 1e-3),
    "weak": Pretraining(500, 6000, 64, 1e-3),
}
"""By initial model of CIFAR-10: the weaker one sees 8 classes and 4,000 images, as the paper's."""


def _all_kept(cell: "ImageSettings") -> str:
    return "" if cell.removed > 0 else "no token is removed (removed=0)"


def _no_correlation(cell: "ImageSettings") -> str:
    return "" if cell.background == "correlated" else "every background is a photograph"


@cache  # a whole reproduce asks for it thousands of times, with a dozen different arguments
def _relevant_patches(side: int, patch: int, object_side: int, rule: str) -> tuple[int, int]:
    """The fewest and the most relevant patches, over all places of an object."""
    # The counts of rows and columns are alike; a patch is half inside by its area.
    least = {"inside": patch**2, "half": patch**2 / 2}[rule]
    along = [
        [max(min(s + patch, at + object_side) - max(s, at), 0) for s in range(0, side, patch)]
        for at in range(side - object_side + 1)
    ]
    counts = [sum(a * b >= least for a in one for b in other) for one in along for other in along]
    return min(counts), max(counts)


@dataclass(frozen=True)
class ImageSettings:
    """One training run of the deep vision transformer on pasted images."""

    # --- training: what the paper leaves open comes first, for universes begin with it
    rule: Literal["inside", "half"] = setting(
        "inside",
        origin="inferred",
        samples=False,
        shape=True,
        help="which patches count as the object's: those wholly inside its region, or half of them",
        alternatives={"half": "the paper does not say how it counts patches at the rim"},
    )
    initial: Literal["better", "weak", "textured", "scratch"] = setting(
        "better",
        origin="inferred",
        samples=False,
        help="first weights: trained on 40 letters, on 8, on 40 before photographs, or drawn; of "
        "cifar10, task two, on 40,000 images of the other classes, or on 4,000",
        alternatives={
            "textured": "images of CIFAR-100 have backgrounds of their own",
            "weak": "the paper's other initial model saw fewer classes and images",
        },
    )
    positions: Literal["initial", "sine", "random"] = setting(
        "initial",
        origin="inferred",
        samples=False,
        help="the first position embedding: the initial model's, sines and cosines, or drawn",
        alternatives={
            "sine": "a fixed grid of waves is as common",
            "random": "as Dosovitskiy et al. start",
        },
    )
    steps: int = setting(
        100,
        origin="ours",
        samples=False,
        help="steps of fine-tuning",
        alternatives={60: "while the loss still falls", 200: "well beyond"},
    )
    eta: float = setting(
        3e-3,
        origin="ours",
        samples=False,
        symbol="eta",
        help="largest step size of AdamW",
        alternatives={1.5e-3: "half of it", 6e-3: "twice it"},
    )
    B: int = setting(16, origin="ours", samples=False, shape=True, help="mini-batch size")
    weight_decay: float = setting(1e-4, origin="ours", samples=False, help="of AdamW")
    # --- data
    N: int = setting(1000, origin="ours", samples=False, symbol="N", help="training images")
    source: Literal["digits", "mnist", "fashion", "cifar10"] = setting(
        "digits", origin="ours", shape=True, help="objects; the paper's are cifar10"
    )
    task: Literal["ten", "two"] = setting(
        "ten", origin="paper", help="ten classes, or two groups of them (figure 6c)"
    )
    background: Literal["photographs", "correlated"] = setting(
        "photographs", origin="paper", help="correlated: with the label, else blank (figure 6c)"
    )
    correlation: float = setting(
        0.9,
        origin="paper",
        help="share of the first class on photographs in training; of the second, the rest",
        idle=_no_correlation,
    )
    object_side: int = setting(26, origin="paper", shape=True, help="pixels of an object's side")
    side: int = setting(32, origin="inferred", shape=True, help="pixels of an image's side")
    patch: int = setting(4, origin="ours", shape=True, help="pixels of a patch's side")
    # --- network
    blocks: int = setting(5, origin="paper", shape=True, help="blocks")
    heads: int = setting(4, origin="paper", shape=True, symbol="H", help="heads of a block")
    width: int = setting(32, origin="ours", shape=True, help="width of a token inside the network")
    hidden: int = setting(64, origin="ours", shape=True, help="neurons of a block's perceptron")
    pooling: Literal["mean", "class"] = setting(
        "mean", origin="ours", shape=True, help="what is read out: the mean token, or a class token"
    )
    # --- sparsification
    removed: float = setting(
        0.0, origin="paper", samples=False, help="share of the background tokens that is removed"
    )
    selector: Literal[
        "oracle", "random", "object", "attention", "value_norm", "gradient", "model"
    ] = setting(
        "oracle",
        origin="paper",
        samples=False,
        help="which go first: background, any, the object's; or least by a model, as many",
        idle=_all_kept,
    )
    removal: Literal["gathered", "blanked"] = setting(
        "gathered",
        origin="paper",
        samples=False,
        help="tokens taken away, or kept with their pixels set to zero",
        idle=_all_kept,
    )
    # --- measuring
    test_samples: int = setting(397, origin="ours", shape=True, help="test images")
    success: float = setting(
        0.775, origin="paper", samples=False, help="test accuracy from which a trial is a success"
    )
    probes: Literal["outcome", "pictures"] = setting(
        "outcome", origin="ours", samples=False, help="pictures keeps images and maps"
    )

    def __post_init__(self):
        for name in ("steps", "B", "N", "blocks", "heads", "width", "hidden", "test_samples"):
            if getattr(self, name) < 1:
                raise BadInput(f"got {name}={getattr(self, name)}; at least 1 is required")
        for name in ("removed", "correlation", "success"):
            if not 0 <= getattr(self, name) <= 1:
                raise BadInput(f"got {name}={getattr(self, name):g}; it lies from 0 to 1")
        if not 1e-30 < self.eta < 1e30 or not 0 <= self.weight_decay < 1e30:
            raise BadInput(
                f"got eta={self.eta:g}, weight_decay={self.weight_decay:g}; a positive step size "
                "and a decay from 0 on, both of moderate size, are required"
            )
        if self.width % self.heads:
            raise BadInput(
                f"got width={self.width} with heads={self.heads}; heads are side by side: take a "
                "width that is a multiple of them"
            )
        if not 1 <= self.object_side <= self.side or self.patch < 1 or self.side % self.patch:
            raise BadInput(
                f"got object_side={self.object_side}, side={self.side}, patch={self.patch}; "
                "objects fit into images, and patches fill them"
            )
        if self.side > 128:
            raise BadInput(f"got side={self.side}; images of at most 128 pixels are supported")
        if self.fewest < 1:
            raise BadInput(
                f"got object_side={self.object_side} with patch={self.patch}: some objects have no "
                f"patch by rule={self.rule}; take smaller patches"
            )
        if self.source == "digits" and self.N > CAPACITY:
            raise BadInput(f"got N={self.N}; there are {CAPACITY} training digits: take fewer")
        if self.source == "digits" and self.test_samples > 397:
            raise BadInput(f"got test_samples={self.test_samples}; there are 397 test digits")
        embedded = self.network == (5, 4, 32, 64, 32, 4, "digits")
        if self.initial in LETTERS and not embedded and not self.pretrains:
            raise BadInput(
                f"got initial={self.initial} with another network or other images than it was made "
                "for (5 blocks, 4 heads, width 32, hidden 64, 32 pixels in patches of 4, digits; "
                "better and weak also for source=cifar10 with task=two); take initial=scratch"
            )

    @property
    def pretrains(self) -> bool:
        """Whether the initial model is trained on the classes that the task does not tell apart."""
        return (self.source, self.task) == ("cifar10", "two") and self.initial in PRETRAINING

    @property
    def network(self) -> tuple[int, int, int, int, int, int, str]:
        """What an initial model is made for."""
        return (
            self.blocks, self.heads, self.width, self.hidden, self.side, self.patch, self.source,
        )  # fmt: skip

    @property
    def amount(self) -> float:
        """N in units of the few images that every design of the source has."""
        return self.N / (FEW_DIGITS if self.source == "digits" else FEW_COLOUR)

    @property
    def L(self) -> int:
        """Tokens of a whole image."""
        return (self.side // self.patch) ** 2

    def _relevant(self) -> tuple[int, int]:
        """The fewest and the most relevant patches, over all places of an object."""
        return _relevant_patches(self.side, self.patch, self.object_side, self.rule)

    @property
    def fewest(self) -> int:
        """The fewest label-relevant patches of an image."""
        return self._relevant()[0]

    @property
    @shape
    def room(self) -> int:
        """Columns for the tokens that are kept: as many as any image keeps."""
        if self.removal == "blanked":
            return self.L
        return self.L - round(self.removed * (self.L - self._relevant()[1]))

    @property
    @shape
    def capacity(self) -> int:
        """Rows for training images."""
        return CAPACITY if self.source == "digits" else self.N

    @property
    @shape
    def scoring(self) -> str:
        """What a compiled run needs of the selector."""
        return "roles" if self.selector in BY_ROLE or self.removed == 0 else self.selector

    @property
    def classes(self) -> int:
        """Classes of the task."""
        return ALL_CLASSES if self.task == "ten" else 2
