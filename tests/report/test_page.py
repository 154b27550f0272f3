"""The page as text: whole without a script, packed, safe, the news first."""

import base64
import gzip
import hashlib
import json
import re
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from attnlab.lab import ledger as ledgers
from attnlab.lab import plan, registry
from attnlab.plotting import canvas, repeatable, svg_text
from attnlab.report import page as pages
from attnlab.report.pictures import glyph_sheet, inline, style_sheet

VENDORED = (Path(pages.__file__).parent / "vendor", Path(__file__).parent / "vendor")


@pytest.fixture(scope="module")
def text(toy_results):
    return (toy_results / "report.html").read_text()


@pytest.fixture(scope="module")
def verdicts(toy_results):
    return json.loads((toy_results / "verdicts.json").read_text())


def data_of(text):
    packed = re.search(r'id="data">([^<]*)<', text)
    assert packed
    return json.loads(gzip.decompress(base64.b64decode(packed[1])))


class Words(HTMLParser):
    """What a reader without a script sees, and the elements that hold it."""

    def __init__(self, text):
        super().__init__()
        self.words, self.hidden, self.ids, self.tags = [], 0, Counter(), Counter()
        self.feed(text)
        self.text = " ".join(" ".join(self.words).split())

    def handle_starttag(self, tag, attributes):
        self.tags[tag] += 1
        self.hidden += tag in ("script", "style")
        self.ids.update(value for name, value in attributes if name == "id")

    def handle_endtag(self, tag):
        self.hidden -= tag in ("script", "style")

    def handle_data(self, data):
        if not self.hidden:
            self.words.append(data)


def test_it_asks_for_nothing(text):
    loaded = re.findall(
        r"""<(?:script|img|link|iframe|image|use)[^>]*?(?:src|href)="([^"]*)""", text
    )
    assert loaded
    assert all(address.startswith(("data:", "#")) for address in loaded)
    assert not re.search(r"@import|url\((?!data:|#)", text)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy
    assert policy[1].startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe-eval" not in policy[1]
    assert "http" not in policy[1]


def test_the_policy_knows_every_script_and_no_other(text):
    policy = set(re.findall(r"'sha256-([^']*)'", text.partition("</head>")[0]))
    own = re.search(r"<script>(.*?)</script>", text, re.DOTALL)
    packed = re.findall(r'class="bundle"[^>]*>([^<]*)<', text)
    assert own
    assert len(packed) == 2
    scripts = [own[1].encode(), *(gzip.decompress(base64.b64decode(p)) for p in packed)]
    sums = {base64.b64encode(hashlib.sha256(s).digest()).decode() for s in scripts}
    assert sums == policy
    assert "onclick" not in text


def test_everything_is_there_without_a_script(text, verdicts):
    seen = Words(text)
    for verdict in verdicts:
        assert seen.ids[verdict["id"]] == 1
        assert verdict["verdict"].replace("_", " ") in seen.text
    plain = ("not applicable", "×1.5", "inferred", "12 diverged", "midpoint")
    for word in plain:
        assert word in seen.text
    for word in ("Theorem 2, page 3", "1.05 d", "within 1 ± 0.1 (ours)", "(allowed)", "tightness"):
        assert word in seen.text
    for word in ("second route", "in 100 % of 20 runs", "flip test", "study overshoot"):
        assert word in seen.text
    assert seen.ids["figure-toy.figure_1"] == 1
    assert text.count('class="drawn"') == 2
    assert [name for name, count in seen.ids.items() if count > 1] == []


def test_the_news_is_first(text, verdicts):
    first = text[text.index('class="news"') : text.index("<nav")]
    assert first.count('class="headline"') == 3
    assert f"{len([v for v in verdicts if v['verdict'] == 'contradicted'])} contradicted" in first
    assert 'href="#toy.theorem_2"' in first  # it carries a headline
    assert re.search(r"The squared norm is (1|0\.99\d|1\.0\d+) d \[[\d., ]+\], and", first)
    assert first.index('class="contradicted"') < first.index('class="supported"')
    order = re.findall(r'<details class="claim" data-id="([^"]*)"', text)
    assert order.index("toy.lemma_2") < order.index("toy.theorem_8") < order.index("toy.lemma_1")


