r"""The tokenised mixture DM1 (Deora et al. 2023, section 5): relevant and irrelevant tokens.

$$x_t = \mu_y \;(t\in\mathcal R), \qquad x_t = \nu_{j_t} + z_t \;(t\notin\mathcal R),\qquad
  j_t \sim \mathrm{Unif}[M].$$

Patterns lie along the first M+2 axes: $\mu_+=Se_1$, $\mu_-=Se_2$, $\nu_l=Se_{2+l}$. The noise
obeys Assumption 3 surely: its coordinate along $\mu_\pm$ is at most $Z_\mu/S$, along $\nu_l$ at
most $Z_\nu/(MS)$, and orthogonally to all patterns its length is at most what Z leaves.

Which places are relevant is drawn anew for each sample, or `fixed` to the first ones: the print
does not say, and a linear model has another margin in the two. Sizes other than T, d, M are
data, so another S, zeta or noise level costs no compilation. See `mixture_sizes` for the legend.

A kind of noise of your own is an entry of `NOISE`; Assumption 3 holds for it as for the others.

    NOISE["two_points"] = NoiseKind(lambda u: jnp.sign(u) / 2, lambda draw: draw.share)

or `module:name` of one, which settings take too (`attnlab.tables`).
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import ndtri
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from attnlab.data.batch import Batch
from attnlab.data.mixture_sizes import MixtureSizes
from attnlab.numerics.random import normal, signs, uniform
from attnlab.tables import entry

IRRELEVANT, RELEVANT = 0, 1


@dataclass(frozen=True)
class RadiusDraw:
    """What the length of the noise orthogonal to all patterns is made from."""

    length: Float[Array, "n T 1"]
    """Of a standard normal vector, whose direction is the noise's."""
    share: Float[Array, "n T 1"]
    """Uniform between 0 and 1."""
    free: int
    """The dimension that the patterns leave, at least 1."""


@dataclass(frozen=True)
class NoiseKind:
    """How noise is distributed within the bounds of Assumption 3, in units of them."""

    along: Callable[[Float[Array, "n T k"]], Float[Array, "n T k"]]
    """Uniform numbers in [-1, 1] to the coordinates along the patterns, in [-1, 1] too."""
    radius: Callable[[RadiusDraw], Float[Array, "n T 1"]]
    """The length orthogonal to the patterns, in [0, 1]."""


NOISE: dict[str, NoiseKind] = {
    # A Gaussian whose typical length is the bound, cut off there.
    "clipped_gaussian": NoiseKind(
        lambda u: jnp.clip(ndtri((u + 1) / 2), -1, 1),
        lambda draw: jnp.minimum(draw.length / np.sqrt(draw.free), 1.0),
    ),
    "uniform": NoiseKind(lambda u: u, lambda draw: draw.share ** (1 / draw.free)),
    "extreme": NoiseKind(
        lambda u: jnp.where(u < 0, -1.0, 1.0), lambda draw: jnp.ones_like(draw.share)
    ),
}
"""Every kind of noise by name."""
TOGETHER = tuple(NOISE)
"""The kinds that are one compiled program: which of them it is, is data.

A kind that is added from outside is a program of its own: it changes no bit of these.
"""


