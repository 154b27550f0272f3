"""import-linter's contracts hold, and a forbidden import is caught."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

LAYERS = "cli > report > lab"
LIBRARY = "papers > (evidence"
ENTRY_POINT = "the laboratory finds papers"
EQUIPMENT = "equipment and papers know nothing of the laboratory"
READERS = "theory, scalars, hypotheses, claims and figures never train"
FORBIDDEN = {
    "core.py": ("attnlab.claims", LAYERS),
    "claims.py": ("attnlab.evidence.laws", LAYERS),
    "evidence/laws.py": ("attnlab.lab.registry", LAYERS),
    "lab/plan.py": ("attnlab.report.page", LAYERS),
    "lab/export.py": ("attnlab.facade.runs", "the facade stands on the report"),
    "facade/runs.py": ("attnlab.papers.li2023.settings", "the facade finds papers"),
    "engines/autodiff.py": ("attnlab.probes.attention", LIBRARY),
    "training/descent.py": ("attnlab.engines.exact", LIBRARY),
    "selection.py": ("attnlab.training.descent", LIBRARY),
    "models/protocol.py": ("attnlab.selection", LIBRARY),
    "data/batch.py": ("attnlab.models.protocol", LIBRARY),
    "numerics/random.py": ("attnlab.data.batch", LIBRARY),
    "tables.py": ("attnlab.numerics.random", LIBRARY),
    "lab/registry.py": ("attnlab.papers", ENTRY_POINT),
    "evidence/intervals.py": ("attnlab.numerics.random", ENTRY_POINT),
    "probes/__init__.py": ("attnlab.lab.ledger", EQUIPMENT),
    "papers/deora2023/runs/targets.py": ("attnlab.lab.ledger", EQUIPMENT),
    "probes/neurons.py": ("attnlab.claims", "what makes records knows nothing of the court"),
    "papers/yang2024/theory/asymptote.py": ("attnlab.training.descent", READERS),
    "papers/li2023/hypotheses.py": ("attnlab.training.descent", READERS),
    "papers/deora2023/scalars/margins.py": ("attnlab.probes.heads", READERS),
    "papers/yang2024/claims/common.py": ("attnlab.engines.gram", READERS),
    "papers/deora2023/figures/heads.py": ("attnlab.engines.heads", READERS),
    "papers/deora2023/runs/paths.py": ("attnlab.plotting", "only figures and the report draw"),
    "papers/li2023/runs/trial.py": (
        "attnlab.papers.yang2024.settings", "papers do not import each other",
    ),
    "report/page.py": ("jax", "no jax in the core"),
    "plotting/marks.py": ("jax", "no jax in the core"),
}  # fmt: skip
"""By file, what it may not import, and the contract that says so."""


@pytest.fixture
def tree(tmp_path):
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def lint(folder: Path) -> subprocess.CompletedProcess:
    code = "import sys; sys.path.insert(0, 'src'); from importlinter.cli import lint_imports;"
    code += "sys.exit(lint_imports(no_cache=True))"
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env=os.environ | {"COLUMNS": "300"},  # no name is broken into two lines
        capture_output=True,
        text=True,
        check=False,
    )


def results(output: str) -> dict[str, str]:
    """KEPT or BROKEN, by contract."""
    found = re.findall(r"^(.+) (KEPT|BROKEN)$", output, re.MULTILINE)
    return dict(found)


@pytest.mark.parametrize("file", FORBIDDEN)
def test_a_forbidden_import_breaks_its_contract(tree, file):
    module, contract = FORBIDDEN[file]
    path = tree / "src" / "attnlab" / file
    path.write_text(f"{path.read_text()}\nimport {module}  # noqa\n")
    done = lint(tree)
    assert done.returncode == 1, done.stdout + done.stderr
    (own,) = [word for name, word in results(done.stdout).items() if name.startswith(contract)]
    assert own == "BROKEN", done.stdout


def test_every_contract_is_broken_by_one_of_these():
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    for contract in contracts["contracts"]:
        assert any(contract["name"].startswith(name) for _, name in FORBIDDEN.values())


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
    assert set(results(done.stdout).values()) == {"KEPT"}
