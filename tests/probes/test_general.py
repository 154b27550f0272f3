"""Probes for every model: means over queries, heads and samples, written as loops."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attnlab.data.batch import Batch
from attnlab.models.multihead import HeadsView
from attnlab.models.multihead_model import MultiHead
from attnlab.models.shallow_vit_model import ShallowViT
from attnlab.probes import general, samples
from attnlab.probes.samples import Samples
from attnlab.training.losses import hinge, logistic

N, L, D = 5, 4, 3
NOW = jnp.asarray(0.0)
RANDOM = np.random.default_rng(2)
X = RANDOM.normal(size=(N, L, D))
Y = np.array([1, -1, 1, 1, -1])
KEPT = np.array([[1, 1, 1, 1], [1, 0, 1, 1], [0, 1, 0, 1], [1, 0, 0, 0], [1, 1, 0, 1]], bool)
ROLES = RANDOM.integers(0, 2, (N, L))
WEIGHTS = np.array([1.0, 2.0, 0.0, 4.0, 1.0])
COUNTS = np.array([3.0, 1.0])
"""Two groups of three heads and of one."""


@pytest.fixture(scope="module")
def case():
    model = MultiHead(2)
    batch = Batch.of(X, Y, kept=KEPT, roles=ROLES, weights=WEIGHTS)
    heads = model.init(jax.random.key(1), batch, "random").trained
    view = HeadsView(heads, heads, jnp.asarray(COUNTS), jnp.asarray(4.0))
    other = Batch.of(X[::-1] + 1, Y, weights=WEIGHTS[::-1])
    return view, Samples(model, batch, test=other, roles=("a", "b", "nobody"))


@pytest.fixture(scope="module")
def maps(case):
    view, of = case
    return np.asarray(samples.attention(view, of, of.batch))


def test_attention_by_role(case, maps):
    """Over three roles, of which no token has the last."""
    found = np.asarray(general.attention_by_role(NOW, *case)["attention_by_role"])
    for query_role in (0, 1):
        totals = []
        for n in range(N):
            for query in np.flatnonzero(KEPT[n] & (ROLES[n] == query_role)):
                row = (COUNTS[:, None] * maps[n, :, query]).sum(0) / 4
                totals.append([row[KEPT[n] & (ROLES[n] == key)].sum() for key in (0, 1, 2)])
        np.testing.assert_allclose(found[query_role], np.mean(totals, axis=0), rtol=1e-10)
    assert np.isnan(found[2]).all()


def test_without_roles_all_attention_is_of_one(case):
    view, of = case
    plain = Samples(of.model, Batch.of(X, Y, kept=KEPT))
    found = general.attention_by_role(NOW, view, plain)["attention_by_role"]
    np.testing.assert_allclose(found, [[1.0]], rtol=1e-12)


def test_effective_tokens(case, maps):
    """A removed token has attention 0, and 0 log 0 = 0."""
    total, queries = 0.0, 0
    for n in range(N):
        for query in np.flatnonzero(KEPT[n]):
            queries += 1
            for h, count in enumerate(COUNTS):
                entropy = -sum(p * math.log(p) for p in maps[n, h, query] if p > 0)
                total += count / 4 * math.exp(entropy)
    found = float(general.effective_tokens(NOW, *case)["effective_tokens"])
    assert found == pytest.approx(total / queries, rel=1e-10)
    assert 1 < found < L


def test_heads_that_are_told_apart_count_alike():
    """Two heads of the shallow ViT: half of each map."""
    model = ShallowViT(neurons=4, heads=2)
    batch = Batch.of(X, Y, kept=KEPT)
    weights = model.init(jax.random.key(1), batch)
    of = Samples(model, batch, weights.fixed)
    by_head = np.asarray(samples.attention(weights.trained, of, batch))
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = -np.nansum(by_head * np.log(by_head), axis=-1)
    kept = np.broadcast_to(KEPT[:, None], entropy.shape)
    found = general.effective_tokens(NOW, weights.trained, of)["effective_tokens"]
    assert float(found) == pytest.approx(np.exp(entropy)[kept].mean(), rel=1e-10)


def test_margins_and_errors_count_the_weights(case):
    view, of = case
    y_F = np.asarray(of.margins(view, of.batch))
    shares = WEIGHTS / WEIGHTS.sum()
    found = general.margins(NOW, view, of)
    assert 0 < (y_F > 0).sum() < N
    assert float(found["smallest_margin"]) == y_F.min()
    assert float(found["mean_margin"]) == pytest.approx(float(shares @ y_F), rel=1e-12)
    wrong = sum(share for share, margin in zip(shares, y_F, strict=True) if not margin > 0)
    assert float(found["error"]) == pytest.approx(wrong, rel=1e-12)


@pytest.mark.parametrize(
    ("loss", "value"),
    [(logistic, lambda x: math.log1p(math.exp(-x))), (hinge(1.0), lambda x: max(0.0, 1 - x))],
)
def test_test_samples(case, loss, value):
    view, of = case
    of = Samples(of.model, of.batch, test=of.test, loss=loss)
    y_F = np.asarray(of.margins(view, of.test))
    shares = WEIGHTS[::-1] / WEIGHTS.sum()
    found = general.test_samples(NOW, view, of)
    expected = sum(share * value(x) for share, x in zip(shares, y_F, strict=True))
    assert float(found["test_loss"]) == pytest.approx(expected, rel=1e-10)
    assert float(found["test_error"]) == pytest.approx(float(shares @ (y_F <= 0)), rel=1e-12)
    assert general.test_samples(NOW, view, Samples(of.model, of.batch)) == {}


@pytest.mark.parametrize("margin", [0.0, math.nan])
def test_a_margin_of_zero_or_nan_is_an_error(case, monkeypatch, margin):
    view, of = case
    monkeypatch.setattr(Samples, "margins", lambda *_: jnp.asarray([1.0, margin, 1.0, 1.0, 1.0]))
    assert float(general.margins(NOW, view, of)["error"]) == pytest.approx(2 / 8)
    assert float(general.test_samples(NOW, view, of)["test_error"]) == pytest.approx(4 / 8)


def test_every_series_is_described(case):
    view, of = case
    named = {"loss"}
    for probe in (
        general.attention_by_role, general.effective_tokens, general.margins, general.test_samples,
    ):  # fmt: skip
        for name, value in probe(NOW, view, of).items():
            assert len(general.SERIES[name].dimensions) == np.ndim(value)
            named.add(name)
    assert named == set(general.SERIES)
