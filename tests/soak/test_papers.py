"""Whole papers at scale smoke: every control is rejected, the page is whole, nothing failed."""

import json

import pytest

pytestmark = pytest.mark.soak


@pytest.fixture(scope="module", params=["yang2024", "deora2023", "li2023"])
def reproduced(request, attnlab, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    attnlab.timeout = 1500
    attnlab("reproduce", request.param, "--scale", "smoke", "--out", folder)
    return request.param, folder


def test_every_control_is_rejected_with_the_gate_off(reproduced):
    _, folder = reproduced
    verdicts = json.loads((folder / "verdicts.json").read_text())
    blunt = [
        (v["id"], c["name"], c["verdict"])
        for v in verdicts
        for c in v["controls"]
        if c["verdict"] != "contradicted"
    ]
    assert blunt == []
    assert all(v["failed_runs"] == 0 for v in verdicts)
    assert all(v["trials"] > 0 for v in verdicts)


def test_every_figure_is_drawn_and_on_the_page(reproduced, attnlab):
    paper, folder = reproduced
    figures = [f["id"] for f in attnlab("list", "--json").json["figures"]]
    page = (folder / "report.html").read_text()
    for name in figures:
        if name.startswith(f"{paper}."):
            assert (folder / "figures" / f"{name}.png").stat().st_size > 10_000
            assert f'id="figure-{name}"' in page
    assert "Not drawn yet" not in page


def test_again_it_takes_no_run(reproduced, attnlab):
    paper, folder = reproduced
    done = attnlab("reproduce", paper, "--scale", "smoke", "--out", folder)
    assert "runs are in" in done.err
