"""Tables of named parts, selectors, noise, optimisers, schemes, engines: how one is looked up.

A part of your own is an entry of its table, for as long as the process lives. In settings, whose
runs are made by other processes, it is `module:name`, which every process can import.
"""

import difflib
from collections.abc import Mapping
from importlib import import_module
from typing import TypeVar

from attnlab.cells import OWN, BadInput

Part = TypeVar("Part")


def entry(table: Mapping[str, Part], name: str, what: str) -> Part:
    """The entry of this name, or what `module:name` stands for; `what` is the table's kind."""
    if name in table:
        return table[name]
    if OWN.fullmatch(name):
        return _imported(name, what)
    near = difflib.get_close_matches(name, table, n=1)
    hint = f"did you mean {near[0]}? " if near else ""
    raise BadInput(f"no {what} is called {name!r}; {hint}there are: {', '.join(table)}")


def _imported(name: str, what: str) -> Part:  # pyright: ignore[reportInvalidTypeVarUse]
    module, _, attribute = name.partition(":")
    try:
        return getattr(import_module(module), attribute)
    except Exception as error:  # whatever a user's module may raise
        raise BadInput(
            f"got {what} {name}, which cannot be imported ({type(error).__name__}: {error}); it is "
            "module:name of something at the top level of a module on Python's path"
        ) from None
