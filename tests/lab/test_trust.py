"""What a worker executes: orders for registered studies only, programs of a private folder only."""

import os
import stat
from pathlib import Path

import msgspec
import pytest

from attnlab.core import BadInput
from attnlab.lab import dask_executor, executors, fingerprint, plan, registry, worker
from attnlab.lab.companion import Fingerprint, Order
from attnlab.lab.worker import Job


def an_order(**changes):
    task = plan.tasks_for(["toy.overshoot"], plan.Request("smoke"))[0]
    job = executors.job_of(task)
    plain = {name: getattr(job, name) for name in ("run", "settings", "cell", "seed")}
    return Order(Job(**plain | changes), Fingerprint("code", "stack"))


@pytest.mark.parametrize(
    "changes",
    [
        {"run": "os:system"},
        {"run": "attnlab_toy.runs:_descend"},
        {"settings": "builtins:dict"},
        {"settings": "subprocess:Popen"},
        {"run": ""},
    ],
)
def test_an_order_for_what_no_study_runs_is_refused_before_a_process_is_started(
    monkeypatch, changes
):
    def started(*arguments):
        raise AssertionError("a companion was started")

    monkeypatch.setattr(dask_executor, "Companion", started)
    monkeypatch.setattr(dask_executor, "_take", started)
    order = msgspec.msgpack.encode(an_order(**changes))
    with pytest.raises(BadInput, match="no study of a paper installed there runs"):
        dask_executor.perform(order, 1.0)


def test_an_order_of_every_installed_study_is_taken():
    for paper in registry.papers().values():
        for study in paper.studies:
            settings = fingerprint.settings_name(study.settings)
            order = an_order(run=study.run, settings=settings)
            dask_executor._require_registered(order)


@pytest.fixture
def cache(monkeypatch, tmp_path):
    """The usual folder, with the temporary files of this test."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(worker.tempfile, "tempdir", str(tmp_path))
    return tmp_path / "cache" / "attnlab" / f"xla-{worker._machine()}"


def mode(folder):
    return stat.S_IMODE(os.lstat(folder).st_mode)


def test_the_cache_is_the_users_alone(cache):
    assert worker.compilation_cache() == cache
    assert mode(cache) == 0o700
    assert worker.compilation_cache() == cache


@pytest.mark.parametrize("home", ["~/.cache", "relative"])
def test_without_a_home_the_cache_is_not_in_the_current_folder(cache, tmp_path, monkeypatch, home):
    monkeypatch.chdir(tmp_path)
    path = Path(home, "attnlab")  # what is left of the name of a home that nobody knows
    monkeypatch.setattr(worker.platformdirs, "user_cache_path", lambda *_, **__: path)
    found = worker.compilation_cache()
    assert found is not None
    assert found.name.startswith("attnlab-")
    assert not Path(home).exists()


def test_a_cache_that_others_could_only_read_is_closed(cache):
    cache.mkdir(parents=True, mode=0o755)
    cache.chmod(0o755)
    assert worker.compilation_cache() == cache
    assert mode(cache) == 0o700


@pytest.mark.parametrize("kind", ["writable by all", "link", "file", "of another user"])
def test_a_cache_that_is_not_ours_alone_is_not_used(cache, tmp_path, monkeypatch, kind):
    cache.parent.mkdir(parents=True)
    if kind == "file":
        cache.touch()
    elif kind == "link":
        (tmp_path / "theirs").mkdir(mode=0o700)
        cache.symlink_to(tmp_path / "theirs")
    else:
        cache.mkdir()
        cache.chmod(0o777 if kind == "writable by all" else 0o700)
    if kind == "of another user":
        stranger = os.getuid() + 1
        monkeypatch.setattr(worker.os, "getuid", lambda: stranger)
        first, second = worker.compilation_cache(), worker.compilation_cache()
        assert first != second  # nothing here is that user's, so each time a new one
    else:
        first = second = worker.compilation_cache()
        assert worker.compilation_cache() == first  # kept from run to run
    assert {mode(first), mode(second)} == {0o700}
    assert first.parent == tmp_path
    assert not first.is_symlink()


def test_without_room_for_a_cache_there_is_none(cache, tmp_path, monkeypatch):
    (tmp_path / "cache").write_text("in the way")
    monkeypatch.setattr(worker.tempfile, "tempdir", str(tmp_path / "missing"))
    (tmp_path / "missing").write_text("in the way")
    assert worker.compilation_cache() is None
