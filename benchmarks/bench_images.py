"""Times the deep vision transformer against the same network in PyTorch (group `bench`).

Fine-tuning on pasted images in one process, one thread each and interleaved: 5 blocks, 4 heads, 64
tokens, mini-batches of 16, AdamW, float32. PyTorch's block is written twice: with plain attention
(softmax of a product, a product) and with its fused `scaled_dot_product_attention`; eager mode, as
most write it. Required: at least 1.2 times plain at width 32, 1.0 times at 64; half of the tokens,
gathered, at least 1.8 times all of them. Then the time of one whole trial by how tokens are
removed. Exits 1 if a requirement is missed.

    NPROC=1 JAX_ENABLE_X64=1 python benchmarks/bench_images.py
"""

import argparse
import math
import os
import statistics
import sys
import time

os.environ.setdefault("NPROC", "1")
os.environ.setdefault("JAX_ENABLE_X64", "1")
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from attnlab.cells import Key
from attnlab.data.images import ImageBatch, gathered
from attnlab.engines.classes import on_batch
from attnlab.models.deep_vit_model import DeepViT
from attnlab.papers.li2023.runs import images as runs
from attnlab.papers.li2023.settings.images import ImageSettings
from attnlab.training.descent import descend
from attnlab.training.minibatch import MiniBatches
from attnlab.training.optimisers import optimiser
from benchmarks.measuring import interleaved, measured, quotients

STEPS, BATCH, RATE = 40, 16, 1e-3
HEADS = 4


def batch_of(n: int = 64) -> ImageBatch:
    """Training images; few, for the loss of all of them, taken at the end, is no training."""
    cell = ImageSettings()
    run = runs.given(cell, Key.of(cell, 0))
    return jax.jit(lambda source, key: source.sample(key, n))(run.training, run.streams.training)


def ours(width: int, batch: ImageBatch, steps: int = STEPS):
    """A function that trains for so many steps, and its weights at the start."""
    model = DeepViT(width=width, hidden=2 * width, outputs=10)
    engine, state = on_batch(model, batch, model.init(jax.random.key(1), batch))
    batches = MiniBatches(jax.random.key(2), BATCH, BATCH)
    rule = optimiser("adamw", jnp.float32(RATE), weight_decay=jnp.float32(1e-4))

    def run():
        return descend(engine, state, rule, np.array([steps]), batches=batches).state

    return run, state


