"""Whole papers at scale smoke: what the court demands of every verdict, and of the page."""

import json
import re

import pytest

from attnlab.evidence.court import unmoved_scalars
from attnlab.lab import ledger as ledgers
from attnlab.lab import plan, registry
from attnlab.plotting import hides_a_curve
from attnlab.report.drawings import draw
from browser import NEEDED, SOON, opened, sheets, soonest

pytestmark = pytest.mark.soak

KEYS = {
    "id", "kind", "scale", "verdict", "reason", "source", "stated", "cutoff", "universes",
    "second_route", "readings", "effect", "trials", "failed_runs", "diverged_runs", "hypotheses",
    "controls", "constants", "informative", "tightness", "flips", "seconds",
}  # fmt: skip


@pytest.fixture(scope="module", params=["toy", "yang2024", "deora2023", "li2023"])
def reproduced(request, attnlab, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    attnlab.timeout = 1500
    attnlab("reproduce", request.param, "--scale", "smoke", "--out", folder)
    return request.param, folder


def texts_of(panel):
    """Every text of a panel that a reader sees."""
    legend = panel.get_legend()
    ticks = (*panel.get_xticklabels(which="both"), *panel.get_yticklabels(which="both"))
    return (panel.title, *panel.texts, *ticks, *(legend.get_texts() if legend else ()))


@pytest.fixture(scope="module")
def verdicts(reproduced):
    return json.loads((reproduced[1] / "verdicts.json").read_text())


def test_every_control_is_rejected_with_the_gate_off(verdicts):
    blunt = [
        (v["id"], c["name"], c["verdict"])
        for v in verdicts
        for c in v["controls"]
        if c["verdict"] != "contradicted"
    ]
    assert blunt == []
    assert all(v["failed_runs"] == 0 for v in verdicts)
    assert all(v["trials"] > 0 for v in verdicts)


def test_the_json_of_a_verdict_is_whole_and_has_no_number_that_is_none(reproduced, verdicts):
    text = (reproduced[1] / "verdicts.json").read_text()
    assert not {"NaN", "Infinity", "-Infinity"} & set(text.replace(",", " ").split())
    for verdict in verdicts:
        assert verdict.keys() >= KEYS, verdict["id"]
        assert verdict["reason"], verdict["id"]
        assert {"text", "owner", "why"} <= verdict["cutoff"].keys()
        assert not re.search(r"(?<![\w.])-0(\.0+)?(?![\d.e])", verdict["reason"])
        assert not re.search(r"\b(inf|nan)\b", verdict["reason"])


def test_rule_1_no_supported_has_an_allowed_reading_that_is_not(verdicts):
    for verdict in verdicts:
        allowed = {r["verdict"] for r in verdict["readings"] if r["allowed"]}
        if verdict["verdict"] in ("supported", "contradicted", "vacuous"):
            word = "contradicted" if verdict["verdict"] == "contradicted" else "supported"
            assert allowed == {word}, verdict["id"]
        if verdict["verdict"] == "depends":
            by_universes = verdict["universes"] and verdict["universes"]["verdict"] == "depends"
            assert by_universes or {"supported", "contradicted"} <= allowed, verdict["id"]


def test_rule_2_no_contradicted_is_without_a_second_route_that_agrees(verdicts):
    for verdict in verdicts:
        if verdict["verdict"] == "contradicted":
            assert verdict["second_route"], verdict["id"]
            assert verdict["second_route"]["agrees"] is True, verdict["id"]
            assert not verdict["flips"], verdict["id"]


def test_vacuous_is_said_only_after_a_search(verdicts):
    for verdict in verdicts:
        if verdict["verdict"] == "vacuous":
            assert verdict["kind"] == "bound"
            assert verdict["informative"]["share"] == 0
            assert "searched:" in verdict["reason"]


def test_rule_5_no_scalar_is_equal_over_a_claim_and_all_its_controls(reproduced):
    paper, folder = reproduced
    request = plan.Request("smoke")
    with ledgers.reading(folder) as ledger:
        unmoved = {
            claim.id: unmoved_scalars(
                claim,
                plan.records_for(claim, request, ledger, {}),
                plan.variant_records(claim, request, ledger),
            )
            for claim in registry.paper(paper).claims
        }
    assert {name: found for name, found in unmoved.items() if found} == {}


def test_every_figure_is_drawn_and_on_the_page(reproduced, attnlab):
    paper, folder = reproduced
    figures = [f["id"] for f in attnlab("list", "--json").json["figures"]]
    page = (folder / "report.html").read_text()
    for name in figures:
        if name.startswith(f"{paper}."):
            assert (folder / "figures" / f"{name}.png").stat().st_size > 10_000
            assert f'id="figure-{name}"' in page
    assert "Not drawn" not in page


def test_the_figures_are_as_a_reader_wants_them(reproduced):
    """Titles where there are several panels, no curve under a legend, plain numbers."""
    paper, folder = reproduced
    request = plan.Request("smoke")
    with ledgers.reading(folder) as ledger:
        for figure in registry.paper(paper).figures:
            picture = draw(figure, request, ledger).picture
            picture.draw_without_rendering()
            shown = [p for p in picture.axes if p.axison and p.get_label() != "<colorbar>"]
            untitled = [p for p in shown if not p.get_title()]
            assert len(shown) == 1 or not untitled, figure.id
            assert not [p for p in shown if hides_a_curve(p)], figure.id
            words = [t.get_text() for p in shown for t in texts_of(p)]
            assert not [w for w in words if re.search(r"\\times|(?<![\w.^{])[-−]0(\.0+)?$", w)]


@NEEDED
def test_the_page_of_a_paper_answers(reproduced):
    """Small, soon ready, few sheets of paper; every figure and slider of it moves."""
    _, folder = reproduced
    file = folder / "report.html"
    assert file.stat().st_size < 5e6
    assert soonest(file) < SOON
    with opened(file) as page:
        assert 0 < sheets(page) < 30
        for button in page.locator("button.explore:visible").all():
            button.click()
        for figure in page.locator("figure.open").all():
            assert figure.locator(".plot svg").count() > 0, figure.get_attribute("id")
        outputs = page.locator(".scrub output")
        assert outputs.count() > 0
        before = outputs.all_inner_texts()
        for slider in page.locator(".scrub input[type=range]").all():
            slider.focus()
            page.keyboard.press("Home")
        assert not set(before) & set(outputs.all_inner_texts())


def test_again_it_takes_no_run(reproduced, attnlab):
    paper, folder = reproduced
    done = attnlab("reproduce", paper, "--scale", "smoke", "--out", folder)
    assert "runs are in" in done.err
