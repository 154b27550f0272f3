"""Times the engines of li2023 against a plain PyTorch loop (dependency group `bench`).

All do the same work in one process, one thread each and interleaved: mini-batch descent at L=100
tokens, m=1000 neurons, d=m_a=m_b=10, M=5, B=20 samples, float32, hinge loss. The loop is what one
would write first: a batched forward pass and autograd. The margin is so large that every sample
is active, which is the engines' worst case. Required: `exact` at least 6 times the loop on
noisy tokens, `collapsed` at least 400 times on the same tokens without noise. Beside it what share
of the core's own speed in products of matrices `exact` reaches. Then `exact` with
half of the tokens removed, against itself with all of them: required at least 1.6 times. Then a
success map of 12 x 10 cells and 20 trials with `collapsed`: required under 300 s on two cores,
estimated from one trial a cell on this one core. Exits 1 if a requirement is missed.

    NPROC=1 JAX_ENABLE_X64=1 python benchmarks/bench_li_engines.py
"""

import argparse
import os
import sys
import time
from dataclasses import replace

os.environ.setdefault("NPROC", "1")
os.environ.setdefault("JAX_ENABLE_X64", "1")
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from attnlab.cells import Key
from attnlab.models.shallow_vit import Parameters
from attnlab.papers.li2023.runs import trial as runs
from attnlab.papers.li2023.settings import TrainingSettings
from attnlab.papers.li2023.studies import STUDIES
from attnlab.papers.li2023.studies.engine_choice import resolve
from benchmarks.measuring import interleaved, measured, quotients

CELL = TrainingSettings(N=100, c0=0.01, engine="exact", margin=1e6)
ETA = 1e-4
"""So small that the margin is never met and weights stay finite; the work is the same."""


@eqx.filter_jit
def jax_steps(engine, state: Parameters, batches: jax.Array) -> Parameters:
    """One step for each row of indices."""

    def step(state: Parameters, indices: jax.Array) -> tuple[Parameters, None]:
        batch = engine.subset(indices, jnp.asarray(indices.size))
        return batch.step(state, jnp.float32(ETA))[1], None

    return jax.lax.scan(step, state, batches)[0]


def torch_steps(tokens, labels, a, start: Parameters, batches: np.ndarray, margin: float) -> list:
    """The same by PyTorch: a batched forward pass, autograd, plain descent."""
    import torch

    weights = [torch.tensor(np.asarray(w), requires_grad=True) for w in start]
    for row in batches:
        X, y = tokens[row], labels[row]
        W_O, W_V, W_K, W_Q = weights[0], weights[1][0], weights[2][0], weights[3][0]
        scores = (X @ W_Q.T) @ (X @ W_K.T).transpose(1, 2)
        v = torch.softmax(scores, -1) @ (X @ W_V.T)
        F = (torch.relu(v @ W_O.T) * a).sum((1, 2)) / X.shape[1]
        loss = torch.relu(margin - y * F).mean()
        gradients = torch.autograd.grad(loss, weights)
        with torch.no_grad():
            for w, g in zip(weights, gradients, strict=True):
                w -= ETA * g
    return [w.detach().numpy() for w in weights]


def started(cell: TrainingSettings):
    """An engine with its first state, ready to run."""
    cell = resolve(cell)
    return runs.start(cell, Key.of(cell, 0))[:2]


def engines(repetitions: int) -> bool:
    """Both engines against the loop."""
    import torch

    torch.set_num_threads(1)
    exact, state = started(CELL)
    collapsed, same = started(replace(CELL, engine="collapsed", c0=0.0))
    draw = np.random.default_rng(0)
    batches = draw.integers(0, CELL.N, (3000, CELL.B))
    tokens = torch.tensor(np.asarray(exact.tokens))
    labels = torch.tensor(np.asarray(exact.labels[:, 0]))
    a = torch.tensor(np.ascontiguousarray(np.asarray(exact.a[0]).T))
    few, some, many = (jnp.asarray(batches[:k]) for k in (40, 100, 3000))
    ours = jax_steps(exact, state, few)
    loop = torch_steps(tokens, labels, a, state, batches[:40], CELL.margin)
    gap = max(float(np.abs(x - y).max()) for x, y in zip(ours, loop, strict=True))
    moved = max(float(jnp.abs(x - y).max()) for x, y in zip(ours, state, strict=True))
    print(f"after 40 steps exact and the loop differ by {gap:.1e}, having moved by {moved:.1e}")
    assert gap < 1e-3 * moved, "the two do not train the same model"
    square = jnp.ones((1024, 1024), jnp.float32)
    product = jax.jit(lambda x: x @ x)
    times = interleaved(
        repetitions,
        {
            "loop": lambda: torch_steps(tokens, labels, a, state, batches[:40], CELL.margin) and 0,
            "exact": lambda: jax_steps(exact, state, some),
            "collapsed": lambda: jax_steps(collapsed, same, many),
            "product": lambda: product(square),
        },
    )
    # Three products of L x m x d a sample: the gates, U and what goes back to the tokens.
    work = 3 * 2 * CELL.L * CELL.m * CELL.d * CELL.B * 100
    shares = quotients(times["product"], times["exact"], work / (2 * 1024**3))
    met = measured("exact, times the loop", quotients(times["loop"], times["exact"], 2.5), 6)
    measured("exact, share of the core's speed in products of matrices", shares)
    ratios = quotients(times["loop"], times["collapsed"], 75)
    return measured("collapsed, times the loop", ratios, 400) and met


def sparsified(repetitions: int) -> bool:
    """Half of the tokens against all of them, with output weights of their own positions."""
    whole, state = started(CELL)
    half, same = started(replace(CELL, selector="random", removed=0.5))
    assert half.tokens.shape[1] == CELL.L // 2, "removed tokens are still there"
    batches = jnp.asarray(np.random.default_rng(0).integers(0, CELL.N, (100, CELL.B)))
    times = interleaved(
        repetitions,
        {
            "whole": lambda: jax_steps(whole, state, batches),
            "half": lambda: jax_steps(half, same, batches),
        },
    )
    ratios = quotients(times["whole"], times["half"])
    return measured("exact with half of the tokens, times all of them", ratios, 1.6)


def success_map() -> bool:
    """A map of 12 x 10 cells, 20 trials each."""
    study = next(s for s in STUDIES if s.id == "li2023.figure_1a")
    cells = [study.resolve(c) for c in study.designs["paper"].cells if c.confusion == "paper_slice"]
    sizes = sorted({cell.N for cell in cells})[-10:]
    chosen = [cell for cell in cells if cell.N in sizes]
    shares = sorted({cell.alpha_star for cell in chosen})
    print(f"map: {len(shares)} fractions, N = {sizes}")
    for program in {study.program(cell): cell for cell in chosen}.values():
        runs.train(program, Key.of(program, 0))
    begin = time.perf_counter()
    for cell in chosen:
        runs.train(cell, Key.of(cell, 1))
    one = (time.perf_counter() - begin) * 120 / len(chosen)
    print(f"  {one:.1f} s for 120 trials on one core")
    name = "seconds for 12 x 10 cells, 20 trials, two cores"
    return measured(name, one * 10, 300, at_least=False)


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--only", choices=("engines", "sparsified", "success_map"))
    options = parser.parse_args()
    parts = {
        "engines": lambda: engines(options.repetitions),
        "sparsified": lambda: sparsified(options.repetitions),
        "success_map": success_map,
    }
    met = [part() for name, part in parts.items() if options.only in (None, name)]
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
