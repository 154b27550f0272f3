"""Own tokens with a signal, and scripts in a process as a user has it: jax in 32 bits."""

import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from attnlab.lab import worker


@pytest.fixture(scope="session")
def own_tokens():
    """120 samples of 12 tokens in R^6; three tokens of each carry the label."""
    random = np.random.default_rng(5)
    y = np.where(np.arange(120) % 2, 1, -1)
    X = 0.3 * random.normal(size=(120, 12, 6))
    for i in range(120):
        X[i, random.choice(12, 3, replace=False)] += np.eye(6)[0 if y[i] > 0 else 1]
    return X, y


@pytest.fixture
def user_script(tmp_path):
    """Run a script in a fresh process without any of our environment; returns what it prints."""

    def run(code: str, *, fails: bool = False) -> str:
        environment = {k: v for k, v in os.environ.items() if k not in worker.ENVIRONMENT}
        environment["PYTHONPATH"] = ""
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", textwrap.dedent(code)],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert fails or done.returncode == 0, done.stdout + done.stderr
        return done.stdout if not fails else done.stderr

    return run
