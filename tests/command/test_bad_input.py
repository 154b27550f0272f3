"""Bad input: a sentence on standard error, exit code 2, nothing overwritten."""

import os
import re

import pytest

CASES = {
    "bad scale": (["check", "toy", "--scale", "huge"], "scale 'huge' is unknown.*smoke"),
    "bad scale of show": (["show", "toy.lemma_1", "--scale", "huge"], "scale 'huge' is unknown"),
    "unknown id": (["check", "toy.theorem_9"], "no id is called.*did you mean toy.theorem_"),
    "unknown paper": (["reproduce", "toi"], "no paper is called 'toi'.*toy"),
    "unknown shown id": (["show", "nothing"], "no id is called 'nothing'"),
    "no id": (["check"], "no id was given"),
    "claim without figure": (["run", "toy.lemma_1"], "claim without a figure"),
    "check of a hypothesis": (
        ["check", "toy.assumption_1"],
        "hypothesis.*`attnlab hypotheses toy`",
    ),
    "run of a hypothesis": (["run", "toy.condition_2"], "hypothesis.*`attnlab hypotheses toy"),
    "check of a study": (["check", "toy.descent"], "is a study.*attnlab show toy.descent"),
    "hypotheses of no paper": (["hypotheses", "toi"], "no paper is called 'toi'.*toy"),
    "hypotheses at a bad scale": (["hypotheses", "toy", "--scale", "huge"], "'huge' is unknown"),
    "JSON into another file": (["check", "toy.lemma_1", "--json", "v.txt"], "ends in .json"),
    "JSON before an id": (["check", "--json", "toy.lemma_1", "toy.lemma_2"], "ends in .json"),
    "unknown setting": (["check", "toy.lemma_1", "--set", "etta=1"], "did you mean eta"),
    "bad value": (["check", "toy.lemma_1", "--set", "eta=slow"], "eta='slow'.*takes float"),
    "bad size": (["check", "toy.lemma_1", "--set", "dimension=0"], "at least 1 coordinate"),
    "not an assignment": (["check", "toy.lemma_1", "--set", "eta"], "name=value"),
    "bad engine": (["check", "toy.lemma_1", "--engine", "steam"], "engine='steam'"),
    "no worker": (["check", "toy.lemma_1", "--workers", "0"], "--workers 0 is too few"),
    "bad seed": (["check", "toy.lemma_1", "--seed", "-1"], "seed -1 is out of range"),
    "unknown option": (["check", "toy.lemma_1", "--scael", "smoke"], "scael"),
    "unknown command": (["chekc"], "chekc"),
    "number wanted": (["check", "toy.lemma_1", "--workers", "two"], "two"),
}


@pytest.mark.parametrize("case", CASES)
def test_sentence_and_exit_code_2(attnlab, tmp_path, case):
    arguments, pattern = CASES[case]
    folder = tmp_path / "results"
    if arguments[0] in ("check", "run", "reproduce"):
        arguments = [*arguments, "--out", str(folder)]
    done = attnlab(*arguments, expect=2)
    assert re.search(pattern, done.err, re.DOTALL), done.err
    assert done.out == ""
    assert not (folder / "ledger.sqlite").exists()


@pytest.mark.parametrize("command", ["report", "ledger"])
def test_a_folder_without_a_ledger(attnlab, tmp_path, command):
    assert "there is no ledger" in attnlab(command, tmp_path, expect=2).err
    assert list(tmp_path.iterdir()) == []


def test_unwritable_folder(attnlab, tmp_path):
    (tmp_path / "file").write_text("in the way")
    done = attnlab("check", "toy.lemma_1", "--out", tmp_path / "file", expect=2)
    assert "cannot write in" in done.err
    assert (tmp_path / "file").read_text() == "in the way"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_read_only_folder(attnlab, tmp_path):
    tmp_path.chmod(0o500)
    assert "cannot write in" in attnlab("check", "toy.lemma_1", "--out", tmp_path, expect=2).err


def test_corrupt_ledger(attnlab, tmp_path):
    path = tmp_path / "ledger.sqlite"
    path.write_bytes(b"precious, and not a ledger" * 50)
    for arguments in (["check", "toy.lemma_1", "--out"], ["report"], ["ledger"]):
        assert "not a ledger" in attnlab(*arguments, tmp_path, expect=2).err
    assert path.read_bytes() == b"precious, and not a ledger" * 50


def test_json_to_an_impossible_file(attnlab, toy_results, tmp_path):
    common = ("--scale", "smoke", "--out", toy_results)
    (tmp_path / "file").write_text("in the way")
    target = tmp_path / "file" / "v.json"
    done = attnlab("check", "toy.lemma_1", *common, "--json", target, expect=2)
    assert "cannot write" in done.err
