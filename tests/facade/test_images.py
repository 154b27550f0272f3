"""Images and deep networks by the facade: classes, patches that are gone, saved and loaded."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import attnlab as al
from attnlab.data.images import gathered

DEEP = {"blocks": 2, "heads": 2, "width": 8, "hidden": 8}
THREE = al.Images(classes=(0, 1, 2), object_side=12, side=16)


def trained(model, batch, steps=20, **options):
    engine, state = al.start(model, batch, 0, **options)
    probes = [al.probes.margins, al.probes.test_samples, al.probes.attention_by_role]
    rule = al.optimiser("adam", 3e-3)
    return al.descend(engine, state, rule, steps=steps, minibatch=8, probes=probes)


@pytest.fixture(scope="module")
def run():
    test = al.Images(classes=(0, 1, 2), object_side=12, side=16, part="test").sample(1, 30)
    return trained(al.DeepViT(outputs=3, **DEEP), THREE.sample(0, 24), test=test)


def test_losses_errors_and_margins_of_classes_by_plain_loops(run):
    for batch, loss, error in ((run.batch, "loss", "error"), (run.test, "test_loss", "test_error")):
        F, y = run.outputs(batch).astype(float), np.asarray(batch.labels)
        losses = [np.log(np.exp(f).sum()) - f[c] for f, c in zip(F, y, strict=True)]
        wrong = [f.argmax() != c for f, c in zip(F, y, strict=True)]
        assert run.series[loss][-1] == pytest.approx(np.mean(losses), rel=1e-4)
        assert run.series[error][-1] == pytest.approx(np.mean(wrong), abs=1e-6)
        assert run.score(batch).loss == pytest.approx(np.mean(losses), rel=1e-4)
        assert run.score(batch).accuracy == pytest.approx(1 - np.mean(wrong))
        assert set(run.predict(batch)) <= {0, 1, 2}
    F, y = run.outputs(), np.asarray(run.batch.labels)
    margins = [f[c] - max(f[k] for k in range(3) if k != c) for f, c in zip(F, y, strict=True)]
    assert run.series["smallest_margin"][-1] == pytest.approx(min(margins), rel=1e-3)
    assert run.series["loss"][-1] < run.series["loss"][0]


def test_attention_by_role_is_that_of_the_maps_of_all_blocks(run):
    maps, roles = run.attention().mean(1), np.asarray(run.batch.roles)
    rows = [p[q][roles[i] == 0].sum() for i, p in enumerate(maps) for q in np.where(roles[i])[0]]
    found = run.to_xarray()["attention_by_role"].sel(query_role="background", key_role="object")
    assert float(found[-1]) == pytest.approx(np.mean(rows), rel=1e-4)


def test_a_saved_deep_network_gives_the_same_classes(run, tmp_path):
    again = al.load(run.save(tmp_path / "deep.safetensors"))
    np.testing.assert_array_equal(again.predict(run.test), run.predict(run.test))
    X, y = np.asarray(run.test.tokens), np.asarray(run.test.labels)
    assert str(again.score(X, y)) == str(run.score(run.test))


def test_patches_that_are_gone_or_masked_give_the_same_outputs(run):
    fewer = al.select_tokens(
        run.batch, "attention", 0.5, model=run.model, parameters=run.parameters
    )
    away = gathered(fewer, 8)
    assert away.kept.shape == (24, 8)
    np.testing.assert_allclose(run.outputs(away), run.outputs(fewer), rtol=2e-4, atol=2e-5)
    assert run.savings(fewer).tokens == 0.5
    # A network that is trained on what is left sees every patch at its own place.
    engine, state = al.start(run.model, away, 0)
    weights = run.model.init(jax.random.key(0), away)
    loss = engine.setup.engine.loss(state)
    F = run.model.apply(weights, away.vectors(), away.kept, places=away.places)
    own = F[jnp.arange(24), away.labels]
    assert float(loss) == pytest.approx(float((jax.nn.logsumexp(F, 1) - own).mean()), rel=1e-4)


def test_two_classes_are_signs_that_every_model_takes():
    batch = al.Images(object_side=12, side=16).sample(0, 12)
    assert set(np.asarray(batch.labels)) == {-1, 1}
    for model in (al.ShallowViT(neurons=8), al.DeepViT(**DEEP)):
        run = trained(model, batch, steps=3)
        assert run.roles == ("object", "background")
        assert set(run.predict()) <= {-1, 1}


def test_training_and_test_images_share_no_object():
    parts = [al.Images(part=part)._source() for part in ("train", "test")]
    seen = [{x.tobytes() for x in np.asarray(part.objects)} for part in parts]
    assert not seen[0] & seen[1]
    assert len(seen[0]) > len(seen[1]) > 50


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"source": "digitz"}, "digits"),
        ({"classes": (3,)}, "two or more"),
        ({"classes": (3, 10)}, "0 to 9"),
        ({"part": "validation"}, "train or test"),
        ({"object_side": 40}, "fit into images"),
        ({"patch": 5}, "patches fill"),
        ({"patch": 0}, "at least 1"),
        ({"rule": "near"}, "inside"),
    ],
)
def test_bad_images_get_a_sentence(options, words):
    with pytest.raises(al.BadInput, match=words):
        al.Images(**options).sample(0, 4)


def test_what_does_not_fit_gets_a_sentence(run):
    batch = THREE.sample(0, 6)
    with pytest.raises(al.BadInput, match="one output"):
        al.start(al.ShallowViT(), batch)
    two = al.Images(object_side=12, side=16).sample(0, 6)
    away = gathered(al.select_tokens(two, "random", 0.5), 8)
    with pytest.raises(al.BadInput, match="gathered away"):
        al.start(al.DeepViT(**DEEP), away)
    with pytest.raises(al.BadInput, match="trained on 16 tokens"):
        run.predict(np.zeros((3, 8, 16)))
