"""Slopes and bends at trained and at explicit heads: Proposition 1 and Lanczos."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array

from attnlab.core import Key, Result
from attnlab.data.batch import Batch
from attnlab.engines.heads import HeadsEngine
from attnlab.engines.heads_arithmetic import largest_decoder, length
from attnlab.models.multihead import Heads, HeadsView, Output, head_gradient, head_output
from attnlab.numerics.lanczos import spectrum_ends
from attnlab.papers.deora2023.runs.preparation import engine_and_step, sign_counts
from attnlab.papers.deora2023.runs.samples import Drawn, draw
from attnlab.papers.deora2023.runs.targets import points_of
from attnlab.papers.deora2023.settings.training import CurvatureSettings, TrainingSettings
from attnlab.papers.deora2023.theory.smoothness import betas, gradient_bound, hessian_bound
from attnlab.probes.head_curvature import hessian_product
from attnlab.training.descent import PlainStep, descend
from attnlab.training.trajectory import Trajectory

SAMPLES = 8


def model_quotients(cell: TrainingSettings, heads: Heads, drawn: Drawn) -> dict[str, float]:
    """Proposition 1 at the trained heads, for the full decoder and two groups."""
    if cell.output != "full" or cell.engine != "collapsed_heads":
        return {}
    found = _model_quotients(heads, jnp.asarray(drawn.tokens[:SAMPLES]))
    return {name: float(x) for name, x in found.items()}


@eqx.filter_jit
def _model_quotients(heads: Heads, tokens: Array) -> dict[str, Array]:
    """Proposition 1 at trained heads: the largest measured over bound on a few samples."""

    def one(u: Array, W: Array, X: Array) -> dict[str, Array]:
        flat, rebuild = ravel_pytree(Heads(u, W))

        def output(x: Array) -> Array:
            head = rebuild(x)
            return head_output(head.U, head.W, X)

        bends = jax.hessian(output)(flat)
        longest = jnp.sqrt((X**2).sum(1)).max()
        decoded = jnp.abs(u @ X.T).max(axis=1).sum()
        slope = jnp.linalg.norm(ravel_pytree(head_gradient(u, W, X))[0])
        bend = jnp.abs(jnp.linalg.eigvalsh(bends)).max()
        T, d = X.shape
        found = {}
        for variant in ("printed", "sharp"):
            steep = gradient_bound(T, longest, decoded, variant)
            curved = hessian_bound(T, d, longest, jnp.abs(X).max(), decoded, variant)
            found[f"trained_gradient_{variant}"] = slope / steep
            found[f"trained_hessian_{variant}"] = bend / curved
        return found

    by_sample = jax.vmap(one, (None, None, 0))
    both = [by_sample(heads.U[g], heads.W[g], tokens) for g in range(heads.U.shape[0])]
    return {name: jnp.stack([x[name] for x in both]).max() for name in both[0]}


def explicit_curvature(cell: CurvatureSettings, key: Key) -> Result:
    """Heads that all differ: both ends of the loss's spectrum by Lanczos, before and after."""
    drawn = draw(cell, key)
    engine, eta, _ = engine_and_step(cell, key, drawn, sign_counts(cell, key))
    trained = _ends(engine, jnp.asarray(eta), jnp.asarray(cell.K))
    if not trained.complete:
        return Result({"eta": eta}, diverged=trained.why)
    _, rebuild = ravel_pytree(engine.start)
    found: dict[str, float] = {}
    for name, state in (("start", engine.zero()), ("trained", trained.state)):
        view, points = engine.view(state), points_of(engine)

        def product(x: np.ndarray, view=view, points=points) -> np.ndarray:
            direction = rebuild(jnp.asarray(x))
            return np.asarray(_product(view, points, engine.output, direction))

        loss, slope, norm = (float(x) for x in _sizes(engine, state))
        size = ravel_pytree(engine.start)[0].size
        ends = spectrum_ends(product, size, tol=1e-10)
        if not (loss > 0 and ends.norm > 0 and np.isfinite([loss, slope, norm]).all()):
            step = cell.K if name == "trained" else 0
            return Result({"eta": eta}, diverged=_flat(loss, slope, step))
        b = betas("sharp", cell.T, cell.d, cell.mixture().R, norm, cell.H)
        found |= {
            f"{name}_lambda_min": ends.smallest,
            f"{name}_residual": max(ends.smallest_residual, ends.largest_residual) / ends.norm,
            f"{name}_self_bounded": slope / (b.one * loss),
            f"{name}_smooth": ends.norm / b.two,
            f"{name}_weakly_convex": max(-ends.smallest, 0.0) * cell.H**0.5 / (b.three * loss),
        }
    return Result(found)


def _flat(loss: float, slope: float, step: int) -> str:
    """Why no spectrum is taken: the loss overflowed, or attention is so sharp that it is flat."""
    return (
        f"at step {step} the loss is {loss:.3g} with a gradient of length {slope:.3g}, and no "
        "curvature can be measured there; lower scale or eta"
    )


@eqx.filter_jit
def _ends(engine: HeadsEngine, eta: Array, K: Array) -> Trajectory:
    return descend(engine, engine.zero(), PlainStep(eta), jnp.stack([0 * K, K]))


@eqx.filter_jit
def _product(view: HeadsView, points: Batch, output: Output, direction: Heads) -> Array:
    return ravel_pytree(hessian_product(view, points, output, direction))[0]


@eqx.filter_jit
def _sizes(engine: HeadsEngine, state: Heads) -> tuple[Array, Array, Array]:
    loss, field = engine.loss_and_field(state)
    return loss, length(field, engine), largest_decoder(state, engine)