def test_figures_and_frames_are_data(text):
    data = data_of(text)
    (panel,) = data["figures"]["toy.figure_1"]
    assert [s["label"] for s in panel["series"]] == ["descent", "midpoint"]
    assert panel["x"]["scale"] == panel["y"]["scale"] == "log"
    frames = data["frames"]["toy.training"]
    assert [s["kind"] for s in frames["shown"]] == ["map", "points", "bars", "curves"]
    assert 'data-frames="toy.training"' in text
    assert 'id="training-toy"' in text


def test_the_figures_say_verdict_seeds_and_scale(toy_results):
    data = json.loads((toy_results / "figures" / "toy.figure_1.json").read_text())
    assert (data["scale"], data["seeds"]) == ("smoke", 4)
    assert data["verdict"] in ("", "supported")


def test_what_looks_like_a_tag_is_shown_as_text(toy_results):
    evil = "<script>alert(1)</script><b onmouseover=x>$<i>$"
    paper = registry.paper("toy")
    claims = tuple(replace(c, title=evil, statement=evil, notes=evil) for c in paper.claims)
    figures = tuple(replace(f, title=evil, caption=evil) for f in paper.figures)
    bad = replace(paper, title=evil, reference=evil, claims=claims, figures=figures)
    with ledgers.reading(toy_results) as ledger:
        text = pages.page([bad], plan.Request("smoke"), ledger)
    assert "<script>alert" not in text
    assert "<b onmouseover" not in text
    seen = Words(text)
    assert "<script>alert(1)</script>" in seen.text
    assert seen.tags["script"] == 4


def test_a_picture_takes_the_page_s_colours_and_shares_its_letters(toy_results):
    glyphs, styles = {}, {}
    svg = (toy_results / "figures" / "toy.figure_1.svg").read_text()
    one = inline(svg, "a.b", 'a "title"', glyphs, styles)
    two = inline(svg, "c.d", "other", glyphs, styles)
    assert len(glyphs) > 10
    assert "#000000" not in one
    assert "style=" not in one
    assert set(re.findall(r'class="(f\d+)"', one)) <= set(styles.values())
    assert "var(--paper)" in style_sheet(styles)
    assert "&#34;title&#34;" in one
    assert not set(re.findall(r' id="([^"]*)"', one)) & set(re.findall(r' id="([^"]*)"', two))
    used = set(re.findall(r'href="#([^"]*)"', one))
    known = re.findall(r' id="([^"]*)"', glyph_sheet(glyphs) + one)
    assert used <= set(known)
    assert len(set(known)) == len(known)
    assert len(one) < 0.6 * len(svg)


def test_greek_letters_of_a_picture_are_as_large_as_the_others():
    with repeatable("letters"):
        drawing, ((panel,),) = canvas(1, 1)
        panel.set_xlabel(r"$\mu_1$ and more")
    glyphs, styles = {}, {}
    one = inline(svg_text("letters", drawing), "a.b", "letters", glyphs, styles)
    assert any("Oblique" in name for name in glyphs)
    assert "<path id=" not in re.sub(r"<clipPath.*?</clipPath>|<defs>.*?</defs>", "", one)
    scales = set(re.findall(r"scale\(([\d.]+)\)", glyph_sheet(glyphs)))
    assert scales == {"0.015625"}


@pytest.mark.parametrize("folder", VENDORED, ids=["page", "tests"])
def test_what_others_wrote_is_what_their_package_has(folder):
    rows = re.findall(
        r"^\| (\S+\.gz) \| (\S+) ([\d.]+) \| \S+ \| (\S+) \| (\w{64}) \|",
        (folder / "README.md").read_text(),
        re.MULTILINE,
    )
    assert {row[0] for row in rows} == {p.name for p in folder.glob("*.gz")}
    for name, _, version, _, digest in rows:
        assert version in name
        script = gzip.decompress((folder / name).read_bytes())
        assert hashlib.sha256(script).hexdigest() == digest
        assert version.encode() in script[:200]
        licences = list(folder.glob(f"{name.partition('.min')[0].partition('.umd')[0]}*LICENSE*"))
        assert licences
