"""Sweeps by flags, by TOML and from Python; exports in three formats; ledgers merged."""

import math

import numpy as np
import pytest

import attnlab as al
from attnlab.core import BadInput
from attnlab.lab import sweeps

GRID = ("--grid", "eta=0.25,0.125", "--grid", "dimension=2,3,5", "--seeds", "2")
TOML = """
paper = "toy.descent"
seeds = 2
[set]
horizon = 2.0
[grid]
eta = [0.25, 0.125]
dimension = [2, 3, 5]
"""


@pytest.fixture(scope="module")
def swept(attnlab, tmp_path_factory):
    folder = tmp_path_factory.mktemp("sweep") / "runs"
    attnlab("sweep", "toy.descent", *GRID, "--set", "horizon=2", "--out", folder, "--workers", 1)
    return folder


def test_a_sweep_has_every_combination_once(swept, attnlab):
    (row,) = attnlab("ledger", swept, "--json", "-").json
    assert (row["study"], row["current"], row["runs"]) == ("toy.descent", 12, 12)


def test_the_same_command_makes_nothing_again(swept, attnlab):
    again = attnlab("sweep", "toy.descent", *GRID, "--set", "horizon=2", "--out", swept)
    assert "12 in the ledger, 0 to make" in again.err


def test_flags_toml_and_python_ask_for_the_same_runs(tmp_path):
    file = tmp_path / "my.toml"
    file.write_text(TOML)
    by_file = sweeps.tasks(sweeps.read(file))
    grid = sweeps.parse_grid([GRID[1], GRID[3]])
    by_words = sweeps.tasks(sweeps.Sweep("toy.descent", grid, {"horizon": "2"}, seeds=2, text=True))
    by_numbers = sweeps.tasks(
        sweeps.Sweep(
            "toy.descent", {"eta": [0.25, 0.125], "dimension": [2, 3, 5]}, {"horizon": 2}, 2
        )
    )
    names = [[task.identity for task in some] for some in (by_file, by_words, by_numbers)]
    assert names[0] == names[1] == names[2]
    assert len(set(names[0])) == 12


def test_xarray_has_the_grid_as_axes(swept):
    data = al.open(swept).to_xarray("toy.descent")
    assert dict(data.sizes) == {"dimension": 3, "eta": 2, "seed": 2}
    assert data["eta"].attrs["symbol"] == "eta"
    assert data["distance"].attrs["units"] == "1"
    assert data.attrs["horizon"] == 2.0
    one = data.sel(dimension=3, eta=0.125, seed=1)
    # A plain second computation: the factor of a step to the power of their number.
    assert float(one["distance"] / one["start"]) == pytest.approx((1 - 0.125) ** 16, rel=1e-12)
    assert not np.isnan(data["distance"]).any()


def test_pandas_has_a_row_for_each_run(swept):
    table = al.open(swept).to_pandas()
    assert len(table) == 12
    wanted = (1 - table["eta"]) ** np.round(table["horizon"] / table["eta"])
    np.testing.assert_allclose(table["distance"] / table["start"], wanted, rtol=1e-12)
    assert table["current"].all()
    assert table["identity"].is_unique


@pytest.mark.parametrize("to", ["netcdf", "parquet", "csv"])
def test_an_export_holds_what_the_ledger_holds(swept, attnlab, tmp_path, to):
    import pandas as pd
    import xarray as xr

    attnlab("export", swept, "--to", to, "--out", tmp_path)
    here = al.open(swept)
    if to == "netcdf":
        with xr.open_datatree(tmp_path / "records.nc", engine="h5netcdf") as tree:
            xr.testing.assert_equal(
                tree["toy.descent"].to_dataset().load()["distance"],
                here.to_xarray("toy.descent")["distance"],
            )
        return
    read = {"csv": pd.read_csv, "parquet": pd.read_parquet}[to]
    found = read(tmp_path / f"toy.descent.{to}")
    wanted = here.to_pandas("toy.descent")
    np.testing.assert_array_equal(found["distance"], wanted["distance"])
    assert list(found.columns) == list(wanted.columns)
    assert (tmp_path / f"toy.descent.arrays.{to}").exists()


