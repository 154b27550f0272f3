"""Bad input: a sentence on standard error, exit code 2, nothing overwritten."""

import os
import re

import pytest

CASES = {
    "bad scale": (["check", "toy", "--scale", "huge"], "scale 'huge' is unknown.*smoke"),
    "bad scale of show": (["show", "toy.lemma_1", "--scale", "huge"], "scale 'huge' is unknown"),
    "unknown id": (["check", "toy.theorem_99"], "no id is called.*did you mean toy.theorem_"),
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
    "too many workers": (["check", "toy.lemma_1", "--workers", "100000"], "100000 is too many"),
    "bounds of JSON": (["bounds", "--json", "yang2024"], "--json yang2024 is not the name"),
    "bounds of a dash": (["bounds", "-"], "'-' is not a paper"),
    "bounds of nothing": (["bounds", "--json"], "no paper was given"),
    "bounds before their paper": (["bounds", "--n", "3", "yang2024"], "'--n' is not a paper"),
    "infinite setting": (["check", "toy.lemma_1", "--set", "eta=1e400"], "Number out of range"),
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


LONG = "x" * 300
PATHS = {
    "report": ["report", LONG],
    "ledger": ["ledger", LONG],
    "diff": ["diff", LONG, LONG],
    "out": ["check", "toy.lemma_1", "--out", LONG],
    "json": ["list", "--json", f"{LONG}.json"],
    "bounds json": ["bounds", "yang2024", "--json", f"{LONG}.json"],
}


@pytest.mark.parametrize("case", PATHS)
def test_a_name_too_long_for_a_file(attnlab, case):
    err = attnlab(*PATHS[case], expect=2).err
    assert re.search("File name too long|there is no ledger", err), err


@pytest.mark.parametrize("case", PATHS)
def test_a_nul_byte(case, capsys):
    from attnlab.cli import main

    arguments = [word.replace(LONG, "a\0b") for word in PATHS[case]]
    assert main(arguments) == 2
    assert "NUL byte" in capsys.readouterr().err


EXTREME = ("5e-324", "1e400", "-1e400", "nan", "1e308", "1" + "0" * 400, "9" * 5000)
LARGE = ("1e30", "1e-30", "1e20", "9223372036854775808", "0", "-1", "1" + "0" * 30)


@pytest.mark.parametrize("paper", ["deora2023", "li2023", "yang2024"])
def test_extreme_sizes_of_bounds_give_a_sentence_or_finite_numbers(paper, capsys):
    from dataclasses import fields

    from attnlab.cli import main
    from attnlab.lab import registry

    table = registry.paper(paper).bounds
    assert table is not None
    codes = set()
    for size in fields(table.settings):
        for value in (*EXTREME, *LARGE):
            arguments = ["bounds", paper, f"--{size.name.replace('_', '-')}={value}", "--json", "-"]
            try:
                code = main(arguments)
            except SystemExit as left:  # tyro's own, for what is not of the field's type
                code = left.code
            out, err = capsys.readouterr()
            codes.add(code)
            assert code in ((2,) if value in EXTREME else (0, 2)), arguments
            assert (out == "") == (code == 2)
            assert err or code == 0
            assert not re.search(r"(?<!\w)(inf|nan)\b(?!:)", out, re.IGNORECASE), arguments
            assert '"value": null' not in out
    assert codes == {0, 2}


def test_an_infinite_bound_is_a_word_in_json(attnlab):
    rows = attnlab("bounds", "li2023", "--M", "1000000", "--json", "-").json
    assert {row["value"] for row in rows if row["name"] == "(11)"} == {"infinite"}


def test_a_reader_that_leaves_is_no_error(attnlab, toy_results, tmp_path):
    import subprocess

    attnlab("check", "toy.lemma_1", "--scale", "smoke", "--out", tmp_path)
    command = " ".join([*attnlab.command, "diff", str(toy_results), str(tmp_path)])
    done = subprocess.run(
        ["bash", "-c", f"{command} | (exec 0<&-; sleep 8); exit ${{PIPESTATUS[0]}}"],
        env=attnlab.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_a_full_disk_under_standard_output(attnlab):
    import subprocess

    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*attnlab.command, "list", "--json", "-"],
            env=attnlab.environment,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert "No space left on device" in done.stderr
    assert "Traceback" not in done.stderr
