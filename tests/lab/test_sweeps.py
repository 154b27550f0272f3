"""Sweeps from hostile files and words: a sentence, whatever Python's own reader says."""

import pytest

from attnlab.core import BadInput
from attnlab.lab import sweeps

HOSTILE = {
    "a number of 5000 digits": b"paper = 'toy.descent'\nseeds = " + b"9" * 5000,
    "4000 brackets": b"paper = 'toy.descent'\n[set]\neta = " + b"[" * 4000 + b"]" * 4000,
    "half a line": b"paper = ",
    "a byte that is no letter": b"paper = '\xff'",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_file_that_cannot_be_read_is_named(tmp_path, name):
    file = tmp_path / "my.toml"
    file.write_bytes(HOSTILE[name])
    with pytest.raises(BadInput, match=r"my\.toml is not TOML.*; write e\.g\. paper = "):
        sweeps.read(file)


@pytest.mark.parametrize("part", ["3", "1/0", "0/2", "3/2", "a/b", "1/" + "9" * 5000, "1/2/3", "/"])
def test_a_part_that_is_none_is_refused(part):
    with pytest.raises(BadInput, match=r"is not of the form I/K.*; write e\.g\. 3/10"):
        sweeps.part_of([], part)


@pytest.mark.parametrize("parts", [1, 2, 3, 7])
def test_parts_make_up_the_whole_each_run_once(parts):
    runs = list(range(7))
    found = [sweeps.part_of(runs, f"{k}/{parts}") for k in range(1, parts + 1)]  # type: ignore[arg-type]
    assert sorted(run for some in found for run in some) == runs
    assert max(map(len, found)) - min(map(len, found)) <= 1
    with pytest.raises(BadInput, match="only 7 runs"):
        sweeps.part_of(runs, "8/8")  # type: ignore[arg-type]
    assert sweeps.part_of(runs, "") == runs  # type: ignore[arg-type]
