"""Files that are there whole or not at all, whatever happens while they are written."""

import contextlib
import os
from collections.abc import Callable
from pathlib import Path

from attnlab.core import BadInput


def replace_file(path: Path, data: bytes) -> None:
    """Write a file beside its place, then put it there: nobody ever sees half of it."""

    def save(beside: Path) -> None:
        with beside.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())  # some disks say only now that they are full

    replace_by(path, save)


def replace_by(path: Path, save: Callable[[Path], object]) -> None:
    """The same for what another library writes: `save` gets the name beside."""
    beside = path.with_name(f".{os.getpid()}.{path.name}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        save(beside)
        beside.replace(path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            beside.unlink(missing_ok=True)
        if isinstance(error, OSError):
            reason = f"cannot write {path}: {error.strerror or error}"
            raise BadInput(f"{reason}; free some space or give another place") from None
        raise
