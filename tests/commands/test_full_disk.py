"""Every file that a command writes, on a full disk: a sentence, exit code 2 and no half file."""

import shutil
import subprocess

import pytest

from attnlab.cli import main

ROOM = 1000
"""Bytes to which a file may grow; a command's own words go into pipes."""
SMOKE = ("--scale", "smoke", "--out", "DIR")
COMMANDS = {
    "figure": ("run", "toy.figure_1", *SMOKE),
    "page": ("report", "DIR"),
    "figures, verdicts and page": ("reproduce", "toy", *SMOKE),
    "verdicts": ("check", "toy", *SMOKE, "--json", "DIR/v.json"),
    "list": ("list", "--json", "DIR/v.json"),
    "claim": ("show", "toy.lemma_1", "--json", "DIR/v.json"),
    "hypotheses": ("hypotheses", "toy", "--json", "DIR/v.json"),
    "bounds": ("bounds", "yang2024", "--json", "DIR/v.json"),
    "tables": ("export", "DIR", "--to", "csv"),
    "NetCDF": ("export", "DIR", "--to", "netcdf"),
    "merged ledger": ("merge", "DIR", "OTHER", "--out", "DIR/new"),
    "new ledger": ("check", "toy.lemma_1", "--scale", "smoke", "--out", "DIR/new"),
}


def contents(folder):
    # SQLite's own two files beside a ledger that was read are no output.
    return {
        p.relative_to(folder): p.read_bytes()
        for p in folder.rglob("*")
        if p.is_file() and not p.name.endswith(("-shm", "-wal")) and p.name != "ledger.lock"
    }


@pytest.mark.parametrize("what", COMMANDS)
def test_no_half_file(toy_results, tmp_path, what, full_disk, capsys):
    folder, other = tmp_path / "results", tmp_path / "other"
    for copy in (folder, other):
        shutil.copytree(toy_results, copy)
    for path in (*(folder / "figures").iterdir(), folder / "report.html"):
        path.write_text("the earlier one")
    before = contents(folder)
    words = [w.replace("DIR", str(folder)).replace("OTHER", str(other)) for w in COMMANDS[what]]
    with full_disk(ROOM):
        assert main(words) == 2
    sentence = capsys.readouterr().err.strip().splitlines()[-1]
    assert sentence.startswith("attnlab: cannot ")
    assert "space" in sentence
    assert contents(folder) == before
    if what != "new ledger":  # which needs runs
        assert main(words) == 0
        assert contents(folder) != before


def test_the_strip_of_a_multiverse(attnlab, tmp_path, full_disk, capsys):
    words = ["multiverse", "toy.remark_3", "--universes", "2", "--scale", "smoke", "--out"]
    words.append(str(tmp_path))
    attnlab(*words)
    shutil.rmtree(tmp_path / "figures")
    before = contents(tmp_path)
    with full_disk(ROOM):
        assert main(words) == 2
    assert "toy.remark_3.multiverse.png: File too large" in capsys.readouterr().err
    assert contents(tmp_path) == before


def test_a_full_disk_under_the_sentence_itself(attnlab):
    with open("/dev/full", "w") as full:
        process = subprocess.run(
            [*attnlab.command, "check", "toy.nothing"],
            env=attnlab.environment,
            stdout=subprocess.PIPE,
            stderr=full,
            check=False,
        )
    assert process.returncode == 2
