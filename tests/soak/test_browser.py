"""The page in a browser: offline and quiet, and everything that its script adds does work."""

import gzip
import json
from dataclasses import replace
from pathlib import Path

import pytest

from attnlab.claims import NEWS_FIRST, Effect, PartResult, ReadingResult
from attnlab.lab import ledger as ledgers
from attnlab.lab import plan, registry
from attnlab.report import page as pages
from attnlab.report.verdicts import verdicts
from browser import NEEDED, PHONE, SOON, WIDE, opened, sheets, soonest

pytestmark = [pytest.mark.soak, NEEDED]
AXE = Path(__file__).parent.parent / "report" / "vendor" / "axe-core-4.10.3.min.js.gz"


@pytest.fixture(scope="module")
def toy_page(toy_results):
    return toy_results / "report.html"


@pytest.fixture(scope="module")
def three_papers(toy_results, tmp_path_factory):
    """The page of the three papers with made-up verdicts of every outcome, and no run."""
    request = plan.Request("smoke")
    papers = [p for p in registry.papers().values() if p.package.startswith("attnlab.")]
    effect = Effect("mean of C at which the smallest mass of any query is 1 - eta^C", 1.03, 0.91, 2)
    with ledgers.reading(toy_results) as ledger:
        found = []
        for paper in papers:
            for k, verdict in enumerate(verdicts(paper.claims, request, ledger)):
                outcome = NEWS_FIRST[k % len(NEWS_FIRST)]
                part = PartResult(paper.claims[k].parts[0].name, outcome, effect, "", "ours")
                reading = ReadingResult("as stated", outcome, effect, True, "", "", (part,))
                news = {"outcome": outcome, "effect": effect, "readings": (reading,)}
                found.append(replace(verdict, trials=9, **news))
        text = pages.page(papers, request, ledger, found)
    file = tmp_path_factory.mktemp("three") / "report.html"
    file.write_text(text)
    return file


@pytest.mark.parametrize("screen", [WIDE, PHONE], ids=["wide", "phone"])
def test_the_first_screen_holds_the_counts_and_headlines_of_every_paper(three_papers, screen):
    with opened(three_papers, viewport=screen) as page:
        cards = page.locator(".paper-card")
        assert cards.count() == 3
        assert page.locator(".paper-card .headline").count() == 9
        assert page.locator(".paper-card .headline svg.decision").count() == 9
        lowest = page.evaluate(
            "Math.max(...[...document.querySelectorAll('.counts, .headline')]"
            ".map(e => e.getBoundingClientRect().bottom))"
        )
        assert lowest <= screen["height"]
        # Nothing sticks out of the screen sideways; wide tables scroll inside their own box.
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_it_is_ready_soon_and_small(three_papers, toy_page):
    for file in (three_papers, toy_page):
        assert file.stat().st_size < 5e6
        assert soonest(file) < SOON


def test_without_a_script_everything_can_be_read(toy_page, toy_results):
    claims = json.loads((toy_results / "verdicts.json").read_text())
    with opened(toy_page, script=False) as page:
        assert page.locator("details.claim").count() == len(claims)
        assert page.locator("svg.drawn").count() == 2
        assert page.locator("button:visible").count() == 0
        page.locator("details.claim summary").first.click()
        assert page.locator("details.claim[open] .statement").is_visible()


def test_filters(toy_page, toy_results):
    claims = json.loads((toy_results / "verdicts.json").read_text())
    with opened(toy_page) as page:
        seen = page.locator("details.claim:visible")
        assert seen.count() == len(claims)
        page.select_option("#by-outcome", "contradicted")
        assert seen.count() == sum(c["verdict"] == "contradicted" for c in claims) > 0
        page.select_option("#by-kind", "identity")
        assert seen.count() == 1
        page.select_option("#by-kind", "")
        page.select_option("#by-outcome", "")
        page.fill("#by-text", "midpoint eta")
        assert 0 < seen.count() < len(claims)
        assert page.locator("#found").inner_text() == f"{seen.count()} of {len(claims)} verdicts"
        page.fill("#by-text", "")
        page.locator(".counts .supported").click()
        assert seen.count() == sum(c["verdict"] == "supported" for c in claims)


