"""Cells: the frozen settings of one run, their identity and their random streams.

A cell is an instance of a frozen dataclass whose fields are all declared with `setting`.
Two hashes are taken of it, on purpose different:

    identity = sha256(study id, every field, seed)
    key      = sha256(stream, sampling fields that are off their default, seed)

The identity names a record in the ledger, so it holds everything. The key draws the random
numbers, so it holds only what the draw depends on: an engine, a tolerance or a control switch
must not change the draw (comparisons are paired), and neither must a setting added later.
"""

import dataclasses
import difflib
import functools
import hashlib
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, get_type_hints

import msgspec

Origin = Literal["paper", "inferred", "ours"]


class BadInput(Exception):
    """A user's mistake. The message says what was got, what is required and what to do."""


def setting(
    default: Any,
    *,
    origin: Origin,
    help: str,
    symbol: str = "",
    samples: bool = True,
    alternatives: Mapping[Any, str] | None = None,
    matters: Callable[[Any], bool] = lambda cell: True,
) -> Any:
    """Declare one field of a settings class.

    `origin` says who chose the default: the paper's text, our inference from it, or us.
    `symbol` is the paper's letter. `samples` is False for what does not change the random draw.
    `alternatives` are the values that an attentive reader of the paper could have chosen instead,
    each with the reason; on a default that the paper gives they concern designs that depart from
    it. `matters` says of a cell whether the choice can change anything there.
    """
    metadata: dict[str, Any] = {"origin": origin, "help": help, "symbol": symbol}
    metadata["samples"] = samples
    metadata |= {"alternatives": dict(alternatives or {}), "matters": matters}
    return dataclasses.field(default=default, metadata=metadata)


def as_dict(cell: Any) -> dict[str, Any]:
    """The cell as plain values, each of its field's declared type (so 1 and 1.0 do not differ)."""
    hints = _types(type(cell))
    plain = {}
    for field in dataclasses.fields(cell):
        value = getattr(cell, field.name)
        if isinstance(value, float) and not math.isfinite(value):
            raise BadInput(
                f"setting {field.name}={value} is not a finite number; give a finite one, "
                f"e.g. the default {field.name}={field.default}"
            )
        plain[field.name] = _convert(field.name, value, hints[field.name], strict=True)
    return plain


def from_dict(settings: type, plain: Mapping[str, Any]) -> Any:
    """Rebuild a cell from `as_dict`'s output."""
    hints = _types(settings)
    return settings(**{k: _convert(k, v, hints[k], strict=True) for k, v in plain.items()})


def canonical(value: Any) -> bytes:
    """Canonical JSON bytes: sorted keys, shortest float representation."""
    return msgspec.json.encode(value, order="deterministic")


def identity(study: str, cell: Any, seed: int) -> str:
    """The name of a record: a hash of the study's id, every field of the cell, and the seed."""
    encoded = canonical([study, msgspec.Raw(_encoded(cell)), seed])
    return hashlib.sha256(encoded).hexdigest()


@functools.lru_cache(maxsize=8192)
def _encoded(cell: Any) -> bytes:
    """A cell in canonical JSON; kept, for one cell is named once for each of its seeds."""
    return canonical(as_dict(cell))


@dataclasses.dataclass(frozen=True)
class Key:
    """The source of one run's random streams: the cell's sampling fields and the seed."""

    fields: str
    seed: int

    @classmethod
    def of(cls, cell: Any, seed: int) -> "Key":
        """The key of a cell: sampling fields that differ from their default, and the seed."""
        plain = as_dict(cell)
        drawn = {
            f.name: plain[f.name]
            for f in dataclasses.fields(cell)
            if f.metadata["samples"] and getattr(cell, f.name) != f.default
        }
        return cls(canonical(drawn).decode(), seed)

    def words(self, stream: str) -> tuple[int, int]:
        """Two 32-bit words of key material for the named stream (`data`, `init`, ...)."""
        digest = hashlib.sha256(canonical([stream, self.fields, self.seed])).digest()
        return int.from_bytes(digest[:4], "little"), int.from_bytes(digest[4:8], "little")


def parse_assignments(assignments: Iterable[str]) -> dict[str, str]:
    """`("m=4096", "n=120")` as a dictionary; a sentence if one is not of the form name=value."""
    parsed: dict[str, str] = {}
    for text in assignments:
        name, equals, value = text.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise BadInput(f"--set {text!r} is not of the form name=value; write e.g. --set m=4096")
        name, value = name.strip(), value.strip()
        if name in parsed:
            raise BadInput(
                f"--set {name} was given twice, {parsed[name]} and {value}; a setting takes one "
                "value: leave one of them out"
            )
        if "," in value or value[0] in "[({":
            raise BadInput(
                f"--set {name}={value} is a list; a setting takes one value, and a design decides "
                "which levels it runs: give one, or leave it out"
            )
        parsed[name] = value
    return parsed


def override(cell: Any, changes: Mapping[str, Any], *, text: bool = False) -> Any:
    """The cell with the fields named in `changes` replaced, each converted to its field's type.

    `text` says that the values are words from the command line. Names that the cell does not
    have are passed over: one `--set` may concern only some of the studies of a command, and
    `require_known` is the check that each name concerns at least one.
    """
    hints = _types(type(cell))
    replaced = {
        name: _convert(name, value, hints[name], strict=not text)
        for name, value in changes.items()
        if name in hints
    }
    return dataclasses.replace(cell, **replaced)


def require_known(names: Iterable[str], settings: Iterable[type]) -> None:
    """Refuse a name that no settings class has, and offer the nearest ones."""
    known = sorted({f.name for cls in settings for f in dataclasses.fields(cls)})
    for name in names:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]}? " if near else ""
            raise BadInput(
                f"no setting is called {name!r}; {hint}settings here: {', '.join(known)}"
            )


@functools.cache
def _types(settings: type) -> dict[str, Any]:
    """The declared type of each field; kept, for it is looked up for every run."""
    return get_type_hints(settings)


def _convert(name: str, value: Any, kind: Any, *, strict: bool) -> Any:
    try:
        return msgspec.convert(value, kind, strict=strict)
    except msgspec.ValidationError as error:
        wanted = getattr(kind, "__name__", str(kind).replace("typing.", ""))
        raise BadInput(f"{name}={value!r}: {error}; {name} takes {wanted}") from None
