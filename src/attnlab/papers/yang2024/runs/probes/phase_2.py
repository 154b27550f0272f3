r"""Probes of the second phase: the conditions of Definition F.1 and the attention coefficients.

With $z$ and $M$ of `attnlab.models.word_level` and $s = 1/\sqrt m$,

$$G' = \rho z + A V z,\qquad V' = G z^\top + z G^\top,\qquad S' = s\,(M Q + K M).$$

Legend: letters as in `attnlab.models.word_level`; $C = S(t) - S(0)$ are the coefficients of
equation (3). Word index 0, 1, 2 is $\mu_1, \mu_2, \mu_3$.
"""

import jax.numpy as jnp
from jaxtyping import Array, Float

from attnlab.data.word_cooccurrence import SIGNALS, Role
from attnlab.models.word_level import WordView, attention, place_drive, score_drive
from attnlab.probes.context import Context, mean_where
from attnlab.probes.rates import drive
from attnlab.training.engine import Named

TYPES = 4


def value_side(t: Float[Array, ""], view: WordView, args: Context) -> Named:
    r"""The value side: rates of correlations, and how much of G' the neurons' motion makes.

    `value_rates` (3, 3): $V'$ of the signals. `largest_random_value_rate`: max |V'| over pairs
    with a random word. `value_part`: $\max_\mu |A V z|$ over $\rho \bar g$.
    """
    del t
    z = drive(view, args)
    rates = jnp.outer(view.G, z) + jnp.outer(z, view.G)
    part = jnp.abs(view.A * (view.V @ z)).max() / (view.rho * _mean_slope(view, args))
    return {
        "value_rates": rates[:SIGNALS, :SIGNALS],
        "largest_random_value_rate": jnp.abs(_with_random(rates)).max(),
        "value_part": part,
    }


def score_side(t: Float[Array, ""], view: WordView, args: Context) -> Named:
    r"""The score side: coefficients, rates, and how much of F' the attention's motion makes.

    `coefficients` (3, 3): $C$ of the signals; `largest_random_coefficient`: max |C| over pairs
    with a random word; `class_coefficients` (7, 7): its mean over the pairs of places in a sample,
    by class of key and query (three signals, random words of type 1..4); `score_rates` (3, 3)
    and `largest_random_score_rate`: the same of $S'$;
    `attention_part`: $\max_i |\sum_{l,h} G(x_h) p'_{l,h}|$ over $\rho \bar g$;
    `softmax_rates` (3, 3): mean $p'$ over the samples that hold both signals (rows keys);
    `largest_random_softmax_rate`: max $|p'|$ from a target signal to a random word.
    """
    del t
    rates = score_rates(view, args)
    moved = view.S - args.start().S
    words = args.batch.words
    p = attention(view, words)
    slopes = view.score_scale * rates[words[:, None, :], words[:, :, None]]
    p_rate = p * (slopes - jnp.einsum("ilh,ilh->il", p, slopes)[..., None])
    by_attention = jnp.abs(jnp.einsum("ilh,ih->i", p_rate, view.G[words])).max()
    return {
        "coefficients": moved[:SIGNALS, :SIGNALS],
        "class_coefficients": _by_class(moved, args),
        "largest_random_coefficient": jnp.abs(_with_random(moved)).max(),
        "score_rates": rates[:SIGNALS, :SIGNALS],
        "largest_random_score_rate": jnp.abs(_with_random(rates)).max(),
        "attention_part": by_attention / (view.rho * _mean_slope(view, args)),
        "softmax_rates": _by_signal(p_rate, args),
        "largest_random_softmax_rate": _at_random_keys(p_rate, args),
    }


