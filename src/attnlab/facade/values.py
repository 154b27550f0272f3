"""Values of settings as a notebook has them."""

from collections.abc import Mapping
from typing import Any, TypeVar

from attnlab.core import BadInput

Name = TypeVar("Name")


def plain(settings: Mapping[Name, Any]) -> dict[Name, Any]:
    """Single numbers of numpy (or jax) as Python's own, which settings are checked against."""
    return {
        name: value.item() if getattr(value, "shape", None) == () else value
        for name, value in settings.items()
    }


def whole(name: str, value: Any) -> int:
    """A whole number as Python's own; how large it may be is said where it is used."""
    (number,) = plain({name: value}).values()
    if isinstance(number, bool) or not isinstance(number, int):
        raise BadInput(f"got {name}={value!r}; a whole number is required")
    return number
