"""The faults that `make mutation` puts in: each kind once, and none where no formula is."""

import ast

from benchmarks.mutation.mutants import mutants
from benchmarks.mutation.targets import targets

MODULE = '''
"""A module with 1 number in its docstring."""

LIMIT = 0.5

def law(x: "Float[Array, 3]", n: int = 2) -> float:
    """Not 4."""
    if x < LIMIT and not n == 3:
        raise ValueError(f"{x + 1} is 5")
    y = -max(x, n) + power(x, n)[0]
    return mean(y, axis=1)
'''


def test_each_kind_of_fault():
    found = {(m.before, m.after) for m in mutants("law.py", MODULE)}
    assert found == {
        ("0.5", "1.0"),
        ("2", "3"),
        ("x < LIMIT", "x <= LIMIT"),
        ("x < LIMIT", "x >= LIMIT"),
        ("x < LIMIT and (not n == 3)", "x < LIMIT or not n == 3"),
        ("x < LIMIT and (not n == 3)", "not (x < LIMIT and (not n == 3))"),
        ("not n == 3", "n == 3"),
        ("n == 3", "n != 3"),
        ("3", "4"),
        ("-max(x, n) + power(x, n)[0]", "-max(x, n) - power(x, n)[0]"),
        ("-max(x, n)", "max(x, n)"),
        ("max", "min"),
        ("power(x, n)", "power(n, x)"),
        ("0", "1"),
        ("mean(y, axis=1)", "None"),
        ("mean", "sum"),
        ("1", "0"),
        ("1", "2"),
    }


def test_a_mutant_is_the_module_with_one_expression_changed():
    original = ast.dump(ast.parse(MODULE))
    for mutant in mutants("law.py", MODULE):
        changed = ast.dump(ast.parse(mutant.source))
        assert changed != original
        assert mutant.source.count("\n") == MODULE.count("\n")
        line = MODULE.splitlines()[mutant.line - 1]
        assert mutant.source.splitlines()[mutant.line - 1] != line


def test_keys_tell_mutants_apart_and_do_not_know_lines():
    keys = [mutant.key for mutant in mutants("law.py", MODULE)]
    assert len(set(keys)) == len(keys)
    assert keys == [mutant.key for mutant in mutants("law.py", "\n\n" + MODULE)]


def test_types_have_no_formulas():
    types = """
class Engine(Protocol[State]):
    def step(self, rate: float = 0.5) -> float: ...

class Options(TypedDict, total=False):
    rate: float

class Plain(Engine):
    rate = 0.5
"""
    assert [mutant.key for mutant in mutants("types.py", types)] == ["types.py Plain: 0.5 -> 1.0"]


def test_every_target_has_tests():
    found = targets()
    assert len(found) > 80
    assert all(found.values())
    assert set(targets(["data/"])) == {name for name in found if name.startswith("data/")}
