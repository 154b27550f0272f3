"""Trials on images: the same bits, what is removed, initial models, refusals."""

import dataclasses
import itertools
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attnlab.cells import Key
from attnlab.core import BadInput
from attnlab.data import image_sources
from attnlab.data.images import most_relevant
from attnlab.lab import payload
from attnlab.papers.li2023.runs import images as runs
from attnlab.papers.li2023.runs import images_initial
from attnlab.papers.li2023.settings.images import ImageSettings, Pretraining

TINY = ImageSettings(N=16, steps=2, test_samples=12)


def trial(seed=0, **changes):
    cell = replace(TINY, **changes)
    return runs.train(cell, Key.of(cell, seed)).values


def test_the_same_seed_gives_the_same_bits_and_another_does_not():
    one, same, other = trial(3), trial(3), trial(4)
    assert payload.encode(one) == payload.encode(same)
    assert payload.encode(one) != payload.encode(other)


@pytest.mark.parametrize("rule", ["inside", "half"])
def test_room_is_what_the_fullest_image_keeps(rule):
    fewest, most = most_relevant(26, 32, 4, rule)
    cell = replace(TINY, rule=rule)
    assert (cell.fewest, replace(cell, removed=1.0).room) == (fewest, most)
    assert replace(cell, removed=0.5).room == 64 - round(0.5 * (64 - most))
    assert cell.room == replace(cell, removed=1.0, removal="blanked").room == 64


def removed(selector, share=1.0, **changes):
    """The training images after removal, and before."""
    cell = replace(TINY, removed=share, selector=selector, **changes)
    run = runs.given(cell, Key.of(cell, 1))
    batch = run.training.sample(run.streams.training, 40)
    return runs._removed(run, run.streams.selection, batch, run.weights), batch


@pytest.mark.parametrize("selector", ["oracle", "random", "object", "attention", "value_norm"])
@pytest.mark.parametrize("share", [0.5, 1.0])
def test_every_selector_removes_as_many_tokens_of_each_image(selector, share):
    fewer, batch = removed(selector, share)
    background = np.asarray((batch.roles != 0).sum(1))
    np.testing.assert_array_equal(fewer.kept.sum(1), 64 - np.round(share * background))
    own = np.asarray(((fewer.roles == 0) & fewer.kept).sum(1))
    relevant = 64 - background
    if selector == "oracle":
        np.testing.assert_array_equal(own, relevant)
    elif selector == "object":
        gone = np.round(share * background)
        np.testing.assert_array_equal(own, np.maximum(relevant - gone, 0))
    else:
        assert (own < relevant).any()


def test_removed_tokens_are_never_seen():
    """Another background under removed tokens changes nothing that is trained or tested."""
    fewer, batch = removed("oracle")
    seen = np.asarray(fewer.tokens)[np.asarray(fewer.kept)]
    assert seen.shape[0] == int((np.asarray(batch.roles) == 0).sum())
    assert float(fewer.alpha_star().min()) == 1.0


def test_groups_are_class_by_background():
    hits = jnp.asarray([True, False, True, True, False, True])
    batch = runs.given(TINY, Key.of(TINY, 0)).test.sample(jax.random.key(0), 6)
    batch = dataclasses.replace(
        batch,
        labels=jnp.asarray([0, 0, 0, 1, 1, 1]),
        photographed=jnp.asarray([1, 1, 0, 0, 0, 0]),
    )
    np.testing.assert_allclose(runs._groups(hits, batch), [[1.0, 0.5], [2 / 3, -1.0]])


def test_the_spurious_set_is_as_the_paper_has_it():
    cell = replace(TINY, task="two", background="correlated")
    run = runs.given(cell, Key.of(cell, 0))
    training = run.training.sample(run.streams.training, 1400)
    test = run.test.sample(run.streams.test, 397)
    for batch, shares in ((training, (0.9, 0.1)), (test, (0.5, 0.5))):
        kinds, labels = np.asarray(batch.photographed), np.asarray(batch.labels)
        assert set(labels) == {0, 1}
        for label, share in enumerate(shares):
            own = kinds[labels == label]
            assert abs(own.mean() - share) < 4 * np.sqrt(share * (1 - share) / own.size)


