"""The kernel of random heads, drawn in blocks."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np

from attnlab.core import Key
from attnlab.engines import explicit_heads
from attnlab.numerics.random import stream_key
from attnlab.papers.deora2023.runs import good_starts
from attnlab.papers.deora2023.runs.samples import draw
from attnlab.papers.deora2023.settings import InitialisationSettings, PathSettings
from attnlab.probes.tangent_kernel import tangent_gram

NOISE = {"Z_mu": 0.05, "Z_nu": 0.05, "Z": 0.5}


PATH = PathSettings(H=1e4, signs="balanced", eta=0.5, n=6, n1=40, engine="collapsed_heads")


def test_the_kernel_of_many_random_heads_is_their_mean():
    tokens = jnp.asarray(draw(PATH, Key.of(PATH, 0)).tokens)
    key = stream_key(Key("", 0), "init")
    _, T, d = tokens.shape
    total, gram = jnp.zeros((len(tokens),) * 2), jax.jit(tangent_gram)
    for block in range(3):
        own = key if block == 0 else jax.random.fold_in(key, block)
        heads = explicit_heads.random_heads(own, 64, T, d, 1.0)
        for k in range(64):
            if 64 * block + k < 130:
                total += gram(jax.tree.map(lambda x, k=k: x[k : k + 1], heads), tokens)
    found = good_starts._random_gram(tokens, key, jnp.asarray(1.0), jnp.asarray(130))
    np.testing.assert_allclose(found, total / 130, rtol=1e-12)


def test_every_number_of_random_heads_has_its_own_margin():
    cell = InitialisationSettings(n=6, n1=40, **NOISE)
    own = Key.of(cell, 0)
    found = [
        good_starts.random_start(replace(cell, H=H), own).values["random_margin"]
        for H in (16.0, 64.0, 65.0, 1000.0)
    ]
    assert len(set(found)) == 4
    with_more = good_starts.random_start(replace(cell, H=64.0), own).values["random_margin"]
    assert with_more == found[1]
