"""Attention by the roles of tokens, against a loop over samples, queries and keys."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attnlab.data.pattern_vote import PatternBatch
from attnlab.models.shallow_vit import Parameters
from attnlab.probes.pattern_attention import PatternContext, attention_by_role

H, N, L, D, M_B, GAIN = 2, 5, 6, 4, 3, 0.8


@pytest.fixture(scope="module")
def case():
    random = np.random.default_rng(13)
    shapes = [(7, 3), (H, 3, D), (H, M_B, D), (H, M_B, D)]
    view = Parameters(*(jnp.asarray(random.normal(size=shape)) for shape in shapes))
    roles = random.integers(0, 3, (N, L))
    roles[:, 0] = 0
    kept = random.random((N, L)) < 0.7
    kept[:, :2] = True
    batch = PatternBatch(
        tokens=jnp.asarray(random.normal(size=(N, L, D))),
        labels=jnp.ones(N, int),
        roles=jnp.asarray(roles),
        types=jnp.ones(N, int),
        kept=jnp.asarray(kept),
        patterns=jnp.zeros((N, L), int),
        noisy=jnp.zeros((N, L), bool),
    )
    context = PatternContext(
        batch=batch,
        labels=jnp.ones((N, 1)),
        keys=batch.kept,
        a=jnp.ones((1, 7, L)),
        initial=view,
        p=jnp.eye(3),
        q=jnp.eye(3),
        patterns=jnp.eye(3, D),
        used=jnp.ones(3, bool),
        cone=jnp.asarray(0.1),
        score_gain=jnp.asarray(GAIN),
    )
    return view, context


def weights_by_loops(view, X, kept) -> np.ndarray:
    """What query l pays to token s, mean over heads."""
    p = np.zeros((L, L))
    for h in range(H):
        for query in range(L):
            q = np.asarray(view.W_Q)[h] @ X[query]
            e = [math.exp(GAIN * float((np.asarray(view.W_K)[h] @ X[s]) @ q)) for s in range(L)]
            total = sum(e[s] for s in range(L) if kept[s])
            for s in range(L):
                p[query, s] += kept[s] * e[s] / total / H
    return p


def test_every_number_is_the_loops(case) -> None:
    view, context = case
    got = jax.jit(attention_by_role)(jnp.asarray(0.0), view, context)
    mass, queries = np.zeros((4, 4)), np.zeros(4)
    means, least, of_relevant, irrelevant, spread = [], [], [], [], []
    own = []
    for n in range(N):
        X, kept = np.asarray(context.batch.tokens)[n], np.asarray(context.batch.kept)[n]
        roles = np.asarray(context.batch.roles)[n]
        p = weights_by_loops(view, X, kept)
        of_sample, entropies = [], []
        for query in range(L):
            if not kept[query]:
                continue
            queries[roles[query]] += 1
            relevant = 0.0
            for s in range(L):
                if not kept[s]:
                    continue
                mass[roles[query], roles[s]] += p[query, s]
                if roles[s] == 0:
                    relevant += p[query, s]
                    own += [p[query, s]] if roles[query] == 0 else []
                elif roles[query] == 0:
                    irrelevant.append(p[query, s])
            of_sample.append(relevant)
            if roles[query] == 0:
                of_relevant.append(relevant)
            entropies.append(-sum(x * math.log(x) for x in p[query] if x > 0))
        means.append(np.mean(of_sample))
        least.append(min(of_sample))
        spread.append(np.mean(np.exp(entropies)))
    with np.errstate(invalid="ignore"):
        np.testing.assert_allclose(got["mass_by_role"], mass / queries[:, None], rtol=1e-11)
    assert np.isnan(got["mass_by_role"][3]).all()
    np.testing.assert_allclose(got["mass_by_role"][:3].sum(1), 1.0)
    expected = {
        "relevant_mass": np.mean(means),
        "least_relevant_mass": min(least),
        "relevant_query_mass": min(of_relevant),
        "largest_irrelevant_weight": max(irrelevant),
        "effective_tokens": np.mean(spread),
    }
    assert set(got) == {"mass_by_role", *expected}
    for name, value in expected.items():
        np.testing.assert_allclose(got[name], value, rtol=1e-11, err_msg=name)
    # The smallest masses are of different queries, so neither stands in for the other.
    assert min(least) < min(of_relevant)
    # A relevant token has the largest weight of all: what is irrelevant must leave it out.
    assert max(own) > max(irrelevant)
