"""A companion's pipes, and code that is edited while companions live."""

import os
import time

import msgspec
import pytest

from attnlab.core import BadInput
from attnlab.lab import companion, dask_executor, fingerprint
from attnlab.lab.companion import Companion, Fingerprint, Order, OtherCode
from attnlab.lab.outcomes import Outcome
from attnlab.lab.worker import Job

LONG = 120
RUN = """
import numpy as np
from dataclasses import dataclass
from attnlab.core import Result

@dataclass(frozen=True)
class Settings:
    pass

def run(cell, key):
    from edited import late
    return Result({"value": late.VALUE, "large": np.zeros(200_000)})

def walk(cell, key):
    return run(cell, key)
"""
READY = "os.write(1, bytes(4)); "
ORDER = Order(Job("edited.runs:run", "edited.runs:Settings", {}, 0), Fingerprint("code", "stack"))


def always() -> bool:
    return True


@pytest.mark.parametrize(
    ("program", "kind", "message"),
    [
        ("os.write(1, b'some words\\n'); time.sleep(100)", "crash", "left its pipe"),
        ("os.write(1, b'some words\\n'); sys.exit(3)", "crash", "exit code 3"),
        ("os.write(1, b'\\0'); os.kill(os.getpid(), 9)", "killed", "SIGKILL"),
        ("os.close(1); time.sleep(100)", "crash", "left its pipe"),
        (READY, "killed", "before it took the run"),
        (READY + "os.write(1, b'\\0\\0\\1\\0' + bytes(9)); os.kill(os.getpid(), 9)", "killed", ""),
        (READY + "os.write(1, b'\\0\\0\\1\\0' + bytes(9)); time.sleep(100)", "killed", "SIGKILL"),
        (READY + "time.sleep(100)", "timeout", "did not end within 1 s"),
    ],
)
def test_a_process_that_breaks_off_or_prints_to_its_pipe_is_an_attempt(
    monkeypatch, program, kind, message
):
    monkeypatch.setattr(companion, "COMMAND", ("-c", f"import os, sys, time; {program}"))
    monkeypatch.setattr(companion, "END_SECONDS", 2.0)
    monkeypatch.setattr(companion, "REST_SECONDS", 0.5)
    process = Companion()
    started = time.monotonic()
    try:
        outcome = process.make(ORDER, 1.0, always)
    finally:
        process.end()
    assert (outcome.kind, message in outcome.message) == (kind, True), outcome
    assert time.monotonic() - started < 60


def test_no_descriptor_is_left_open(monkeypatch):
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        Companion().end()
    monkeypatch.setattr(companion.sys, "executable", "/no/such/python")
    with pytest.raises(FileNotFoundError):
        Companion()
    assert len(os.listdir("/proc/self/fd")) == before


@pytest.fixture
def edited(monkeypatch, tmp_path):
    """A package of a run, whose constant a test may change."""
    (tmp_path / "edited").mkdir()
    (tmp_path / "edited/__init__.py").touch()
    (tmp_path / "edited/runs.py").write_text(RUN)
    (tmp_path / "edited/late.py").write_text("VALUE = 1.0")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(fingerprint, "_installed", None)  # put back afterwards
    paths = [str(tmp_path), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, paths)))
    return tmp_path / "edited"


def order_now(function: str) -> Order:
    """An order from a command that starts now."""
    job = Job(f"edited.runs:{function}", "edited.runs:Settings", {}, 0)
    fingerprint._installed = fingerprint.Code(fingerprint.places)
    fingerprint.code.cache_clear()
    return Order(job, Fingerprint.here(job))


def test_a_companion_makes_orders_for_the_code_that_it_has_read_only(edited):
    first, second = Companion(), Companion()
    try:
        order = order_now("run")
        assert first.make(order, LONG, always).kind == "finished"
        assert (first.fit(order), first.fit(order_now("walk"))) == (2, 0)
        (edited / "late.py").write_text("VALUE = 1.0  # a comment")
        assert order_now("run") == order
        (edited / "late.py").write_text("VALUE = 2.0")
        assert order_now("run") != order
        # What the first one has imported is what the order wants; the second one reads it now.
        assert first.make(order, LONG, always).kind == "finished"
        with pytest.raises(OtherCode, match="would make other records"):
            second.make(order, LONG, always)
        # Of another study it has imported the earlier state too, and does not look again.
        with pytest.raises(OtherCode, match="let nobody change the code"):
            first.make(order_now("walk"), LONG, always)
    finally:
        first.end()
        second.end()


class Stub:
    """A companion that has made a run."""

    usable = True

    def __init__(self, refuses: bool = False):
        self.refuses = refuses

    def fit(self, order):
        return 0

    def make(self, order, timeout, needed):
        if self.refuses:
            raise OtherCode("other code")
        return Outcome("finished")


@pytest.mark.parametrize("new_refuses", [False, True])
def test_a_dask_worker_asks_a_new_companion_where_an_old_one_has_other_code(
    monkeypatch, new_refuses
):
    monkeypatch.setattr(dask_executor, "_require_registered", lambda order: None)
    monkeypatch.setattr(dask_executor, "_needed", lambda: always)
    old, new = Stub(refuses=True), Stub(refuses=new_refuses)
    idle = [old]
    monkeypatch.setattr(dask_executor, "_idle", idle)
    monkeypatch.setattr(dask_executor, "Companion", lambda: new)
    order = msgspec.msgpack.encode(ORDER)
    if new_refuses:
        with pytest.raises(BadInput, match="other code"):
            dask_executor.perform(order, 1.0)
        assert idle == []
        return
    for _ in range(2):  # then the new one is taken, though it has never made such a run
        outcome = dask_executor.perform(order, 1.0)
        assert msgspec.msgpack.decode(outcome, type=Outcome).kind == "finished"
        assert idle == [new]
