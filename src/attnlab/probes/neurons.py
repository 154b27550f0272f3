r"""Single neurons, of an engine that follows them.

W moves by a rank-one matrix, $W(t) - W(0) = a h^\top$, so with $b = W(0) h$

$$\langle w_i, w_j\rangle(t) - \langle w_i, w_j\rangle(0) = a_i b_j + a_j b_i + a_i a_j |h|^2.$$

Legend: w_j the rows of W (m1, m); a (m1,); h (m,).
"""

import jax.numpy as jnp
from jaxtyping import Array, Float

from attnlab.data.word_cooccurrence import SIGNALS
from attnlab.models.word_level import NeuronMovement, Neurons, WordView
from attnlab.probes.context import Context
from attnlab.training.engine import Named


def neuron_movement(t: Float[Array, ""], view: WordView, args: Context) -> Named:
    r"""The largest change since the start of what Definition E.2 and Theorem 3.1 bound by neuron.

    `neuron_gram_change`: $\langle w_i, w_j\rangle$. `neuron_output_change_signal` (the paper's R)
    and `neuron_output_change_random`: $w_j^\top W_V \mu$ over signals and over random words.
    """
    del t
    moved = neurons_of(view).moved_since(neurons_of(args.start()))
    outputs = jnp.abs(moved.outputs)
    return {
        "neuron_gram_change": jnp.abs(neuron_gram_change(moved)).max(),
        "neuron_output_change_signal": outputs[:, :SIGNALS].max(),
        "neuron_output_change_random": outputs[:, SIGNALS:].max(),
    }


def neuron_gram_change(moved: NeuronMovement) -> Float[Array, "m1 m1"]:
    """How much every <w_i, w_j> has changed, from the rank-one form (no cancellation)."""
    a, b = moved.a, moved.along_h
    return jnp.outer(a, b) + jnp.outer(b, a) + moved.h_square * jnp.outer(a, a)


def neurons_of(view: WordView) -> Neurons:
    """The neurons of a view, or a sentence if its engine follows none."""
    if view.neurons is None:
        raise ValueError("this engine follows no neurons; take one that does")
    return view.neurons
