"""A selector, noise, an optimiser and a scheme from outside the package: in tables, in settings."""

import ast
from dataclasses import replace
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import own_parts
from attnlab import cells
from attnlab.core import BadInput, Key
from attnlab.data.batch import Batch
from attnlab.data.mixture_sizes import MixtureSizes
from attnlab.data.token_mixture import NOISE, TokenMixture
from attnlab.engines.table import start
from attnlab.lab import dask_executor, executors, fingerprint, registry, sweeps
from attnlab.models.multihead_model import MultiHead
from attnlab.models.shallow_vit_model import ShallowViT
from attnlab.papers.deora2023.runs.samples import draw_pool
from attnlab.papers.deora2023.settings.mixture import MixtureSettings
from attnlab.papers.li2023.runs.trial import train
from attnlab.papers.li2023.settings import TrainingSettings
from attnlab.papers.li2023.studies.engine_choice import resolve
from attnlab.selection import SELECTORS, select_tokens
from attnlab.training.descent import descend
from attnlab.training.optimisers import RULES, optimiser

KEY = jax.random.key(2)
NOISY = {"Z_mu": 0.05, "Z_nu": 0.05, "Z": 0.5}


def samples() -> Batch:
    random = np.random.default_rng(0)
    y = np.where(np.arange(8) % 2, 1, -1)
    return Batch.of(random.normal(size=(8, 6, 5)) + 0.5 * y[:, None, None], y)


def test_each_is_at_most_20_lines():
    tree = ast.parse(Path(own_parts.__file__).read_text())
    sizes = [(node.end_lineno or 0) - node.lineno + 1 for node in tree.body]
    assert len(sizes) > 8
    assert max(sizes) <= 19  # and one more line enters it into its table


def test_entries_of_the_tables(monkeypatch):
    for table, name, part in (
        (SELECTORS, "length", own_parts.value_length),
        (NOISE, "corners", own_parts.CORNERS),
        (RULES, "heavy", own_parts.heavy_ball),
        (ShallowViT.schemes, "small", own_parts.small),
    ):
        monkeypatch.setitem(table, name, part)
    require_parts("length", "corners", "heavy", "small")


def test_by_their_import_strings():
    require_parts(*(f"own_parts:{x}" for x in ("value_length", "CORNERS", "heavy_ball", "small")))


def require_parts(selector, noise, rule, scheme):
    """Each does what the part of ours that it is a copy of does."""
    batch, model = samples(), ShallowViT(neurons=6)
    engine, state = start(model, batch, KEY, scheme=scheme, scale=0.5)
    whole = start(model, batch, KEY, scheme="gaussian").state
    np.testing.assert_allclose(2 * state.W_V, whole.W_V)
    weights = model.init(KEY, batch, scheme)
    kept = [
        select_tokens(batch, name, 0.5, model=model, parameters=weights, key=KEY).kept
        for name in (selector, "value_norm")
    ]
    np.testing.assert_array_equal(*kept)
    ends = [
        descend(engine, state, optimiser(name, 0.1), np.array([0, 5])).state.W_O
        for name in (rule, "momentum", "sgd")
    ]
    np.testing.assert_array_equal(ends[0], ends[1])
    assert (np.asarray(ends[0]) != np.asarray(ends[2])).any()
    sizes = MixtureSizes(T=4, d=8, M=2, S=1.0, zeta=0.5, **NOISY)
    drawn = [TokenMixture.of(sizes, name).sample(KEY, 20).tokens for name in (noise, "extreme")]
    np.testing.assert_array_equal(*drawn)


def test_an_optimiser_that_reads_weights_is_refused_where_the_state_is_moves():
    heads = start(MultiHead(3), samples(), KEY, engine="heads")
    ends = np.array([0, 2])
    assert descend(*heads, optimiser("own_parts:heavy_ball", 0.1), ends).complete
    with pytest.raises(BadInput, match="it would decay the moves; take engine='autodiff'"):
        descend(*heads, optimiser("own_parts:shrinking", 0.1), ends)


# --- in settings, so in records -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("own", "ours"),
    [
        ({"selector": "own_parts:value_length"}, {"selector": "value_norm"}),
        ({"optimiser": "own_parts:heavy_ball"}, {"optimiser": "momentum"}),
    ],
)
def test_a_run_of_li2023_with_a_part_of_ones_own(own, ours):
    cell = TrainingSettings(N=8, L=20, m=12, steps=6, test_samples=16, B=4, removed=0.5)
    if "selector" not in own:
        cell = replace(cell, removed=0.0)
    two = [resolve(cells.override(cell, changes)) for changes in (own, ours)]
    assert len({Key.of(one, 3) for one in two}) == 1  # paired: the same random numbers
    found, expected = (train(one, Key.of(one, 3)).values for one in two)
    assert found.keys() == expected.keys()
    for name in found:
        np.testing.assert_array_equal(found[name], expected[name], err_msg=name)
    plain = train(replace(two[0], selector="none", removed=0.0, optimiser="sgd"), Key.of(cell, 3))
    assert found["test_loss"] != plain.values["test_loss"]


