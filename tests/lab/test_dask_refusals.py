"""`--dask` without a cluster: a sentence and exit code 2, and no Dask where it is not asked for."""

import os
import re
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

COMMAND = ("check", "toy.lemma_1", "--scale", "smoke")


@pytest.fixture
def free_port():
    """A port of 127.0.0.1 where nobody listens."""
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        yield reserved.getsockname()[1]


def test_nobody_answers(attnlab, tmp_path, free_port):
    pytest.importorskip("distributed")
    address = f"tcp://127.0.0.1:{free_port}"
    done = attnlab(*COMMAND, "--out", tmp_path, "--dask", address, expect=2)
    assert f"no Dask scheduler answers at {address!r}" in done.err
    assert "required is" in done.err
    assert "`dask scheduler`" in done.err


@pytest.mark.parametrize("greeting", [b"", b"SSH-2.0-OpenSSH_9.2p1\r\n"])
def test_somebody_else_answers(attnlab, tmp_path, greeting):
    pytest.importorskip("distributed")
    with socket.create_server(("127.0.0.1", 0)) as server, ThreadPoolExecutor(1) as thread:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        server.settimeout(30)
        accepted = thread.submit(_greet, server, greeting)
        try:
            done = attnlab(*COMMAND, "--out", tmp_path, "--dask", address, expect=2)
        finally:
            accepted.result().close()
    assert f"no Dask scheduler answers at {address!r}" in done.err


def _greet(server: socket.socket, greeting: bytes) -> socket.socket:
    connection, _ = server.accept()
    connection.sendall(greeting)
    return connection


@pytest.mark.parametrize(
    "address", ["127.0.0.1", "pigeon://127.0.0.1:1", "tls://127.0.0.1:1", "inproc://x", "", "a:b:c"]
)
def test_not_an_address(attnlab, tmp_path, address):
    pytest.importorskip("distributed")
    done = attnlab(*COMMAND, "--out", tmp_path, "--dask", address, expect=2)
    assert "no Dask scheduler answers at" in done.err


def test_workers_and_dask_together(attnlab, tmp_path):
    both = ("--workers", "2", "--dask", "tcp://127.0.0.1:1")
    done = attnlab(*COMMAND, "--out", tmp_path, *both, expect=2)
    assert re.search(r"--workers 2 and --dask .* both given.*leave one", done.err)


def test_without_the_extra(attnlab, tmp_path):
    (tmp_path / "distributed.py").write_text("raise ImportError('not installed')")
    path = os.pathsep.join([str(tmp_path), attnlab.environment["PYTHONPATH"]])
    command = (*COMMAND, "--out", tmp_path / "out", "--dask", "tcp://127.0.0.1:1")
    done = attnlab(*command, expect=2, PYTHONPATH=path)
    assert "pip install 'attnlab[dask]'" in done.err


def test_dask_is_imported_only_when_asked_for(attnlab):
    program = (
        "import sys; import attnlab.lab.session, attnlab.lab.dask_executor\n"
        "from attnlab.cli import main\n"
        "try: main(['check', '--help'])\n"
        "except SystemExit: pass\n"
        "sys.exit(bool({'dask', 'distributed'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=attnlab.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "--dask ADDRESS" in done.stdout
