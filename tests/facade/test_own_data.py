"""Own arrays: trained, looked at, pruned, saved, loaded; and refused with a sentence."""

import itertools
import re
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import attnlab as al
from attnlab.facade.passes import packed, packed_outputs

MODELS = {
    "vit": al.ShallowViT(neurons=24, heads=2),
    "shared": al.ShallowViT(neurons=24, shared_output=True),
    "heads": al.MultiHead(heads=3),
    "pooled": al.MultiHead(heads=3, output="pooled"),
    "linear": al.LinearMLPTransformer(width=16, neurons=8),
    "deep": al.DeepViT(blocks=2, heads=2, width=8, hidden=8),
}

TWELVE_LINES = """
import numpy as np, attnlab as al
X, y = np.load("X.npy"), np.load("y.npy")
batch, model = al.Batch.of(X[:80], y[:80]), al.ShallowViT(neurons=32)
engine, state = al.start(model, batch, 0, loss="hinge")
run = al.descend(engine, state, al.optimiser("sgd", 0.5), steps=600, minibatch=20)
kept = al.select_tokens(batch, "attention", share=0.5, model=model, parameters=run.parameters)
engine, state = al.start(model, kept, 0, loss="hinge")
pruned = al.descend(engine, state, al.optimiser("sgd", 0.5), steps=600, minibatch=20)
print(run.score(X[80:], y[80:]), run.savings(kept), sep="\\n")
pruned.save("mine.safetensors")
print(al.load("mine.safetensors").predict(X[80:]))
"""


def trained(model, batch, steps=40, **options):
    engine, state = al.start(model, batch, 1, **options)
    return al.descend(engine, state, al.optimiser("adam", 0.02), steps=steps)


def test_twelve_lines_train_prune_save_and_load(own_tokens, user_script, tmp_path):
    X, y = own_tokens
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y)
    assert len(TWELVE_LINES.strip().splitlines()) <= 12
    out = user_script(TWELVE_LINES)
    accuracy, savings, *labels = out.splitlines()
    assert float(accuracy.split()[1].rstrip(",")) > 0.8
    assert "tokens 50% fewer" in savings
    assert "measured time" in savings
    assert set(" ".join(labels).strip("[]").split()) <= {"-1", "1"}


@pytest.mark.parametrize("name", MODELS)
def test_a_saved_run_predicts_as_before(name, own_tokens, tmp_path):
    X, y = own_tokens
    run = trained(MODELS[name], al.Batch.of(X[:80], y[:80]))
    again = al.load(run.save(tmp_path / "run.safetensors"))
    np.testing.assert_array_equal(again.outputs(X), run.outputs(X))
    np.testing.assert_array_equal(again.attention(X[:3]), run.attention(X[:3]))
    np.testing.assert_array_equal(again.series["loss"], run.series["loss"])
    assert again.model == run.model
    assert str(again.score(X, y)) == str(run.score(X, y))
    assert set(run.predict(X)) <= {-1, 1}


@pytest.mark.parametrize("name", MODELS)
def test_removed_tokens_left_out_or_masked_give_the_same_outputs(name, own_tokens):
    """Savings are timed on arrays without the removed tokens: these must be the same network."""
    X, y = own_tokens
    batch = al.Batch.of(X, y)
    run = trained(MODELS[name], batch, steps=5)
    kept = np.random.default_rng(2).random((120, 12)) < 0.4
    kept[:, 3] = True
    fewer = replace(batch, kept=jnp.asarray(kept))
    places, tokens, seen = packed(fewer)
    assert tokens.shape[1] == kept.sum(1).max() < 12
    weights = jax.tree.map(jnp.asarray, run.parameters)
    found = packed_outputs(run.model, weights, places, tokens, seen, jnp.asarray(1.0))
    np.testing.assert_allclose(found, run.outputs(fewer), rtol=1e-12, atol=1e-14)


def test_savings_count_tokens_and_arithmetic(own_tokens):
    batch = al.Batch.of(*own_tokens)
    run = trained(MODELS["linear"], batch)
    kept = al.select_tokens(batch, "attention", 0.25, model=run.model, parameters=run.parameters)
    saved = run.savings(kept)
    assert saved.tokens == 0.25
    assert saved.multiplications < 0.5
    assert saved.accuracy_before == run.score(batch).accuracy
    assert saved.accuracy_after == run.score(kept).accuracy
    assert run.savings(batch).tokens == 1.0


def test_attention_finds_the_tokens_that_matter(own_tokens):
    """With labels shuffled it does not: so the selector is not told which they are."""
    X, y = own_tokens
    marked = (np.abs(X[..., :2]) > 0.75).any(-1)

    def found(labels, steps):
        batch = al.Batch.of(X, labels)
        engine, state = al.start(al.ShallowViT(neurons=64), batch, 0, loss="hinge")
        run = al.descend(engine, state, al.optimiser("sgd", 0.5), steps=steps)
        kept = al.select_tokens(
            batch, "attention", 0.25, model=run.model, parameters=run.parameters
        )
        return marked[np.asarray(kept.kept)].mean()

    shuffled = np.random.default_rng(0).permutation(y)
    assert found(y, 1500) > 1.3 * found(shuffled, 1500)


