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
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Literal, Protocol, TypeAlias, TypeVar, get_type_hints

import msgspec

LARGEST_WHOLE = 2**53
"""Beyond it a whole number is not what arithmetic takes it for."""
Origin = Literal["paper", "inferred", "ours"]
Value = TypeVar("Value")

SettingValue = bool | int | float | str
"""What a setting can be."""
Json: TypeAlias = bool | int | float | str | Sequence["Json"] | Mapping[str, "Json"] | None
"""What JSON can hold."""
OWN = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")
"""`module:name` of something of one's own."""
OfCell = Callable[[Any], Value]
"""A function of a paper's own cells. Every paper has settings classes of its own, and no type
that is common to them could stand for the argument of a function that reads their fields."""


class Cell(Protocol):
    """An instance of a settings class: a frozen dataclass, its fields declared with `setting`."""

    __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[Any]]]


SomeCell = TypeVar("SomeCell", bound=Cell)


class BadInput(Exception):
    """A user's mistake. The message says what was got, what is required and what to do."""


def setting(
    default: SettingValue,
    *,
    origin: Origin,
    help: str,
    symbol: str = "",
    samples: bool = True,
    shape: bool = False,
    own: bool = False,
    alternatives: Mapping[SettingValue, str] | None = None,
    matters: OfCell[bool] = lambda cell: True,
    idle: OfCell[str] = lambda cell: "",
) -> Any:
    """Declare one field of a settings class.

    `origin` says who chose the default: the paper's text, our inference from it, or us.
    `symbol` is the paper's letter. `samples` is False for what does not change the random draw.
    `shape` is True for what a compiled run is made for, a size of an array or a switch of the
    program; everything else is data, and another value of it costs no compilation.
    `own` is True for the name of a table's entry that may also be `module:name`, an entry of
    one's own that workers can import; the code hash then covers that module too.
    `alternatives` are the values that an attentive reader of the paper could have chosen instead,
    each with the reason; on a default that the paper gives they concern designs that depart from
    it. `matters` says of a cell whether it is the reader who chooses there. `idle` says why the
    setting has no effect in a cell, because of what others are; nothing where it has one.
    """
    metadata: dict[str, object] = {"origin": origin, "help": help, "symbol": symbol}
    metadata |= {"samples": samples, "shape": shape, "own": own}
    metadata |= {"alternatives": dict(alternatives or {}), "matters": matters, "idle": idle}
    return dataclasses.field(default=default, metadata=metadata)


def shape(value: OfCell[Value]) -> OfCell[Value]:
    """Mark what follows from the settings as a shape: put it under `@property`."""
    value.is_shape = True  # pyright: ignore[reportFunctionMemberAccess]
    return value


def program(cell: Cell) -> tuple[tuple[str, SettingValue], ...]:
    """What a compiled run of the cell depends on: its shapes, by name."""
    names = [f.name for f in dataclasses.fields(cell) if f.metadata["shape"]]
    return tuple((name, getattr(cell, name)) for name in (*names, *_derived_shapes(type(cell))))


@functools.cache
def _derived_shapes(settings: type) -> tuple[str, ...]:
    return tuple(
        name
        for kind in reversed(settings.__mro__)
        for name, value in vars(kind).items()
        if isinstance(value, property) and getattr(value.fget, "is_shape", False)
    )


def idle_reason(cell: Cell, name: str) -> str:
    """Why a setting has no effect in a cell because of what others are, or nothing."""
    return next(f for f in dataclasses.fields(cell) if f.name == name).metadata["idle"](cell)


def as_dict(cell: Cell) -> dict[str, SettingValue]:
    """The cell as plain values, each of its field's declared type (so 1 and 1.0 do not differ)."""
    plain = {}
    for field in dataclasses.fields(cell):
        value = getattr(cell, field.name)
        if isinstance(value, float) and not math.isfinite(value):
            raise BadInput(
                f"setting {field.name}={value} is not a finite number; give a finite one, "
                f"e.g. the default {field.name}={field.default}"
            )
        plain[field.name] = _of_field(type(cell), field.name, value, strict=True)
    return plain


def own_parts(plain: Mapping[str, object]) -> tuple[str, ...]:
    """What of one's own the settings of a cell (`as_dict`) name, as `module:name`."""
    found = {x for x in plain.values() if isinstance(x, str) and OWN.fullmatch(x)}
    return tuple(sorted(found))