def test_noise_of_ones_own_in_a_cell_of_deora2023():
    cell = MixtureSettings(**NOISY, noise="own_parts:CORNERS")
    pool = draw_pool(cell, Key.of(cell, 0))
    same = draw_pool(replace(cell, noise="extreme"), Key.of(cell, 0))
    # A kind from outside is a program of its own: equal but for the last digit.
    np.testing.assert_allclose(pool.tokens, same.tokens, rtol=1e-14)
    assert np.abs(pool.tokens).max() > 0


def test_a_function_stands_for_its_import_string():
    cell = cells.override(TrainingSettings(), {"selector": own_parts.value_length})  # pyright: ignore[reportArgumentType]
    assert cell.selector == "own_parts:value_length"
    assert cells.from_dict(TrainingSettings, cells.as_dict(cell)) == cell


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("__main__:mine", "processes of their own.*put it at the top level of a module.*my_parts:"),
        (lambda batch, *_: jnp.zeros(batch.kept.shape), "put it at the top level of a module"),
        ("own parts:x", "put it at the top level"),
        ("valuenorm", "Invalid enum value 'valuenorm'"),
    ],
)
def test_what_a_worker_cannot_import_is_refused(given, words):
    with pytest.raises(BadInput, match=words):
        cells.override(TrainingSettings(), {"selector": given})


def test_only_settings_that_say_so_take_parts_of_ones_own():
    with pytest.raises(BadInput, match="Invalid enum value"):
        cells.override(TrainingSettings(), {"attention": "own_parts:value_length"})


def task_of(**settings):
    (task,) = sweeps.tasks(sweeps.Sweep("deora2023.data", {}, {**NOISY, **settings}))
    return task


def test_the_code_of_a_part_counts_for_the_records_made_with_it(tmp_path):
    study = registry.study("deora2023.data")
    plain, own = ({"noise": noise} for noise in ("extreme", "own_parts:CORNERS"))
    assert fingerprint.of(study) == fingerprint.of(study, plain) != fingerprint.of(study, own)
    task = task_of(noise="own_parts:CORNERS")
    order = executors.order_of(task)
    assert order.wanted.code == fingerprint.of(study, own)  # as the ledger files it
    (tmp_path / "mine.py").write_text("import helper\nKIND = 1\n")
    (tmp_path / "helper.py").write_text("X = 1\n")
    places = {"mine": [tmp_path / "mine.py"], "attnlab": fingerprint.places("attnlab")}

    def now() -> str:
        return fingerprint.Code(places.__getitem__).fingerprint(study.run, "mine:KIND")

    before = now()
    (tmp_path / "mine.py").write_text('"""Said."""\nimport helper\nKIND = 1\n')
    assert now() == before
    (tmp_path / "mine.py").write_text("import helper\nKIND = 2\n")
    assert now() != before


@pytest.mark.parametrize(
    ("noise", "words"),
    [
        ("own_parts:CORNER", "nothing at the top level of own_parts is called 'CORNER'"),
        ("no_such_module_here:X", "the package 'no_such_module_here' cannot be found"),
        ("attnlab.no_such:X", "no module 'attnlab.no_such' is in the package 'attnlab'"),
    ],
)
def test_a_part_that_is_not_there_is_bad_input(attnlab, tmp_path, noise, words):
    with pytest.raises(BadInput, match=words):
        fingerprint.of(registry.study("deora2023.data"), {"noise": noise})
    done = attnlab(
        "sweep", "deora2023.data", "--set", f"noise={noise}", "--set", "Z=0.5",
        "--out", tmp_path, expect=2,
    )  # fmt: skip
    assert words in done.err.replace("\n", " ")


def test_a_dask_worker_imports_no_part_of_anyones_own():
    order = executors.order_of(task_of(noise="own_parts:CORNERS"))
    with pytest.raises(BadInput, match=r"got own_parts:CORNERS in an order.*without --dask"):
        dask_executor._require_registered(order)
    dask_executor._require_registered(executors.order_of(task_of(noise="uniform")))


def test_a_sweep_makes_and_keeps_records_with_a_part_of_ones_own(attnlab, tmp_path):
    words = ["sweep", "deora2023.data", "--grid", "noise=own_parts:CORNERS,extreme,uniform"]
    words += [w for name, x in NOISY.items() for w in ("--set", f"{name}={x}")]
    attnlab(*words, "--out", tmp_path, "--workers", 1)
    assert "3 in the ledger, 0 to make" in attnlab(*words, "--out", tmp_path).err
    (row,) = attnlab("ledger", tmp_path, "--json", "-").json
    assert (row["current"], row["stale"]) == (3, 0)
