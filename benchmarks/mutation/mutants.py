"""The small faults that a formula can have, one at a time, as new source text.

A mutant is one expression of a module replaced by another. What is no formula is left alone:
annotations, decorators, classes that are types only (protocols, typed dictionaries), sentences of
refusals (raise, f-strings), `strict=` and `static=`, and floats below 1e-9, which guard against
rounding.
"""

import ast
import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

ARITHMETIC = {
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div,),
    ast.Div: (ast.Mult,),
    ast.FloorDiv: (ast.Mult,),
    ast.Mod: (ast.FloorDiv,),
    ast.Pow: (ast.Mult,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd,),
}
# The edge moved, and the opposite.
COMPARISONS = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
_PAIRS = (
    ("min", "max"),
    ("minimum", "maximum"),
    ("argmin", "argmax"),
    ("floor", "ceil"),
    ("any", "all"),
    ("sum", "mean"),
)
TWINS = dict(_PAIRS) | {b: a for a, b in _PAIRS}
GUARD = 1e-9
LONGEST = 80
COMMUTATIVE = ("min", "max", "minimum", "maximum", "isclose", "allclose", "vdot", "hypot")
SKIPPED_KEYWORDS = ("strict", "static")
TYPES = ("Protocol", "TypedDict")
"""Classes with such a base are annotations: nothing of them is executed."""


@dataclass(frozen=True)
class Mutant:
    """One expression of a module replaced by another."""

    module: str
    """Its path below src/attnlab."""
    place: str
    """The function or class that it is in."""
    line: int
    before: str
    after: str
    repeat: int
    source: str
    """The whole text of the changed module."""

    @property
    def key(self) -> str:
        """What names this mutant as long as its expression stays, wherever the line moves."""
        again = f" ({self.repeat + 1})" if self.repeat else ""
        return f"{self.module} {self.place}: {self.before} -> {self.after}{again}"

    @property
    def rank(self) -> str:
        """A number without order or meaning: the sample is the first by rank."""
        return hashlib.sha256(self.key.encode()).hexdigest()


def mutants(module: str, text: str) -> list[Mutant]:
    """Every mutant of a module."""
    tree = ast.parse(text)
    found, seen = [], Counter()
    for place, node, replacement in _changes(tree, "module"):
        old, new = ast.unparse(node), ast.unparse(replacement)
        if old == new:
            continue
        source = _spliced(text, node, new)
        before, after = _short(old), _short(new)
        repeat = seen[place, before, after]
        seen[place, before, after] += 1
        found.append(Mutant(module, place, node.lineno, before, after, repeat, source))
    return found


def _short(code: str) -> str:
    return code if len(code) <= LONGEST else f"{code[:LONGEST]}..."


def _spliced(text: str, node: ast.expr, after: str) -> str:
    lines = text.encode().splitlines(keepends=True)
    start = sum(map(len, lines[: node.lineno - 1])) + node.col_offset
    end = sum(map(len, lines[: node.end_lineno - 1])) + node.end_col_offset  # type: ignore[operator]
    raw = text.encode()
    # In brackets, so that neighbouring operators bind as before.
    return (raw[:start] + f"({after})".encode() + raw[end:]).decode()


def _changes(node: ast.AST, place: str) -> Iterator[tuple[str, ast.expr, ast.expr]]:
    """Every (place, expression, replacement) at or below a node."""
    if isinstance(node, (ast.Raise, ast.JoinedStr, ast.Import, ast.ImportFrom)):
        return
    if isinstance(node, ast.ClassDef) and any(_name(base) in TYPES for base in node.bases):
        return
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        place = node.name if place == "module" else f"{place}.{node.name}"
    for old, new in _replacements(node):
        yield place, old, new
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "bases"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.keyword) and child.arg in SKIPPED_KEYWORDS:
                continue
            if isinstance(child, ast.AST):
                yield from _changes(child, place)


def _replacements(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    match node:
        case ast.BinOp(left, op, right):
            for other in ARITHMETIC.get(type(op), ()):
                yield node, ast.BinOp(left, other(), right)
        case ast.Compare(left, [op], [right]):
            for other in COMPARISONS[type(op)]:
                yield node, ast.Compare(left, [other()], [right])
        case ast.BoolOp(op, values):
            yield node, ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), values)
        case ast.UnaryOp(ast.USub() | ast.Not() | ast.Invert(), operand):
            yield node, operand
        case ast.Constant(value):
            new = _other_constant(value)
            if new is not None:
                yield node, ast.Constant(new)
        case ast.Call(function, positional, keywords) if _name(function) not in COMMUTATIVE:
            if len(positional) >= 2 and not any(isinstance(a, ast.Starred) for a in positional[:2]):
                swapped = [positional[1], positional[0], *positional[2:]]
                yield node, ast.Call(function, swapped, keywords)
        case ast.Name(name, ast.Load()) if name in TWINS:
            yield node, ast.Name(TWINS[name], ast.Load())
        case ast.Attribute(value, name, ast.Load()) if name in TWINS:
            yield node, ast.Attribute(value, TWINS[name], ast.Load())
        case ast.keyword("axis", ast.Constant(int(axis))):
            yield node.value, ast.Constant(-1 if axis == 0 else 0)
        case ast.If(test) | ast.IfExp(test) | ast.While(test):
            yield test, ast.UnaryOp(ast.Not(), test)
        case ast.Return(ast.BinOp() as value):
            yield value, ast.UnaryOp(ast.USub(), value)
        case ast.Return(value) if value is not None and not _is_none(value):
            yield value, ast.Constant(None)


def _name(function: ast.expr) -> str:
    match function:
        case ast.Name(name) | ast.Attribute(_, name):
            return name
        case ast.Subscript(value):
            return _name(value)
    return ""


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _other_constant(value: object) -> object:
    match value:
        case bool():
            return not value
        case int():
            return value + 1
        case float() if abs(value) >= GUARD:
            return 2 * value
        case float() if value == 0:
            return 1.0
    return None
