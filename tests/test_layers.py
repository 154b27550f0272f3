"""import-linter's contracts hold, and a forbidden import is caught."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

FORBIDDEN = {
    "lab/registry.py": "import attnlab.papers",
    "core.py": "import attnlab.claims",
    "claims.py": "import attnlab.evidence.laws",
    "probes/neurons.py": "import attnlab.claims",
    "evidence/intervals.py": "import attnlab.numerics.random",
    "numerics/random.py": "import attnlab.data.batch",
    "report/page.py": "import jax",
    "probes/__init__.py": "import attnlab.lab.ledger",
    "papers/yang2024/theory/asymptote.py": "import attnlab.dynamics.descent",
    "papers/li2023/hypotheses.py": "import attnlab.dynamics.descent",
    "papers/deora2023/scalars.py": "import attnlab.probes.heads",
}


@pytest.fixture
def tree(tmp_path):
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def lint(folder: Path) -> subprocess.CompletedProcess:
    code = "import sys; sys.path.insert(0, 'src'); from importlinter.cli import lint_imports;"
    code += "sys.exit(lint_imports(no_cache=True))"
    return subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("file", FORBIDDEN)
def test_a_forbidden_import_is_caught(tree, file):
    path = tree / "src" / "attnlab" / file
    text = path.read_text() if path.exists() else ""
    path.write_text(f"{text}\n{FORBIDDEN[file]}  # noqa\n")
    done = lint(tree)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "BROKEN" in done.stdout


def test_the_tree_as_it_is_keeps_the_contracts(tree):
    done = lint(tree)
    assert done.returncode == 0, done.stdout + done.stderr
