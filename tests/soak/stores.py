"""The store behind Callboard, and how it fails: PostgreSQL that is killed or suspended, SQLite on a disk that is full."""

import os
import random
import shutil
import signal
import subprocess
import time
from pathlib import Path

from figures import descendants, is_running, status, wait_until

DISK = "256m"
ROOT = Path(__file__).resolve().parents[2]


class Postgres:
    instances = 2

    def __init__(self, scratch: Path):
        self.skipped: list[str] = []
        self.folder = scratch / "cluster"
        started = self._run("start", str(os.getpid()), check=True)
        self.url = started.stdout.strip()
        self.faults = [self.kill_backend, self.kill_server, self.suspend_server]

    def _run(self, command: str, *arguments: str, check: bool = False) -> subprocess.CompletedProcess:
        return subprocess.run([str(ROOT / "scripts/postgres"), command, str(self.folder), *arguments],
                              check=check, stdout=subprocess.PIPE, text=True)

    def pids(self) -> list[int]:
        try:
            first = int((self.folder / "data/postmaster.pid").read_text().split()[0])
        except (OSError, ValueError):
            return []
        return [first, *descendants(first)] if status(first).get("Name") == "postgres" else []

    def kill_backend(self, chance: random.Random) -> None:
        """The server ends all other connections too, and recovers."""
        if backends := self.pids()[1:]:
            kill(chance.choice(backends), signal.SIGKILL)

    def kill_server(self, chance: random.Random) -> None:
        pids = self.pids()
        for pid in pids:
            kill(pid, signal.SIGKILL)
        time.sleep(chance.uniform(0, 3))
        wait_until(lambda: not any(map(is_running, pids)))
        self.start()

    def suspend_server(self, chance: random.Random) -> None:
        pids = self.pids()
        for pid in pids:
            kill(pid, signal.SIGSTOP)
        time.sleep(chance.uniform(0.5, 6))
        for pid in pids:
            kill(pid, signal.SIGCONT)

    def start(self) -> None:
        if not wait_until(lambda: self._run("resume").returncode == 0):
            raise RuntimeError(f"PostgreSQL does not start again: {(self.folder / 'data/server.log').read_text()[-2000:]}")

    def stop(self) -> None:
        """The server's log stays with those of Callboard."""
        shutil.copy(self.folder / "data/server.log", self.folder.with_name("postgres.log"))
        self._run("stop")


def kill(pid: int, number: int) -> None:
    """A process may have ended meanwhile."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return


class Sqlite:
    instances = 1

    def __init__(self, scratch: Path):
        self.disk = scratch / "disk"
        self.disk.mkdir()
        command = ["mount", "-t", "tmpfs", "-o", f"size={DISK}", "soak", str(self.disk)]
        mounted = subprocess.run(command, stderr=subprocess.PIPE, text=True)
        self.mounted = mounted.returncode == 0
        self.url = f"sqlite:{self.disk}/callboard.db"
        self.faults = [self.fill_disk] if self.mounted else []
        self.skipped = [] if self.mounted else [f"the full disk: no tmpfs can be mounted: {mounted.stderr.splitlines()[0]}"]

    def fill_disk(self, chance: random.Random) -> None:
        filler = self.disk / "filler"
        with filler.open("wb", buffering=0) as file:
            size = 1 << 20
            while size:
                try:
                    file.write(b"x" * size)
                except OSError:
                    size //= 2
            time.sleep(chance.uniform(0.5, 4))
        filler.unlink()

    def start(self) -> None:
        """There is no server."""

    def stop(self) -> None:
        if self.mounted:
            subprocess.run(["umount", "--lazy", str(self.disk)], check=True)
        shutil.rmtree(self.disk, ignore_errors=True)
