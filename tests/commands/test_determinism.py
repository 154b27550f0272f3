"""The same seed gives the same bits, whatever runs beside it; words change no record."""

import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent


def check(attnlab, folder, *options, claim="toy.theorem_5"):
    return attnlab("check", claim, "--scale", "smoke", "--out", folder, *options)


def test_one_worker_two_workers_and_a_cold_cache_give_equal_digests(attnlab, toy_results, tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    attnlab("reproduce", "toy", "--scale", "smoke", "--out", one, "--workers", "1")
    attnlab(
        *("reproduce", "toy", "--scale", "smoke", "--out", two, "--workers", "2"),
        XDG_CACHE_HOME=str(tmp_path / "cache"),
        XLA_FLAGS="--xla_cpu_enable_fast_math=true",  # a user's flags must not reach a record
        JAX_ENABLE_X64="0",
    )
    runs = sum(row["current"] for row in attnlab("ledger", one, "--json").json)
    assert runs > 300
    assert f"{runs} equal, 0 different" in attnlab("diff", toy_results, one).out
    assert f"{runs} equal, 0 different" in attnlab("diff", one, two).out


def test_a_seed_alone_and_among_others(attnlab, toy_results, tmp_path):
    check(attnlab, tmp_path, "--seed", "59")  # seeds 59 to 118: seed 59 is also in toy_results
    done = attnlab("diff", toy_results, tmp_path, expect=1)
    assert done.out.startswith("1 equal")
    assert "differs" not in done.out
    assert "only in" in done.out


def test_diff_names_what_differs(attnlab, tmp_path):
    check(attnlab, tmp_path / "a", "--set", "fault_seed=2", claim="toy.theorem_3")
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    import sqlite3

    from attnlab.lab import payload

    with sqlite3.connect(tmp_path / "b" / "ledger.sqlite") as db:
        (data,) = db.execute("SELECT payload FROM record WHERE seed=3").fetchone()
        values = payload.decode(data)
        data = payload.encode(values | {"gap": values["gap"] + 1e-9})
        row = (data, payload.digest(data, ""))
        db.execute("UPDATE record SET payload=?, digest=? WHERE seed=3", row)
    db.close()
    done = attnlab("diff", tmp_path / "a", tmp_path / "b", expect=1)
    assert "3 equal, 1 different" in done.out
    assert "toy.overshoot seed 3" in done.out
    assert "gap by up to 1e-09" in done.out


@pytest.mark.parametrize(
    "fault",
    ["exception", "memory", "segfault", pytest.param("killed", marks=pytest.mark.soak)],
)
def test_a_failing_run_is_counted_and_leaves_the_others_alone(
    attnlab, toy_results, tmp_path, fault
):
    # One failing run of four is more than a tenth: nothing is decided, and the reason says so.
    done = check(attnlab, tmp_path, "--set", f"fault={fault}", "--json", "-", claim="toy.theorem_3")
    assert done.json[0]["failed_runs"] == 1
    assert done.json[0]["trials"] == 3
    assert done.json[0]["verdict"] == "inconclusive"
    assert "1 of 4 runs failed" in done.json[0]["reason"]
    assert "1 runs failed" in done.err
    kind = {"segfault": "crash"}.get(fault, fault)
    attempts = attnlab("ledger", tmp_path, "--json").json[0]["attempts"]
    assert attempts == {kind: 10 if fault == "killed" else 2}


@pytest.fixture
def tree(tmp_path, attnlab_from):
    """A copy of the sources that a test may change."""
    for name in ("src", "tests/plugins"):
        shutil.copytree(ROOT / name, tmp_path / name)
    return tmp_path, attnlab_from(tmp_path / "src", tmp_path / "tests/plugins")


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def test_claims_figures_and_docstrings_recompute_nothing_and_formulas_do(tree):
    root, attnlab = tree
    out = root / "results"
    toy = root / "tests/plugins/attnlab_toy"
    first = check(attnlab, out, claim="toy.theorem_1")
    assert "0 in the ledger, 40 to make" in first.err
    edit(toy / "claims.py", 'scalars.GAP, Power("eta", 1.0)', 'scalars.GAP, Power("eta", 1.5)')
    edit(toy / "scalars.py", "gap to the flow", "distance to the flow")
    edit(toy / "hypotheses.py", "Enough coordinates", "Many coordinates")
    edit(toy / "figures.py", "step size eta", "the step")
    edit(toy / "runs.py", "Descend and report", "Other words for")
    edit(root / "src/attnlab/numerics/random.py", '"""', '"""Other words. ')
    second = check(attnlab, out, "--json", "-", claim="toy.theorem_1")
    assert "all 40 runs are in" in second.err
    # The changed claim was evaluated: it fails, and has no second route.
    assert second.json[0]["verdict"] == "inconclusive"
    assert "no second route" in second.json[0]["reason"]
    assert "distance to the flow" in second.json[0]["reason"]
    edit(toy / "runs.py", "factor = 1 - eta * rate", "factor = 1 - 1.0 * eta * rate")
    third = check(attnlab, out, claim="toy.theorem_1")
    assert "0 in the ledger, 40 to make" in third.err
    # A module that the toy's runs do not import leaves its records current.
    other = root / "src/attnlab/training/losses.py"
    other.write_text(other.read_text() + "\nADDED = 1\n")
    assert "all 40 runs are in" in check(attnlab, out, claim="toy.theorem_1").err
    shared = root / "src/attnlab/cells.py"
    shared.write_text(shared.read_text() + "\nADDED = 1\n")
    fourth = check(attnlab, out, claim="toy.theorem_1")
    assert "0 in the ledger, 40 to make" in fourth.err
    (row,) = attnlab("ledger", out, "--json").json
    assert (row["current"], row["stale"], row["runs"]) == (40, 80, 120)
