"""References, the table of verdicts and the statement of what was left open."""

import re

import pytest

from attnlab.lab import plan, registry
from attnlab.report.bibliography import entry
from attnlab.report.latex import open_settings, reproducibility

OURS = [p for p in registry.papers().values() if p.package.startswith("attnlab.")]


@pytest.mark.parametrize("paper", OURS, ids=lambda paper: paper.id)
def test_our_papers_have_a_reference_of_their_own(paper):
    found = entry(paper)
    assert re.match(rf"@\w+\{{{paper.id},", found.bibtex)
    assert found.year.isdigit()
    assert found.url.startswith("https://")
    surnames = [name.split()[-1] for name in found.authors]
    assert len(surnames) > 1
    assert all(name in paper.reference for name in surnames)


def test_a_paper_without_a_file_gets_an_entry():
    found = entry(registry.paper("toy"))
    assert found.bibtex.startswith("@misc{toy,")
    assert found.authors == ()
    assert found.url == ""


@pytest.mark.parametrize("paper", registry.papers().values(), ids=lambda paper: paper.id)
def test_the_statement_has_every_setting_that_the_paper_leaves_open(paper):
    request = plan.Request("smoke")
    names = {
        row.name for s in paper.studies for row in plan.origins(s.settings) if row.origin != "paper"
    }
    rows = open_settings(paper, request)
    assert {row["name"] for row in rows} == names
    assert all(row["values"] and row["origin"] in ("ours", "inferred") for row in rows)
    tex = reproducibility(paper, request)
    assert f"leaves {len(rows)} settings open" in tex
    body = tex[tex.index(r"\endhead") : tex.index(r"\bottomrule")]
    for line in body.splitlines()[1:]:
        assert len(re.findall(r"(?<!\\)&", line)) == 4, line
        assert line.endswith(r"\\")
        assert line.count("$") % 2 == 0


def test_cite(attnlab, toy_results):
    out = attnlab("cite", "li2023.theorem_1").out
    assert out.startswith("@inproceedings{li2023,")
    assert "@software{attnlab," in out
    done = attnlab("cite", "toy", "--latex", "--out", toy_results)
    assert done.out.count("contradicted \\\\") == 4
    assert r"\begin{longtable}" in done.out
    one = attnlab("cite", "toy.theorem_2", "--latex", "--out", toy_results).out
    assert one.count("contradicted \\\\") == 1
    assert (toy_results / "latex" / "toy.verdicts.tex").read_text() in done.out
    assert (toy_results / "latex" / "toy.settings.tex").read_text() in done.out


def test_cite_refuses_with_a_sentence(attnlab, toy_results, tmp_path):
    assert "no id is called" in attnlab("cite", "nothing", expect=2).err
    assert (
        "no verdict"
        in attnlab("cite", "toy.descent", "--latex", "--out", toy_results, expect=2).err
    )
    attnlab("cite", "toy", "--latex", "--out", tmp_path / "none", expect=2)


def test_the_terminal_ends_with_the_news(attnlab, toy_results):
    out = attnlab("check", "toy", "--scale", "smoke", "--out", toy_results).out
    lines = out.strip().splitlines()
    assert lines[0].startswith("● contradicted theorem_2: The squared norm is")
    assert lines[-1].startswith("toy: 22 claims: 4 contradicted")
    assert sum(line.startswith("● ") for line in lines) == 6  # above the table and below it
    few = attnlab("check", "toy.lemma_2", "--scale", "smoke", "--out", toy_results).out
    assert few.startswith("● contradicted lemma_2: A false identity")
    assert few.count("● ") == 1
