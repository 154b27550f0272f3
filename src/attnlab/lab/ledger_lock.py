"""The lock of a ledger's only writer: on the database file itself, so that it cannot be deleted
apart from it. The file `ledger.lock` beside it is a note with the writer's pid and locks nothing.
"""

import contextlib
import fcntl
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from attnlab.core import BadInput


@contextmanager
def writable(folder: Path) -> Iterator[None]:
    """Make the folder, if it is not there; a sentence if something cannot be made in it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    except (OSError, ValueError) as error:
        raise BadInput(
            f"cannot write in {folder}: {getattr(error, 'strerror', error)}; give a folder "
            "you can write to by --out"
        ) from None


def locked(path: Path) -> int:
    """The descriptor of the database file (made if it is not there), with its lock on it."""
    with writable(path.parent):
        lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not is_at(lock, path):
            raise BlockingIOError
    except OSError:
        os.close(lock)
        raise BadInput(
            f"another attnlab (pid {_noted(_note(path))}) is writing {path}; wait until it has "
            "ended, or use another --out"
        ) from None
    _leave_note(_note(path))
    return lock


def is_at(lock: int, path: Path) -> bool:
    """Whether the open file is still the one that the path names."""
    try:
        return os.path.samestat(os.fstat(lock), os.stat(path))
    except OSError:
        return False


def _note(path: Path) -> Path:
    return path.with_name("ledger.lock")


def _noted(note: Path) -> str:
    """The pid in a note; `unknown` if there is none, or the file is something else."""
    try:
        if not stat.S_ISREG(note.lstat().st_mode):
            return "unknown"
        text = note.read_bytes()[:32].strip()
    except OSError:
        return "unknown"
    return text.decode() if text.isdigit() else "unknown"


def _leave_note(note: Path) -> None:
    """Write our pid for whoever is refused; a file that is no such note is left as it is."""
    if os.path.lexists(note) and _noted(note) == "unknown":
        return
    # Beside, under a name that nobody has, and renamed: no link is followed in either place.
    try:
        descriptor, name = tempfile.mkstemp(prefix=f".{note.name}.", dir=note.parent)
    except OSError:  # a full disk: whoever is refused will not learn our pid
        return
    beside = Path(name)
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(str(os.getpid()))
        beside.chmod(0o644)
        beside.replace(note)
    except OSError:
        with contextlib.suppress(OSError):
            beside.unlink(missing_ok=True)
