"""Universes as a user meets them: verdicts that carry them, the command, its figure and JSON."""

import json

import pytest

OVER_UNIVERSES = {
    "toy.remark_2": "supported",
    "toy.remark_3": "depends",
    "toy.remark_4": "contradicted",
    "toy.remark_5": "inconclusive",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("multiverse")


@pytest.fixture(scope="module")
def checked(attnlab, folder):
    done = attnlab("check", *OVER_UNIVERSES, "--out", folder, "--json", "-")
    return {verdict["id"]: verdict for verdict in done.json}


def test_a_remark_is_what_its_universes_say(checked):
    assert {name: v["verdict"] for name, v in checked.items()} == OVER_UNIVERSES
    for verdict in checked.values():
        assert sum(verdict["universes"]["counts"].values()) == 8


def test_the_flipping_choice_is_named(checked):
    found = checked["toy.remark_3"]
    assert found["universes"]["flips"] == (
        "holds at step = 0.5, fails at step = 1.0, all else equal"
    )
    assert found["universes"]["flips"] in found["reason"]


def test_the_same_command_again_runs_nothing(attnlab, folder, checked):
    again = attnlab("check", *OVER_UNIVERSES, "--out", folder, "--json", "-")
    assert "runs are in" in again.err
    assert [v["verdict"] for v in again.json] == list(OVER_UNIVERSES.values())


def test_the_command_gives_shares_by_level_and_a_figure_with_its_data(attnlab, folder, checked):
    done = attnlab("multiverse", "toy.remark_3", "--universes", "12", "--out", folder)
    assert "depends over 12 universes" in done.out
    assert "holds at step = 0.5, fails at step = 1.0" in done.out
    assert "a large one" in done.out
    data = json.loads((folder / "figures" / "toy.remark_3.multiverse.json").read_text())
    assert len(data["universes"]) == 12
    by_level = {row["level"]: row for row in data["factors"][0]["levels"]}
    assert by_level[1.0]["contradicted"] == 4
    assert by_level[0.2]["supported"] == 4
    assert (folder / "figures" / "toy.remark_3.multiverse.png").stat().st_size > 10_000


def test_universes_do_not_depend_on_workers(attnlab, tmp_path, checked):
    found = attnlab("check", "toy.remark_3", "--out", tmp_path, "--workers", "1", "--json", "-")
    ours, theirs = found.json[0], checked["toy.remark_3"]
    for name in ("verdict", "reason", "universes", "effect"):
        assert ours[name] == theirs[name]


def test_a_choice_of_the_users_is_no_factor(attnlab, folder):
    done = attnlab(
        "multiverse", "toy.remark_3", "--set", "step=0.2", "--out", folder, "--json", "-"
    )
    assert [factor["name"] for factor in done.json[0]["factors"]] == ["order", "batch"]
    assert done.json[0]["verdict"] == "supported"


def test_show_lists_the_open_choices_with_reasons(attnlab):
    assert "0.2 (a small one); or 1.0 (a large one)" in attnlab("show", "toy.remark_3").out
    studies = attnlab("show", "toy.remark_3", "--json").json["studies"]
    step = next(s for s in studies[0]["settings"] if s["name"] == "step")
    assert step["alternatives"][0] == {"value": 0.2, "reason": "a small one"}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("multiverse", "toy.remark_3", "--universes", "0"), "--universes 0 is out of range"),
        (
            ("check", "toy", "--set", "eta=1", "--set", "eta=2"),
            "eta was given twice, 1 and 2",
        ),
        (("check", "toy", "--set", "eta=1,2"), "--set eta=1,2 is a list"),
        (("multiverse", "toy.assumption_1"), "is a hypothesis"),
    ],
)
def test_refusals_are_sentences(attnlab, words, sentence):
    done = attnlab(*words, expect=2)
    assert sentence in done.err
    assert "Traceback" not in done.err


def test_a_setting_that_leaves_an_exponent_one_level_is_said(attnlab, tmp_path):
    done = attnlab("check", "toy.theorem_1", "--scale", "smoke", "--set", "eta=0.1",
                   "--out", tmp_path, "--json", "-")  # fmt: skip
    assert done.json[0]["verdict"] == "inconclusive"
    assert "1 level of eta, and an exponent needs 3: leave it free" in done.json[0]["reason"]


def test_failures_are_told_with_their_reason(attnlab, tmp_path):
    done = attnlab("check", "toy.lemma_1", "--scale", "smoke", "--set", "fault=exception",
                   "--out", tmp_path)  # fmt: skip
    assert "the fault that was asked for" in done.err
    shown = attnlab("ledger", tmp_path, "--failures")
    assert "ArithmeticError: the fault that was asked for" in shown.out
    rows = attnlab("ledger", tmp_path, "--failures", "--json").json
    assert {row["kind"] for row in rows} == {"exception"}


def test_columns_are_honoured_in_a_pipe(attnlab):
    narrow = attnlab("list", COLUMNS="80").out
    assert max(map(len, narrow.splitlines())) <= 80


def test_a_reader_that_leaves_early_is_no_error(attnlab):
    import subprocess

    command = " ".join(attnlab.command)
    done = subprocess.run(
        ["bash", "-c", f"{command} list --json | head -1"],
        capture_output=True, text=True, timeout=120, check=False, env=attnlab.environment,
    )  # fmt: skip
    assert done.stderr == ""


def test_an_executor_that_makes_nothing_ends_the_rounds(folder, checked, monkeypatch):
    """Each round is chosen by what is missing: without progress the next would be the same."""
    from attnlab.lab import ledger as ledgers
    from attnlab.lab import multiverse, plan, registry

    claims = registry.resolve("toy.remark_3").claims
    with ledgers.reading(folder) as ledger:
        monkeypatch.setattr(type(ledger), "finished", lambda *_: set())
        rounds = list(multiverse.rounds(claims, plan.Request("quick"), ledger, 2))
    assert len(rounds) == 1
