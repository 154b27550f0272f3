r"""What the Grams tell about single neurons.

W moves by a rank-one matrix, $W(t) = W(0) + a h^\top$ with $h = (u - u_0)/A$, so with $b = W(0)h$

$$\langle w_i, w_j\rangle(t) - \langle w_i, w_j\rangle(0) = a_i b_j + a_j b_i + a_i a_j |h|^2 .$$

Exact from the state: the sum $\sum_{ij} a_i a_j \langle w_i, w_j\rangle = \rho$; the length
$|h|^2 = (\rho - 2\sigma + \rho_0)/A^2$ with $\sigma = u_0\cdot u$; and $a\cdot b = u_0\cdot h$.
Splitting $W(0) = a u_0^\top/A + W_\perp$ with $a^\top W_\perp = 0$, the change becomes

$$a_i a_j \frac{\rho - \rho_0}{A^2} + a_i (W_\perp h)_j + a_j (W_\perp h)_i .$$

Not in the state: $W_\perp$, and so the single neuron. But the Grams never see $W_\perp$: for normal
W it is independent of the whole run, and given h, $W_\perp h \sim N(0, \sigma_1^2 |h|^2
(I - aa^\top/A))$. The largest change at a time t thus has an exact law, which can be bounded with
probability $1-\delta$ or drawn from. What the Grams do not give even in law is a joint draw over
several times (the direction of h turns), and the change of $w_j^\top W_V\mu$: its mean is
$a_j (G(t) - G(0))/A$, but its spread $\sigma_1 |W_V(t)\mu - W_V(0)\mu|$ needs products of values at
two times. Take the engine `weights` for those. Weight decay shrinks W(0) and is not covered.

Legend: w_j the rows of W (m1, m); a (m1,) with |a_j| the same for all j here; s1 the deviation of
an entry of W(0); rho_0 = rho(0).
"""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from attnlab.core import BadInput
from attnlab.dynamics.engine import Named
from attnlab.models.linear_mlp_initialisation import Initialisation, deviations
from attnlab.models.linear_mlp_transformer import Sizes
from attnlab.papers.yang2024.engines.gram import GramView
from attnlab.papers.yang2024.engines.gram_equations import Grams


class NeuronLaw(eqx.Module):
    """What is known of the neurons at the start; the `args` of the probe below."""

    s1: Float[Array, ""]
    size: Float[Array, ""]
    """|a_j|."""
    rho_0: Float[Array, ""]
    m1: int = eqx.field(static=True)

    def change(self, view: GramView) -> tuple[Float[Array, ""], Float[Array, ""]]:
        """The part of a Gram's change common to all pairs, and the deviation of (W_perp h)_j.

        Both without their factors a: they are (rho - rho_0)/A^2 and s1 |h|.
        """
        assert view.rho_start is not None
        common = (view.rho - self.rho_0) / view.A**2
        square = (view.rho - 2 * view.rho_start + self.rho_0) / view.A**2
        return common, self.s1 * jnp.sqrt(jnp.maximum(square, 0))


def neuron_law(sizes: Sizes, initialisation: Initialisation, state: Grams) -> NeuronLaw:
    """The law for a run that starts from this state."""
    if initialisation.weights not in ("theory", "kaiming_normal"):
        raise BadInput(
            f"got weights={initialisation.weights}; the law of the neurons needs normal weights; "
            "take weights=theory or kaiming_normal, or the engine `weights`"
        )
    if initialisation.output_layer == "same_as_weights":
        raise BadInput(
            "got output_layer=same_as_weights; the law of the neurons needs |a_j| the same for "
            "all; take output_layer=sign or sign_over_m1, or the engine `weights`"
        )
    of = deviations(sizes, initialisation)
    return NeuronLaw(jnp.asarray(of.neurons), jnp.asarray(of.output_layer), state.rho, m1=sizes.m1)


def neuron_gram_change_bound(t: Float[Array, ""], view: GramView, args: NeuronLaw) -> Named:
    r"""How much any $\langle w_i, w_j\rangle$ has changed since the start.

    `neuron_gram_change_bound`: above the largest change of all pairs with probability 0.99 or
    more. `neuron_gram_change_common` and `neuron_gram_change_deviation`: the part common to all
    pairs (with sign a_i a_j), and the deviation of the rest, for i different from j.
    """
    del t
    common, deviation = args.change(view)
    # A union over m1 normals and two signs.
    largest = math.sqrt(2 * math.log(2 * args.m1 / 0.01))
    bound = args.size**2 * jnp.abs(common) + 2 * args.size * deviation * largest
    return {
        "neuron_gram_change_bound": bound,
        "neuron_gram_change_common": args.size**2 * common,
        "neuron_gram_change_deviation": math.sqrt(2) * args.size * deviation,
    }


def draw_largest_neuron_gram_change(
    key: PRNGKeyArray, view: GramView, law: NeuronLaw
) -> Float[Array, ""]:
    """The largest change of all pairs, a pair of a neuron with itself too, drawn from its law."""
    common, deviation = law.change(view)
    normals = jax.random.normal(key, (law.m1,), jnp.float64)
    # In the direction of a there is no spread; signs of a do not matter for the law.
    rest = deviation * (normals - normals.mean()) / law.size
    extremes = jnp.stack([common + 2 * rest.max(), common + 2 * rest.min()])
    return law.size**2 * jnp.abs(extremes).max()