def test_parts_of_an_array_job_merge_into_the_whole(swept, attnlab, tmp_path):
    for part in ("1/2", "2/2"):
        folder = tmp_path / part[0]
        options = ("--set", "horizon=2", "--part", part, "--out", folder, "--workers", 1)
        attnlab("sweep", "toy.descent", *GRID, *options)
    attnlab("merge", tmp_path / "1", tmp_path / "2", "--out", tmp_path / "both")
    assert attnlab("diff", tmp_path / "both", swept).out.startswith("12 equal, 0 different")


def test_records_that_fill_no_grid_are_a_list_of_runs(toy_results):
    data = al.open(toy_results).to_xarray("toy.horizons")
    assert set(data.dims) >= {"eta", "horizon", "seed"}
    tree = al.open(toy_results).to_xarray()
    assert set(tree.children) == {r.study for r in _summary(toy_results) if r.current}


def _summary(folder):
    from attnlab.lab import ledger

    with ledger.reading(folder) as one:
        return one.summary()


def test_results_show_verdicts_records_and_failures(toy_results):
    results = al.open(toy_results)
    found = results.verdicts()
    assert found["toy.theorem_1"].outcome == "supported"
    assert "toy.theorem_1" in repr(found)
    assert "<pre" in found._repr_html_()
    records = results.records("toy.descent")
    assert len(records) == 40  # those of the control too
    assert len(records.where(method="descent")) == 20
    assert records.by("eta").keys() == {2.0**-k for k in (3, 4, 5, 6, 8)}
    assert repr(records).startswith("toy.descent: 40 records, each with ")
    assert "<table" in records._repr_html_()
    assert results.failures().value == []
    assert "toy.descent" in repr(results)


BAD = {
    "unknown key": (TOML.replace("[grid]", "[gird]"), "my.toml: no key is called gird; .*grid"),
    "unknown setting": (TOML.replace("dimension", "dimensoin"), "my.toml: .*mean dimension"),
    "wrong type": (TOML.replace("[2, 3, 5]", "[2, 3.5]"), "my.toml: at .*dimension=3.5: .*int"),
    "out of range": (TOML.replace("[2, 3, 5]", "[0, 3]"), "my.toml: at .*dimension=0: .*too small"),
    "seeds of text": (TOML.replace("seeds = 2", "seeds = 'two'"), "my.toml: seeds = 'two'; "),
    "no seeds": (TOML.replace("seeds = 2", "seeds = 0"), "my.toml: got seeds=0; .*from 1 on"),
    "a bad seed": (TOML.replace("seeds = 2", "seed = -1"), "my.toml: got seed=-1"),
    "too many": (TOML.replace("seeds = 2", "seeds = 999999"), "my.toml: got a sweep of .*coarser"),
    "no such paper": (TOML.replace("toy.descent", "toi.descent"), "my.toml: paper: .*toi"),
    "a level alone": (TOML.replace("[0.25, 0.125]", "0.25"), "my.toml: grid.eta = 0.25; .*list"),
    "no levels": (TOML.replace("[0.25, 0.125]", "[]"), "my.toml: grid.eta"),
    "a list as setting": (TOML.replace("horizon = 2.0", "horizon = [1.0]"), "set.horizon"),
    "code": (TOML.replace("horizon = 2.0", "horizon = 'os:system'"), "my.toml: .*names code"),
    "twice": (TOML.replace("horizon", "eta"), "my.toml: eta is both fixed and in the grid"),
    "no paper": (TOML.replace('paper = "toy.descent"', ""), "my.toml: the key paper is missing"),
    "no TOML": ("paper = ", "is not TOML"),
    "not UTF-8": (b"paper = '\xff'", "is not TOML"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_answered_with_file_and_key(name, tmp_path):
    text, words = BAD[name]
    file = tmp_path / "my.toml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(BadInput, match=words):
        sweeps.tasks(sweeps.read(file))


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("sweep", "toy.descent", "--grid", "eta"), "name=a,b,c"),
        (("sweep", "toy.descent", "--grid", "eta=1,", "--seeds", "2"), "name=a,b,c"),
        (("sweep", "toy.descent", "--grid", "eta=1", "--grid", "eta=2"), "twice"),
        (("sweep", "toy", "--grid", "eta=1"), "several studies"),
        (("sweep", "toy.theorem_1", "--grid", "eta=1"), "claim"),
        (("sweep", "toy.descent", "--part", "3/2"), "I/K"),
        (("sweep", "none.toml"), "none.toml"),
        (("sweep", "my.toml", "--seeds", "3"), "write them there"),
        (("sweep", "toy.descent", "--seeds", "1000001", "--grid", "eta=.1,.2"), "coarser"),
        (("train", "toy.descent", "--set", "etaa=1"), "did you mean eta"),
        (("train", "li2023", "--set", "N=many"), "N='many'"),
        (("export", "nowhere", "--to", "csv"), "no ledger"),
        (("export", "nowhere", "--to", "xlsx"), "netcdf, parquet, csv"),
    ],
)
def test_bad_commands_get_a_sentence(words, sentence, attnlab, tmp_path):
    assert sentence in attnlab(*words, expect=2).err


