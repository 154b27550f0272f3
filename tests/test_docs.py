"""The example of docs/new_paper.md is installed as it is printed, and does what the page says."""

import os
import re
from pathlib import Path

import pytest

from attnlab.lab import ledger_file, ledger_rows

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "new_paper.md").read_text(encoding="utf-8")


@pytest.fixture
def coins(tmp_path, attnlab_from):
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.S)
    folder = tmp_path / "coins"
    folder.mkdir()
    (folder / "__init__.py").write_text(code)
    info = tmp_path / "coins-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: coins\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[attnlab.papers]\ncoins = coins:PAPER\n")
    return attnlab_from(plugins=tmp_path)


def test_the_example_gives_the_verdicts_that_the_page_names(coins, tmp_path):
    options = ("--scale", "smoke", "--out", tmp_path / "results", "--json", "-")
    found = {v["id"]: v for v in coins("check", "coins", *options).json}
    assert found["coins.theorem_1"]["verdict"] == "supported", found["coins.theorem_1"]["reason"]
    assert found["coins.corollary_2"]["verdict"] == "contradicted", found["coins.corollary_2"]
    assert {c["verdict"] for v in found.values() for c in v["controls"]} == {"contradicted"}
    table = coins("hypotheses", "coins").out
    assert "coins.assumption_1" in table
    assert "×4" in table


PAGES = sorted(path.name for path in (ROOT / "docs").glob("*.md"))


@pytest.mark.parametrize("name", PAGES)
def test_links_and_commands_of_the_pages_exist(name):
    text = (ROOT / "docs" / name).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#:]+)\)", text):
        assert os.path.exists(ROOT / "docs" / target), target
    for module in re.findall(r"python -m (benchmarks\.\w+)", text):
        assert (ROOT / module.replace(".", "/") / "__main__.py").exists()


def test_the_schema_is_that_of_the_ledger():
    text = (ROOT / "docs" / "schema.md").read_text(encoding="utf-8")
    assert f"format {ledger_file.SCHEMA})" in text
    table = text[text.index("| `record` |") : text.index("Rows are never")]
    parts = {row.split("`")[1]: row for row in re.split(r"\n(?=\| `)", table)}
    for name, columns in ledger_rows.COLUMNS.items():
        assert set(columns) <= set(re.findall(r"`(\w+)`", parts[name])), name


def test_every_page_example_and_paper_is_on_the_site():
    """A page that no toctree names makes `make docs` fail, which CI does not run."""
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    trees = re.findall(r"```{toctree}\n(.*?)```", index, re.S)
    named = [line for tree in trees for line in tree.splitlines() if line[:1] not in (":", "")]
    examples = [f"examples/{path.stem}" for path in (ROOT / "examples").glob("*.md")]
    notes = [Path(page).stem for page in PAGES if page != "index.md"]
    papers = [f"papers/{paper}" for paper in ("li2023", "deora2023", "yang2024")]
    assert sorted(named) == sorted([*examples, *notes, *papers])
