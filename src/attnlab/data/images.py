r"""Images: an object pasted on a background, cut into patches (Li et al. 2023, section 4.2).

An object of S x S pixels replaces a region of a background crop at a random place. Patches are
tokens in R^(p p channels), pixels scaled to [-1, 1]. Of every patch the share of its area that the
object covers is known, and by a rule its role:

| rule | a patch is label-relevant if |
|---|---|
| inside | it lies wholly in the object's region |
| half | at least half of it does |
| touched | any of it does |

$$\alpha_* = \frac{\sum_{l\ \mathrm{kept}} a_l}{\#\,\mathrm{kept}}$$

with $a_l$ the covered share of patch l: $(S/\mathrm{side})^2$ with every token (.66 for 26 in 32,
as the paper has it), and 1 once all tokens that are not inside are removed. The paper does not say
how it counts patches at the rim.

Legend: S object side, p patch side, L = (side/p)^2 tokens. Training and test samples share neither
objects nor regions of the photographs.
"""

from enum import IntEnum
from typing import ClassVar, Literal, get_args

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray, UInt8
from numpy.typing import ArrayLike

from attnlab.core import BadInput
from attnlab.data.batch import Batch
from attnlab.numerics.random import fractions

Rule = Literal["inside", "half", "touched"]
LEAST_AREA: dict[str, float] = {"inside": 1.0, "half": 0.5, "touched": 1e-6}
"""By rule, the covered share from which a patch is label-relevant."""
BLANK = -1.0
"""A pixel of value zero, as tokens have it."""


class ImageRole(IntEnum):
    """What a patch is to its image's label; selectors take 0 for relevant, as everywhere."""

    OBJECT = 0
    BACKGROUND = 1


class ImageBatch(Batch):
    """A batch of patches: classes as labels, and what is known of every patch."""

    places: Int[Array, "n L"]
    """Where in the whole image a patch is, row by row."""
    area: Float[Array, "n L"]
    """The share of a patch that the object covers."""
    photographed: Int[Array, " n"]
    """1 where the background is a photograph, 0 where it is blank."""
    places_in_all: int = eqx.field(static=True, default=0)
    """Patches of a whole image."""

    of_the_batch: ClassVar[tuple[str, ...]] = ()

    def alpha_star(self) -> Float[Array, " n"]:
        """The share of the kept patches' area that the object covers, in every image."""
        seen = self.kept.astype(self.area.dtype)
        return (seen * self.area).sum(1) / seen.sum(1)


class Images(eqx.Module):
    """The distribution: objects of some classes on crops of photographs."""

    objects: UInt8[Array, "K S S channels"]
    classes: Int[Array, " K"]
    photographs: UInt8[Array, "T rows columns channels"]
    photo_share: Float[Array, " C"]
    """By class, the share of images on a photograph; the others are on zero padding."""
    side: int = eqx.field(static=True, default=32)
    patch: int = eqx.field(static=True, default=4)
    rule: Rule = eqx.field(static=True, default="inside")

    def __check_init__(self):
        S, p = self.objects.shape[1], self.patch
        if not 1 <= S <= self.side or self.side % p:
            raise BadInput(
                f"got objects of {S} pixels in images of {self.side}, in patches of {p}; objects "
                "fit into images, and patches fill them: change object_side or patch"
            )
        if min(self.photographs.shape[1:3]) < self.side:
            raise BadInput(
                f"got photographs of {self.photographs.shape[1]} by {self.photographs.shape[2]} "
                f"pixels for images of {self.side}; give larger ones"
            )
        if self.rule not in get_args(Rule):
            raise BadInput(f"got rule={self.rule!r}; it is one of {', '.join(get_args(Rule))}")

    def sample(self, key: PRNGKeyArray, n: int) -> ImageBatch:
        """n images, every object once before any comes twice."""
        of_object, of_photo, of_corner, of_place, of_kind = jax.random.split(key, 5)
        K, S, _, channels = self.objects.shape
        T, rows, columns, _ = self.photographs.shape
        which = jnp.argsort(fractions(of_object, (K,)))[jnp.arange(n) % K]
        label = self.classes[which]
        photographed = fractions(of_kind, (n,)) < self.photo_share[label]
        photo = _below(of_photo, (n,), jnp.asarray(T))
        room = jnp.asarray([rows - self.side + 1, columns - self.side + 1])
        corner = _below(of_corner, (n, 2), room)
        place = _below(of_place, (n, 2), jnp.asarray(self.side - S + 1))

        def composed(k: Array, t: Array, seen: Array, at: Array, put: Array) -> Array:
            size = (1, self.side, self.side, channels)
            start = (t, at[0], at[1], jnp.zeros_like(t))
            crop = jax.lax.dynamic_slice(self.photographs, start, size)[0]
            crop = jnp.where(seen, crop, jnp.zeros_like(crop))
            return jax.lax.dynamic_update_slice(
                crop, self.objects[k], (put[0], put[1], jnp.zeros_like(t))
            )

        pixels = jax.vmap(composed)(which, photo, photographed, corner, place)
        area = covered(place, S, self.side, self.patch)
        return self.batch_of(pixels, label, area, photographed)

    def batch_of(self, pixels: Array, label: Array, area: Array, photographed: Array) -> ImageBatch:
        """Pixels of whole images as tokens."""
        tokens = patches(pixels, self.patch)
        n, L, _ = tokens.shape
        return ImageBatch(
            tokens=tokens,
            labels=label,
            roles=roles_of(area, self.rule),
            types=label,
            kept=jnp.ones((n, L), bool),
            places=jnp.broadcast_to(jnp.arange(L), (n, L)),
            area=area,
            photographed=photographed.astype(jnp.int32),
            places_in_all=L,
        )


