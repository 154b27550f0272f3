r"""The engine `symmetric` in changes from its start, and all probes of both phases on classes.

At large widths K, Q and V move by a vanishing part of what they are: their changes, not they, are
the state here, so that nothing is lost beside $\kappa$. Entries of a Gram are linear in it, so
the same map shows the changes, and the rates, by class of word.

Legend: as in `engines.symmetric`; $p' = p\,(s' - \sum_h p_h s'_h)$ with $s' = S'/\sqrt m$;
$N_\mu/n$ is 2/3 for $\mu_1, \mu_2$, 1 for $\mu_3$ and 1/n for a random word.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from attnlab.engines import symmetric_sectors as sectors
from attnlab.engines.symmetric import Sectors, Symmetric, SymmetricView
from attnlab.engines.symmetric_sectors import OWN, RANDOM, Blocks, Entries
from attnlab.training.engine import Named

SIGNALS = 3


class Moves(NamedTuple):
    """Changes, or rates, of what a view shows, by class of word."""

    G: Float[Array, " 7"]
    rho: Float[Array, ""]
    V: Entries
    S: Entries
    K: Entries
    Q: Entries


class PathView(NamedTuple):
    """The engine's own view, with changes since the start and rates."""

    now: SymmetricView
    moved: Moves
    rates: Moves
    by_neurons: Float[Array, " 7"]
    """The part of G' that moving neurons make, A V z."""


class FromTheStart(eqx.Module):
    """The engine `symmetric` whose state is the change since `first`."""

    engine: Symmetric
    first: Sectors

    def loss_and_field(self, state: Sectors) -> tuple[Float[Array, ""], Sectors]:
        """The training loss, and the rate of the change."""
        return self.engine.loss_and_field(self._whole(state))

    def step(
        self, state: Sectors, learning_rate: Float[Array, ""]
    ) -> tuple[Float[Array, ""], Sectors]:
        """The loss before, and the change after, one step of gradient descent."""
        loss, whole = self.engine.step(self._whole(state), learning_rate)
        return loss, jax.tree.map(jnp.subtract, whole, self.first)

    def view(self, state: Sectors) -> PathView:
        """What probes read."""
        whole = self._whole(state)
        layout = self.engine.layout
        _, field = self.engine.loss_and_field(whole)
        _, by_neurons = self.engine.parts_of_output_rates(whole)
        return PathView(
            self.engine.view(whole),
            self._shown(state),
            self._shown(field),
            by_neurons / layout.roots,
        )

    def _whole(self, state: Sectors) -> Sectors:
        return jax.tree.map(jnp.add, self.first, state)

    def _shown(self, state: Sectors) -> Moves:
        layout = self.engine.layout

        def entries(blocks: Blocks) -> Entries:
            return sectors.blank_empty(layout, sectors.entries(layout, blocks))

        # V never leaves its start within classes: its other sectors do not move.
        of_V = Blocks(state.V, jnp.zeros((2, 4)))
        G = jnp.where(layout.class_sizes > 0, state.G / layout.roots, jnp.nan)
        S, K, Q = (entries(x) for x in (state.S, state.K, state.Q))
        return Moves(G, state.rho, entries(of_V), S, K, Q)


