"""500 runs under kills, stops, full disks and deletions: 500 records, each bit as undisturbed."""

import os
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest

pytestmark = pytest.mark.soak

RUNS = 500
COMMAND = ("run", "toy.figure_1", "--scale", "paper", "--set", "sleep=0.25")
SEED = 21

MEAN_GAP = 4.0
YOUNG = 0.3
# A run is given up after ten kills: with few left, the same one would be hit again and again.
KILLED_UNTIL = RUNS - 15
STOPPED_SECONDS = 3.0
# File sizes beyond this fail: what a full disk does, without a right to mount one.
FULL_DISK_BYTES = 16_384
NOTICED_SECONDS = 5.0
LONGEST = 900.0

FAULTS = {
    "kill the command": 4,
    "kill the command and the next one as it starts": 3,
    "stop the command": 2,
    "stop a worker": 2,
    "stop all": 1,
    "fill the disk": 3,
    "delete the file": 2,
    "delete the log": 1,
    "delete the folder": 2,
}


@dataclass
class Attack:
    """A command, started again whenever it was ended, and what is done to it."""

    attnlab: object
    folder: Path
    logs: Path
    chance: random.Random
    process: subprocess.Popen | None = None
    sessions: list[int] = field(default_factory=list)
    started: float = field(default_factory=time.monotonic)
    diary: list[str] = field(default_factory=list)
    ages: list[float] = field(default_factory=list)
    """How old each killed worker was."""
    killed: set[int] = field(default_factory=set)
    commands_killed: int = 0
    next_kill: float = 0.0
    young_age: float | None = None
    """At which age the next new worker is killed; None if the next victim may have any age."""

    def note(self, what: str) -> None:
        self.diary.append(f"{time.monotonic() - self.started:7.2f} s, {self.finished()}: {what}")

    def start(self) -> None:
        number = len(self.sessions)
        with (self.logs / f"{number}.err").open("w") as log:
            self.process = subprocess.Popen(
                [*self.attnlab.command, *COMMAND, "--workers", "2", "--out", str(self.folder)],
                stdout=log,
                stderr=log,
                env=self.attnlab.environment,
                start_new_session=True,
            )
        self.sessions.append(self.process.pid)

    def log(self) -> str:
        return (self.logs / f"{len(self.sessions) - 1}.err").read_text()

    def finished(self) -> int:
        try:
            path = self.folder / "ledger.sqlite"
            db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
            try:
                return db.execute("SELECT COUNT(*) FROM record").fetchone()[0]
            finally:
                db.close()
        except sqlite3.OperationalError:
            return 0

    def workers(self) -> dict[int, float]:
        """The command's worker processes and their ages in seconds."""
        found = {pid: age for pid, parent, _, age in processes() if parent == self.process.pid}
        return {pid: age for pid, age in found.items() if pid not in self.killed and is_worker(pid)}

    # --- what goes on all the time ---

    def tick(self) -> bool:
        """Kill a worker if it is time to; whether the command goes on."""
        time.sleep(0.04)
        assert time.monotonic() - self.started < LONGEST, "it does not come to an end"
        if self.process.poll() is not None:
            return False
        now = time.monotonic()
        if now < self.next_kill:
            return True
        if self.finished() >= KILLED_UNTIL:
            return True
        workers = self.workers()
        if self.young_age is not None:
            workers = {pid: age for pid, age in workers.items() if self.young_age <= age <= YOUNG}
        if not workers:
            return True
        victim = self.chance.choice(sorted(workers))
        kill(victim, signal.SIGKILL)
        self.killed.add(victim)
        self.ages.append(workers[victim])
        self.note(f"killed a worker of {workers[victim]:.2f} s")
        self.plan_kill()
        return True

    def plan_kill(self) -> None:
        """The next gap; every third victim is the one that takes the last one's place."""
        young = len(self.ages) % 3 == 2
        gap = 0.0 if young else self.chance.expovariate(1 / MEAN_GAP)
        self.next_kill = time.monotonic() + gap
        self.young_age = self.chance.uniform(0.0, 0.8 * YOUNG) if young else None

    def pass_time(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end and self.tick():
            pass

    def go_on_until(self, count: int) -> None:
        while self.finished() < count:
            assert self.tick(), f"it ended with {self.process.returncode}:\n{self.log()}"

    # --- faults ---

    def commit(self, fault: str) -> None:
        self.note(fault)
        verb, _, whom = fault.partition(" ")
        if verb == "kill":
            self.kill_command(whom)
        elif verb == "stop":
            self.stop(whom)
        elif verb == "fill":
            self.fill_disk()
        else:
            self.delete(whom)

    def kill_command(self, whom: str = "") -> None:
        if whom.endswith("starts"):
            self.kill_command()
            time.sleep(self.chance.uniform(0.0, 2.0))
        self.process.kill()
        self.process.wait()
        self.commands_killed += 1
        self.start()

    def stop(self, whom: str) -> None:
        self.pass_time(0.5)
        if whom == "all":
            targets = [self.process.pid, *self.workers()]
        elif whom == "a worker":
            targets = sorted(self.workers())[:1]
        else:
            targets = [self.process.pid]
        for pid in targets:
            kill(pid, signal.SIGSTOP)
        self.pass_time(STOPPED_SECONDS)
        for pid in targets:
            kill(pid, signal.SIGCONT)

    def fill_disk(self) -> None:
        unlimited = resource.RLIM_INFINITY
        limits = (FULL_DISK_BYTES, unlimited)
        resource.prlimit(self.process.pid, resource.RLIMIT_FSIZE, limits)
        while self.tick():
            pass
        assert self.process.returncode == 2, self.log()
        assert "check the folder and its free space" in self.log()
        self.start()

    def delete(self, what: str) -> None:
        path = self.folder / "ledger.sqlite"
        if what == "the log":
            log, count = Path(f"{path}-wal"), self.finished()
            log.unlink()
            self.go_on_until(count + 10)  # they are seen from outside, so they are in a file
            assert log.exists()
            return
        if what == "the folder":
            shutil.rmtree(self.folder, ignore_errors=True)  # it is put back that fast
        else:
            path.unlink()
        end = time.monotonic() + NOTICED_SECONDS
        while not path.exists():
            assert time.monotonic() < end, "a deleted ledger was not noticed"
            assert self.tick()


def kill(pid: int, number: int) -> None:
    """Send a signal, unless the process has just ended."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return


def processes() -> list[tuple[int, int, int, float]]:
    """Every process that is no zombie: its id, its parent's, its session's, its age in seconds."""
    uptime = float(Path("/proc/uptime").read_text().split()[0])
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        age = uptime - int(fields[19]) / os.sysconf("SC_CLK_TCK")
        if fields[0] != "Z":
            found.append((int(folder.name), int(fields[1]), int(fields[3]), age))
    return found


def is_worker(pid: int) -> bool:
    try:
        return b"attnlab.lab.companion" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def test_whatever_is_killed_stopped_filled_or_deleted_nothing_is_lost(attnlab, tmp_path):
    undisturbed = tmp_path / "undisturbed"
    attnlab(*COMMAND, "--workers", "4", "--out", undisturbed)

    chance = random.Random(SEED)
    faults = [name for name, times in FAULTS.items() for _ in range(times)]
    chance.shuffle(faults)
    counts = sorted(chance.sample(range(5, KILLED_UNTIL), len(faults)))
    schedule = list(zip(counts, faults, strict=True))
    logs = tmp_path / "logs"
    logs.mkdir()
    attack = Attack(attnlab, tmp_path / "results", logs, chance)
    try:
        attack.start()
        attack.plan_kill()
        for count, fault in schedule:
            attack.go_on_until(count)
            attack.commit(fault)
        while attack.tick():
            pass
        assert attack.process.returncode == 0, attack.log()
        end = time.monotonic() + 10
        while left := [p for p in processes() if p[2] in attack.sessions]:
            assert time.monotonic() < end, f"left running: {left}"
            time.sleep(0.1)
    except BaseException:
        print(f"seed {SEED}, schedule (runs, fault): {schedule}", *attack.diary, sep="\n")
        raise
    finally:
        for pid, _, session, _ in processes():
            if session in attack.sessions:
                kill(pid, signal.SIGKILL)
    print(f"{len(attack.ages)} workers killed in {time.monotonic() - attack.started:.0f} s")
    assert attack.commands_killed == 10
    assert sum(age <= YOUNG for age in attack.ages) >= len(attack.ages) // 3 >= 5
    for log in logs.iterdir():
        assert "Traceback" not in log.read_text(), log.read_text()
    assert attack.finished() == RUNS
    done = attnlab("diff", undisturbed, attack.folder)
    assert f"{RUNS} equal, 0 different" in done.out
    (row,) = attnlab("ledger", attack.folder, "--json").json
    assert (row["current"], row["stale"], row["runs"]) == (RUNS, 0, RUNS)
    assert set(row["attempts"]) == {"killed"}
