"""Which modules are mutated, and which tests answer for each."""

import tomllib
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
PACKAGE = ROOT / "src" / "attnlab"
TABLE = Path(__file__).with_name("targets.toml")


def targets(only: Sequence[str] = ()) -> dict[str, list[str]]:
    """The test files of every chosen module, the quickest first; `only` keeps these prefixes."""
    table = tomllib.loads(TABLE.read_text())
    chosen = {}
    for pattern in table["modules"]:
        for path in sorted(PACKAGE.glob(pattern)):
            module = path.relative_to(PACKAGE).as_posix()
            if path.name == "__init__.py" or (only and not module.startswith(tuple(only))):
                continue
            chosen[module] = _tests(module, table["tests"])
    return chosen


def _tests(module: str, extra: dict[str, list[str]]) -> list[str]:
    """The mirrored files tests/**/test_<name>.py, then those of the table (longest key first)."""
    path = Path(module)
    parts = path.parent.parts
    folders = ["/".join(("tests", *parts))]
    if parts[:1] == ("papers",):
        folders.append("/".join(("tests", *parts[:2])))
    found = [f"{folder}/test_{path.stem}.py" for folder in folders]
    if len(parts) > 2:
        found.append(f"{folders[1]}/test_{parts[2]}_{path.stem}.py")
    found = [test for test in found if (ROOT / test).exists()]
    keys = sorted((key for key in extra if module.startswith(key)), key=len, reverse=True)
    for key in keys[:1]:
        found += [test for test in extra[key] if test not in found]
    # A test may be one of a file: tests/x.py::test_one.
    missing = [test for test in found if not (ROOT / test.split("::")[0]).exists()]
    if missing or not found:
        what = f"no such test file: {missing}" if missing else "no test answers for it"
        raise SystemExit(f"{module}: {what}; name one in {TABLE.relative_to(ROOT)}")
    return found