def _below(key: PRNGKeyArray, shape: tuple[int, ...], bound: Int[Array, "..."]) -> Array:
    """Whole numbers, uniform from 0 to below the bound."""
    drawn = jnp.floor(fractions(key, shape) * bound).astype(jnp.int32)
    return jnp.minimum(drawn, (bound - 1).astype(jnp.int32))


def patches(pixels: UInt8[Array, "n side side channels"], patch: int) -> Float[Array, "n L d"]:
    """Images as tokens, row by row of patches; pixels from -1 to 1, in float32."""
    n, side, _, channels = pixels.shape
    k = side // patch
    cut = pixels.reshape(n, k, patch, k, patch, channels).transpose(0, 1, 3, 2, 4, 5)
    flat = cut.reshape(n, k * k, patch * patch * channels)
    return flat.astype(jnp.float32) * jnp.float32(2 / 255) - jnp.float32(1)


def covered(place: Int[Array, "n 2"], S: int, side: int, patch: int) -> Float[Array, "n L"]:
    """The share of every patch that a region of S x S pixels at this place covers."""
    starts = patch * jnp.arange(side // patch)

    def along(first: Array) -> Array:
        low = jnp.maximum(starts, first[:, None])
        high = jnp.minimum(starts + patch, first[:, None] + S)
        return jnp.maximum(high - low, 0)

    area = along(place[:, 0])[:, :, None] * along(place[:, 1])[:, None, :]
    return (area / patch**2).astype(jnp.float32).reshape(place.shape[0], -1)


def roles_of(area: Float[Array, "n L"], rule: Rule) -> Int[Array, "n L"]:
    """The role of every patch by a rule."""
    relevant = area >= LEAST_AREA[rule]
    return jnp.where(relevant, int(ImageRole.OBJECT), int(ImageRole.BACKGROUND))


def most_relevant(S: int, side: int, patch: int, rule: Rule) -> tuple[int, int]:
    """The fewest and the most label-relevant patches of an image, over all places."""
    places = np.stack(np.divmod(np.arange((side - S + 1) ** 2), side - S + 1), 1)
    starts = patch * np.arange(side // patch)
    low = np.maximum(starts, places[..., None])
    high = np.minimum(starts + patch, places[..., None] + S)
    along = np.maximum(high - low, 0)
    area = along[:, 0, :, None] * along[:, 1, None, :] / patch**2
    counts = (area >= LEAST_AREA[rule]).sum((1, 2))
    return int(counts.min()), int(counts.max())


def gathered(batch: ImageBatch, room: int) -> ImageBatch:
    """The kept patches alone, in `room` columns: a removed one costs nothing any more.

    Images that keep fewer have removed ones in the columns that are left over.
    """
    order = jnp.argsort(~batch.kept, axis=1, stable=True)[:, :room]

    def taken(x: Array) -> Array:
        return jnp.take_along_axis(x, order, axis=1)

    tokens = jnp.take_along_axis(batch.tokens, order[..., None], axis=1)
    return eqx.tree_at(
        lambda b: (b.tokens, b.roles, b.kept, b.places, b.area),
        batch,
        (tokens, taken(batch.roles), taken(batch.kept), taken(batch.places), taken(batch.area)),
    )


def blanked(batch: ImageBatch) -> ImageBatch:
    """Removed patches as tokens of zero pixels: what was on them is gone, that they are is not."""
    tokens = jnp.where(batch.kept[..., None], batch.tokens, jnp.asarray(BLANK, batch.tokens.dtype))
    kept = jnp.ones_like(batch.kept)
    return eqx.tree_at(lambda b: (b.tokens, b.kept), batch, (tokens, kept))


def image_batch(
    pixels: ArrayLike, labels: ArrayLike, patch: int = 4, boxes: ArrayLike | None = None
) -> ImageBatch:
    """Own images (n, side, side, channels) of bytes with classes 0, 1, ... as a batch.

    `boxes` (n, 4): first row, first column, rows and columns of the object, where they are known;
    without them every patch counts as the object's.
    """
    x, y = np.asarray(pixels), np.asarray(labels)
    if x.ndim == 3:
        x = x[..., None]
    if x.dtype != np.uint8 or x.ndim != 4 or x.shape[1] != x.shape[2] or 0 in x.shape:
        raise BadInput(
            f"got pixels of shape {x.shape} and dtype {x.dtype}; bytes of shape (images, side, "
            "side, channels) are required: crop or resize to squares, and give uint8"
        )
    if y.shape != (len(x),) or y.dtype.kind not in "iu" or y.min() < 0:
        raise BadInput(
            f"got labels of shape {y.shape} and dtype {y.dtype}; {len(x)} classes counted from 0 "
            "are required"
        )
    side = x.shape[1]
    if side % patch:
        raise BadInput(f"got images of {side} pixels in patches of {patch}; patches fill an image")
    L = (side // patch) ** 2
    area = np.ones((len(x), L), np.float32) if boxes is None else _boxed(boxes, len(x), side, patch)
    whole = Images(
        objects=jnp.asarray(x[:1]),
        classes=jnp.zeros(1, int),
        photographs=jnp.asarray(x[:1]),
        photo_share=jnp.ones(1),
        side=side,
        patch=patch,
    )
    return whole.batch_of(
        jnp.asarray(x), jnp.asarray(y, jnp.int32), jnp.asarray(area), jnp.ones(len(x), jnp.int32)
    )


def class_batch(X: ArrayLike, classes: ArrayLike) -> Batch:
    """Own tokens (n, L, d) with classes 0, 1, ... instead of signs."""
    y = np.asarray(classes)
    batch = Batch.of(X, np.ones(len(y), int))
    if y.dtype.kind not in "iu" or y.min() < 0:
        raise BadInput(f"got classes of dtype {y.dtype}; whole numbers counted from 0 are required")
    of_classes = jnp.asarray(y, jnp.int32)
    return eqx.tree_at(lambda b: (b.labels, b.types), batch, (of_classes, of_classes))


def _boxed(boxes: ArrayLike, n: int, side: int, patch: int) -> np.ndarray:
    """The share of every patch that its image's box covers."""
    box = np.asarray(boxes)
    if box.shape != (n, 4) or box.dtype.kind not in "iu":
        raise BadInput(f"got boxes of shape {box.shape}; whole numbers of shape ({n}, 4)")
    starts = patch * np.arange(side // patch)
    along = [
        np.clip(
            np.minimum(starts + patch, (box[:, k] + box[:, k + 2])[:, None])
            - np.maximum(starts, box[:, k][:, None]),
            0,
            None,
        )
        for k in (0, 1)
    ]
    area = along[0][:, :, None] * along[1][:, None, :] / patch**2
    return area.reshape(n, -1).astype(np.float32)
