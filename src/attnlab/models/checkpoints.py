"""Weights as safetensors files: no pickle, and every array's name and shape is checked."""

from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load as load_arrays
from safetensors.numpy import save as save_arrays

from attnlab.core import BadInput

MOST_BYTES = 2**31
"""A file beyond it is no checkpoint of ours."""


def save_weights(path: Path, weights: Any, *, half: bool = False) -> None:
    """A named tuple of arrays as a file, in half precision if asked for."""
    kind = np.float16 if half else None
    arrays = {name: np.asarray(x, kind) for name, x in weights._asdict().items()}
    Path(path).write_bytes(save_arrays(arrays))


def load_weights(source: Path | bytes, like: Any) -> Any:
    """The named tuple of arrays from a file, of the names and shapes of `like`, in float32."""
    name = "these bytes" if isinstance(source, bytes) else str(source)
    if isinstance(source, Path) and source.stat().st_size > MOST_BYTES:
        raise BadInput(f"{name} has {source.stat().st_size} bytes; a checkpoint has far fewer")
    data = source if isinstance(source, bytes) else source.read_bytes()
    try:
        arrays = load_arrays(data)
    except (SafetensorError, ValueError, TypeError, KeyError) as error:
        raise BadInput(
            f"{name} ({len(data)} bytes) is not a safetensors file: {error}; give one that "
            "save_weights wrote"
        ) from None
    wanted = {field: np.shape(x) for field, x in like._asdict().items()}
    found = {field: x.shape for field, x in arrays.items()}
    for field, shape in wanted.items():
        if found.get(field) != shape:
            raise BadInput(
                f"{name} has {field} of shape {found.get(field, 'none')}; {shape} is required: "
                "make the model with the sizes that it was saved with"
            )
    if set(found) != set(wanted):
        raise BadInput(
            f"{name} has arrays that the model lacks: {sorted(set(found) - set(wanted))}"
        )
    for field, x in arrays.items():
        if x.dtype.kind != "f" or not np.isfinite(x).all():
            raise BadInput(
                f"{name} has values in {field} that are no finite numbers; save it again"
            )
    return type(like)(**{field: arrays[field].astype(np.float32) for field in wanted})
