"""The papers' data distributions by their sizes: `sample(key, n) -> Batch`, in double precision."""

import dataclasses
from dataclasses import dataclass
from typing import ClassVar, Literal

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PRNGKeyArray

from attnlab.core import BadInput
from attnlab.data import (
    image_sources,
    images,
    pattern_sizes,
    pattern_vote,
    token_mixture,
    word_cooccurrence,
)
from attnlab.data.batch import Batch
from attnlab.data.mixture_sizes import MixtureSizes
from attnlab.data.pattern_vote import PatternBatch
from attnlab.facade.precision import as_key


def _require_samples(n: int) -> None:
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
        raise BadInput(f"got n={n!r} samples; a whole number, at least 1, is required")


@dataclass(frozen=True)
class PatternVote:
    """Samples whose label is a majority vote of tokens (li2023, section 3.2).

    Legend: L tokens in R^d, each a pattern mu_j of M orthonormal ones with noise of deviation c_0
    in every entry; a fraction alpha_star of them is label-relevant, alpha_sharp are confusion
    tokens. A share `noisy_share` of the tokens has noise `noisy_c0` instead.
    """

    L: int = 100
    M: int = 5
    d: int = 10
    alpha_star: float = 0.35
    alpha_sharp: float = 0.15
    c0: float = 0.01
    noisy_share: float = 0.0
    noisy_c0: float = 0.0
    shuffled_order: bool = True
    normalise: bool = False

    role_names: ClassVar[tuple[str, ...]] = (
        "relevant",
        "confusion",
        "non_discriminative",
        "noisy",
    )

    def __post_init__(self):
        pattern_sizes.require_patterns(self.M, self.d, 2)
        pattern_sizes.pattern_counts(self.L, self.M, 2, self.alpha_star, self.alpha_sharp)
        for name in ("c0", "noisy_share", "noisy_c0"):
            value = getattr(self, name)
            if not np.isfinite(value) or value < 0 or (name == "noisy_share" and value > 1):
                raise BadInput(f"got {name}={value}; it may not be negative, nor a share above 1")

    def sample(self, key: PRNGKeyArray | int, n: int) -> PatternBatch:
        """Draw n samples, as many of each class as can be."""
        _require_samples(n)
        counts = pattern_sizes.pattern_counts(self.L, self.M, 2, self.alpha_star, self.alpha_sharp)
        with jax.enable_x64(True):
            source = pattern_vote.PatternVote(
                vectors=jnp.asarray(pattern_vote.orthonormal_sets(self.M, self.d)),
                counts=jnp.asarray(counts),
                c0=jnp.asarray(float(self.c0)),
                noisy_share=jnp.asarray(float(self.noisy_share)),
                noisy_c0=jnp.asarray(float(self.noisy_c0)),
                shuffled_order=jnp.asarray(self.shuffled_order),
                normalise=jnp.asarray(self.normalise),
            )
            return source.sample(as_key(key), int(n), self.L)


@dataclass(frozen=True)
class TokenMixture:
    """The tokenised mixture DM1 (deora2023, section 5): relevant and irrelevant tokens.

    Legend: T places in R^d, M irrelevant patterns of length S, a share zeta of the places is
    relevant; Z_mu, Z_nu, Z bound the noise (Assumption 3).
    """

    T: int = 4
    d: int = 8
    M: int = 2
    S: float = 1.0
    zeta: float = 0.5
    Z_mu: float = 0.0
    Z_nu: float = 0.0
    Z: float = 0.0
    noise: str = "clipped_gaussian"
    fixed_places: bool = False

    role_names: ClassVar[tuple[str, ...]] = ("irrelevant", "relevant")

    def __post_init__(self):
        self.sizes()

    def sizes(self) -> MixtureSizes:
        """The sizes; refuses what cannot exist."""
        return MixtureSizes(
            **{f.name: getattr(self, f.name) for f in dataclasses.fields(MixtureSizes)}
        )

    def sample(self, key: PRNGKeyArray | int, n: int) -> Batch:
        """Draw n independent samples."""
        _require_samples(n)
        with jax.enable_x64(True):
            source = token_mixture.TokenMixture.of(self.sizes(), self.noise, self.fixed_places)
            return source.sample(as_key(key), int(n))


