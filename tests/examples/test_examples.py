"""Every example runs from top to bottom, as a script in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from attnlab.lab import worker

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.md"))


def code_of(page: str) -> str:
    """The code cells one after the other; a fence within a cell's text does not end it."""
    lines, cells, inside = page.splitlines(), [], False
    for line in lines:
        if line.startswith("```{code-cell}"):
            inside = True
        elif inside and line == "```":
            inside = False
        elif inside:
            cells.append(line)
    return "\n".join(cells)


def test_there_are_five_examples():
    assert [path.name[:2] for path in EXAMPLES] == ["1_", "2_", "3_", "4_", "5_"]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs(path, tmp_path):
    code = code_of(path.read_text(encoding="utf-8"))
    assert code
    left_out = {*worker.ENVIRONMENT, "PYTHONPATH"}
    environment = {k: v for k, v in os.environ.items() if k not in left_out}
    environment["PYTHONPATH"] = str(ROOT)
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-3000:]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_is_short(path):
    assert len(code_of(path.read_text(encoding="utf-8")).splitlines()) <= 45
