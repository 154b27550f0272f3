"""attnlab: a laboratory for the theory of attention training.

    import attnlab as al

    al.catalogue(); al.show("li2023.theorem_1")                # what there is
    al.check("yang2024.theorem_3_1", scale="smoke")            # a verdict
    run = al.train("li2023", N=128, alpha_star=0.4, seed=0)    # one run, in this process
    batch = al.Batch.of(X, y)                                  # own tokens and labels

Names are imported when they are first used: `import attnlab` loads neither jax nor a paper.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

FACADE = {
    "BadInput": "attnlab.core",
    "catalogue": "attnlab.facade.asking",
    "show": "attnlab.facade.asking",
    "bounds": "attnlab.facade.asking",
    "check": "attnlab.facade.judging",
    "figure": "attnlab.facade.judging",
    "multiverse": "attnlab.facade.judging",
    "train": "attnlab.facade.training",
    "sweep": "attnlab.facade.results",
    "open": "attnlab.facade.results",
    "load": "attnlab.facade.saving",
    "Run": "attnlab.facade.runs",
    "Results": "attnlab.facade.results",
    "Batch": "attnlab.data.batch",
    "PatternVote": "attnlab.facade.distributions",
    "TokenMixture": "attnlab.facade.distributions",
    "WordCooccurrence": "attnlab.facade.distributions",
    "Images": "attnlab.facade.distributions",
    "ShallowViT": "attnlab.models.shallow_vit_model",
    "MultiHead": "attnlab.models.multihead_model",
    "LinearMLPTransformer": "attnlab.models.linear_mlp_model",
    "DeepViT": "attnlab.models.deep_vit_model",
    "start": "attnlab.facade.parts",
    "descend": "attnlab.facade.parts",
    "flow": "attnlab.facade.parts",
    "optimiser": "attnlab.facade.parts",
    "select_tokens": "attnlab.facade.parts",
}
"""Where each public name is; `probes` is the package of that name."""

if TYPE_CHECKING:
    from attnlab import probes as probes
    from attnlab.core import BadInput as BadInput
    from attnlab.data.batch import Batch as Batch
    from attnlab.facade.asking import bounds as bounds
    from attnlab.facade.asking import catalogue as catalogue
    from attnlab.facade.asking import show as show
    from attnlab.facade.distributions import Images as Images
    from attnlab.facade.distributions import PatternVote as PatternVote
    from attnlab.facade.distributions import TokenMixture as TokenMixture
    from attnlab.facade.distributions import WordCooccurrence as WordCooccurrence
    from attnlab.facade.judging import check as check
    from attnlab.facade.judging import figure as figure
    from attnlab.facade.judging import multiverse as multiverse
    from attnlab.facade.parts import descend as descend
    from attnlab.facade.parts import flow as flow
    from attnlab.facade.parts import optimiser as optimiser
    from attnlab.facade.parts import select_tokens as select_tokens
    from attnlab.facade.parts import start as start
    from attnlab.facade.results import Results as Results
    from attnlab.facade.results import open as open
    from attnlab.facade.results import sweep as sweep
    from attnlab.facade.runs import Run as Run
    from attnlab.facade.saving import load as load
    from attnlab.facade.training import train as train
    from attnlab.models.deep_vit_model import DeepViT as DeepViT
    from attnlab.models.linear_mlp_model import LinearMLPTransformer as LinearMLPTransformer
    from attnlab.models.multihead_model import MultiHead as MultiHead
    from attnlab.models.shallow_vit_model import ShallowViT as ShallowViT


def __getattr__(name: str) -> Any:  # whatever the name stands for
    if name == "probes":
        return import_module("attnlab.probes")
    if name not in FACADE:
        raise AttributeError(f"attnlab has no {name!r}; its names are {', '.join(sorted(FACADE))}")
    return getattr(import_module(FACADE[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *FACADE, "probes"])
