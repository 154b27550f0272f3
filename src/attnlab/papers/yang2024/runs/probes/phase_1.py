r"""Probes of the first phase: changes per use of a word, and the rates of single neurons.

Appendix E bounds the change of a correlation of words $\mu, \nu$ by a rate times
$(N_\mu + N_\nu)/n$, where $N_\mu$ counts the samples that hold $\mu$. For a single neuron,
with $u = W^\top a$ and z of `attnlab.models.word_level`,

$$\frac{d}{dt}\,a_j w_j^\top W_V\mu = a_j\,(W u)_j\, z_\mu + a_j^2\,(V z)_\mu
  = z_\mu\,a_j^2\big(|w_j|^2 + |W_V\mu|^2\big) + \varepsilon .$$

Legend: letters as in `attnlab.models.word_level`; word index 0, 1, 2 is $\mu_1, \mu_2, \mu_3$.
"""

import jax.numpy as jnp
from jaxtyping import Array, Float

from attnlab.data.word_cooccurrence import SIGNALS
from attnlab.models.word_level import WordView
from attnlab.probes.context import Context
from attnlab.probes.neurons import neurons_of
from attnlab.probes.rates import drive
from attnlab.training.engine import Named


def change_per_use(t: Float[Array, ""], view: WordView, args: Context) -> Named:
    r"""The largest change since the start, each over $(N_\mu+N_\nu)/n$, by class of pair.

    `value_change_per_use`, `score_...`, `key_...` and `query_...`, each (3,): pairs of two
    signals, of a signal and a random word, and of two random words.
    """
    del t
    before, words = args.start(), args.batch.words
    n, d = words.shape[0], view.G.shape[0]
    # Of a word that a sample holds twice, this counts places: the bound is then the weaker one.
    uses = jnp.zeros(d, view.G.dtype).at[words].add(1.0)
    # A pair of words that no sample holds does not move: any positive number will do.
    share = jnp.maximum(uses[:, None] + uses, 1.0) / n
    pairs = {
        "value": view.V - before.V,
        "score": view.S - before.S,
        "key": view.K - before.K,
        "query": view.Q - before.Q,
    }
    return {
        f"{name}_change_per_use": _by_class(jnp.abs(change) / share)
        for name, change in pairs.items()
    }


def neuron_rates(t: Float[Array, ""], view: WordView, args: Context) -> Named:
    r"""The rates of $a_j w_j^\top W_V\mu$, over all neurons.

    `signal_neuron_rates` (2,): smallest and largest over $\mu_1, \mu_2$;
    `largest_common_neuron_rate` and `largest_random_neuron_rate`: absolute, of $\mu_3$ and over
    random words; `neuron_rate_error`: max $|\varepsilon|$ over $\mu_1, \mu_2$;
    `neuron_factors` (2,): smallest and largest $a_j^2(|w_j|^2 + |W_V\mu|^2)$ over them.
    """
    del t
    neurons = neurons_of(view)
    a = neurons.a
    z = drive(view, args)
    own = a * neurons.along_u
    rates = own[:, None] * z + (a**2)[:, None] * (view.V @ z)
    norms = jnp.diagonal(view.V)[: SIGNALS - 1]
    factors = (a**2)[:, None] * (neurons.squares[:, None] + norms)
    signal = rates[:, : SIGNALS - 1]
    return {
        "signal_neuron_rates": jnp.stack([signal.min(), signal.max()]),
        "largest_common_neuron_rate": jnp.abs(rates[:, SIGNALS - 1]).max(),
        "largest_random_neuron_rate": jnp.abs(rates[:, SIGNALS:]).max(),
        "neuron_rate_error": jnp.abs(signal - factors * z[: SIGNALS - 1]).max(),
        "neuron_factors": jnp.stack([factors.min(), factors.max()]),
    }


def _by_class(pairs: Float[Array, "d d"]) -> Float[Array, " 3"]:
    mixed = jnp.maximum(pairs[:SIGNALS, SIGNALS:].max(), pairs[SIGNALS:, :SIGNALS].max())
    return jnp.stack([pairs[:SIGNALS, :SIGNALS].max(), mixed, pairs[SIGNALS:, SIGNALS:].max()])
