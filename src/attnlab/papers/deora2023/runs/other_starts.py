r"""Section 7's question on other starts: P1, P2 and the NTK margin of five of them.

| start | heads |
|---|---|
| phase_1 | $U_h=\alpha_h\mathbf 1v^\top$, $W_h=0$, $\alpha_h=\pm1$: the paper's |
| gaussian | $\alpha_h$ standard normal |
| class_means | v half the difference of the classes' mean relevant tokens (it knows the places) |
| steps | further steps of descent on n samples of phase 1, W included |
| few_samples | v from fewer samples |
| zero | U = W = 0 |

Heads with $W_h=0$ have a kernel that depends on the multipliers only by the mean of
$\alpha_h^2$: two heads with $\pm$ its root have the same one.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from attnlab.core import Key, Result
from attnlab.data.batch import Batch
from attnlab.engines.collapsed_heads import first_phase_direction, head_start
from attnlab.models.multihead import Heads, head_norms, outputs
from attnlab.papers.deora2023.runs.good_starts import start_bounds
from attnlab.papers.deora2023.runs.samples import Drawn, draw, draw_pool, host_random
from attnlab.papers.deora2023.runs.two_heads import train
from attnlab.papers.deora2023.settings.mixture import TEST_SAMPLES
from attnlab.papers.deora2023.settings.questions import OtherStartSettings
from attnlab.papers.deora2023.theory import margins
from attnlab.probes.tangent_kernel import LENGTH, head_features, tangent_margin_of_gram


class StartInGroups(NamedTuple):
    """Heads in two groups."""

    heads: Heads
    parts: np.ndarray
    """Of each group in the kernel, adding up to 1."""
    shares: np.ndarray
    """By which the groups' outputs add up to the model's."""
    longest: float
    """The largest norm of a head."""


def other_start(cell: OtherStartSettings, key: Key) -> Result:
    """The named start: head norms, outputs and NTK margin, the last beside phase 1's."""
    drawn = draw(cell, key)
    start = _start(cell, key, drawn)
    tokens = jnp.asarray(drawn.tokens)
    grams, output = _at_start(start.heads, jnp.asarray(start.shares), tokens)
    if not np.isfinite(np.asarray(grams)).all():
        return Result(
            {"longest_head": start.longest},
            diverged="the kernel at the start is infinite or nan; lower scale, eta or steps",
        )
    found = tangent_margin_of_gram(np.tensordot(start.parts, np.asarray(grams), 1), drawn.labels)
    grams, _ = _at_start(_both_signs(drawn.v, cell.T), jnp.ones(2), tokens)
    after = tangent_margin_of_gram(np.asarray(grams).mean(axis=0), drawn.labels)
    sizes = cell.mixture()
    B_2, B_Phi = start_bounds(cell, margins.first_phase_bound(sizes.R, cell.n1, cell.delta))
    return Result(
        {
            "start_margin": LENGTH * found.margin,
            "start_gap": found.gap,
            "phase_1_margin": LENGTH * after.margin,
            "margin_over_phase_1": found.margin / after.margin if after.margin else np.inf,
            "margin_over_linear": LENGTH * found.margin / margins.gamma_linear(sizes),
            "head_over_B_2": start.longest / B_2,
            "output_over_B_Phi": float(np.abs(np.asarray(output)).max()) / B_Phi,
        },
        absent=frozenset() if after.margin else frozenset({"margin_over_phase_1"}),
    )


def _start(cell: OtherStartSettings, key: Key, drawn: Drawn) -> StartInGroups:
    pool = draw_pool(cell, key)
    first = slice(TEST_SAMPLES, TEST_SAMPLES + cell.n1)
    X, y = np.asarray(pool.tokens)[first], np.asarray(pool.labels, float)[first]
    random = host_random(key, "signs")
    alpha = random.choice([-1.0, 1.0], cell.H)
    if cell.variant == "steps":
        points = Batch.weighted(X[: cell.n], y[: cell.n], drawn.weights)
        counts = np.array([(alpha > 0).sum(), (alpha < 0).sum()], float)
        run = train(drawn, cell.eta, cell.steps, counts=counts, points=points)
        U = _both_signs(drawn.v, cell.T).U + run.state.U
        heads = Heads(cell.scale * U, run.state.Q @ jnp.swapaxes(run.state.K, 1, 2))
        longest = float(np.asarray(head_norms(heads))[counts > 0].max())
        return StartInGroups(heads, counts / cell.H, counts / np.sqrt(cell.H), longest)
    v = drawn.v
    if cell.variant == "gaussian":
        alpha = random.normal(size=cell.H)
    elif cell.variant == "few_samples":
        v = first_phase_direction(X[: cell.few], y[: cell.few], np.full(cell.few, 1 / cell.few))
    elif cell.variant == "class_means":
        relevant = np.asarray(pool.roles)[first] == 1
        plus, minus = (X[relevant & (y == sign)[:, None]].mean(axis=0) for sign in (1, -1))
        v = (plus - minus) / 2
    elif cell.variant == "zero":
        v = np.zeros_like(v)
    size = cell.scale * np.sqrt(np.mean(alpha**2))
    # Without attention a head's output is linear in its multiplier: one group has all of them.
    shares = np.array([cell.scale * alpha.sum() / (size * np.sqrt(cell.H)), 0.0])
    longest = cell.scale * np.abs(alpha).max() * np.sqrt(cell.T) * np.linalg.norm(v)
    return StartInGroups(_both_signs(size * v, cell.T), np.full(2, 0.5), shares, float(longest))


def _both_signs(v: np.ndarray, T: int) -> Heads:
    u = head_start(jnp.asarray(v), "full", T)
    d = len(v)
    return Heads(jnp.stack([u, -u]), jnp.zeros((2, d, d)))


@eqx.filter_jit
def _at_start(heads: Heads, shares: Array, tokens: Array) -> tuple[Array, Array]:
    """The kernel of each group, and the model's outputs."""
    features = jax.vmap(lambda U, W: head_features(U, W, tokens, "full"))(*heads)
    return features @ jnp.swapaxes(features, 1, 2), outputs(heads, shares, tokens)