class TokenMixture(eqx.Module):
    """The distribution. Roles of a batch: 1 relevant, 0 irrelevant; types: the label."""

    T: int = eqx.field(static=True)
    d: int = eqx.field(static=True)
    M: int = eqx.field(static=True)
    kinds: tuple[NoiseKind, ...] = eqx.field(static=True)
    kind: Int[Array, ""]
    """The kind of noise, as its place in `kinds`."""
    S: Float[Array, ""]
    relevant: Int[Array, ""]
    along_mu: Float[Array, ""]
    """The largest coordinate of the noise along mu_+ and mu_-."""
    along_nu: Float[Array, ""]
    rest_radius: Float[Array, ""]
    fixed_places: Bool[Array, ""]

    @classmethod
    def of(
        cls,
        sizes: MixtureSizes,
        noise: str = "clipped_gaussian",
        fixed_places: bool = False,
    ) -> "TokenMixture":
        """The distribution with these sizes, and noise of this kind."""
        names = TOGETHER if noise in TOGETHER else (noise,)
        return cls(
            T=sizes.T,
            d=sizes.d,
            M=sizes.M,
            kinds=tuple(entry(NOISE, name, "kind of noise") for name in names),
            kind=jnp.asarray(names.index(noise)),
            S=jnp.asarray(float(sizes.S)),
            relevant=jnp.asarray(sizes.relevant),
            along_mu=jnp.asarray(sizes.Z_mu / sizes.S),
            along_nu=jnp.asarray(sizes.Z_nu / (sizes.M * sizes.S)),
            rest_radius=jnp.asarray(sizes.rest_radius),
            fixed_places=jnp.asarray(fixed_places),
        )

    def sample(self, key: PRNGKeyArray, n: int) -> Batch:
        """Draw n independent samples."""
        of_label, of_place, of_pattern, of_noise = jax.random.split(key, 4)
        labels = signs(of_label, (n,))
        scores = jax.random.uniform(of_place, (n, self.T), jnp.float64)
        places = jnp.where(self.fixed_places, jnp.arange(self.T, dtype=float), scores)
        # The rank by counting: for few places sooner compiled than a sort.
        rank = jnp.sum(places[:, None, :] < places[:, :, None], axis=-1)
        is_relevant = rank < self.relevant
        patterns = jax.random.randint(of_pattern, (n, self.T), 0, self.M)
        return self._batch(labels, is_relevant, patterns, self._noise(of_noise, (n, self.T)))

    def _batch(self, labels: Array, is_relevant: Array, patterns: Array, noise: Array) -> Batch:
        mu = jnp.where(labels > 0, 0, 1)[:, None]
        index = jnp.where(is_relevant, mu, 2 + patterns)
        tokens = self.S * jax.nn.one_hot(index, self.d, dtype=float)
        tokens = tokens + jnp.where(is_relevant[..., None], 0.0, noise)
        return Batch(
            tokens=tokens,
            labels=labels.astype(jnp.int8),
            roles=is_relevant.astype(jnp.int8),
            types=labels.astype(jnp.int8),
            kept=jnp.ones(is_relevant.shape, bool),
        )

    def _noise(self, key: PRNGKeyArray, shape: tuple[int, int]) -> Float[Array, "n T d"]:
        of_patterns, of_direction, of_radius = jax.random.split(key, 3)
        bounds = jnp.r_[jnp.full(2, self.along_mu), jnp.full(self.M, self.along_nu)]
        u = uniform(of_patterns, (*shape, self.M + 2), 1.0)
        along = bounds * self._chosen([kind.along(u) for kind in self.kinds])
        free = self.d - self.M - 2
        direction = normal(of_direction, (*shape, free), 1.0)
        length = jnp.linalg.norm(direction, axis=-1, keepdims=True)
        share = jax.random.uniform(of_radius, (*shape, 1), jnp.float64)
        draw = RadiusDraw(length, share, max(free, 1))
        radius = self.rest_radius * self._chosen([kind.radius(draw) for kind in self.kinds])
        rest = radius * direction / jnp.where(length > 0, length, 1.0)
        return jnp.concatenate([along, rest], axis=-1)

    def _chosen(self, by_kind: list[Array]) -> Array:
        *others, chosen = by_kind
        for place in reversed(range(len(others))):
            chosen = jnp.where(self.kind == place, others[place], chosen)
        return chosen


def atoms(sizes: MixtureSizes, fixed_places: bool = False) -> Batch:
    """Every sample of the noise-free mixture once; all are equally likely."""
    sizes.require_atoms(fixed_places)
    T, k = sizes.T, sizes.relevant
    sets = [tuple(range(k))] if fixed_places else list(itertools.combinations(range(T), k))
    rows = []
    for mu, places in itertools.product((0, 1), sets):
        for patterns in itertools.product(range(sizes.M), repeat=T - k):
            index = np.empty(T, int)
            index[list(places)] = mu
            index[[t for t in range(T) if t not in places]] = 2 + np.array(patterns)
            rows.append(index)
    index = np.stack(rows)
    labels = np.where((index == 0).any(axis=1), 1, -1).astype(np.int8)
    return Batch(
        tokens=jnp.asarray(sizes.S * np.eye(sizes.d)[index]),
        labels=jnp.asarray(labels),
        roles=jnp.asarray((index < 2).astype(np.int8)),
        types=jnp.asarray(labels),
        kept=jnp.ones(index.shape, bool),
    )


def directions(sizes: MixtureSizes) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """mu_+, mu_- (d,) and nu (M, d)."""
    axes = sizes.S * np.eye(sizes.d)
    return axes[0], axes[1], axes[2 : 2 + sizes.M]
