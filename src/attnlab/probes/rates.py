r"""How fast the outputs of words change under gradient flow, from the view alone.

$$G' = \rho z + A V z, \qquad \rho' = 2 A\, G\cdot z$$

Legend: see `attnlab.models.word_level`. These are derivatives in the flow's time, whichever way
the run itself is made.
"""

import jax.numpy as jnp
from jaxtyping import Array, Float

from attnlab.data.word_cooccurrence import SIGNALS
from attnlab.models.word_level import WordView, attention, value_drive
from attnlab.probes.context import Context
from attnlab.training.engine import Named


def word_rates(t: Float[Array, ""], view: WordView, args: Context) -> Named:
    r"""`signal_rates` (3,): $G'(\mu_i)$; `largest_random_rate`: max |G'| over the random words.

    `rho_rate`: the growth of $|W^\top a|^2$. `signal_drive` (3,): z of the signals.
    """
    del t
    z = drive(view, args)
    G_rate = output_rates(view, z)
    return {
        "signal_rates": G_rate[:SIGNALS],
        "largest_random_rate": jnp.abs(G_rate[SIGNALS:]).max(),
        "rho_rate": 2 * view.A * (view.G @ z),
        "signal_drive": z[:SIGNALS],
    }


def drive(view: WordView, args: Context) -> Float[Array, " d"]:
    """The vector z for the samples of the context."""
    batch = args.batch
    slopes = args.loss.slope(args.margins(view))
    r = slopes * batch.labels / batch.labels.shape[0]
    return value_drive(attention(view, batch.words), r, batch.words, view.G.shape[0])


def output_rates(view: WordView, z: Float[Array, " d"]) -> Float[Array, " d"]:
    """G' of every word."""
    return view.rho * z + view.A * (view.V @ z)
