"""The facade's block of the design, line by line, as a user would type it."""

import importlib
import pkgutil
import subprocess
import sys

import pytest

import attnlab

BLOCK = """
import attnlab as al
import jax, numpy as np
random = np.random.default_rng(0)
X = random.normal(size=(64, 10, 6))
y = np.where(X[:, :3, 0].sum(1) > 0, 1, -1)
key = jax.random.key(0)

assert "li2023.theorem_1" in repr(al.catalogue())
assert "<pre" in al.show("li2023.theorem_1")._repr_html_()
verdict = al.check("yang2024.theorem_3_1", scale="smoke", m=4096)
assert verdict.outcome in ("inconclusive", "supported", "not_applicable"), verdict
assert verdict.id == "yang2024.theorem_3_1" and "<pre" in verdict._repr_html_()
picture = al.figure("yang2024.figure_1", scale="smoke", out="results", steps=300)
assert picture.figure is not None and picture.data and picture._repr_svg_().startswith("<")
assert al.bounds("li2023", alpha_star=.3)["(8)"].met is False
run = al.train("li2023", N=32, alpha_star=.4, seed=0, m=100, L=20, alpha_sharp=.1)
run.to_pandas(); run.to_xarray(); run.parameters; run.attention(); run.plot()
swept = al.sweep("li2023", {"alpha_star": [.3, .4], "N": [16, 32]}, seeds=2, out="runs", dask=None,
                 L=20, m=50, steps=50, alpha_sharp=.1, c0=0.)
assert dict(swept.to_xarray().sizes)["N"] == 2
res = al.open("results"); res.verdicts(); res.records("yang2024.appendix_a"); res.failures()
assert "yang2024.paths" in res.to_xarray()

batch = al.Batch.of(X, y)
assert al.PatternVote(L=20).sample(key, 12).kept.shape == (12, 20)
model = al.ShallowViT(neurons=32, heads=1)
engine, state = al.start(model, batch, key, scheme="auto", loss="hinge", engine="auto",
                         attention="trained")
assert engine.name == "exact" and "exact" in repr(engine)
end = al.descend(engine, state, al.optimiser("sgd", 0.5), steps=200, minibatch=20,
                 probes=[al.probes.attention_by_role])
kept = al.select_tokens(batch, "attention", share=.5, model=model, parameters=end.parameters)
assert (np.asarray(kept.kept).sum(1) == 5).all()
assert jax.config.jax_enable_x64 is False and end.parameters.trained.W_O.dtype == "float64"
print("done")
"""


@pytest.mark.soak
def test_every_line_of_the_design_runs(user_script):
    assert user_script(BLOCK).endswith("done\n")


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