def test_initial_models_are_those_of_their_sums_and_differ():
    cell = TINY
    first = {}
    for initial in ("better", "weak", "textured", "scratch"):
        for seed in range(3):
            run = runs.given(replace(cell, initial=initial), Key.of(cell, seed))
            first[initial, seed] = np.asarray(run.weights.trained.W_Q).tobytes()
            assert run.weights.trained.C.shape == (32, 10)
    assert len(set(first.values())) == 12
    again = runs.given(cell, Key.of(cell, images_initial.COPIES))
    assert np.asarray(again.weights.trained.W_Q).tobytes() == first["better", 0]


@pytest.fixture
def small_cifar(monkeypatch):
    """A set of the names and kinds of CIFAR-10, three training and two test images a class."""
    random = np.random.default_rng(0)
    classes = np.tile(np.arange(10), 5)
    held = image_sources.Pictures(
        random.integers(0, 256, (50, 32, 32, 3), np.uint8),
        classes,
        random.integers(0, 256, (1, 96, 96, 3), np.uint8),
        tuple("abcdefghij"),
        test_from=30,
    )
    monkeypatch.setattr(image_sources, "pictures", lambda source, folder=None: held)
    for name, images in (("better", 3), ("weak", 1)):
        monkeypatch.setitem(images_initial.PRETRAINING, name, Pretraining(images, 2, 4, 1e-3))
    yield held
    images_initial._others.cache_clear()
    runs._pictures_of.cache_clear()


BIRDS = ImageSettings(
    source="cifar10", task="two", background="correlated", N=6, steps=2, test_samples=4,
    blocks=1, width=8, hidden=8, B=4,
)  # fmt: skip


def test_models_of_the_other_classes_never_see_what_is_told_apart(small_cifar, monkeypatch):
    images_initial._others.cache_clear()
    seen = []
    real = images_initial.pretrained

    def watched(distribution, count, *rest):
        seen.append((np.asarray(distribution.objects), count))
        return real(distribution, count, *rest)

    monkeypatch.setattr(images_initial, "pretrained", watched)
    first = {}
    for initial in ("better", "weak", "scratch"):
        for seed in range(3):
            run = runs.given(replace(BIRDS, initial=initial), Key.of(BIRDS, seed))
            first[initial, seed] = np.asarray(run.weights.trained.W_Q).tobytes()
    assert len(set(first.values())) == 9
    assert [count for _, count in seen] == [24] * 3 + [8] * 3
    resized = small_cifar.resized(26)
    others = {
        x.tobytes()
        for x, k in zip(resized.objects[:30], resized.classes[:30], strict=True)
        if k not in (0, 2)
    }
    assert all({x.tobytes() for x in objects} <= others for objects, _ in seen)
    again = runs.given(BIRDS, Key.of(BIRDS, 3))
    assert np.asarray(again.weights.trained.W_Q).tobytes() == first["better", 0]
    assert len(seen) == 6, "a model was trained twice"
    one = runs.train(BIRDS, Key.of(BIRDS, 0)).values
    images_initial._others.cache_clear()
    same = runs.train(BIRDS, Key.of(BIRDS, 0)).values
    assert payload.encode(one) == payload.encode(same)
    assert one["groups"].shape == (2, 2)


def test_positions_of_ones_own():
    tables = [
        np.asarray(runs.given(replace(TINY, positions=p), Key.of(TINY, 0)).weights.trained.P)
        for p in ("initial", "sine", "random")
    ]
    assert all(np.abs(a - b).max() > 0.1 for a, b in itertools.pairwise(tables))


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"N": 2000}, "1400 training digits"),
        ({"test_samples": 400}, "397 test digits"),
        ({"width": 30}, "multiple"),
        ({"width": 64}, "initial=scratch"),
        ({"removed": 1.5}, "from 0 to 1"),
        ({"patch": 5}, "patches fill"),
        ({"object_side": 5}, "some objects have no patch"),
        ({"eta": 0.0}, "positive step size"),
        ({"source": "cifar10"}, "initial=scratch"),
        ({"source": "cifar10", "task": "two", "initial": "textured"}, "initial=scratch"),
    ],
)
def test_settings_that_do_not_fit_are_refused(changes, sentence):
    with pytest.raises(BadInput, match=sentence):
        replace(TINY, **changes)
