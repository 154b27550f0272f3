"""Fingerprints of the code and of the numerical stack that a record rests on.

A finished record is used again only if both are equal to today's. The code is that of all modules
which the study's run imports, directly or through others, within attnlab and the packages of the
run and of its settings: what the run does not import, as claims, figures, designs and other papers,
may change freely. Syntax trees are compared, without what no run depends on, so that comments,
layout and documentation may change too. What of one's own a cell names (`module:name`: a selector,
noise, an optimiser) counts with its module and what that imports of its package.

Modules are read, never imported: neither jax nor a paper is loaded to learn whether its records
are current. So an import by a computed name (`importlib.import_module(name)`) is not seen.
"""

import ast
import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from attnlab import cells
from attnlab.core import BadInput, Study

OURS = "attnlab"
STACK = ("jax", "jaxlib", "diffrax", "equinox", "optax", "numpy", "scipy")
PROSE = ("origin", "help", "symbol", "alternatives")
"""What `setting(...)` takes for readers and for the choice of universes; no run depends on it."""
PACKAGE = "__init__.py"


@cache
def stack() -> str:
    """The versions of the packages that decide the bits of a result, as one line."""
    return " ".join(f"{name}={_version(name)}" for name in STACK)


def of(study: Study, plain: Mapping[str, object] | None = None) -> str:
    """The code that makes a study's records: of those of a cell, with what is one's own in it."""
    return of_run(study.run, settings_name(study.settings), plain or {})


def of_run(run: str, settings: str, plain: Mapping[str, object]) -> str:
    """The same for an order of a run, by its import strings."""
    own = cells.own_parts(plain)
    for name in own:
        _installed.require(name)
    return code(run, settings, *own)


def settings_name(settings: type) -> str:
    """The import string of a settings class."""
    return f"{settings.__module__}:{settings.__qualname__}"


@cache
def code(*names: str) -> str:
    """The fingerprint of the code behind objects named `package.module:name`: a run, settings."""
    return _installed.fingerprint(*names)


@dataclass(frozen=True)
class Source:
    """A module's file as it was read."""

    file: Path
    text: bytes

    @property
    def is_package(self) -> bool:
        """Whether relative imports start at the module itself."""
        return self.file.name == PACKAGE


@dataclass(frozen=True)
class Module:
    """What counts of a module: its program, and what its import statements name."""

    program: str
    imports: tuple[tuple[str, str], ...]
    """(module, name) of `from module import name`; the name is empty for `import module`."""
    bound: frozenset[str]
    """The names that its top-level statements bind."""


class Code:
    """The code of packages, each as it was when it was first asked for.

    A package is read whole and once: a process may import any of it from then on, and a later
    look at a file would tell of other code than the process runs.
    """

    def __init__(self, places: Callable[[str], Iterable[Path]]):
        """Read packages from the folders, or the one file, that `places` gives for each name."""
        self._places = places
        self._sources: dict[str, dict[str, Source]] = {}
        self._modules: dict[str, Module] = {}

    def fingerprint(self, *names: str) -> str:
        """A hash of the names, which say what of the code is used, and of all code behind them."""
        digest = hashlib.sha256("\0".join(names).encode())
        for module in self.closure(*names):
            digest.update(f"\0{module}\0{self._module(module).program}".encode())
        return digest.hexdigest()

    def closure(self, *names: str) -> list[str]:
        """Every module that the named objects' modules import, with themselves, sorted.

        Importing `a.b.c` also executes `a/__init__.py` and `a/b/__init__.py`. They are left out:
        they would draw in all of a paper through its front door. They count where they are
        named themselves, as in `from a.b import name` with a name that is no module.
        """
        roots = [name.partition(":")[0] for name in names]
        inside = {OURS, *map(_top, roots)}
        for root in roots:
            if self._source(root) is None:
                raise BadInput(f"no module {root!r} is in the package {_top(root)!r}; install it")
        found: set[str] = set()
        waiting = roots
        while waiting:
            module = waiting.pop()
            if module in found:
                continue
            found.add(module)
            for base, name in self._module(module).imports:
                if _top(base) in inside:
                    named = (f"{base}.{name}", base) if name else (base,)
                    waiting += [m for m in named if self._source(m) is not None][:1]
        return sorted(found)

    def require(self, name: str) -> None:
        """Refuse `module:name` where no top-level statement of the module binds the name."""
        module, _, wanted = name.partition(":")
        if self._source(module) is None:
            raise BadInput(f"got {name}; no module {module!r} is in the package {_top(module)!r}")
        if wanted not in self._module(module).bound:
            raise BadInput(f"got {name}; nothing at the top level of {module} is called {wanted!r}")

    def _source(self, module: str) -> Source | None:
        top = _top(module)
        if top not in self._sources:
            self._sources[top] = dict(_read(top, self._places(top)))
        return self._sources[top].get(module)

    def _module(self, name: str) -> Module:
        if name not in self._modules:
            source = self._source(name)
            assert source is not None, name
            try:
                tree = ast.parse(source.text)
            except (SyntaxError, ValueError) as error:
                raise BadInput(f"{source.file} is not a Python program: {error}") from None
            package = name if source.is_package else name.rpartition(".")[0]
            imports = tuple(dict.fromkeys(_names(tree, package)))  # before the tree is cut
            bound = frozenset(_bound(tree))
            self._modules[name] = Module(_program(tree), imports, bound)
        return self._modules[name]


