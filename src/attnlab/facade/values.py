"""Values of settings as a notebook has them."""

from collections.abc import Mapping
from typing import Any, TypeVar

Name = TypeVar("Name")


def plain(settings: Mapping[Name, Any]) -> dict[Name, Any]:
    """Single numbers of numpy (or jax) as Python's own, which settings are checked against."""
    return {
        name: value.item() if getattr(value, "shape", None) == () else value
        for name, value in settings.items()
    }
