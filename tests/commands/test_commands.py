"""The commands as a user gives them, on the toy paper."""

import json
import re
import sqlite3

import pytest

VERDICTS = {
    "toy.lemma_1": "supported",
    "toy.lemma_2": "contradicted",
    "toy.theorem_3": "not_applicable",
    "toy.lemma_3": "supported",
    "toy.lemma_4": "vacuous",
    "toy.lemma_5": "inconclusive",
    "toy.theorem_1": "supported",
    "toy.theorem_2": "contradicted",
    "toy.theorem_4": "supported",
    "toy.theorem_7": "depends",
    "toy.theorem_5": "contradicted",
    "toy.theorem_6": "supported",
    "toy.proposition_1": "supported",
    "toy.figure_1": "supported",
    "toy.remark_1": "supported",
    "toy.theorem_8": "depends",
    "toy.theorem_9": "supported",
    "toy.finding_1": "supported",
    # Scale smoke carries no universes: these are the words of the designed one.
    "toy.remark_2": "supported",
    "toy.remark_3": "supported",
    "toy.remark_4": "contradicted",
    "toy.remark_5": "inconclusive",
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
    names = {"id", "kind", "scale", "verdict", "reason", "source", "stated", "cutoff"}
    names |= {"universes", "second_route", "readings", "effect", "trials", "failed_runs"}
    names |= {"diverged_runs", "hypotheses", "controls", "constants", "informative", "tightness"}
    names |= {"flips", "seconds"}
    for verdict in checked.values():
        assert names == verdict.keys()
        assert {"name", "value", "low", "high"} == verdict["effect"].keys()
        assert {"text", "owner", "why"} == verdict["cutoff"].keys()
        for reading in verdict["readings"]:
            assert {"name", "verdict", "effect", "allowed", "why"} <= reading.keys()
            assert {"name", "verdict", "effect", "cutoff"} <= reading["parts"][0].keys()


def test_no_word_without_what_it_rests_on(checked):
    for verdict in checked.values():
        readings = {r["verdict"] for r in verdict["readings"] if r["allowed"]}
        assert verdict["verdict"] != "supported" or readings == {"supported"}
        if verdict["verdict"] == "contradicted":
            assert readings == {"contradicted"}
            assert verdict["second_route"]["agrees"]
            assert isinstance(verdict["second_route"]["value"], float)


def test_what_the_verdicts_rest_on(checked):
    assert checked["toy.theorem_3"]["hypotheses"][0]["factor"] == 1.5
    assert checked["toy.theorem_3"]["hypotheses"][0]["met"] is False
    unknown = checked["toy.theorem_4"]["hypotheses"][0]
    assert (unknown["met"], unknown["constant"]) == (None, "unknown")
    assert {c["kind"] for c in checked["toy.theorem_4"]["constants"]} == {"unknown", "fitted"}
    assert len(checked["toy.theorem_2"]["readings"]) == 2
    assert checked["toy.theorem_5"]["diverged_runs"] > 0
    assert checked["toy.theorem_5"]["trials"] == 60
    assert checked["toy.lemma_4"]["informative"]["share"] == 0
    assert checked["toy.lemma_3"]["informative"]["share"] > 0
    assert "power" in checked["toy.proposition_1"]["tightness"]
    assert checked["toy.theorem_1"]["cutoff"]["owner"] == "ours"
    assert checked["toy.theorem_5"]["cutoff"]["owner"] == "paper"


def test_the_table_shows_news_first_and_counts(attnlab, toy_results):
    out = attnlab("check", "toy", "--scale", "smoke", "--out", toy_results).out
    order = [re.search(rf"{v} *│ {c} ", out) for c, v in VERDICTS.items()]
    assert all(order)
    first, last = out.index("toy.lemma_2 "), out.index("toy.lemma_1 ")
    assert first < out.index("toy.theorem_8 ") < out.index("toy.lemma_4 ") < last
    assert "stated    1.05 d (section 2, Theorem 2, page 3)" in out
    assert out.strip().splitlines()[-1].startswith("toy: 22 claims: 4 contradicted, 2 depends")
    assert "-0.00" not in out
    assert " inf" not in out.replace(" informative", "")


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
    assert f"all {sum(row['current'] for row in before)} runs are in" in done.err
    assert attnlab("ledger", toy_results, "--json").json == before


def test_reproduce_writes_figures_verdicts_and_page(toy_results):
    for ending in ("png", "svg", "pdf", "json"):
        assert (toy_results / "figures" / f"toy.figure_1.{ending}").stat().st_size > 100
    for name in ("toy.verdicts.tex", "toy.settings.tex", "references.bib"):
        assert (toy_results / "latex" / name).stat().st_size > 100
    verdicts = json.loads((toy_results / "verdicts.json").read_text())
    assert {v["id"]: v["verdict"] for v in verdicts} == VERDICTS
    data = json.loads((toy_results / "figures" / "toy.figure_1.json").read_text())
    assert data["scale"] == "smoke"
    assert set(data) >= {"descent", "midpoint"}


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
    assert set(listed) == {"papers", "studies", "claims", "hypotheses", "figures"}
    assert "toy.figure_1" in [figure["id"] for figure in listed["figures"]]
    assert "toy.assumption_1" in [hypothesis["id"] for hypothesis in listed["hypotheses"]]
    for claim in listed["claims"]:
        assert claim["kind"]
        assert claim["source"] or claim["kind"] == "finding"
    assert {c["kind"] for c in listed["claims"] if c["id"] == "toy.theorem_5"} == {"probability"}
    shown = attnlab("show", "toy.theorem_2").out
    for word in ("1.05 d", "largest d", "twice as large", "inferred"):
        assert word in shown
    for word in ("scaling", "section 2, Theorem 2", "(ours)", "(allowed)", "other normal numbers"):
        assert word in shown
    bound = attnlab("show", "toy.lemma_4").out
    assert "trivial bound" in bound
    assert "searched" in bound
    assert "eta lambda <= 1" in attnlab("show", "toy.assumption_1").out
    study = attnlab("show", "toy.start").out
    assert "500, 2000, 8000, 20000" in study
    assert "toy.theorem_6" in study
    both = attnlab("show", "toy.figure_1").out
    assert "claim toy.figure_1" in both
    assert "figure toy.figure_1" in both


def test_hypotheses_at_the_papers_settings_and_at_ours(attnlab, tmp_path):
    out = attnlab("hypotheses", "toy", "--scale", "smoke").out
    assert re.search(r"study overshoot +1\.5 +at most 1 +no +×1\.5", out)
    found = attnlab("hypotheses", "toy", "--json").json
    assert found == attnlab("hypotheses", "toy", "--json", "-").json
    attnlab("hypotheses", "toy", "--json", tmp_path / "h.json")
    assert json.loads((tmp_path / "h.json").read_text()) == found
    step, dimension = found["hypotheses"]
    rows = {row["at"]: row for row in step["rows"]}
    assert (rows["figure 1"]["settings"], rows["figure 1"]["met"]) == ("paper", True)
    worst = rows["toy.descent"]  # the longest step of the study
    assert (worst["value"], worst["cells"], worst["cells_met"]) == (0.125, 5, 5)
    assert (rows["toy.overshoot"]["met"], rows["toy.overshoot"]["factor"]) == (False, 1.5)
    assert {(row["met"], row["constant"]) for row in dimension["rows"]} == {(None, "unknown")}


NO_JAX = [["--help"], ["list"], ["show", "toy.theorem_1"], ["show", "toy.condition_2"]]
NO_JAX += [["hypotheses", paper] for paper in ("toy", "deora2023", "li2023", "yang2024")]


@pytest.mark.parametrize("arguments", NO_JAX, ids=" ".join)
def test_no_jax_for_help_list_show_and_hypotheses(attnlab, arguments):
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
    engines = {json.loads(cell).get("engine", "has none") for (cell,) in rows}
    assert engines == {"iteration", "has none"}
