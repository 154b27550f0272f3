"""A sweep of 200 runs: interrupted, resumed, exported, opened in xarray and pandas."""

import signal
import sqlite3
import time

import numpy as np
import pytest

import attnlab as al

pytestmark = pytest.mark.soak

SWEEP = (
    "sweep", "toy.descent", "--grid", "eta=.25,.125,.0625,.03125,.015625",
    "--grid", "dimension=2,3,4,5,6", "--seeds", 8, "--set", "sleep=0.05", "--workers", 1,
)  # fmt: skip


def finished(folder) -> int:
    try:
        db = sqlite3.connect(f"file:{folder / 'ledger.sqlite'}?mode=ro", uri=True)
        try:
            return db.execute("SELECT COUNT(*) FROM record").fetchone()[0]
        finally:
            db.close()
    except sqlite3.OperationalError:
        return 0


def test_200_runs_interrupted_and_resumed(attnlab, tmp_path):
    import pandas as pd
    import xarray as xr

    folder = tmp_path / "runs"
    process = attnlab.start(*SWEEP, "--out", folder)
    end = time.monotonic() + 200
    while finished(folder) < 40:
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "give the same command again to go on" in told
    before = finished(folder)
    assert 40 <= before < 200
    part = al.open(folder).to_pandas()
    assert len(part) == before
    done = attnlab(*SWEEP, "--out", folder)
    assert f"{before} in the ledger, {200 - before} to make" in done.err
    attnlab(*SWEEP, "--out", tmp_path / "undisturbed")
    assert attnlab("diff", folder, tmp_path / "undisturbed").out.startswith("200 equal, 0")

    for to in ("netcdf", "parquet", "csv"):
        attnlab("export", folder, "--to", to)
    with xr.open_datatree(folder / "export" / "records.nc", engine="h5netcdf") as tree:
        data = tree["toy.descent"].to_dataset().load()
    assert dict(data.sizes) == {"dimension": 5, "eta": 5, "seed": 8}
    table = pd.read_csv(folder / "export" / "toy.descent.csv")
    assert len(table) == 200
    for _, row in table.sample(20, random_state=0).iterrows():
        place = {name: row[name] for name in ("dimension", "eta", "seed")}
        assert float(data["distance"].sel(place)) == row["distance"]
    wanted = (1 - table["eta"]) ** np.round(1 / table["eta"])
    np.testing.assert_allclose(table["distance"] / table["start"], wanted, rtol=1e-9)