def torch_net(width: int, start, fused: bool):
    """The same network with the same first weights."""
    import torch
    from torch.nn import functional as F

    p = {
        name: torch.tensor(np.array(x), requires_grad=True)
        for name, x in start._asdict().items()
        if name != "class_token"
    }

    def apply(X, places):
        z = X @ p["W_E"] + p["b_E"] + p["P"][places]
        n, L, w = z.shape
        for b in range(p["W_Q"].shape[0]):
            x = F.layer_norm(z, (w,), p["gain_1"][b], p["bias_1"][b])
            q, k, v = (
                (x @ p[name][b]).view(n, L, HEADS, w // HEADS).transpose(1, 2)
                for name in ("W_Q", "W_K", "W_V")
            )
            if fused:
                mixed = F.scaled_dot_product_attention(q, k, v)
            else:
                mixed = torch.softmax(q @ k.transpose(2, 3) / math.sqrt(w // HEADS), -1) @ v
            z = z + mixed.transpose(1, 2).reshape(n, L, w) @ p["W_A"][b]
            x = F.layer_norm(z, (w,), p["gain_2"][b], p["bias_2"][b])
            z = z + torch.relu(x @ p["W_1"][b] + p["b_1"][b]) @ p["W_2"][b] + p["b_2"][b]
        return F.layer_norm(z, (w,), p["gain"], p["bias"]).mean(1) @ p["C"] + p["c"]

    return apply, p


def theirs(width: int, batch: ImageBatch, start, fused: bool, steps: int = STEPS):
    """A function that trains the PyTorch network for so many steps."""
    import torch

    tokens = torch.tensor(np.array(batch.tokens))
    labels = torch.tensor(np.array(batch.labels), dtype=torch.long)
    places = torch.tensor(np.array(batch.places), dtype=torch.long)
    rows = np.random.default_rng(0).integers(0, len(labels), (steps, BATCH))

    def run():
        apply, p = torch_net(width, start, fused)
        rule = torch.optim.AdamW(list(p.values()), lr=RATE, weight_decay=1e-4)
        for row in rows:
            rule.zero_grad(set_to_none=True)
            loss = torch.nn.functional.cross_entropy(apply(tokens[row], places[row]), labels[row])
            loss.backward()
            rule.step()

    return run


def agree(width: int, batch: ImageBatch) -> None:
    """Both networks give the same outputs from the same weights."""
    import torch

    model = DeepViT(width=width, hidden=2 * width, outputs=10)
    engine, state = on_batch(model, batch, model.init(jax.random.key(1), batch))
    few = engine.rows(jnp.arange(8)).outputs(state)
    for fused in (False, True):
        apply, _ = torch_net(width, state, fused)
        same = apply(
            torch.tensor(np.array(batch.tokens[:8])),
            torch.tensor(np.array(batch.places[:8])).long(),
        )
        gap = float(np.abs(same.detach().numpy() - np.asarray(few)).max())
        assert gap < 1e-4, f"the two networks differ by {gap}"


def training(repetitions: int) -> bool:
    """Ours against both of PyTorch's, at two widths."""
    import torch

    torch.set_num_threads(1)
    batch, met = batch_of(), True
    for width, required in ((32, 1.2), (64, 1.0)):
        agree(width, batch)
        run, start = ours(width, batch)
        plain, fused = (theirs(width, batch, start, kind) for kind in (False, True))
        kinds = {"ours": run, "plain": plain, "fused": fused}
        times = interleaved(repetitions, kinds, time.process_time)
        images = [STEPS * BATCH / one for one in times["ours"]]
        measured(f"width {width}, images a second", images)
        name = f"width {width}, times PyTorch with {{}} attention"
        met &= measured(name.format("plain"), quotients(times["plain"], times["ours"]), required)
        measured(name.format("fused"), quotients(times["fused"], times["ours"]))
    return met


def sparsified(repetitions: int) -> bool:
    """Half of the tokens, gathered, against all of them; and masked, which saves nothing."""
    batch = batch_of()
    kept = jnp.arange(64) % 2 == 0
    masked = eqx.tree_at(lambda b: b.kept, batch, jnp.broadcast_to(kept, batch.kept.shape))
    assert isinstance(masked, ImageBatch)
    batches = {"all": batch, "half": gathered(masked, 32), "masked": masked}
    cases = {name: ours(32, one)[0] for name, one in batches.items()}
    times = interleaved(repetitions, cases, time.process_time)
    measured("half of the tokens masked only, times all", quotients(times["all"], times["masked"]))
    ratios = quotients(times["all"], times["half"])
    return measured("half of the tokens gathered, times all", ratios, 1.8)


def trials(repetitions: int) -> bool:
    """A whole trial by the share of background removed and the selector, in seconds."""
    kinds = {
        "all tokens": {},
        "half of the background, by role": {"removed": 0.5},
        "as many, by the initial model's attention": {"removed": 0.5, "selector": "attention"},
        "as many, by a model trained before": {"removed": 0.5, "selector": "model"},
        "all of the background, by role": {"removed": 1.0},
        "all of the background made blank": {"removed": 1.0, "removal": "blanked"},
    }
    for name, changes in kinds.items():
        cell = ImageSettings(N=480, **changes)  # pyright: ignore[reportArgumentType]
        runs.train(cell, Key.of(cell, 0))
        found = []
        for seed in range(repetitions):
            begin = time.process_time()
            runs.train(cell, Key.of(cell, seed))
            found.append(time.process_time() - begin)
        print(f"  {name}: {statistics.median(found):.2f} s")
    return True


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--only", choices=("training", "sparsified", "trials"))
    options = parser.parse_args()
    parts = {"training": training, "sparsified": sparsified, "trials": trials}
    met = [
        part(options.repetitions) for name, part in parts.items() if options.only in (None, name)
    ]
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