def test_predictions_do_not_depend_on_the_engine(own_tokens):
    batch = al.Batch.of(*own_tokens)
    ends = {}
    for name in ("exact", "autodiff"):
        engine, state = al.start(al.ShallowViT(neurons=24), batch, 3, loss="hinge", engine=name)
        ends[name] = al.descend(engine, state, al.optimiser("sgd", 0.3), steps=30)
    np.testing.assert_allclose(ends["exact"].outputs(), ends["autodiff"].outputs(), rtol=1e-9)


@pytest.mark.parametrize(
    ("data", "model"),
    list(
        itertools.product(
            (al.PatternVote(L=20), al.TokenMixture(), al.WordCooccurrence(L=4)), MODELS.values()
        )
    ),
    ids=lambda x: type(x).__name__,
)
def test_any_data_with_any_model(data, model):
    batch, test = data.sample(0, 12), data.sample(0, 12)
    engine, state = al.start(model, batch, 0, test=test)
    probes = [al.probes.attention_by_role, al.probes.test_samples, al.probes.margins]
    run = al.descend(engine, state, al.optimiser("sgd", 0.1), steps=6, probes=probes)
    by_role = run.series["attention_by_role"]
    rows = np.nansum(by_role, axis=2)
    np.testing.assert_allclose(rows[np.isfinite(by_role[..., 0])], 1.0, rtol=1e-9)
    np.testing.assert_allclose(run.series["test_loss"], run.series["loss"], rtol=1e-9)
    assert run.series["error"][-1] == pytest.approx(1 - run.score().accuracy, abs=1e-9)
    margin = (np.asarray(batch.labels) * run.outputs()).min()
    assert run.series["smallest_margin"][-1] == pytest.approx(margin, rel=1e-9)


def test_flow_goes_where_small_steps_go(own_tokens):
    batch = al.Batch.of(*own_tokens)
    engine, state = al.start(MODELS["linear"], batch, 0)
    by_flow = al.flow(engine, state, horizon=0.5)
    by_steps = al.descend(engine, state, al.optimiser("sgd", 5e-4), steps=1000)
    assert by_flow.axis == "time"
    assert by_flow.series["loss"][-1] == pytest.approx(by_steps.series["loss"][-1], rel=5e-3)


BAD = {
    "nan": (lambda X, y: (np.where(X > 1, np.nan, X), y), "finite"),
    "labels of 0 and 1": (lambda X, y: (X, (y + 1) // 2), "2 \\* y - 1"),
    "three classes": (lambda X, y: (X, np.arange(len(y)) % 3), "-1 and \\+1"),
    "labels of another number": (lambda X, y: (X, y[:-1]), "shape"),
    "text labels": (lambda X, y: (X, np.array(["a", "b"] * 60)), "-1 and \\+1"),
    "flat": (lambda X, y: (X.reshape(120, -1), y), "reshape"),
    "complex": (lambda X, y: (X + 1j, y), "dtype"),
    "text": (lambda X, y: (X.astype(str), y), "dtype"),
    "ragged": (lambda X, y: ([[[1.0]], [[1.0], [2.0]]], [1, -1]), "different lengths"),
    "empty": (lambda X, y: (X[:0], y[:0]), "at least one sample"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_arrays_get_a_sentence(name, own_tokens):
    spoil, words = BAD[name]
    with pytest.raises(al.BadInput, match=words):
        al.Batch.of(*spoil(*own_tokens))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"kept": np.zeros((120, 12), bool)}, "no kept token in sample 0"),
        ({"kept": np.ones((120, 11), bool)}, "shape"),
        ({"weights": np.zeros(120)}, "all 0"),
        ({"weights": -np.ones(120)}, "negative"),
        ({"roles": np.full((120, 12), 300)}, "number them"),
        ({"vocabulary": 5}, "leave it out"),
    ],
)
def test_bad_options_get_a_sentence(options, words, own_tokens):
    with pytest.raises(al.BadInput, match=words):
        al.Batch.of(*own_tokens, **options)