def places(package: str) -> list[Path]:
    """Where an importable top-level package or module is, found without importing it."""
    try:
        # Under `python -m` there is a __main__ to be found, but no other process has it.
        spec = None if package == "__main__" else find_spec(package)
    except (ImportError, ValueError):
        spec = None
    if spec is not None and spec.submodule_search_locations:
        return [Path(folder) for folder in spec.submodule_search_locations]
    if spec is not None and spec.origin and spec.origin.endswith(".py"):
        return [Path(spec.origin)]
    raise BadInput(f"the package {package!r} cannot be found; install it again")


_installed = Code(places)


def normal_form(source: str) -> str:
    """The program text without comments, layout, docstrings and the prose of settings."""
    return _program(ast.parse(source))


def _program(tree: ast.Module) -> str:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            # A bare string is never executed for its effect: docstrings of attributes go too.
            node.body = [s for s in node.body if not _is_bare_string(s)] or [ast.Pass()]
        elif isinstance(node, ast.Call) and _last_name(node.func) == "setting":
            node.keywords = [k for k in node.keywords if k.arg not in PROSE]
    return ast.unparse(tree)


def _bound(node: ast.AST) -> Iterator[str]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.ClassDef):
            yield child.name
        elif isinstance(child, ast.Import | ast.ImportFrom):
            yield from (alias.asname or alias.name for alias in child.names)
        elif isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
            yield child.id
        else:  # under an `if` or a `try`
            yield from _bound(child)


def _names(tree: ast.Module, package: str) -> Iterator[tuple[str, str]]:
    for statement in _imports(tree):
        if isinstance(statement, ast.Import):
            yield from ((alias.name, "") for alias in statement.names)
            continue
        base = statement.module or ""
        if statement.level:
            parts = package.split(".")
            parents = parts[: len(parts) - statement.level + 1]
            base = ".".join([*parents, *filter(None, [base])])
        yield from ((base, alias.name) for alias in statement.names)


def _imports(node: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """The import statements, those inside functions too, but for those of the type checker."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        yield node
    children: Iterable[ast.AST] = ast.iter_child_nodes(node)
    if isinstance(node, ast.If) and _last_name(node.test) == "TYPE_CHECKING":
        children = node.orelse
    for child in children:
        if isinstance(child, ast.stmt | ast.excepthandler | ast.match_case):
            yield from _imports(child)


def _read(package: str, places: Iterable[Path]) -> Iterator[tuple[str, Source]]:
    """Every module of a package by its name; of two with one name, last the one that counts."""
    for place in reversed(list(places)):
        if place.is_file():
            yield package, Source(place, place.read_bytes())
            continue
        for folder, inner, files in os.walk(place):
            inner[:] = [name for name in inner if name.isidentifier()]  # others have no modules
            parts = (package, *Path(folder).relative_to(place).parts)
            for file in sorted(files, key=lambda name: name == PACKAGE):
                path = Path(folder, file)
                if file == PACKAGE:
                    yield ".".join(parts), Source(path, path.read_bytes())
                elif path.suffix == ".py":
                    yield ".".join((*parts, path.stem)), Source(path, path.read_bytes())


def _top(module: str) -> str:
    return module.partition(".")[0]


def _last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _is_bare_string(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "none"