def path_series(t: Float[Array, ""], view: PathView, args: FromTheStart) -> Named:
    """Everything that the summaries of both phases read, under the names of a drawn run."""
    del t
    engine = args.engine
    layout, now, moved, rates = engine.layout, view.now, view.moved, view.rates
    shares = layout.samples / layout.samples.sum()
    mean_g = jnp.nansum(shares * now.gradients)
    scale = engine.score_gain * engine.score_scale
    p, keys, queries = now.attention, layout.keys, layout.queries
    s = scale * sectors.by_place(_known(moved.S))
    s_rate = scale * sectors.by_place(_known(rates.S))
    p_rate = p * (s_rate - (keys * p * s_rate).sum(axis=2, keepdims=True))
    here = (keys > 0) & (queries[..., None] > 0)
    G = sectors.outputs_of_keys(layout, jnp.nan_to_num(now.G) * layout.roots)[:, None, :]
    by_attention = jnp.abs((queries * (keys * G * p_rate).sum(axis=2)).sum(axis=1))
    random_part = (queries * (keys * G * p)[:, :, OWN:].sum(axis=2)).sum(axis=1)
    to_random = jnp.where(here, p_rate, 0.0)[:, :2, OWN:]
    G1, G2, G3 = now.G[:SIGNALS]
    uses = jnp.concatenate([jnp.array([2 / 3, 2 / 3, 1.0]), jnp.full(4, 1 / layout.samples.sum())])
    per_use = {"value": moved.V, "score": moved.S, "key": moved.K, "query": moved.Q}
    return {
        "rho": now.rho,
        "rho_change": moved.rho,
        "rho_rate": rates.rho,
        "mean_weighted_margin": jnp.nansum(shares * now.gradients * now.margins),
        "smallest_margin": jnp.nanmin(now.margins),
        "margin_by_type": now.margins,
        "smallest_margin_by_type": now.margins,
        "largest_output": jnp.nanmax(jnp.abs(now.margins)),
        "unseen_margins": jnp.stack([G1 + G2 + G3, -(G1 + G3), -(G2 + G3), -G3]),
        "gradient_by_type": now.gradients,
        "gradient_spread_by_type": jnp.ones(4),
        "curvature_by_type": now.gradients * (1 - now.gradients),
        "signal_outputs": now.G[:SIGNALS],
        "random_outputs": now.G[SIGNALS:],
        "signal_rates": rates.G[:SIGNALS],
        "random_word_sum": jnp.abs(random_part).max(),
        "largest_random_output": jnp.nanmax(jnp.abs(now.G[SIGNALS:])),
        "largest_random_rate": jnp.nanmax(jnp.abs(rates.G[SIGNALS:])),
        "output_change_random": jnp.nanmax(jnp.abs(moved.G[SIGNALS:])),
        "value_part": jnp.nanmax(jnp.abs(view.by_neurons)) / (now.rho * mean_g),
        "value_change": _largest(moved.V),
        "value_rates": rates.V.across[:SIGNALS, :SIGNALS],
        "value_correlations": moved.V.across[:SIGNALS, :SIGNALS],
        "key_change": _largest(moved.K),
        "query_change": _largest(moved.Q),
        "score_change": _largest(moved.S),
        "scores": moved.S.across[:SIGNALS, :SIGNALS],
        "coefficients": moved.S.across[:SIGNALS, :SIGNALS],
        "largest_random_coefficient": _largest(_with_random(moved.S)),
        "score_rates": rates.S.across[:SIGNALS, :SIGNALS],
        "largest_random_score_rate": _largest(_with_random(rates.S)),
        "attention_part": by_attention.max() / (now.rho * mean_g),
        "attention_change": jnp.where(here, jnp.abs(_from_uniform(s, keys)), 0.0).max(),
        "attention_rates": jnp.stack(_by_randomness(jnp.where(here, jnp.abs(p_rate), 0.0))),
        # All of them in a sample with both signals: type 1.
        "softmax_rates": p_rate[0, :SIGNALS, :SIGNALS].T,
        "largest_random_softmax_rate": jnp.abs(to_random).max(),
        **{f"{name}_change_per_use": _per_use(x, uses) for name, x in per_use.items()},
    }  # fmt: skip


def _from_uniform(s: sectors.ByPlace, keys: sectors.ByPlace) -> sectors.ByPlace:
    """p - 1/L without cancellation, from scores that were 0 at the start."""
    moved = jnp.expm1(s)
    total, length = (keys * moved).sum(axis=2, keepdims=True), keys.sum(axis=2, keepdims=True)
    return (length * moved - total) / (length * (length + total))


def _by_randomness(x: sectors.ByPlace) -> tuple[Array, Array]:
    """The largest over pairs of two random words, and over all others."""
    both = x[:, RANDOM, OWN:].max()
    return both, jnp.maximum(x[:, :, :OWN].max(), x[:, :RANDOM, OWN:].max())


def _known(entries: Entries) -> Entries:
    return Entries(*(jnp.nan_to_num(x) for x in entries))


def _with_random(entries: Entries) -> Entries:
    return entries._replace(across=entries.across.at[:SIGNALS, :SIGNALS].set(0.0))


def _largest(entries: Entries) -> Float[Array, ""]:
    return jnp.stack([jnp.nanmax(jnp.abs(part)) for part in entries]).max()


def _per_use(entries: Entries, uses: Float[Array, " 7"]) -> Float[Array, " 3"]:
    pairs = jnp.abs(entries.across) / (uses[:, None] + uses)
    mixed = jnp.maximum(
        jnp.nanmax(pairs[:SIGNALS, SIGNALS:]), jnp.nanmax(pairs[SIGNALS:, :SIGNALS])
    )
    own = jnp.stack([jnp.nanmax(jnp.abs(x)) for x in (entries.own, entries.same_sample)])
    random = jnp.maximum(jnp.nanmax(pairs[SIGNALS:, SIGNALS:]), own.max() / (2 * uses[SIGNALS]))
    return jnp.stack([jnp.nanmax(pairs[:SIGNALS, :SIGNALS]), mixed, random])
