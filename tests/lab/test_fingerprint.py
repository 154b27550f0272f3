import re
import shutil
from pathlib import Path

import pytest

from attnlab.lab import fingerprint

ROOT = Path(__file__).parent.parent.parent
PROGRAM = '''
"""Module."""
def f(x):
    """Doc."""
    # why
    return x + 1
class A:
    """Doc."""
    y: int = 1
    """Doc of y."""
'''


def test_docstrings_comments_and_layout_do_not_count():
    other = PROGRAM.replace("Doc", "Other words").replace("# why\n", "# because\n\n")
    assert fingerprint.without_docstrings(PROGRAM) == fingerprint.without_docstrings(other)


@pytest.mark.parametrize("old_new", [("x + 1", "x + 2"), ("int = 1", "int = 3"), ("f(x", "f(z")])
def test_formulas_and_names_do_count(old_new):
    other = PROGRAM.replace(*old_new)
    assert fingerprint.without_docstrings(PROGRAM) != fingerprint.without_docstrings(other)


@pytest.fixture
def trees(tmp_path, monkeypatch):
    """Copies of attnlab and the toy paper that a test may change."""
    folders = {"attnlab": ROOT / "src/attnlab", "attnlab_toy": ROOT / "tests/plugins/attnlab_toy"}
    for name, folder in folders.items():
        shutil.copytree(folder, tmp_path / name)
    monkeypatch.setattr(fingerprint, "package_folder", lambda name: str(tmp_path / name))
    return tmp_path


def code() -> str:
    fingerprint.code.cache_clear()
    try:
        return fingerprint.code("attnlab_toy")
    finally:
        fingerprint.code.cache_clear()


@pytest.mark.parametrize(
    ("file", "counts"),
    [
        ("attnlab_toy/claims.py", False),
        ("attnlab_toy/figures.py", False),
        ("attnlab_toy/scalars.py", False),
        ("attnlab_toy/hypotheses.py", False),
        ("attnlab/claims.py", False),
        ("attnlab/evidence/fits.py", False),
        ("attnlab/lab/runner.py", False),
        ("attnlab/report/page.py", False),
        ("attnlab/papers/yang2024/engines/weights.py", False),
        ("attnlab_toy/runs.py", True),
        ("attnlab_toy/settings.py", True),
        ("attnlab/cells.py", True),
        ("attnlab/numerics/random.py", True),
        ("attnlab/data/word_cooccurrence.py", True),
        ("attnlab/models/linear_mlp_transformer.py", True),
        ("attnlab/dynamics/descent.py", True),
        ("attnlab/probes/__init__.py", True),
    ],
)
def test_which_files_count(trees, file, counts):
    before = code()
    path = trees / file
    path.write_text(path.read_text() + "\n# a comment\n")
    assert code() == before
    path.write_text(path.read_text() + "\nADDED = 1\n")
    assert (code() != before) is counts


def test_the_stack_names_every_package_that_decides_bits():
    for name in ("jax", "jaxlib", "diffrax", "equinox", "optax", "numpy", "scipy"):
        assert f"{name}=" in fingerprint.stack()
    assert "jax=0.10.1" in fingerprint.stack()


@pytest.mark.parametrize("paper", ["deora2023", "li2023", "yang2024"])
def test_what_makes_records_imports_nothing_that_only_reads_them(paper):
    # Else a change that the fingerprint leaves out could change a record.
    folder = ROOT / "src/attnlab/papers" / paper
    readers = "|".join(fingerprint.READERS)
    reads = re.compile(rf"attnlab\.papers\.{paper}\.({readers})\b|attnlab\.evidence\b")
    for file in folder.rglob("*.py"):
        top = file.relative_to(folder).parts[0].removesuffix(".py")
        if top not in (*fingerprint.READERS, "__init__"):
            assert not reads.search(file.read_text()), file
