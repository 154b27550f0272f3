"""The facade's block of the design, line by line, as a user would type it."""

import importlib
import pkgutil
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import attnlab

GIVEN = """
import jax, numpy as np
random = np.random.default_rng(0)
X = random.normal(size=(64, 10, 6))
y = np.where(X[:, :3, 0].sum(1) > 0, 1, -1)
key = jax.random.key(0)
"""

BLOCK = """
import attnlab as al
al.catalogue(); al.show("li2023.theorem_1")
al.check("yang2024.theorem_3_1", scale="smoke", m=4096)
al.figure("li2023.figure_4", out="results")
al.bounds("li2023", alpha_star=.3)["(8)"].met
run = al.train("li2023", N=128, alpha_star=.4, seed=0)
run.to_pandas(); run.to_xarray(); run.parameters; run.attention(); run.plot()
al.sweep("li2023", {"alpha_star": [.3, .4, .5], "N": [16, 32, 64]}, seeds=8, out="runs", dask=None, L=20, m=50, steps=50, alpha_sharp=.1)
res = al.open("results"); res.verdicts(); res.records("li2023.figure_1a"); res.failures(); res.to_xarray()
batch = al.Batch.of(X, y)
model = al.ShallowViT(neurons=256, heads=1)
engine, state = al.start(model, batch, key, scheme="auto", loss="hinge", engine="auto", attention="trained")
end = al.descend(engine, state, al.optimiser("sgd", 0.5), steps=2000, minibatch=20, probes=[al.probes.attention_by_role])
kept = al.select_tokens(batch, "attention", share=.5, model=model, parameters=end.parameters)
"""  # noqa: E501
"""Every line of it, as it is printed, at its own sizes; the sweep alone has a smaller network."""

SHOWN = """
assert "li2023.theorem_1" in repr(al.catalogue())
assert "<pre" in al.show("li2023.theorem_1")._repr_html_()
verdict = al.check("yang2024.theorem_3_1", scale="smoke", m=4096)  # from the ledger
assert verdict.outcome in ("inconclusive", "supported", "not_applicable"), verdict
assert verdict.id == "yang2024.theorem_3_1" and "<pre" in verdict._repr_html_()
picture = al.figure("li2023.figure_4", out="results")
assert picture.figure is not None and picture.data and picture._repr_svg_().startswith("<")
assert all(path.exists() for path in picture.files)
assert al.bounds("li2023", alpha_star=.3)["(8)"].met is False
assert run.settings["N"] == 128 and run.attention().shape == (128, 1, 100, 100)
assert run.plot()._repr_png_()[:4] == bytes([137]) + b"PNG"
swept = al.open("runs").to_xarray("li2023.figure_1a")
assert {k: swept.sizes[k] for k in ("alpha_star", "N", "seed")} == {"alpha_star": 3, "N": 3, "seed": 8}
assert "li2023.figure_4" in res.to_xarray() and "figure_1a" in repr(res.records("li2023.figure_1a"))
assert al.PatternVote(L=20).sample(key, 12).kept.shape == (12, 20)
assert engine.name == "exact" and "exact" in repr(engine)
assert end.series["attention_by_role"].shape[1:] == (1, 1)
assert (np.asarray(kept.kept).sum(1) == 5).all()
assert jax.config.jax_enable_x64 is False and end.parameters.trained.W_O.dtype == "float64"
print("done")
"""  # noqa: E501


@pytest.mark.soak
def test_every_line_of_the_design_runs(user_script):
    # `results` holds the study that the block looks up, as a reproduced paper does.
    before = 'import attnlab as al\nal.sweep("li2023", {"N": [16]}, out="results")\n'
    assert user_script(GIVEN + before + BLOCK + SHOWN).endswith("done\n")


@pytest.mark.soak
def test_the_lines_of_the_readme_run(user_script):
    page = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    (lines,) = re.findall(r"In a notebook:\n\n((?:    .*\n|\n)+)", page)
    code = textwrap.dedent(lines)
    assert "al.train" in code
    assert "al.Batch.of" in code
    assert user_script(GIVEN + code + "print('done')").endswith("done\n")


def test_importing_is_quick_and_loads_no_jax():
    code = (
        "import sys, time; t = time.perf_counter(); import attnlab; dir(attnlab); "
        "print(time.perf_counter() - t, 'jax' in sys.modules, 'numpy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    seconds, jax, numpy = done.stdout.split()
    assert float(seconds) < 0.1
    assert (jax, numpy) == ("False", "False")


def test_asking_loads_no_jax():
    code = (
        "import sys, attnlab as al; al.catalogue(); al.show('li2023.theorem_1'); "
        "al.bounds('li2023'); assert 'jax' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_every_name_stays_what_it_is_after_all_submodules_are_imported():
    for module in pkgutil.walk_packages(attnlab.__path__, "attnlab."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    for name in attnlab.FACADE:
        assert callable(getattr(attnlab, name)), name
    assert callable(attnlab.probes.attention_by_role)
    assert {*attnlab.FACADE, "probes"} <= set(dir(attnlab))


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="train"):
        attnlab.trian  # noqa: B018
