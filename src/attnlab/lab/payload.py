"""The bytes of a record: named scalars and small arrays, in one canonical form.

The digest of these bytes is what *bitwise equal* means: it covers the values and how the run
ended, and no timing, host or memory.
"""

import hashlib
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike

    Values = dict[str, str | np.ndarray]

LARGEST = 16 * 2**20


def encode(values: "Mapping[str, ArrayLike]") -> bytes:
    """Values as canonical bytes: names sorted, arrays little-endian and contiguous."""
    import numpy as np

    table: dict[str, str | tuple[str, tuple[int, ...], bytes]] = {}
    for name in sorted(values):
        value = values[name]
        if isinstance(value, str):
            table[name] = value
            continue
        array = np.asarray(value)
        if array.dtype.kind not in "biuf":
            raise TypeError(f"value {name!r} has dtype {array.dtype}; a record holds numbers")
        array = array.astype(array.dtype.newbyteorder("<"), order="C")
        table[name] = (array.dtype.str, array.shape, array.tobytes())
    data = msgspec.msgpack.encode(table)
    if len(data) > LARGEST:
        raise ValueError(
            f"a record of {len(data) / 2**20:.0f} MB is over the limit of "
            f"{LARGEST // 2**20} MB; record fewer times or a summary"
        )
    return data


def not_finite(values: "Mapping[str, ArrayLike]", absent: Collection[str]) -> str:
    """A sentence on values that are infinite or nan and not declared absent; nothing if none is."""
    import numpy as np

    def bad(name: str) -> bool:
        array = np.asarray(values[name])
        return array.dtype.kind == "f" and not np.isfinite(array).all()

    names = [name for name in sorted(values) if name not in absent and bad(name)]
    if not names:
        return ""
    more = f" and {len(names) - 1} more are" if len(names) > 1 else " is"
    return (
        f"at the end of the run {names[0].replace('_', ' ')}{more} infinite or nan, by overflow or "
        "a division by zero; give less extreme settings"
    )


def decode(data: bytes) -> "Values":
    """The inverse of `encode`: read-only arrays and strings by name."""
    import numpy as np

    table = msgspec.msgpack.decode(data)
    return {
        name: value
        if isinstance(value, str)
        else np.frombuffer(value[2], dtype=value[0]).reshape(value[1])
        for name, value in table.items()
    }


def digest(data: bytes, diverged: str) -> str:
    """The digest of a record: its bytes and, if it diverged, why."""
    return hashlib.sha256(diverged.encode() + b"\0" + data).hexdigest()
