"""Child processes of the bench: each started in its own session, measured through /proc, and killed at exit.

A session holds a gateway's main process and every worker it forks, so CPU time and memory are sums
over the session and nothing is missed when a gateway has several processes.
"""

import contextlib
import os
import re
import signal
import socket
import subprocess
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


class Process:
    """A running program: works in `folder`, with its output in a log file there."""

    def __init__(self, name, command, folder, environment=None):
        self.name = name
        self.log = Path(folder) / f"{name}.log"
        with open(self.log, "wb") as log:
            self.child = subprocess.Popen(
                [str(word) for word in command],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=folder,
                env={**os.environ, **(environment or {})},
                start_new_session=True,
            )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for how in (signal.SIGTERM, signal.SIGKILL):
            if not self.pids():
                break
            with contextlib.suppress(ProcessLookupError, subprocess.TimeoutExpired):
                os.killpg(self.child.pid, how)
                self.child.wait(timeout=5)
        self.child.wait()

    def wait_until(self, ready: Callable, seconds: float) -> Any:
        """Waits for `ready()` to return something and returns it; fails when the program ends or takes too long."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if found := ready():
                return found
            if self.child.poll() is not None:
                break
            time.sleep(0.05)
        tail = "\n".join(self.log.read_text(errors="replace").splitlines()[-15:])
        raise SystemExit(f"{self.name} did not become ready (exit status {self.child.poll()}); its last output:\n{tail}")

    def announced_address(self, seconds=20) -> str:
        """The address in the program's own line `listening on http://HOST:PORT`."""
        def announced():
            found = re.search(r"listening on (http://\S+:\d+)", self.log.read_text(errors="replace"))
            return found and found.group(1)
        return self.wait_until(announced, seconds)

    def pids(self) -> list[int]:
        """All living processes of the session."""
        return [pid for pid, fields in all_stats() if int(fields[3]) == self.child.pid and fields[0] != "Z"]

    def cpu_seconds(self) -> float:
        """User and system time of all processes and threads, with that of children that have ended."""
        fields = [fields for _, fields in all_stats() if int(fields[3]) == self.child.pid]
        return sum(int(ticks) for each in fields for ticks in each[11:15]) / TICKS_PER_SECOND


class PeakMemory:
    """Samples the resident memory of a process and its children while a `with` block runs."""

    def __init__(self, process, interval=0.05):
        self.pids = process.pids()
        self.interval = interval
        self.peak_bytes = 0
        self.done = threading.Event()
        self.thread = threading.Thread(target=self._sample, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.done.set()
        self.thread.join()

    def _sample(self):
        while True:
            self.peak_bytes = max(self.peak_bytes, sum(map(resident_bytes, self.pids)))
            if self.done.wait(self.interval):
                return


def all_stats() -> Iterator[tuple[int, list[str]]]:
    """Process id and the fields of /proc/PID/stat after the command name: state, parent, group, session, …"""
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                text = Path(f"/proc/{entry}/stat").read_text()
            except OSError:
                continue
            yield int(entry), text.rpartition(")")[2].split()


def all_thread_states(pid: int) -> list[str]:
    """One letter for each thread of a process, such as S for one that sleeps."""
    stats = Path(f"/proc/{pid}/task").glob("*/stat")
    return [stat.read_text().rpartition(") ")[2][0] for stat in stats]


def tree_cpu_seconds(root: int, below=True) -> float:
    """User and system time of a process with all its threads, and of all its descendants, including ended ones."""
    stats = dict(all_stats())
    tree = {root}
    while below and (more := {pid for pid, fields in stats.items() if int(fields[1]) in tree} - tree):
        tree |= more
    ticks = slice(11, 15) if below else slice(11, 13)
    return sum(int(spent) for pid in tree & stats.keys() for spent in stats[pid][ticks]) / TICKS_PER_SECOND


def machine_cpu_seconds() -> float:
    """Busy time of all cores."""
    user, nice, system, _idle, _iowait, irq, softirq, steal = map(int, Path("/proc/stat").read_text().split()[1:9])
    return (user + nice + system + irq + softirq + steal) / TICKS_PER_SECOND


def resident_bytes(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE_BYTES
    except OSError:
        return 0


def proportional_bytes(pid: int) -> int:
    """Memory of a process, in which a page that several processes share counts for each in part."""
    try:
        rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0
    found = re.search(r"^Pss:\s+(\d+) kB", rollup, re.MULTILINE)
    return int(found.group(1)) * 1024 if found else 0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def answers(url: str) -> bool:
    """Whether the address answers with a success status."""
    try:
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        return opener.open(url, timeout=2).status == 200
    except OSError:
        return False
