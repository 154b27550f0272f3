r"""Section 7's question on data that need several heads: the parity of two tokens.

A sample has a token $a\in\{a_0,a_1\}$, a token $b\in\{b_0,b_1\}$, irrelevant tokens
$\nu_j+z$, all in random order, and last a query token c. The label is $+1$ if a and b have the
same index. The decoder reads the query's place only, so that one head gives

$$\Phi=\frac{\sum_te^{k^\top x_t}u^\top x_t}{\sum_te^{k^\top x_t}},\qquad k=W^\top c ,$$

whose sign is that of a *sum over tokens*, g(a) + g(b) + the rest. Whatever the rest is, it cannot
have all four signs of a parity: **one head errs on at least a quarter of the distribution**. Two
heads do it: one gives $\pm1$ by a unless it sees $b_1$, which draws all its attention, the
other $\mp1$ unless it sees $b_0$.

Test samples come in quadruples that differ only in a and b: the quarter holds for each of them.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from attnlab.core import Key, Result
from attnlab.data.batch import Batch
from attnlab.engines import explicit_heads
from attnlab.models.multihead import Heads, outputs
from attnlab.papers.deora2023.runs.samples import host_random
from attnlab.papers.deora2023.settings.questions import MOST_HEADS, ParitySettings
from attnlab.training.descent import PlainStep, descend
from attnlab.training.inputs import Inputs, compiled

QUADRUPLES = 60
RESTARTS = 3
QUERY, IRRELEVANT = 4, 5
"""The axis of the query token, and the first of the irrelevant ones (a and b have 0 to 3)."""


def several_heads(cell: ParitySettings, key: Key) -> Result:
    """One head and H heads, each from several random starts.

    Of H heads the start with the lowest training loss counts; of one head, the best test error.
    """
    train, test = draw_parity(cell, host_random(key, "data"))
    random = host_random(key, "init")
    size, d = (RESTARTS, MOST_HEADS), cell.d
    # As `explicit_heads.random_heads`, but drawn here: three draws less to compile.
    starts = Heads(
        jnp.asarray(cell.scale * d**-0.5 * random.normal(size=(*size, d))),
        jnp.asarray(cell.scale / d * random.normal(size=(*size, d, d))),
    )
    one, many = (
        {
            name: np.asarray(x)
            for name, x in _train_all(
                compiled(cell),
                train,
                test,
                starts,
                jnp.asarray(np.arange(MOST_HEADS) < heads, float),
            ).items()
        }
        for heads in (1, cell.H)
    )
    best, first = many["loss"].argmin(), one["loss"].argmin()
    finite = np.isfinite(one["loss"]).all() and np.isfinite(many["loss"]).all()
    why = f"the loss became infinite or nan within {cell.K} steps; lower eta"
    return Result(
        {
            **{f"one_{name}": float(x[first]) for name, x in one.items()},
            **{f"many_{name}": float(x[best]) for name, x in many.items()},
            "least_one_error": float(one["test_error"].min()),
            "error_gap": float(one["test_error"].min() - many["test_error"][best]),
            "margin_gap": float(many["margin"][best] - one["margin"].max()),
        },
        diverged="" if finite else why,
    )


def draw_parity(cell: ParitySettings, random: np.random.Generator) -> tuple[Batch, Batch]:
    """Training samples, and quadruples of test samples."""
    n = cell.n
    bits = random.integers(0, 2, (n, 2))
    train = _samples(cell, bits, _others(cell, random, n), random)
    every = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    others = np.repeat(_others(cell, random, QUADRUPLES), 4, axis=0)
    test = _samples(cell, np.tile(every, (QUADRUPLES, 1)), others, random)
    return train, test


def _others(cell: ParitySettings, random: np.random.Generator, n: int) -> np.ndarray:
    """The irrelevant tokens of n samples: a pattern and noise in every coordinate."""
    patterns = random.integers(IRRELEVANT, min(cell.d, IRRELEVANT + 2), (n, cell.T - 3))
    noise = random.uniform(-cell.Z, cell.Z, (n, cell.T - 3, cell.d))
    return cell.S * np.eye(cell.d)[patterns] + noise


def _samples(
    cell: ParitySettings, bits: np.ndarray, others: np.ndarray, random: np.random.Generator
) -> Batch:
    axes = cell.S * np.eye(cell.d)
    n = len(bits)
    pair = axes[bits + np.array([0, 2])]
    order = random.uniform(size=(n, cell.T - 1)).argsort(axis=1)
    tokens = np.take_along_axis(np.concatenate([pair, others], axis=1), order[..., None], axis=1)
    query = np.broadcast_to(axes[QUERY], (n, 1, cell.d))
    parity = np.where(bits[:, 0] == bits[:, 1], 1.0, -1.0)
    labels = parity if cell.rule == "parity" else 2.0 * bits[:, 0] - 1
    X = np.concatenate([tokens, query], axis=1)
    return Batch.weighted(X, labels, np.full(n, 1 / n))


@eqx.filter_jit
def _train_all(
    inputs: Inputs, train: Batch, test: Batch, starts: Heads, present: Array
) -> dict[str, Array]:
    """Training error, margin, loss and test error by start; heads that are not present count 0."""
    H = present.sum()
    shares = present / jnp.sqrt(H)

    def from_start(start: Heads) -> dict[str, Array]:
        engine = eqx.tree_at(
            lambda e: (e.counts, e.H), explicit_heads.engine(train, start, "last"), (present, H)
        )
        ends = jnp.stack([jnp.zeros_like(inputs.K), inputs.K])
        run = descend(engine, engine.zero(), PlainStep(inputs.eta), ends)
        heads = engine.parameters(run.state)
        on_train, on_test = (
            points.labels * outputs(heads, shares, points.vectors(), "last")
            for points in (train, test)
        )
        return {
            "error": (on_train <= 0).mean(),
            "margin": on_train.min() / jnp.sqrt(present @ jnp.sum(heads.U**2, axis=1)),
            "loss": run.values["loss"][-1],
            "test_error": (on_test <= 0).mean(),
        }

    return jax.lax.map(from_start, starts)
