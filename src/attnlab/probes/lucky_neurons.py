r"""Lucky neurons, what they learn, and how features grow (Li et al. 2023, Lemmas 2 to 4).

A neuron $w_i$ (a row of W_O) is lucky for class k if it points at the value feature $p_k$:

- literal (Definition 2): $\angle(w_i, p_k) \le \sigma + \tau$;
- proof (of Lemma 3): $\angle(w_i, p_k) + 2(\sigma+\tau) \le \angle(w_i, p_l)$ for all $l \ne k$;
- best: $p_k$ is the best-aligned of the M features.

Features are those of the start, $p_j$, or the present ones, $W_V(t)\mu_j$. The first head is read.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from attnlab.models.shallow_vit import Parameters, hidden_input
from attnlab.probes.pattern_attention import PatternContext
from attnlab.training.engine import Named

READINGS = ("literal", "proof", "best")
DISCRIMINATIVE = 2


def angles(
    W_O: Float[Array, "m D"], features: Float[Array, "D M"], used: Bool[Array, " M"]
) -> Float[Array, "m M"]:
    """The angle between every neuron and every feature; pi for padding."""
    size = jnp.linalg.norm(W_O, axis=1, keepdims=True) * jnp.linalg.norm(features, axis=0)
    cosine = W_O @ features / jnp.where(size > 0, size, 1)
    return jnp.where(used, jnp.arccos(jnp.clip(cosine, -1, 1)), jnp.pi)


def lucky_sets(
    W_O: Float[Array, "m D"],
    features: Float[Array, "D M"],
    used: Bool[Array, " M"],
    cone: Float[Array, ""],
) -> Bool[Array, "readings classes m"]:
    """Which neurons are lucky, by reading and by class."""
    theta = angles(W_O, features, used)
    sets = []
    for reading in READINGS:
        for k in range(DISCRIMINATIVE):
            others = jnp.where(jnp.arange(theta.shape[1]) == k, jnp.inf, theta)
            others = jnp.where(used, others, jnp.inf).min(1)
            if reading == "literal":
                sets.append(theta[:, k] <= cone)
            elif reading == "proof":
                sets.append(theta[:, k] + 2 * cone <= others)
            else:
                sets.append(theta[:, k] < others)
    return jnp.stack(sets).reshape(len(READINGS), DISCRIMINATIVE, -1)


def lucky_neurons(t: Float[Array, ""], view: Parameters, args: PatternContext) -> Named:
    """`lucky` (features, readings, classes): counts, against first and present features.

    `lucky_kept`: the share of the neurons lucky at the start that still are (nan if there were
    none), `signed_kept` among those whose output weights fit the class; the same axes.
    """
    del t
    counts, kept, signed = [], [], []
    fits = fitting(args)
    for now in (args.p, _value_features(view, args)):
        before = args.p if now is args.p else _value_features(args.initial, args)
        first = lucky_sets(args.initial.W_O, before, args.used, args.cone)
        present = lucky_sets(view.W_O, now, args.used, args.cone)
        counts.append(present.sum(-1))
        kept.append((first & present).sum(-1) / first.sum(-1))
        signed.append((first & present & fits).sum(-1) / (first & fits).sum(-1))
    return {
        "lucky": jnp.stack(counts),
        "lucky_kept": jnp.stack(kept),
        "signed_kept": jnp.stack(signed),
    }


def fitting(args: PatternContext) -> Bool[Array, "classes m"]:
    """Neurons whose output weights fit a class: a positive sum over positions, or a negative one.

    The proofs presume one sign for all positions (`shared` weights); of weights per position the
    sign of the sum is all there is.
    """
    total = args.a[0].sum(-1)
    return jnp.stack([total > 0, total < 0])


def neuron_projections(t: Float[Array, ""], view: Parameters, args: PatternContext) -> Named:
    """Projections of the neurons that were best aligned with p_1 (and p_2) at the start.

    `lucky_along_own`, `lucky_along_others`: mean projection on their own feature and the mean
    positive part of the projection on the others; `lucky_along_own_high`: the mean over the upper
    half; `unlucky_along`: the mean positive part over all other neurons and over the features that
    are not discriminative; `lucky_norm`. `signed_along_own`, `signed_along_others`: the same two
    over those whose output weights fit the class.
    """
    del t
    sets = lucky_sets(args.initial.W_O, args.p, args.used, args.cone)[2]
    signed = sets & fitting(args)
    along = view.W_O @ args.p
    own, others, high, norms, signed_own, signed_others = [], [], [], [], [], []
    norm = jnp.linalg.norm(view.W_O, axis=1)
    rest = args.used.sum() - 1
    for k in range(DISCRIMINATIVE):
        weight = sets[k] / sets[k].sum()
        mean = weight @ along[:, k]
        above = sets[k] & (along[:, k] >= mean)
        own.append(mean)
        high.append((above * along[:, k]).sum() / above.sum())
        apart = args.used & (jnp.arange(args.used.size) != k)
        beside = (jnp.maximum(along, 0) * apart).sum(1) / rest
        others.append(weight @ (jnp.maximum(along, 0) * apart).sum(1) / rest)
        signed_own.append((signed[k] * along[:, k]).sum() / signed[k].sum())
        signed_others.append((signed[k] * beside).sum() / signed[k].sum())
        norms.append(weight @ norm)
    unlucky = ~sets.any(0)
    plain = args.used & (jnp.arange(args.used.size) >= DISCRIMINATIVE)
    sizes = (jnp.maximum(along, 0) * plain).sum(1) / plain.sum()
    return {
        "lucky_along_own": jnp.stack(own).mean(),
        "lucky_along_own_high": jnp.stack(high).mean(),
        "lucky_along_others": jnp.stack(others).mean(),
        "signed_along_own": jnp.stack(signed_own).mean(),
        "signed_along_others": jnp.stack(signed_others).mean(),
        "lucky_norm": jnp.stack(norms).mean(),
        "unlucky_along": (unlucky * sizes).sum() / unlucky.sum(),
        "unlucky_norm": (unlucky * norm).sum() / unlucky.sum(),
    }


def feature_growth(t: Float[Array, ""], view: Parameters, args: PatternContext) -> Named:
    """Norms of W_K mu_j, W_Q mu_j, W_V mu_j, by pattern, and their part along the first feature.

    `key_norm`, `query_norm`, `value_norm`, `key_along`, `value_along` (M); `value_error`: the norm
    of W_V mu_j off the span of the first features.
    """
    del t
    keys, queries = view.W_K[0] @ args.patterns.T, view.W_Q[0] @ args.patterns.T
    values = _value_features(view, args)
    inside = args.p * args.used
    off = values - inside @ (inside.T @ values)
    unused = jnp.where(args.used, 0.0, jnp.nan)
    return {
        "key_norm": jnp.linalg.norm(keys, axis=0) + unused,
        "query_norm": jnp.linalg.norm(queries, axis=0) + unused,
        "value_norm": jnp.linalg.norm(values, axis=0) + unused,
        "key_along": (keys * args.q).sum(0) + unused,
        "value_along": (values * args.p).sum(0) + unused,
        "value_error": jnp.linalg.norm(off, axis=0) + unused,
    }


def value_gradient(t: Float[Array, ""], view: Parameters, args: PatternContext) -> Named:
    r"""V_i of (29)-(31), the coefficients of the neurons in the gradient of W_V at pattern mu_1.

    $$V_i = -\frac1n \sum_n y_n \frac{1}{|S|} \sum_l a_{(l)i}\, 1[w_i^\top v_l > 0]
      \sum_s p_{ls}\, x_s^\top \mu_1$$

    `lucky_V_negative`: the share of the neurons best aligned with p_1 at the start that have
    V_i < 0, `signed_V_negative` among those whose output weights have a positive sum;
    `unlucky_V_least`: the smallest V_i of an unlucky neuron, times sqrt(m); `signed_V`: the mean
    over lucky neurons of p_1 with fitting weights, `opposite_V_least`: the smallest of one of p_2
    with weights that fit its class, both times sqrt(m).
    `mean_margin`: the mean of y F over the samples.
    """
    del t
    batch = args.batch

    def of_sample(row: tuple[Array, ...]) -> tuple[Array, Array]:
        X, y, kept, keys = row
        v = hidden_input(view, X, keys, args.score_gain)
        gate = view.W_O @ v.T > 0
        a = jnp.einsum("oml,o->ml", args.a, y) * (kept / kept.sum())
        identity = view._replace(W_V=jnp.eye(X.shape[1], dtype=X.dtype)[None])
        along = hidden_input(identity, X, keys, args.score_gain) @ args.patterns[0]
        return -jnp.where(gate, a, 0) @ along, jnp.sum(jnp.where(gate, a, 0) * (view.W_O @ v.T))

    rows = (batch.tokens, args.labels, batch.kept, args.keys)
    V, margins = jax.lax.map(of_sample, rows)
    V = V.mean(0)
    sets = lucky_sets(args.initial.W_O, args.p, args.used, args.cone)[2]
    unlucky = ~sets.any(0)
    signed, opposite = sets & fitting(args)
    root = jnp.sqrt(V.size)
    return {
        "lucky_V_negative": (sets[0] & (V < 0)).sum() / sets[0].sum(),
        "signed_V_negative": (signed & (V < 0)).sum() / signed.sum(),
        "unlucky_V_least": jnp.where(unlucky, V, jnp.inf).min() * jnp.sqrt(V.size),
        "signed_V": (signed * V).sum() / signed.sum() * root,
        "opposite_V_least": jnp.where(opposite, V, jnp.inf).min() * root,
        "mean_margin": margins.mean(),
    }


def _value_features(view: Parameters, args: PatternContext) -> Float[Array, "m_a M"]:
    return view.W_V[0] @ args.patterns.T
