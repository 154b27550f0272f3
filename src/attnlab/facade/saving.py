"""Runs as safetensors files: arrays and a text of JSON, never code."""

import dataclasses
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save as save_arrays

from attnlab.core import BadInput
from attnlab.lab.files import replace_file
from attnlab.models.deep_vit import Parameters as DeepViTParameters
from attnlab.models.deep_vit_model import DeepViT
from attnlab.models.linear_mlp_model import LinearMLPTransformer
from attnlab.models.linear_mlp_transformer import Parameters as LinearMLPParameters
from attnlab.models.multihead import Heads
from attnlab.models.multihead_model import MultiHead
from attnlab.models.protocol import Weights
from attnlab.models.shallow_vit import Parameters as ShallowViTParameters
from attnlab.models.shallow_vit_model import ShallowViT

if TYPE_CHECKING:
    from attnlab.facade.runs import Run

FORMAT = "attnlab run 1"
MODELS: dict[str, tuple[type, type]] = {
    "ShallowViT": (ShallowViT, ShallowViTParameters),
    "MultiHead": (MultiHead, Heads),
    "LinearMLPTransformer": (LinearMLPTransformer, LinearMLPParameters),
    "DeepViT": (DeepViT, DeepViTParameters),
}
"""By name, a model and the type of its trained weights."""
TOLD = ("axis", "title", "engine", "loss", "score_gain", "ending", "diverged", "seconds")


def save(run: "Run", path: str | Path) -> Path:
    """Write a run's weights, series and settings to one file."""
    path = Path(path)
    if path.suffix != ".safetensors":
        raise BadInput(f"got {path}; give a name that ends in .safetensors")
    weights = run.parameters
    name = type(run.model).__name__
    if name not in MODELS:
        raise BadInput(f"got a {name}; models that are saved are {', '.join(MODELS)}")
    arrays = {f"trained.{k}": np.asarray(x) for k, x in weights.trained._asdict().items()}
    if len(np.shape(weights.fixed)):
        arrays["fixed"] = np.asarray(weights.fixed)
    if isinstance(weights.fixed, tuple):
        arrays.pop("fixed", None)
    arrays |= {f"series.{k}": np.asarray(x) for k, x in run.series.items()}
    arrays["at"] = np.asarray(run.at)
    about = {k: getattr(run, k) for k in TOLD}
    about |= {"settings": dict(run.settings), "roles": list(run.roles), "model": name}
    about |= {"sizes": {f.name: getattr(run.model, f.name) for f in dataclasses.fields(run.model)}}
    contiguous = {k: np.ascontiguousarray(x) for k, x in arrays.items()}
    replace_file(path, save_arrays(contiguous, {"format": FORMAT, "run": json.dumps(about)}))
    return path


def load(path: str | Path) -> "Run":
    """A run that was saved: it predicts and scores; its training samples are not in the file."""
    from attnlab.facade.runs import Run

    if not os.path.isfile(path):
        raise BadInput(f"there is no file {path}; give the name that was given to save")
    try:
        with safe_open(path, framework="np") as file:
            metadata = file.metadata() or {}
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError) as error:
        raise BadInput(f"{path} is not a safetensors file, or it is cut short ({error})") from None
    if metadata.get("format") != FORMAT:
        raise BadInput(f"{path} holds no run of attnlab; give a file that Run.save has written")
    try:
        about = json.loads(metadata["run"])
        model_type, trained_type = MODELS[about["model"]]
        model = model_type(**about["sizes"])
        trained = trained_type(**{k: arrays[f"trained.{k}"] for k in trained_type._fields})
        series = _under(arrays, "series.")
        return Run(
            model=model,
            settings=about["settings"],
            at=arrays["at"],
            series=series,
            roles=tuple(about["roles"]),
            weights=Weights(trained, arrays.get("fixed", ())),
            **{k: about[k] for k in TOLD},
        )
    except (KeyError, TypeError, ValueError, BadInput) as error:
        raise BadInput(f"{path} is damaged ({type(error).__name__}: {error})") from None


def _under(arrays: dict[str, np.ndarray], start: str) -> dict[str, Any]:
    return {k.removeprefix(start): x for k, x in arrays.items() if k.startswith(start)}
