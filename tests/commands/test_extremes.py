"""What fuzzing found: extreme settings, and ledgers that hold what no run writes."""

import math
import shutil
import sqlite3
from dataclasses import replace

import pytest

from attnlab.claims import Assumption, Hypothesis, Source
from attnlab.core import BadInput
from attnlab.data.mixture_sizes import MixtureSizes
from attnlab.lab import payload, plan, registry, session
from attnlab.report import hypotheses, terminal

REFUSED = {
    "more digits than a number has": ("toy.lemma_1", "dimension", "9" * 5000, "dimension='9999"),
    "a whole number that is not exact": ("toy.lemma_1", "dimension", "1" + "0" * 30, "beyond 2^53"),
    "infinite": ("deora2023.theorem_1", "H", "inf", "H='inf' is not a finite number"),
    "no number": ("deora2023.theorem_1", "zeta", "nan", "zeta='nan' is not a finite number"),
    "a power that overflows": ("deora2023.theorem_1", "Z", "1e308", "less extreme"),
    "heads below one": ("deora2023.proposition_2", "H", "0", "at least 1"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_an_extreme_setting_is_refused_with_a_sentence(case):
    name, setting, value, sentence = REFUSED[case]
    request = plan.Request("smoke", 0, {setting: value})
    with pytest.raises(BadInput) as refused:
        plan.everything_for(registry.resolve(name).claims, request)
    assert sentence in str(refused.value)
    assert len(str(refused.value)) < 400


@pytest.mark.parametrize(
    ("T", "atoms"), [(40, "about 10.37"), (2**53, "about 10.8570"), (8, ": 22400000")]
)
def test_too_many_atoms_are_refused_without_counting_them(T, atoms):
    sizes = MixtureSizes(T=T, d=100, M=20, S=1.0, zeta=0.5)
    with pytest.raises(BadInput, match=rf"{atoms}.*atoms; at most 20000"):
        sizes.require_atoms(fixed_places=False)


def test_the_logarithm_of_atoms_is_that_of_their_number():
    for T, M, fixed in ((2, 1, False), (8, 3, False), (8, 3, True), (30, 5, False)):
        sizes = MixtureSizes(T=T, d=100, M=M, S=1.0, zeta=0.5)
        assert sizes._log_atoms(fixed) == pytest.approx(math.log(sizes.atoms(fixed)), rel=1e-12)


def test_a_time_beyond_all_times_has_a_word():
    assert session.duration(float("inf")) == session.duration(1e308) == "more than 1000 years"
    assert session.duration(-float("inf")) == session.duration(0.2) == "1 s"
    assert session.duration(7500.0) == "2 h 5 min"


EXTREME = {
    "li2023": {"d": "9007199254740992"},
    "deora2023": {"S": "1e150", "points": "samples"},
    "yang2024": {"learning_rate": "1e308"},
}


@pytest.mark.parametrize("name", EXTREME)
def test_conditions_at_extreme_settings_are_told_in_words(name):
    paper, told = registry.paper(name), []
    for study in paper.studies:
        own = {k: v for k, v in EXTREME[name].items() if hasattr(study.settings, k)}
        alone = replace(paper, studies=(study,))
        try:
            request = plan.Request("smoke", 0, own)
            found = hypotheses.table_json(alone, request)
        except BadInput:  # this study refuses them
            continue
        terminal.hypotheses_table(hypotheses.table(alone, request))
        told += [row for a in found["hypotheses"] for row in a["rows"]]
    words = {
        x for row in told for x in (row["value"], row["threshold"]) if not isinstance(x, float)
    }
    assert words <= {"infinite", "minus infinite", "not a number"}
    assert words or name == "yang2024"
    for row in told:
        if "not a number" in (row["value"], row["threshold"]):
            assert hypotheses.BEYOND in row["name"]
            assert row["met"] is None


def test_a_condition_that_cannot_be_computed_is_a_row_that_says_so():
    def divide(cell):
        raise ZeroDivisionError

    def nothing(cell):
        return (Hypothesis("x", float("nan"), 1.0),)

    for rows, name in ((divide, hypotheses.BEYOND), (nothing, f"x: {hypotheses.BEYOND}")):
        assumption = Assumption("toy.x", "x", "x", Source("1", "x"), rows)
        (row,) = hypotheses._rows(assumption, "toy.descent", True, [None])
        assert (row.hypothesis.name, row.met, row.cells_met) == (name, "unknown", None)


# --- ledgers ---


@pytest.fixture
def copied(toy_results, tmp_path):
    """The toy's ledger, to be damaged."""
    shutil.copy(toy_results / "ledger.sqlite", tmp_path)
    return tmp_path


def changed(folder, statement, *values):
    db = sqlite3.connect(folder / "ledger.sqlite")
    db.execute(statement, values)
    db.commit()
    db.close()


def test_marks_in_a_ledger_are_printed_as_they_are(attnlab, copied):
    row = "SELECT identity, code, stack, study, seed, '[/b]', 'why', at FROM attempt LIMIT 1"
    changed(copied, f"INSERT INTO attempt {row}")
    assert "1 [/b]" in attnlab("ledger", copied).out
    assert "[/b]" in attnlab("ledger", copied, "--failures").out


@pytest.mark.parametrize("cell", ["[]", "{}", "words", "[" * 5000])
def test_a_profile_of_crafted_rows_is_printed_as_they_are(attnlab, copied, cell):
    changed(copied, "UPDATE record SET study = '[/b]x', cell = ? WHERE rowid = 1", cell)
    changed(copied, "UPDATE record SET cell = ? WHERE rowid = 2", cell)
    assert "[/b]x #1" in attnlab("profile", copied).out


@pytest.mark.parametrize(
    ("command", "study"),
    [("check toy.lemma_1", "toy.descent"), ("run toy.figure_1", "toy.descent")],
)
@pytest.mark.parametrize("values", [{}, {"gap": [1.0, 2.0], "factor": [1.0, 2.0]}])
def test_a_record_without_what_its_study_writes(attnlab, copied, command, study, values):
    data = payload.encode(values)
    changed(
        copied,
        "UPDATE record SET payload = ?, digest = ?, diverged = '' WHERE rowid IN "
        "(SELECT rowid FROM record WHERE study = ? LIMIT 3)",
        data, payload.digest(data, ""), study,
    )  # fmt: skip
    done = attnlab(*command.split(), "--scale", "smoke", "--out", copied, expect=2)
    assert "cannot be judged or drawn" in done.err
    assert str(copied / "ledger.sqlite") in done.err
    assert done.out == ""


def test_a_strip_of_universes_without_a_choice_is_drawn_without_a_warning(attnlab, copied):
    common = ("--scale", "smoke", "--universes", "2", "--out", copied)
    assert "Warning" not in attnlab("multiverse", "toy.lemma_1", *common).err
