"""Every exact engine against `autodiff` on the settings of its own paper: its sizes, its samples.

The engine is the one that the paper's studies run; `autodiff` gets the same weights and samples.
"""

import equinox as eqx
import jax
import numpy as np
import pytest

from attnlab.core import Key
from attnlab.engines import autodiff
from attnlab.engines.gram_momentum import GramMomentum
from attnlab.engines.table import start
from attnlab.models.linear_mlp_model import LinearMLPTransformer
from attnlab.models.protocol import Weights
from attnlab.papers.deora2023.runs import bench as of_deora
from attnlab.papers.deora2023.settings.training import TrainingSettings as DeoraSettings
from attnlab.papers.deora2023.settings.training import resolve as deora_resolve
from attnlab.papers.li2023.runs import bench as of_li
from attnlab.papers.li2023.settings import TrainingSettings as LiSettings
from attnlab.papers.li2023.studies.engine_choice import resolve as li_resolve
from attnlab.papers.yang2024.runs import bench as of_yang
from attnlab.papers.yang2024.settings import TrainingSettings as YangSettings
from attnlab.papers.yang2024.studies.resolving import resolve as yang_resolve
from attnlab.training.descent import descend
from attnlab.training.losses import LOSSES
from attnlab.training.optimisers import optimiser

# The papers' own sizes but for fewer samples, since autodiff keeps every one's hidden layer.
CASES = {
    "li2023 exact": (of_li, li_resolve(LiSettings(N=16, dtype="float64", engine="exact"))),
    "li2023 collapsed": (
        of_li, li_resolve(LiSettings(N=16, dtype="float64", engine="collapsed", c0=0.0)),
    ),
    "deora2023 weights": (of_deora, DeoraSettings(engine="weights", start="random", H=16.0)),
    "yang2024 weights": (of_yang, yang_resolve(YangSettings(engine="weights"))),
}  # fmt: skip


def oracle_of(setup):
    """`autodiff` on the samples of a run, from the same weights."""
    weights = setup.weights_of(setup.state)
    assert isinstance(weights, Weights)
    return autodiff.on_batch(setup.model, setup.batch, weights, loss=LOSSES[setup.loss])


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_gradient_of_a_papers_run_is_that_of_autodiff(case):
    of_paper, cell = case
    setup = of_paper.prepare(cell, Key.of(cell, 4))
    run = eqx.filter_jit(lambda engine, state: engine.loss_and_field(state))
    (loss, field), (value, expected) = run(setup.engine, setup.state), run(*oracle_of(setup))
    assert float(loss) == pytest.approx(float(value), rel=1e-12)
    for part, found, right in zip(expected._fields, field, expected, strict=True):
        assert np.abs(right).max() > 0, part
        np.testing.assert_allclose(found, right, rtol=1e-8, atol=1e-13, err_msg=part)


def test_collapsed_heads_of_a_papers_run_descend_as_autodiff_does():
    cell = deora_resolve(DeoraSettings(eta=0.5))
    setup = of_deora.prepare(cell, Key.of(cell, 4))
    assert setup.model.heads == 100
    assert len(setup.engine.counts) == 2  # type: ignore[attr-defined]
    steps = np.array([0, 1, 5, 20])
    two = [
        descend(*engine, optimiser("sgd", 0.5), steps).values["loss"]
        for engine in ((setup.engine, setup.state), oracle_of(setup))
    ]
    assert float(two[0][-1]) < 0.99 * float(two[0][0])
    np.testing.assert_allclose(*two, rtol=1e-9)


@pytest.mark.parametrize(
    ("engine", "rules"),
    [
        ("gram", (optimiser("sgd", 0.05), optimiser("sgd", 0.05))),
        ("gram", (GramMomentum(0.02, 0.9, 0.01), optimiser("decayed_sgd", 0.02, momentum=0.9,
                                                           weight_decay=0.01))),
        ("symmetric", (optimiser("sgd", 0.05), optimiser("sgd", 0.05))),
    ],
    ids=["gram", "gram with momentum and decay", "symmetric"],
)  # fmt: skip
def test_reductions_on_a_papers_words_descend_as_autodiff_does(engine, rules):
    cell = yang_resolve(YangSettings(m=1024))  # the frame of the scheme mean needs m >= 2 d
    batch = of_yang.prepare(cell, Key.of(cell, 4)).batch
    model = LinearMLPTransformer(cell.m, cell.m1, cell.output_layer)
    scheme = "mean" if engine == "symmetric" else "theory"
    steps = np.array([0, 1, 5, 20])
    two = [
        descend(*start(model, batch, jax.random.key(1), scheme=scheme, engine=name), rule, steps)
        for name, rule in zip((engine, "autodiff"), rules, strict=True)
    ]
    losses = [path.values["loss"] for path in two]
    assert float(losses[1][-1]) < 0.99 * float(losses[1][0])
    np.testing.assert_allclose(*losses, rtol=1e-8)
