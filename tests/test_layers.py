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
    "papers/yang2024/theory/asymptote.py": "import attnlab.training.descent",
    "papers/li2023/hypotheses.py": "import attnlab.training.descent",
    "papers/deora2023/scalars/margins.py": "import attnlab.probes.heads",
    "papers/deora2023/runs/paths.py": "import attnlab.plotting",
    "plotting/marks.py": "import jax",
    "engines/autodiff.py": "import attnlab.probes.attention",
    "training/descent.py": "import attnlab.engines.exact",
    "selection.py": "import attnlab.training.descent",
    "models/protocol.py": "import attnlab.selection",
    "data/batch.py": "import attnlab.models.protocol",
    "papers/li2023/runs/trial.py": "import attnlab.papers.yang2024.settings",
    "papers/deora2023/runs/targets.py": "import attnlab.lab.ledger",
    "papers/yang2024/claims/common.py": "import attnlab.engines.gram",
    "facade/runs.py": "import attnlab.papers.li2023.settings",
    "lab/export.py": "import attnlab.facade.runs",
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


SHAPE = {"settings", "hypotheses", "theory", "runs", "scalars", "studies", "claims", "figures"}
DATA = {"reference", "formulas"}
"""Files that the report reads: `reference.bib`, and LaTeX in `formulas.toml`."""


@pytest.mark.parametrize("paper", ["deora2023", "li2023", "yang2024"])
def test_papers_are_of_one_shape(paper):
    folder = ROOT / "src" / "attnlab" / "papers" / paper
    found = {path.stem for path in folder.iterdir() if not path.name.startswith("__")}
    assert found - DATA == SHAPE


def test_no_module_is_over_450_lines():
    sizes = {path: len(path.read_text().splitlines()) for path in (ROOT / "src").rglob("*.py")}
    assert {path.name: size for path, size in sizes.items() if size > 450} == {}


def test_the_tree_as_it_is_keeps_the_contracts(tree):
    done = lint(tree)
    assert done.returncode == 0, done.stdout + done.stderr