@dataclass(frozen=True)
class WordCooccurrence:
    """Sentences in which two words must be found together (yang2024, section 2.1).

    Legend: L words in a sample out of d (0: as many as distinct random words need). `balanced` has
    exact shares of the four types (n divisible by 6), `distinct` random words that occur once.
    """

    L: int = 5
    d: int = 0
    sampler: Literal["balanced", "independent"] = "balanced"
    distinct: bool = True

    role_names: ClassVar[tuple[str, ...]] = ("random", "first_signal", "second_signal", "common")

    def __post_init__(self):
        if self.sampler not in ("balanced", "independent"):
            raise BadInput(f"got sampler={self.sampler!r}; it is balanced or independent")
        if self.sampler == "independent" and not self.d:
            raise BadInput("got d=0 with sampler='independent'; give the number of words d")

    def sample(self, key: PRNGKeyArray | int, n: int) -> Batch:
        """Draw n samples."""
        _require_samples(n)
        d = self.d or self._words(int(n))
        with jax.enable_x64(True):
            source = (
                word_cooccurrence.BalancedTrainingSet(d, self.L, self.distinct)
                if self.sampler == "balanced"
                else word_cooccurrence.IndependentSamples(d, self.L)
            )
            return source.sample(as_key(key), int(n))

    def _words(self, n: int) -> int:
        counts = word_cooccurrence.word_sizes.type_counts(n)
        needed = word_cooccurrence.random_words_required(counts, self.L)
        return word_cooccurrence.SIGNALS + max(1, needed)


@dataclass(frozen=True)
class Images:
    """Objects of some classes pasted on photographs, cut into patches (li2023, section 4.2).

    `source` is "digits", which is embedded, or a set that `attnlab data` has fetched. Two classes
    have the labels -1 and +1, in this order; more have 0, 1, ..., for DeepViT(outputs=...). The
    parts "train" and "test" share neither objects nor regions of the photographs. A patch is the
    object's by `rule`: it lies inside, by half of it, or is touched.
    """

    source: str = "digits"
    classes: tuple[int, ...] = (0, 1)
    part: Literal["train", "test"] = "train"
    object_side: int = 20
    side: int = 32
    patch: int = 4
    rule: images.Rule = "inside"

    role_names: ClassVar[tuple[str, ...]] = ("object", "background")
    trained_share: ClassVar[float] = 2 / 3
    """Ours: of the objects, where the set has no test part of its own."""

    def __post_init__(self):
        if self.part not in ("train", "test"):
            raise BadInput(f"got part={self.part!r}; it is train or test")
        for name in ("object_side", "side", "patch"):
            size = getattr(self, name)
            if isinstance(size, bool) or not isinstance(size, int) or size < 1:
                raise BadInput(f"got {name}={size!r}; a whole number, at least 1, is required")
        if len(self.classes) < 2 or len(set(self.classes)) < len(self.classes):
            raise BadInput(f"got classes={self.classes}; give two or more, each once")

    def sample(self, key: PRNGKeyArray | int, n: int) -> images.ImageBatch:
        """Draw n images, every object once before any comes twice."""
        _require_samples(n)
        with jax.enable_x64(True):
            batch = self._source().sample(as_key(key), int(n))
            if len(self.classes) > 2:
                return batch
            signs = 2 * batch.labels - 1
            return dataclasses.replace(batch, labels=signs, types=signs)

    def _source(self) -> images.Images:
        pictures = image_sources.pictures(self.source)
        bad = [k for k in self.classes if k not in range(len(pictures.names))]
        if bad:
            raise BadInput(
                f"got the class {bad[0]!r}; {self.source} has 0 to {len(pictures.names) - 1}"
            )
        pictures = pictures.of_classes(self.classes).resized(self.object_side)
        count, cut = len(pictures.objects), pictures.test_from
        order = np.arange(count)
        if cut is None:
            order, cut = (
                np.random.default_rng(0).permutation(count),
                int(self.trained_share * count),
            )
        rows = order[:cut] if self.part == "train" else order[cut:]
        photographs = image_sources.rows_of(pictures.photographs, self.part == "train")
        return images.Images(
            objects=jnp.asarray(pictures.objects[rows]),
            classes=jnp.asarray(pictures.classes[rows], jnp.int32),
            photographs=jnp.asarray(photographs),
            photo_share=jnp.ones(len(self.classes)),
            side=self.side,
            patch=self.patch,
            rule=self.rule,
        )


def role_names(batch: Batch) -> tuple[str, ...]:
    """The names of a batch's roles by what drew it; by number if nobody knows."""
    if isinstance(batch, PatternBatch):
        return PatternVote.role_names
    if isinstance(batch, images.ImageBatch):
        return Images.role_names
    count = int(np.asarray(batch.roles).max()) + 1
    return tuple(f"role_{k}" for k in range(count)) if count > 1 else ("all",)