def test_a_setting_without_effect_is_refused():
    with pytest.raises(BadInput, match="no effect"):
        sweeps.tasks(sweeps.Sweep("li2023", {"ratio": [0.1, 0.2]}))


def test_train_on_the_command_line_writes_weights_and_series(attnlab, tmp_path):
    given = ("N=12", "L=20", "m=30", "steps=20", "alpha_sharp=.1")
    sizes = [word for size in given for word in ("--set", size)]
    attnlab("train", "li2023", *sizes, "--out", tmp_path)
    run = al.load(tmp_path / "li2023.figure_1a.seed_0.safetensors")
    assert run.settings["N"] == 12
    table = (tmp_path / "li2023.figure_1a.seed_0.csv").read_text().splitlines()
    assert table[0].startswith("step,")
    assert len(table) == len(run.at) + 1


def test_a_study_without_weights_says_so(attnlab, tmp_path):
    done = attnlab("train", "toy.descent", "--out", tmp_path)
    assert "no weights were written" in done.err


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (lambda: al.check("toy", seed=1.5), "seed=1.5; a whole number"),
        (lambda: al.check("toy", workers="2"), "workers='2'; a whole number"),
        (lambda: al.figure("toy.figure_1", seed=True), "seed=True; a whole number"),
        (lambda: al.multiverse("toy.theorem_1", universes=2.5), "universes=2.5; a whole number"),
        (lambda: al.multiverse("toy.theorem_1", universes=0), "give 1 to"),
        (lambda: al.sweep("toy.descent", {"eta": [0.1]}, workers=0.5), "workers=0.5; a whole"),
    ],
)
def test_numbers_that_are_none_get_a_sentence(asked, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadInput, match=words):
        asked()
    assert not list(tmp_path.iterdir())


def test_levels_may_be_numpys_numbers():
    of_numpy = {"eta": np.array([0.25, 0.125]), "dimension": [np.int64(2), np.int64(3)]}
    from attnlab.facade.results import _lists

    found = sweeps.tasks(sweeps.Sweep("toy.descent", _lists(of_numpy)))
    own = sweeps.tasks(sweeps.Sweep("toy.descent", {"eta": [0.25, 0.125], "dimension": [2, 3]}))
    assert [task.identity for task in found] == [task.identity for task in own]


def test_infinite_times_are_refused():
    with pytest.raises(BadInput, match="finite"):
        sweeps.tasks(sweeps.Sweep("toy.descent", {"horizon": [math.inf]}))
