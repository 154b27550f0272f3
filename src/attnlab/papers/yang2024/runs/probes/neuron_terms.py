r"""The terms of a neuron's rate that Lemma E.7, Corollary E.10 and Lemma E.11 bound one by one.

With z of `attnlab.models.word_level`, $u = W^\top a$ and $\mu$ one of the two target signals,

$$\text{E.7: } w_j^\top W_V X_i p_{i,l} - \big(\ldots\big)(0), \qquad
  \text{E.10: } a_j \sum_{\nu \ne \mu} \langle v(\nu), v(\mu)\rangle z_\nu, \qquad
  \text{E.11: } \Big(\sum_{k \ne j} a_k \langle w_j, w_k\rangle\Big) z_\mu .$$

Legend: letters as in `attnlab.models.word_level`; $v(\mu) = W_V\mu$.
"""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from attnlab.data.word_cooccurrence import SIGNALS
from attnlab.models.word_level import WordView, attention
from attnlab.probes.context import Context
from attnlab.probes.neurons import neurons_of
from attnlab.probes.rates import drive
from attnlab.training.engine import Named

TARGETS = SIGNALS - 1


class Followed(eqx.Module):
    """The samples with the view at the start, and what the neurons made of words there."""

    samples: Context
    outputs: Float[Array, "m1 w"]
    """W(0) W_V(0)."""


def neuron_terms(t: Float[Array, ""], view: WordView, args: Followed) -> Named:
    r"""The largest of each term, over neurons, samples, places and target signals.

    `sample_output_change` (E.7); `value_term` (E.10); `neuron_term` (E.11) over the share of
    samples that hold $\mu$. With them `signal_output_change`, the paper's R,
    `attention_change`, its R_P, and `smallest_margin`.
    """
    del t
    samples, neurons = args.samples, neurons_of(view)
    words, start = samples.batch.words, samples.start()
    p, p_start = attention(view, words), attention(start, words)
    moved = neurons.moved_since(neurons_of(start)).outputs
    # As two small terms: as a difference of outputs the change would lose its digits.
    by_values = jnp.einsum("ilh,jih->jil", p, moved[:, words])
    by_attention = jnp.einsum("ilh,jih->jil", p - p_start, args.outputs[:, words])
    z = drive(view, samples)
    others = (view.V @ z - jnp.diagonal(view.V) * z)[:TARGETS]
    pairs = neurons.along_u - neurons.a * neurons.squares
    held = (words[..., None] == jnp.arange(TARGETS)).any(axis=1).mean(axis=0)
    return {
        "sample_output_change": jnp.abs(by_values + by_attention).max(),
        "value_term": jnp.abs(neurons.a).max() * jnp.abs(others).max(),
        "neuron_term": jnp.abs(pairs).max() * jnp.abs(z[:TARGETS] / held).max(),
        "signal_output_change": jnp.abs(moved[:, :SIGNALS]).max(),
        "attention_change": jnp.abs(p - p_start).max(),
        "smallest_margin": samples.margins(view).min(),
    }
