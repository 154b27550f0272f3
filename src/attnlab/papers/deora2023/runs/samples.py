"""What a run starts from: training and test points, the first phase, the numbers of signs."""

from dataclasses import dataclass, replace

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import PRNGKeyArray

from attnlab.core import Key
from attnlab.data.batch import Batch
from attnlab.data.token_mixture import TokenMixture, atoms, directions
from attnlab.engines.collapsed_heads import first_phase_direction
from attnlab.numerics.random import stream_key
from attnlab.papers.deora2023.settings.mixture import POOL, TEST_SAMPLES, MixtureSettings


@dataclass(frozen=True)
class Drawn:
    """The data of a run, as numpy arrays."""

    tokens: np.ndarray
    labels: np.ndarray
    weights: np.ndarray
    """1/n for samples; for atoms the drawn counts over n."""
    relevant: np.ndarray
    test_tokens: np.ndarray
    test_labels: np.ndarray
    test_weights: np.ndarray
    v: np.ndarray
    """What phase 1 gives every place: zeta/4 u_* + p."""
    oracle: np.ndarray
    """zeta/4 u_*."""

    @property
    def train(self) -> Batch:
        """The training points."""
        return Batch.weighted(self.tokens, self.labels, self.weights)

    @property
    def test(self) -> Batch:
        """The test points; for atoms, the whole distribution."""
        return Batch.weighted(self.test_tokens, self.test_labels, self.test_weights)

    @property
    def p_norm(self) -> float:
        """|p|: how far phase 1 is from the oracle."""
        return float(np.linalg.norm(self.v - self.oracle))


def draw(cell: MixtureSettings, key: Key, *, first_phase: bool = True) -> Drawn:
    """Draw the data of a run. Phase 1 and phase 2 use disjoint samples.

    Without the first phase v is its expectation, and n1 is not looked at.
    """
    n1 = cell.n1 if first_phase else 0
    drawn = _of_atoms(cell, key, n1) if cell.points == "atoms" else _of_samples(cell, key, n1)
    return replace(drawn, labels=_learnt_labels(cell, key, drawn.labels))


def draw_batch(cell: MixtureSettings, key: Key) -> Batch:
    """What a study without phases looks at: the pool or all atoms, with the cell's labels."""
    if cell.points == "atoms":
        batch = atoms(cell.mixture(), cell.places == "fixed")
    else:
        batch = draw_pool(cell, key)
    labels = _learnt_labels(cell, key, np.asarray(batch.labels, float))
    return eqx.tree_at(lambda b: b.labels, batch, jnp.asarray(labels, batch.labels.dtype))


def _learnt_labels(cell: MixtureSettings, key: Key, true: np.ndarray) -> np.ndarray:
    """The labels of the samples that are learnt from: their own, or fair coins."""
    if cell.labels == "true":
        return true
    return host_random(key, "labels").choice([-1.0, 1.0], len(true))


def host_random(key: Key, stream: str) -> np.random.Generator:
    """A generator on the host for one named stream, where counts are drawn."""
    return np.random.default_rng(key.words(stream))


def uniform_number(key: Key, stream: str) -> float:
    """One number strictly between 0 and 1."""
    return float(host_random(key, stream).uniform(1e-16, 1.0))


def draw_pool(cell: MixtureSettings, key: Key) -> Batch:
    """All samples that a run may use."""
    mixture = TokenMixture.of(cell.mixture(), cell.noise, cell.places == "fixed")
    return _pool(mixture, stream_key(key, "data"))


@eqx.filter_jit
def _pool(mixture: TokenMixture, key: PRNGKeyArray) -> Batch:
    return mixture.sample(key, POOL)


def oracle_direction(cell: MixtureSettings) -> np.ndarray:
    """zeta/4 u_*, the expectation of v."""
    mu_plus, mu_minus, _ = directions(cell.mixture())
    return cell.zeta / 4 * (mu_plus - mu_minus)


def _of_samples(cell: MixtureSettings, key: Key, n1: int) -> Drawn:
    pool = draw_pool(cell, key)
    X, y = np.asarray(pool.tokens), np.asarray(pool.labels, float)
    phase_1 = slice(TEST_SAMPLES, TEST_SAMPLES + n1)
    oracle = oracle_direction(cell)
    v = first_phase_direction(X[phase_1], y[phase_1], np.full(n1, 1 / n1)) if n1 else oracle
    return Drawn(
        X[-cell.n :],
        y[-cell.n :],
        np.full(cell.n, 1 / cell.n),
        np.asarray(pool.roles, float)[-cell.n :],
        X[:TEST_SAMPLES],
        y[:TEST_SAMPLES],
        np.full(TEST_SAMPLES, 1 / TEST_SAMPLES),
        v,
        oracle,
    )


def _of_atoms(cell: MixtureSettings, key: Key, n1: int) -> Drawn:
    support = atoms(cell.mixture(), cell.places == "fixed")
    X, y = np.asarray(support.tokens), np.asarray(support.labels, float)
    count = len(y)
    even = np.full(count, 1 / count)
    random = host_random(key, "atoms")
    v = oracle = oracle_direction(cell)
    if n1:
        v = first_phase_direction(X, y, random.multinomial(n1, even) / n1)
    # The test points keep one shape whatever the support is: atoms again and again.
    again = np.arange(max(TEST_SAMPLES, count)) % count
    return Drawn(
        X,
        y,
        random.multinomial(cell.n, even) / cell.n,
        np.asarray(support.roles, float),
        X[again],
        y[again],
        (even / np.bincount(again))[again],
        v,
        oracle,
    )
