"""What a process uses, read from /proc."""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

INTERVAL = 0.2


@dataclass
class Figures:
    kilobytes: int
    threads: int
    files: int
    processes: int

    def __str__(self):
        return f"{self.kilobytes / 1024:.1f} MB, {self.threads} threads, {self.files} open files, {self.processes} children"


def wait_until(condition: Callable[[], object], seconds: float = 60) -> bool:
    """Whether a condition came true in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(INTERVAL)
    return True


def status(pid: int) -> dict[str, str]:
    """The fields of /proc/PID/status; none if there is no such process."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(errors="replace").splitlines()
    except OSError:
        return {}
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def children() -> dict[int, list[int]]:
    """All processes of this machine by their parents."""
    found: dict[int, list[int]] = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit() and (parent := status(int(entry)).get("PPid")):
            found.setdefault(int(parent), []).append(int(entry))
    return found


def descendants(pid: int) -> list[int]:
    by_parent, found = children(), [pid]
    for one in found:
        found += by_parent.get(one, [])
    return found[1:]


def zombies(pids: list[int]) -> list[int]:
    return [pid for pid in pids if status(pid).get("State", "").startswith("Z")]


def is_running(pid: int) -> bool:
    """False for a zombie. One that this process adopted is reaped, since others wait until its number is free."""
    fields = status(pid)
    if not fields.get("State", "").startswith("Z"):
        return bool(fields)
    if int(fields["PPid"]) == os.getpid():
        os.waitpid(pid, os.WNOHANG)
    return False


def figures(pid: int) -> Figures:
    fields = status(pid)
    return Figures(int(fields["VmRSS"].split()[0]), int(fields["Threads"]), len(os.listdir(f"/proc/{pid}/fd")),
                   len(descendants(pid)))


def settled_figures(pid: int) -> Figures:
    """The figures once they have been the same five times, memory aside; the last ones if they never are."""
    seen: list[Figures] = []

    def is_settled() -> bool:
        seen.append(figures(pid))
        last = {(one.threads, one.files, one.processes) for one in seen[-15:]}
        return len(seen) > 15 and len(last) == 1

    wait_until(is_settled, 60)
    return seen[-1]