def test_a_link_opens_what_it_names(toy_page):
    with opened(toy_page, "#toy.theorem_4") as page:
        card = page.locator("details[data-id='toy.theorem_4']")
        assert card.evaluate("d => d.open")
        top = card.evaluate("d => d.getBoundingClientRect().top")
        assert 0 <= top < 300
        page.locator(".headline").first.click()
        name = page.evaluate("location.hash.slice(1)")
        assert page.locator(f"details[data-id='{name}']").evaluate("d => d.open")
    with opened(toy_page, "#toy.condition_2") as page:
        assert page.locator("#conditions-toy").evaluate("d => d.open")


def test_a_card_shows_its_figure_and_its_command_can_be_copied(toy_page):
    with opened(toy_page, "#toy.theorem_1") as page:
        card = page.locator("details[data-id='toy.theorem_1']")
        assert card.locator(".plot svg").first.is_visible()
        assert card.locator("svg.decision").count() >= 2
        card.locator("button.copy").click()
        card.locator("button.copy", has_text="copied").wait_for()


def test_a_figure_answers(toy_page):
    with opened(toy_page) as page:
        figure = page.locator("#figure-toy\\.figure_1")
        figure.locator("button.explore").click()
        lines = "g[data-mark='line'] path"
        assert figure.locator(lines).count() == 2
        before = figure.locator(lines).first.get_attribute("d")
        figure.locator(".switches input").first.uncheck()
        assert figure.locator(lines).first.get_attribute("d") != before
        figure.locator(".keys button", has_text="midpoint").click()
        assert figure.locator(lines).count() == 1
        figure.locator("g[data-mark='dot'] :is(circle, path)").nth(2).hover(force=True)
        tip = figure.locator("g[aria-label='tip'] text, g[data-mark='tip'] text").first
        tip.wait_for()
        assert "descent" in tip.text_content()
        figure.locator("button.explore").click()
        assert figure.locator(".static svg").is_visible()


def test_the_slider_moves_everything_together_and_by_keys(toy_page):
    with opened(toy_page) as page:
        slider = page.locator(".scrub input[type=range]")

        def state():
            pixels = page.evaluate("document.querySelector('.scrub canvas').toDataURL()")
            dot = page.locator(".scrub circle").first.get_attribute("cy")
            bar = page.locator(".scrub rect").first.get_attribute("width")
            cursor = page.locator(".scrub path[stroke-dasharray='3,2']").get_attribute("d")
            return pixels, dot, bar, cursor, page.locator(".scrub output").inner_text()

        last = state()
        slider.focus()
        page.keyboard.press("Home")
        first = state()
        assert all(one != other for one, other in zip(first, last, strict=True))
        page.keyboard.press("ArrowRight")
        assert state()[4] != first[4]
        page.locator(".scrub button").click()
        page.locator(".scrub button", has_text="play").wait_for()
        assert state()[4] == last[4]


def test_dark_is_dark_and_can_be_chosen(toy_page):
    colour = "getComputedStyle(document.body).backgroundColor"
    ink = "getComputedStyle(document.querySelector('svg.drawn')).fill"
    with opened(toy_page) as page:
        light = page.evaluate(colour), page.evaluate(ink)
        page.locator("#theme").click()
        dark = page.evaluate(colour), page.evaluate(ink)
        assert dark[0] != light[0]
        assert dark[1] != light[1]
    with opened(toy_page, color_scheme="dark") as page:
        assert (page.evaluate(colour), page.evaluate(ink)) == dark
        page.locator("#theme").click()
        assert (page.evaluate(colour), page.evaluate(ink)) == light


def test_the_keyboard_reaches_and_opens_a_card(toy_page):
    with opened(toy_page) as page:
        page.locator("#by-text").focus()
        for _ in range(30):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.matches('details.claim > summary')"):
                break
        page.keyboard.press("Enter")
        assert page.locator("details.claim[open]").count() == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_has_no_serious_finding(toy_page, three_papers, scheme):
    source = gzip.decompress(AXE.read_bytes()).decode()
    for file in (toy_page, three_papers):
        with opened(file, color_scheme=scheme, bypass_csp=True) as page:
            for summary in page.locator("details.claim > summary").all()[:2]:
                summary.click()
            if file == toy_page:
                page.locator("button.explore").first.click()
            page.evaluate(source)
            found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
            serious = [
                (v["id"], v["nodes"][0]["html"][:160], len(v["nodes"]))
                for v in found["violations"]
                if v["impact"] in ("serious", "critical")
            ]
            assert serious == []


def test_it_prints_on_few_sheets(three_papers, toy_page):
    for file in (three_papers, toy_page):
        with opened(file) as page:
            assert 0 < sheets(page) < 30