def from_dict(settings: type[SomeCell], plain: Mapping[str, SettingValue]) -> SomeCell:
    """Rebuild a cell from `as_dict`'s output."""
    return settings(**{k: _of_field(settings, k, v, strict=True) for k, v in plain.items()})


def canonical(value: object) -> bytes:
    """Canonical JSON bytes: sorted keys, shortest float representation."""
    return msgspec.json.encode(value, order="deterministic")


def identity(study: str, cell: Cell, seed: int) -> str:
    """The name of a record: a hash of the study's id, every field of the cell, and the seed."""
    encoded = canonical([study, msgspec.Raw(_encoded(cell)), seed])
    return hashlib.sha256(encoded).hexdigest()


@functools.lru_cache(maxsize=8192)
def _encoded(cell: Cell) -> bytes:
    """A cell in canonical JSON; kept, for one cell is named once for each of its seeds."""
    return canonical(as_dict(cell))


@dataclasses.dataclass(frozen=True)
class Key:
    """The source of one run's random streams: the cell's sampling fields and the seed."""

    fields: str
    seed: int

    @classmethod
    def of(cls, cell: Cell, seed: int) -> "Key":
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


def override(
    cell: SomeCell, changes: Mapping[str, SettingValue], *, text: bool = False
) -> SomeCell:
    """The cell with the fields named in `changes` replaced, each converted to its field's type.

    `text` says that the values are words from the command line. Names that the cell does not
    have are passed over: one `--set` may concern only some of the studies of a command, and
    `require_known` is the check that each name concerns at least one.
    """
    hints = _types(type(cell))
    replaced = {
        name: _of_field(type(cell), name, value, strict=not text)
        for name, value in changes.items()
        if name in hints
    }
    try:
        return dataclasses.replace(cell, **replaced)
    except ArithmeticError as error:
        reason = error.args[-1] if error.args else type(error).__name__
        given = ", ".join(f"{name}={_short(value)}" for name, value in replaced.items())
        raise BadInput(f"got {given}, at which {reason}; give less extreme settings") from None


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


@functools.cache
def _takes_own(settings: type) -> frozenset[str]:
    return frozenset(f.name for f in dataclasses.fields(settings) if f.metadata["own"])


def _of_field(settings: type, name: str, value: object, *, strict: bool) -> Any:
    """A value as the field of this name takes it."""
    if name in _takes_own(settings) and (own := _import_string(name, value)):
        return own
    return _convert(name, value, _types(settings)[name], strict=strict)


def _import_string(name: str, value: object) -> str:
    """The `module:name` of something of one's own, or nothing where it is the name of an entry."""
    if callable(value):
        value = f"{value.__module__}:{getattr(value, '__qualname__', '')}"
    if not isinstance(value, str) or ":" not in value:
        return ""
    if not OWN.fullmatch(value) or value.startswith("__main__:"):
        raise BadInput(
            f"{name}={_short(value)}: runs are made in processes of their own, which import it by "
            f"a name; put it at the top level of a module, say my_parts.py, and give "
            f"{name}=my_parts:its_name"
        )
    return value


def _convert(name: str, value: object, kind: Any, *, strict: bool) -> Any:
    wanted = getattr(kind, "__name__", str(kind).replace("typing.", ""))
    try:
        written = value if strict or not isinstance(value, str) else _with_a_zero(value)
        converted = msgspec.convert(written, kind, strict=strict)
    except (msgspec.ValidationError, UnicodeEncodeError) as error:
        raise BadInput(f"{name}={_short(value)}: {error}; {name} takes {wanted}") from None
    if isinstance(converted, float) and not math.isfinite(converted):
        raise BadInput(f"{name}={_short(value)} is not a finite number; {name} takes a finite one")
    if isinstance(converted, int) and abs(converted) > LARGEST_WHOLE:
        raise BadInput(
            f"{name}={_short(value)} is beyond 2^53, up to which whole numbers are exact; {name} "
            "takes a smaller one"
        )
    return converted


def _with_a_zero(word: str) -> str:
    """`.5` as `0.5`, which is the same number to a person."""
    sign, rest = ("-", word[1:]) if word[:1] == "-" else ("", word)
    return f"{sign}0{rest}" if rest[:1] == "." and rest[1:2].isdigit() else word


def _short(value: object) -> str:
    """A value in a sentence; one of thousands of letters has no end worth reading."""
    try:
        text = repr(value)
    except ValueError:  # Python refuses to write out a whole number of that many digits
        return "a number of thousands of digits"
    return text if len(text) <= 60 else f"{text[:57]}..."