def sample_side(t: Float[Array, ""], view: WordView, args: Context) -> Named:
    """What samples see.

    `gradient_spread_by_type` (4,): largest over smallest g in a type. `random_word_sum`: the
    largest part of an F that random words make. `unseen_margins` (4,): the margin of each type
    under uniform attention if its random words had no output. `largest_output`: max |F|.
    `curvature_by_type` (4,): mean g (1 - g). `mean_weighted_margin`: mean g y F, over all.
    """
    del t
    margins = args.margins(view)
    g = args.loss.slope(margins)[:, None]
    of_type = args.batch.types[:, None] == jnp.arange(1, TYPES + 1)
    largest = jnp.where(of_type, g, -jnp.inf).max(0)
    smallest = jnp.where(of_type, g, jnp.inf).min(0)
    words = args.batch.words
    random = jnp.where(args.batch.roles == Role.RANDOM, view.G[words], 0.0)
    sums = jnp.einsum("ilh,ih->i", attention(view, words), random)
    G1, G2, G3 = view.G[0], view.G[1], view.G[2]
    return {
        "gradient_spread_by_type": largest / smallest,
        "random_word_sum": jnp.abs(sums).max(),
        "unseen_margins": jnp.stack([G1 + G2 + G3, -(G1 + G3), -(G2 + G3), -G3]),
        "largest_output": jnp.abs(margins).max(),
        "curvature_by_type": mean_where(of_type, g * (1 - g), 0),
        "mean_weighted_margin": (g[:, 0] * margins).mean(),
    }


def score_rates(view: WordView, args: Context) -> Float[Array, "d d"]:
    """S' under gradient flow, for trained attention."""
    batch = args.batch
    p = attention(view, batch.words)
    slopes = args.loss.slope(args.margins(view))
    r = slopes * batch.labels / batch.labels.shape[0]
    M = score_drive(place_drive(p, view.G, r, batch.words), batch.words, view.G.shape[0])
    return view.score_scale * (M @ view.Q + view.K @ M)


def test_loss(t: Float[Array, ""], view: WordView, args: Context) -> Named:
    """Loss and errors on samples that were not trained on."""
    del t
    margins = args.margins(view)
    return {
        "loss": args.loss.value(margins).mean(),
        "error": (margins <= 0).mean(dtype=view.G.dtype),
    }


def _by_signal(p_rate: Float[Array, "n L L"], args: Context) -> Float[Array, "3 3"]:
    is_signal = args.batch.roles[..., None] == jnp.arange(1, SIGNALS + 1)
    one_hot = is_signal.astype(p_rate.dtype)
    totals = jnp.einsum("ilh,ilq,ihk->kq", p_rate, one_hot, one_hot)
    return totals / jnp.einsum("ilq,ihk->kq", one_hot, one_hot)


def _at_random_keys(p_rate: Float[Array, "n L L"], args: Context) -> Float[Array, ""]:
    roles = args.batch.roles
    target = (roles == Role.FIRST_SIGNAL) | (roles == Role.SECOND_SIGNAL)
    pairs = target[:, :, None] & (roles == Role.RANDOM)[:, None, :]
    return jnp.abs(jnp.where(pairs, p_rate, 0.0)).max()


def _by_class(pairs: Float[Array, "d d"], args: Context) -> Float[Array, "7 7"]:
    words, roles, types = args.batch.words, args.batch.roles, args.batch.types
    of_random = SIGNALS + types[:, None] - 1
    kind = jnp.where(roles == Role.RANDOM, of_random, roles - 1)
    one_hot = (kind[..., None] == jnp.arange(SIGNALS + TYPES)).astype(pairs.dtype)
    values = pairs[words[:, :, None], words[:, None, :]]
    totals = jnp.einsum("ikq,ika,iqb->ab", values, one_hot, one_hot)
    return totals / jnp.einsum("ika,iqb->ab", one_hot, one_hot)


def _mean_slope(view: WordView, args: Context) -> Float[Array, ""]:
    return args.loss.slope(args.margins(view)).mean()


def _with_random(pairs: Float[Array, "d d"]) -> Float[Array, "d d"]:
    """The pairs of words with a random one among them; 0 elsewhere."""
    return pairs.at[:SIGNALS, :SIGNALS].set(0.0)
