"""Fingerprints of the code and of the numerical stack that a record rests on.

A finished record is used again only if both are equal to today's. The code's fingerprint is
taken of syntax trees without docstrings, so that comments, layout and documentation may change
freely, and it leaves out scalars, hypotheses, claims and figures, which read records and never
make them.
"""

import ast
import hashlib
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from attnlab.lab.registry import package_folder

SHARED = ("cells.py", "core.py", "numerics", "data", "models", "dynamics", "probes")
READERS = ("scalars", "hypotheses", "claims", "figures")
STACK = ("jax", "jaxlib", "diffrax", "equinox", "optax", "numpy", "scipy")


@cache
def stack() -> str:
    """The versions of the packages that decide the bits of a result, as one line."""
    return " ".join(f"{name}={_version(name)}" for name in STACK)


@cache
def code(package: str) -> str:
    """The fingerprint of the code that makes the records of the paper in `package`."""
    root = Path(package_folder("attnlab"))
    paper = Path(package_folder(package))
    digest = hashlib.sha256()
    for part in SHARED:
        path = root / part
        _add(digest, "attnlab", root, [path] if path.suffix else sorted(path.rglob("*.py")))
    files = [f for f in sorted(paper.rglob("*.py")) if not _only_reads(f.relative_to(paper))]
    _add(digest, package, paper, files)
    return digest.hexdigest()


def without_docstrings(source: str) -> str:
    """The program text in a normal form: no comments, no layout, no docstrings."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            # A bare string is never executed for its effect: docstrings of attributes go too.
            node.body = [s for s in node.body if not _is_bare_string(s)] or [ast.Pass()]
    return ast.unparse(tree)


def _add(digest, package: str, root: Path, files: list[Path]) -> None:
    for file in files:
        name = f"{package}/{file.relative_to(root).as_posix()}"
        text = without_docstrings(file.read_text(encoding="utf-8"))
        digest.update(f"{name}\0{text}\0".encode())


def _only_reads(relative: Path) -> bool:
    top = relative.parts[0]
    return top.removesuffix(".py") in READERS


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
