"""The commands as a user gives them, on the toy paper."""

import json
import re
import sqlite3

import pytest

VERDICTS = {
    "toy.lemma_1": "supported",
    "toy.theorem_1": "supported",
    "toy.theorem_2": "contradicted",
    "toy.theorem_3": "not_applicable",
    "toy.theorem_4": "supported",
    "toy.theorem_5": "contradicted",
    "toy.figure_1": "supported",
}


@pytest.fixture(scope="module")
def checked(attnlab, toy_results):
    done = attnlab("check", "toy", "--scale", "smoke", "--out", toy_results, "--json", "-")
    return {verdict["id"]: verdict for verdict in done.json}


def test_each_toy_claim_gets_its_right_verdict(checked):
    assert {name: v["verdict"] for name, v in checked.items()} == VERDICTS


def test_each_control_is_rejected(checked):
    for verdict in checked.values():
        assert verdict["controls"]
        for control in verdict["controls"]:
            assert control["verdict"] == "contradicted", (verdict["id"], control)


def test_json_has_the_documented_fields(checked):
    names = {"id", "scale", "verdict", "readings", "effect", "trials", "failed_runs"}
    names |= {"hypotheses", "controls", "seconds"}
    for verdict in checked.values():
        assert names <= verdict.keys()
        assert {"name", "value", "low", "high"} == verdict["effect"].keys()
        for reading in verdict["readings"]:
            assert {"name", "verdict", "effect"} <= reading.keys()


def test_what_the_verdicts_rest_on(checked):
    assert checked["toy.theorem_3"]["hypotheses"][0]["factor"] == 1.5
    assert checked["toy.theorem_3"]["hypotheses"][0]["met"] is False
    unknown = checked["toy.theorem_4"]["hypotheses"][0]
    assert (unknown["met"], unknown["constant"]) == (None, "unknown")
    assert {c["kind"] for c in checked["toy.theorem_4"]["constants"]} == {"unknown", "fitted"}
    assert len(checked["toy.theorem_2"]["readings"]) == 2
    assert checked["toy.theorem_5"]["diverged_runs"] > 0
    assert checked["toy.theorem_5"]["trials"] == 60


def test_strict_exits_with_1_for_a_contradicted_claim(attnlab, toy_results):
    common = ("--scale", "smoke", "--out", toy_results, "--strict")
    attnlab("check", "toy.theorem_2", *common, expect=1)
    attnlab("check", "toy.theorem_1", *common, expect=0)


def test_robust_keeps_clear_verdicts(attnlab, toy_results):
    common = ("--scale", "smoke", "--out", toy_results, "--robust", "--json", "-")
    done = attnlab("check", "toy.theorem_1", "toy.theorem_2", *common)
    assert [v["verdict"] for v in done.json] == ["supported", "contradicted"]


def test_a_second_command_makes_no_run(attnlab, toy_results):
    before = attnlab("ledger", toy_results, "--json").json
    done = attnlab("reproduce", "toy", "--scale", "smoke", "--out", toy_results)
    assert "all 184 runs are in" in done.err
    assert attnlab("ledger", toy_results, "--json").json == before


def test_reproduce_writes_figures_verdicts_and_page(toy_results):
    for ending in ("png", "svg", "json"):
        assert (toy_results / "figures" / f"toy.figure_1.{ending}").stat().st_size > 100
    verdicts = json.loads((toy_results / "verdicts.json").read_text())
    assert {v["id"]: v["verdict"] for v in verdicts} == VERDICTS
    data = json.loads((toy_results / "figures" / "toy.figure_1.json").read_text())
    assert data["scale"] == "smoke"
    assert set(data) >= {"descent", "midpoint"}


def test_page_is_self_contained_and_complete(toy_results):
    text = (toy_results / "report.html").read_text()
    addresses = re.findall(r"""(?:src|href|srcset|action)\s*=\s*["']?([^"'\s>]*)""", text)
    assert addresses
    assert all(address.startswith(("data:", "#")) for address in addresses)
    assert not re.search(r"@import|url\((?!data:)", text)
    assert "<script" not in text
    for claim in VERDICTS:
        assert f'id="{claim}"' in text
    for word in ("not applicable", "×1.5", "inferred", "12 diverged", "midpoint", "scale"):
        assert word in text
    assert text.count("<img") == 1


def test_report_is_a_pure_function_of_the_ledger(attnlab, toy_results):
    page = toy_results / "report.html"
    before = page.read_bytes()
    attnlab("report", toy_results)
    assert page.read_bytes() == before


def test_figures_are_the_same_bytes_each_time(attnlab, toy_results):
    files = {p: p.read_bytes() for p in (toy_results / "figures").iterdir()}
    attnlab("run", "toy.figure_1", "--scale", "smoke", "--out", toy_results)
    assert {p: p.read_bytes() for p in files} == files


def test_list_and_show(attnlab):
    listed = attnlab("list", "--json").json
    assert set(listed) == {"papers", "studies", "claims", "figures"}
    assert "toy.figure_1" in [figure["id"] for figure in listed["figures"]]
    shown = attnlab("show", "toy.theorem_2").out
    for word in ("1.05 d", "largest d", "twice as large", "inferred"):
        assert word in shown
    both = attnlab("show", "toy.figure_1").out
    assert "claim toy.figure_1" in both
    assert "figure toy.figure_1" in both


@pytest.mark.parametrize("arguments", [["--help"], ["list"], ["show", "toy.theorem_1"]])
def test_no_jax_for_help_list_and_show(attnlab, arguments):
    done = attnlab(*arguments, PYTHONPROFILEIMPORTTIME="1")
    imported = {line.rpartition("|")[2].strip() for line in done.err.splitlines()}
    assert "msgspec" in imported  # the profile was taken
    assert not imported & {"jax", "jaxlib", "diffrax", "equinox", "optax"}


def test_version(attnlab):
    assert attnlab("--version").out.startswith("attnlab 0.")


def test_own_sizes_and_engine(attnlab, tmp_path):
    common = ("--scale", "smoke", "--out", tmp_path, "--json", "-")
    done = attnlab("check", "toy.lemma_1", "--set", "eta=0.25", "--engine", "closed_form", *common)
    assert done.json[0]["trials"] == 4  # the sweep over eta has become one cell
    cells = [
        json.loads(cell)
        for (cell,) in sqlite3.connect(tmp_path / "ledger.sqlite").execute(
            "SELECT cell FROM record"
        )
    ]
    assert {c["eta"] for c in cells} == {0.25}
    assert {c["engine"] for c in cells} == {"closed_form"}


def test_no_record_has_an_unresolved_engine(toy_results):
    rows = sqlite3.connect(toy_results / "ledger.sqlite").execute("SELECT cell FROM record")
    assert {json.loads(cell)["engine"] for (cell,) in rows} == {"iteration"}
