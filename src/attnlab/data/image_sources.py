"""Where pictures come from: the embedded digits and photographs, fetched sets, own folders.

Everything here is numpy: bytes (K, side, side, channels) with a class each. What is embedded has
its sum in this module, so that a changed file is other code, and other records; the other sets
have theirs in `attnlab.image_files`.
"""

import hashlib
import io
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.resources import files
from pathlib import Path

import numpy as np

from attnlab import image_files
from attnlab.core import BadInput

EMBEDDED = {
    "digits.npz": "75c1c21d04764fe6d042f8e306e7b55e0a7edb14f7f7e2c90c8605c49642c3a8",
    "textures.npz": "97fe2e90d587db90bd1d1c6f5efc2977bb2722b2cd129cfed3184aca20ef16b7",
}
"""SHA-256 sums of the embedded arrays (`tools/embed_images.py` prints them)."""
TRAINED_ROWS = 0.6
"""Ours: the share of a photograph's rows for training crops; test crops have the rest."""
SOURCES = ("digits", *image_files.SETS)


@dataclass(frozen=True)
class Pictures:
    """Objects with classes, and photographs to put them on."""

    objects: np.ndarray
    """(K, side, side, channels), bytes."""
    classes: np.ndarray
    photographs: np.ndarray
    """(T, rows, columns, channels), bytes."""
    names: tuple[str, ...]
    test_from: int | None = None
    """The first object of the set's own test part; None: there is none, and a run splits."""

    def resized(self, side: int) -> "Pictures":
        """The same with objects of another size."""
        return replace(self, objects=resized(self.objects, side))

    def of_classes(self, wanted: tuple[int, ...]) -> "Pictures":
        """The objects of these classes, numbered anew in this order."""
        number = np.full(len(self.names), -1)
        number[list(wanted)] = np.arange(len(wanted))
        chosen = number[self.classes] >= 0
        test = None if self.test_from is None else int(chosen[: self.test_from].sum())
        return replace(
            self,
            objects=self.objects[chosen],
            classes=number[self.classes[chosen]],
            names=tuple(self.names[k] for k in wanted),
            test_from=test,
        )

    def of_groups(self, *groups: tuple[int, ...]) -> "Pictures":
        """The objects of these groups of classes, each group one class, in this order."""
        chosen = self.of_classes(tuple(k for group in groups for k in group))
        number = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
        names = tuple("/".join(self.names[k] for k in group) for group in groups)
        return replace(chosen, classes=number[chosen.classes], names=names)


def embedded(name: str) -> dict[str, np.ndarray]:
    """An embedded file, whose sum must be the one that this module holds; never unpickled."""
    data = embedded_bytes(name, EMBEDDED[name])
    with np.load(io.BytesIO(data), allow_pickle=False) as archive:
        return dict(archive)


def embedded_bytes(name: str, wanted: str) -> bytes:
    """The bytes of an embedded file of this sum."""
    data = files("attnlab.data").joinpath("embedded", name).read_bytes()
    found = hashlib.sha256(data).hexdigest()
    if found != wanted:
        raise BadInput(
            f"the embedded file {name} ({len(data)} bytes) has the SHA-256 sum {found[:16]}..., "
            f"not {wanted[:16]}...; install attnlab again"
        )
    return data


@lru_cache(maxsize=2)
def pictures(source: str, folder: Path | None = None) -> Pictures:
    """The pictures of a named source; those that are not embedded are read from a folder."""
    if source == "digits":
        held = embedded("digits.npz")
        return Pictures(
            held["images"],
            held["labels"].astype(int),
            embedded("textures.npz")["photographs"],
            tuple("0123456789"),
        )
    if source not in image_files.SETS:
        raise BadInput(f"no source is called {source!r}; there are: {', '.join(SOURCES)}")
    read = image_files.read(source, folder)
    return Pictures(
        read.images, read.labels, photographs_for(read.images.shape[-1]), read.names,
        test_from=read.test_from,
    )  # fmt: skip


def photographs_for(channels: int) -> np.ndarray:
    """Plants, which have to be fetched, for colour; the embedded photographs for grey."""
    return image_files.plants() if channels == 3 else embedded("textures.npz")["photographs"]


def from_folders(
    objects: Path, backgrounds: Path | None = None, *, side: int = 32, channels: int = 1
) -> Pictures:
    """A user's own: a folder of images by class, and one of backgrounds."""
    read = image_files.read_folders(objects, side=side, channels=channels)
    if backgrounds is None:
        photographs = photographs_for(channels)
    else:
        photographs = image_files.read_backgrounds(backgrounds, channels=channels)
    return Pictures(read.images, read.labels, photographs, read.names)


def resized(pixels: np.ndarray, side: int) -> np.ndarray:
    """Squares of another side, by linear interpolation between the centres of pixels."""
    old = pixels.shape[1]
    if old == side:
        return pixels
    at = np.clip((np.arange(side) + 0.5) * old / side - 0.5, 0, old - 1)
    low = np.minimum(np.floor(at).astype(int), max(old - 2, 0))
    share = at - low
    R = np.zeros((side, old))
    R[np.arange(side), low] = 1 - share
    R[np.arange(side), np.minimum(low + 1, old - 1)] += share
    out = np.empty((len(pixels), side, side, pixels.shape[-1]), np.uint8)
    for first in range(0, len(pixels), 1000):  # in parts: as floats all of a set may not fit
        part = pixels[first : first + 1000].astype(float)
        bigger = np.einsum("ai,nijc,bj->nabc", R, part, R, optimize=True)
        out[first : first + 1000] = np.round(bigger).astype(np.uint8)
    return out


def rows_of(photographs: np.ndarray, training: bool) -> np.ndarray:
    """The part of every photograph that training, or test, crops come from."""
    cut = int(TRAINED_ROWS * photographs.shape[1])
    return photographs[:, :cut] if training else photographs[:, cut:]
