"""Nothing assumes one device: seeds spread over four give what one gives."""

import json
import os
import subprocess
import sys

import pytest

SCRIPT = """
import json
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P

from attnlab.data.word_cooccurrence import BalancedTrainingSet
from attnlab.engines import gram
from attnlab.engines.gram_rows import row_count
from attnlab.models.linear_mlp_initialisation import Initialisation
from attnlab.models.linear_mlp_transformer import LinearMLPSizes
from attnlab.training.descent import PlainStep, descend

SIZES, N = LinearMLPSizes(3 + 12 * 3, 4, 64, 32), 12
words = BalancedTrainingSet(SIZES.d, SIZES.L)


def run(key):
    data, init = jax.random.split(key)
    options = {"rows": row_count(words, N)}
    engine, state = gram.start(init, words.sample(data, N), SIZES, Initialisation(), **options)
    trained = descend(engine, state, PlainStep(jnp.asarray(0.01)), np.array([0, 10, 200]))
    return trained.values["loss"]


keys = jax.random.split(jax.random.key(0), 8)
mesh = Mesh(np.array(jax.devices()), ("seeds",))
spread = jax.shard_map(
    lambda mine: jax.lax.map(run, mine), mesh=mesh, in_specs=P("seeds"), out_specs=P("seeds"),
    check_vma=False,
)
with jax.default_device(jax.devices()[0]):
    alone = np.stack([np.asarray(jax.jit(run)(key)) for key in keys])
together = jax.jit(spread)(keys)
print(json.dumps({
    "devices": len(together.sharding.device_set),
    "gap": float(np.abs(np.asarray(together) / alone - 1).max()),
    "moved": float(np.abs(alone[:, -1] / alone[:, 0] - 1).min()),
}))
"""


@pytest.mark.parametrize("devices", [1, 4])
def test_seeds_over_several_devices(devices):
    flags = f"--xla_force_host_platform_device_count={devices}"
    environment = {**os.environ, "XLA_FLAGS": flags, "JAX_ENABLE_X64": "1", "JAX_PLATFORMS": "cpu"}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["devices"] == devices
    assert found["gap"] < 1e-12
    assert found["moved"] > 1e-3  # it is trained, and not only drawn
