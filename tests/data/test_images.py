"""Pasted images: areas, roles, removal, and what training and test do not share."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attnlab.core import BadInput
from attnlab.data import image_sources
from attnlab.data.images import (
    Images,
    blanked,
    class_batch,
    covered,
    gathered,
    image_batch,
    most_relevant,
    patches,
    roles_of,
)

KEY = jax.random.key(5)


def source(K=7, S=26, side=32, patch=4, rule="inside", share=(1.0, 1.0, 1.0), channels=1):
    random = np.random.default_rng(0)
    return Images(
        objects=jnp.asarray(random.integers(1, 256, (K, S, S, channels)), jnp.uint8),
        classes=jnp.asarray(np.arange(K) % 3),
        photographs=jnp.asarray(random.integers(1, 256, (2, 40, 50, channels)), jnp.uint8),
        photo_share=jnp.asarray(share),
        side=side,
        patch=patch,
        rule=rule,
    )


@settings(deadline=None, max_examples=30)
@given(st.integers(1, 16), st.sampled_from([2, 4, 8]), st.data())
def test_the_covered_area_is_counted_pixel_by_pixel(S, patch, data):
    side = 16
    place = np.array(
        [[data.draw(st.integers(0, side - S)), data.draw(st.integers(0, side - S))]], np.int32
    )
    mask = np.zeros((side, side))
    mask[place[0, 0] : place[0, 0] + S, place[0, 1] : place[0, 1] + S] = 1
    k = side // patch
    plain = np.array(
        [
            mask[r * patch : (r + 1) * patch, c * patch : (c + 1) * patch].mean()
            for r in range(k)
            for c in range(k)
        ]
    )
    found = np.asarray(covered(jnp.asarray(place), S, side, patch))[0]
    np.testing.assert_allclose(found, plain, atol=1e-7)
    assert found.sum() * patch**2 == pytest.approx(S**2)


@settings(deadline=None, max_examples=8)
@given(st.integers(0, 1000))
def test_alpha_star_is_the_area_before_removal_and_one_after(seed):
    batch = source().sample(jax.random.key(seed), 12)
    np.testing.assert_allclose(batch.alpha_star(), (26 / 32) ** 2, rtol=1e-6)
    inside = jnp.asarray(batch.roles == 0)
    removed = gathered(jax.tree_util.tree_map(lambda x: x, _with_kept(batch, inside)), 36)
    np.testing.assert_array_equal(removed.alpha_star(), 1.0)
    assert removed.tokens.shape[1] == 36
    half = roles_of(batch.area, "half") == 0
    assert bool((half >= inside).all())
    assert 0.8 < float(_with_kept(batch, half).alpha_star().mean()) < 0.95


def _with_kept(batch, kept):
    import equinox as eqx

    return eqx.tree_at(lambda b: b.kept, batch, kept)


def test_an_image_is_its_object_on_its_crop():
    images = source()
    batch = images.sample(KEY, 7)
    objects = np.asarray(images.objects)[..., 0]
    seen = set()
    for row in range(7):
        pixels = _whole(np.asarray(batch.tokens[row]), 4)
        area = np.kron(np.asarray(batch.area[row]).reshape(8, 8), np.ones((4, 4)))
        rows, columns = np.flatnonzero(area.any(1)), np.flatnonzero(area.any(0))
        found = [
            (k, r, c)
            for k in range(7)
            for r in range(max(rows[0], 0), rows[0] + 4)
            for c in range(columns[0], columns[0] + 4)
            if r + 26 <= 32
            and c + 26 <= 32
            and np.array_equal(pixels[r : r + 26, c : c + 26], objects[k])
        ]
        assert len(found) == 1
        k, r, c = found[0]
        seen.add(k)
        assert int(batch.labels[row]) == k % 3
        outside = np.ones((32, 32), bool)
        outside[r : r + 26, c : c + 26] = False
        assert (pixels[outside] > 0).all()  # photographs here have no zero pixel
    assert seen == set(range(7)), "an object came twice before every one came once"


def _whole(tokens, patch):
    k = int(np.sqrt(len(tokens)))
    cut = np.round((tokens + 1) * 255 / 2).astype(int).reshape(k, k, patch, patch)
    return cut.transpose(0, 2, 1, 3).reshape(k * patch, k * patch)


def test_blank_backgrounds_are_zero_padding_by_the_share_of_the_class():
    batch = source(K=300, share=(1.0, 0.0, 0.5)).sample(KEY, 300)
    labels, kinds = np.asarray(batch.labels), np.asarray(batch.photographed)
    assert kinds[labels == 0].all()
    assert not kinds[labels == 1].any()
    assert 0.3 < kinds[labels == 2].mean() < 0.7
    background = np.asarray(batch.tokens)[(np.asarray(batch.area) == 0) & (kinds == 0)[:, None]]
    assert (background == -1).all()


@pytest.mark.parametrize("rule", ["inside", "half", "touched"])
def test_the_counts_of_relevant_patches_are_those_of_all_places(rule):
    places = np.array([[r, c] for r in range(7) for c in range(7)], np.int32)
    counts = (roles_of(covered(jnp.asarray(places), 26, 32, 4), rule) == 0).sum(1)
    assert most_relevant(26, 32, 4, rule) == (int(counts.min()), int(counts.max()))


def test_gathering_keeps_what_is_kept_with_its_place():
    batch = source().sample(KEY, 6)
    kept = jnp.asarray(np.random.default_rng(2).random((6, 64)) < 0.3)
    fewer = gathered(_with_kept(batch, kept), 40)
    for row in range(6):
        own = np.flatnonzero(np.asarray(kept[row]))
        np.testing.assert_array_equal(np.asarray(fewer.places[row])[: own.size], own)
        np.testing.assert_array_equal(fewer.tokens[row, : own.size], batch.tokens[row, own])
        assert int(fewer.kept[row].sum()) == own.size


def test_blanking_keeps_tokens_and_clears_pixels():
    batch = source().sample(KEY, 3)
    clear = blanked(_with_kept(batch, batch.roles == 0))
    assert bool(clear.kept.all())
    assert (np.asarray(clear.tokens)[np.asarray(batch.roles) == 1] == -1).all()
    inside = np.asarray(batch.roles) == 0
    np.testing.assert_array_equal(
        np.asarray(clear.tokens)[inside], np.asarray(batch.tokens)[inside]
    )


def test_colour_patches_go_row_by_row():
    pixels = np.arange(2 * 8 * 8 * 3, dtype=np.uint8).reshape(2, 8, 8, 3)
    tokens = np.asarray(patches(jnp.asarray(pixels), 4))
    assert tokens.shape == (2, 4, 48)
    np.testing.assert_allclose(tokens[1, 2], pixels[1, 4:8, 0:4].reshape(-1) / 127.5 - 1, atol=1e-6)


# --- what is not shared -----------------------------------------------------------------------


def test_training_and_test_share_neither_objects_nor_regions():
    from attnlab.cells import Key
    from attnlab.papers.li2023.runs.images import given
    from attnlab.papers.li2023.settings.images import ImageSettings

    cell = ImageSettings()
    run = given(cell, Key.of(cell, 3))
    sides = [np.asarray(x.objects) for x in (run.training, run.test)]
    assert [len(x) for x in sides] == [1400, 397]
    first, second = ({x.tobytes() for x in side} for side in sides)
    assert not first & second
    whole = image_sources.pictures("digits").photographs
    np.testing.assert_array_equal(
        np.concatenate([run.training.photographs, run.test.photographs], axis=1), whole
    )
    other = given(cell, Key.of(cell, 4))
    assert {x.tobytes() for x in np.asarray(other.test.objects)} != second


# --- own images -------------------------------------------------------------------------------


def test_own_images_with_boxes():
    pixels = np.zeros((2, 8, 8), np.uint8)
    batch = image_batch(pixels, [0, 1], patch=4, boxes=[[0, 0, 8, 4], [2, 2, 2, 2]])
    np.testing.assert_allclose(batch.area, [[1, 0, 1, 0], [0.25, 0, 0, 0]])
    np.testing.assert_array_equal(batch.roles, [[0, 1, 0, 1], [1, 1, 1, 1]])


@pytest.mark.parametrize(
    ("pixels", "labels", "sentence"),
    [
        (np.zeros((2, 8, 8)), [0, 1], "dtype float64; bytes"),
        (np.zeros((2, 8, 6), np.uint8), [0, 1], "squares"),
        (np.zeros((2, 9, 9), np.uint8), [0, 1], "patches fill an image"),
        (np.zeros((2, 8, 8), np.uint8), [0, -1], "counted from 0"),
        (np.zeros((2, 8, 8), np.uint8), [0], "2 classes counted from 0"),
    ],
)
def test_own_images_are_refused_with_a_sentence(pixels, labels, sentence):
    with pytest.raises(BadInput, match=sentence):
        image_batch(pixels, labels)


def test_own_classes():
    batch = class_batch(np.ones((3, 2, 4)), [0, 2, 1])
    np.testing.assert_array_equal(batch.labels, [0, 2, 1])
    with pytest.raises(BadInput, match="counted from 0"):
        class_batch(np.ones((2, 2, 4)), [0, -1])


@pytest.mark.parametrize("kind", [{"S": 40}, {"patch": 5}, {"rule": "near"}, {"side": 48}])
def test_sizes_that_do_not_fit_are_refused(kind):
    with pytest.raises(BadInput):
        source(**kind)
