r"""Scores, values and outputs of words, and how far each kind of variable has moved.

Word index 0, 1, 2 is $\mu_1, \mu_2, \mu_3$; all words after them are random ones.
"""

import jax.numpy as jnp
from jaxtyping import Array, Float

from attnlab.data.word_cooccurrence import SIGNALS
from attnlab.models.word_level import WordView
from attnlab.probes.context import Context
from attnlab.training.engine import Named


def word_scores(t: Float[Array, ""], view: WordView, args: Context | None) -> Named:
    r"""The signals among themselves, and the largest output of a random word.

    `scores` (3, 3): $\mu_i^\top W_K^\top W_Q \mu_j$, rows keys. `value_correlations` (3, 3):
    $\mu_i^\top W_V^\top W_V \mu_j$. `signal_outputs` (3,): $G(\mu_i)$. `largest_random_output`:
    max |G| over the random words. `rho`: $|W^\top a|^2$.
    """
    del t, args
    return {
        "scores": view.S[:SIGNALS, :SIGNALS],
        "value_correlations": view.V[:SIGNALS, :SIGNALS],
        "signal_outputs": view.G[:SIGNALS],
        "largest_random_output": jnp.abs(view.G[SIGNALS:]).max(),
        "rho": view.rho,
    }


def closeness(t: Float[Array, ""], view: WordView, args: Context) -> Named:
    """The largest change since the start, over all pairs of words, of each word-level matrix.

    `score_change` (S, the paper's R_S), `value_change` (V), `key_change` (K, R_K) and
    `query_change` (Q, R_Q); `output_change_signal` and `output_change_random` (G).
    """
    del t
    before = args.start()
    G = jnp.abs(view.G - before.G)
    return {
        "score_change": jnp.abs(view.S - before.S).max(),
        "value_change": jnp.abs(view.V - before.V).max(),
        "key_change": jnp.abs(view.K - before.K).max(),
        "query_change": jnp.abs(view.Q - before.Q).max(),
        "output_change_signal": G[:SIGNALS].max(),
        "output_change_random": G[SIGNALS:].max(),
    }