def mistakes(X, y):
    batch = al.Batch.of(X, y)
    engine, state = al.start(MODELS["vit"], batch, 0)
    heads, of_heads = al.start(MODELS["heads"], batch, 0)
    run = al.descend(engine, state, steps=1)
    sgd = al.optimiser("sgd", 0.1)
    shorter, hinge = al.Batch.of(X[:, :5], y), al.start(MODELS["vit"], batch, loss="hinge").engine

    def step(*given, **options):
        return lambda: al.descend(*given, sgd, steps=2, **options)

    return {
        "a number as model": (lambda: al.start(3, batch), "ShallowViT"),
        "arrays as batch": (lambda: al.start(MODELS["vit"], X), "Batch.of"),
        "other test samples": (lambda: al.start(MODELS["vit"], batch, test=shorter), "length"),
        "no such loss": (lambda: al.start(MODELS["vit"], batch, loss="hing"), "hinge"),
        "no such engine": (lambda: al.start(MODELS["vit"], batch, engine="exat"), "exact"),
        "no such scheme": (lambda: al.start(MODELS["vit"], batch, scheme="gausian"), "gaussian"),
        "a bad key": (lambda: al.start(MODELS["vit"], batch, 0.5), "whole number"),
        "no steps": (lambda: al.descend(engine, state, sgd, steps=0), "at least 1"),
        "half a sample": (step(engine, state, minibatch=2.5), "minibatch=2.5; a whole number"),
        "records of text": (step(engine, state, records="all"), "records='all'; a whole number"),
        "no state": (step(engine, None), "NoneType as state"),
        "another's state": (step(engine, of_heads), "Heads as state"),
        "a time of text": (lambda: al.flow(engine, state, horizon="long"), "horizon='long'"),
        "a rate of text": (lambda: al.optimiser("adam", "fast"), "learning_rate='fast'"),
        "no such number": (lambda: al.optimiser("adam", 0.1, momentum=0.9), "adam has no momentum"),
        "a size of text": (lambda: al.start(al.MultiHead(heads=2.5), batch), "heads=2.5"),
        "arrays to prune": (lambda: al.select_tokens(X, "random", 0.5), "ndarray as batch"),
        "arrays as pruned": (lambda: run.savings(X), "ndarray as pruned"),
        "a share of text": (lambda: al.select_tokens(batch, "random", "half"), "share='half'"),
        "weights of another": (
            lambda: al.select_tokens(
                batch, "attention", 0.5, model=MODELS["heads"], parameters=run.parameters
            ),
            "another kind than those of MultiHead",
        ),
        "other samples to prune": (
            lambda: al.select_tokens(
                shorter, "attention", 0.5, model=run.model, parameters=run.parameters
            ),
            "got samples of 5 tokens",
        ),
        "classes": (lambda: al.start(al.DeepViT(outputs=3), batch), "classes 0 to 2"),
        "a name as optimiser": (lambda: al.descend(engine, state, "sgd", steps=2), "al.optimiser"),
        "no such optimiser": (lambda: al.optimiser("adamm", 0.1), "adam"),
        "a rate of nan": (lambda: al.optimiser("adam", float("nan")), "finite"),
        "mini-batches of heads": (step(heads, of_heads, minibatch=3), "autodiff"),
        "an array as engine": (step(X, state), "al.start"),
        "a probe of words": (step(engine, state, probes=["loss"]), "functions"),
        "flow of a hinge": (lambda: al.flow(hinge, state, horizon=1.0), "jumps"),
        "other tokens": (lambda: run.predict(X[..., :4]), "R\\^6"),
        "fewer tokens": (lambda: run.predict(X[:, :4]), "12 tokens"),
        "no labels": (lambda: run.score(X), "labels"),
        "a name without ending": (lambda: run.save("run.npz"), ".safetensors"),
        "no such file": (lambda: al.load("nowhere.safetensors"), "no file"),
        "no such selector": (lambda: al.select_tokens(batch, "atention", 0.5), "attention"),
        "a selector without model": (lambda: al.select_tokens(batch, "attention", 0.5), "model"),
        "an oracle": (lambda: al.select_tokens(batch, "distance", 0.5), "patterns"),
        "no tokens left": (lambda: al.select_tokens(batch, "random", 0.0), "share"),
    }  # fmt: skip


def test_mistakes_get_a_sentence(own_tokens):
    for name, (mistake, words) in mistakes(*own_tokens).items():
        with pytest.raises(al.BadInput) as raised:
            mistake()
        assert re.search(words, str(raised.value)), (name, str(raised.value))


def test_a_damaged_file_is_refused(own_tokens, tmp_path):
    run = trained(MODELS["heads"], al.Batch.of(*own_tokens), steps=2)
    path = run.save(tmp_path / "run.safetensors")
    data = path.read_bytes()
    for cut in (0, 4, len(data) // 2):
        path.write_bytes(data[:cut])
        with pytest.raises(al.BadInput, match="safetensors"):
            al.load(path)
    path.write_bytes(data.replace(b"MultiHead", b"MultiHxad"))
    with pytest.raises(al.BadInput, match="damaged"):
        al.load(path)


def test_a_run_shows_itself(own_tokens):
    run = trained(MODELS["vit"], al.Batch.of(*own_tokens), steps=60)
    table, data = run.to_pandas(), run.to_xarray()
    assert list(table.index) == list(run.at)
    assert data["loss"].dims == ("step",)
    assert data["loss"].attrs["units"] == "1"
    assert data["step"].attrs["units"] == "steps"
    assert "<table" in run._repr_html_()
    assert "engine autodiff" in repr(run)
    assert len(run.plot().axes) >= 2
