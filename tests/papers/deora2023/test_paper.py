"""deora2023 as a user meets it on the command line."""

import pytest

from attnlab.lab import registry
from attnlab.plotting import Film

PAPER = registry.paper("deora2023")


def test_it_is_listed_with_its_claims(attnlab):
    listed = attnlab("list", "--json").json
    claims = {row["id"] for row in listed["claims"]}
    for name in ("lemma_1", "proposition_1", "theorem_1", "theorem_2", "section_5_3", "margins"):
        assert f"deora2023.{name}" in claims
    assert {f.id for f in PAPER.figures if not isinstance(f, Film)} <= claims


def test_every_statement_of_the_paper_is_a_claim_or_a_hypothesis():
    assert PAPER.hypotheses is not None
    assumed = {a.id.removeprefix("deora2023.") for a in PAPER.hypotheses.assumptions}
    claimed = {claim.id.removeprefix("deora2023.") for claim in PAPER.claims}
    assert assumed == {
        *("assumption_1", "assumption_2", "assumption_3", "definition_1", "equation_3"),
    }
    assert not assumed & claimed
    have = claimed | assumed
    statements = {
        *("lemma_1", "lemma_2", "lemma_3", "corollary_1", "corollary_2", "definition_1"),
        *("proposition_1", "proposition_2", "proposition_3", "proposition_4", "proposition_7"),
        *("theorem_1", "theorem_2", "assumption_1", "assumption_2", "assumption_3"),
        *(f"equation_{k}" for k in (8, 13, 14, 15, 16, 17, 19, 20, 21, 22)),
        *("section_5_3", "margins", "example_5_1"),
    }
    assert statements <= have


def test_every_open_question_of_section_7_has_a_claim():
    have = {claim.id for claim in PAPER.claims if claim.title.startswith("Open question")}
    questions = {
        *("random_initialisation", "gd_margin", "global_margin"),
        *("low_rank_heads", "other_losses", "other_good_starts", "several_heads"),
    }
    assert have == {f"deora2023.{name}" for name in questions}


def test_bounds_print_conditions_with_the_missing_factor(attnlab):
    rows = attnlab("bounds", "deora2023", "--json", "--H", "1000", "--K", "100").json
    table = {row["name"]: row for row in rows}
    missed = table["instance.theorem_1.heads_symmetric"]
    assert missed["met"] is False
    assert "short by a factor of" in missed["meaning"]
    assert table["proposition_2.corollary_2.heads_printed"]["constant"] == "unknown"
    assert table["margins.gamma_lin"]["value"] == pytest.approx(0.7071, abs=1e-4)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("bounds", "deora2023", "--zeta", "0.3"), "whole"),
        (("bounds", "deora2023", "--M", "9"), "d >= 11"),
        (("bounds", "deora2023", "--Z-mu", "1.0"), "Z^2"),
        (("check", "deora2023.theorem_1", "--set", "zeta=0.3"), "whole"),
        (("check", "deora2023.finding_drawn_data", "--set", "Z=0"), "Z^2 >="),
        (("check", "deora2023.equation_13", "--engine", "gram"), "engine"),
    ],
)
def test_bad_input_is_a_sentence_and_exit_code_2(attnlab, tmp_path, arguments, words):
    extra = ("--out", tmp_path) if arguments[0] == "check" else ()
    done = attnlab(*arguments, *extra, expect=2)
    assert words in done.err


def test_claims_are_checked_and_their_controls_rejected(attnlab, tmp_path):
    done = attnlab(
        "check", "deora2023.section_5_3", "deora2023.margin_order",
        "deora2023.finding_margin_order",
        "--scale", "smoke", "--out", tmp_path, "--workers", "1", "--json", "-",
    )  # fmt: skip
    rows = {row["id"].removeprefix("deora2023."): row for row in done.json}
    assert rows["section_5_3"]["verdict"] == "supported"
    assert rows["finding_margin_order"]["verdict"] == "supported"
    assert rows["margin_order"]["verdict"] == "contradicted"
    for row in rows.values():
        assert all(control["verdict"] == "contradicted" for control in row["controls"])
