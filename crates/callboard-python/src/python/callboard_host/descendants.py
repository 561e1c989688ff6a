"""The processes below this one: finding them, and ending them all even while they fork."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

from callboard_host.kernel import reap_any

if TYPE_CHECKING:
    from collections.abc import Callable

# Also children that end without SIGCHLD, as clone() can make them; a plain wait does not see those.
_WALL = 0x40000000
_NO_WAIT = os.WNOHANG | _WALL


def children(process: int | None = None) -> list[int]:
    """The children of a process, this one by default; empty where the kernel does not list them."""
    tasks = f"/proc/{process or os.getpid()}/task"
    found: list[int] = []
    try:
        for task in os.listdir(tasks):
            with open(f"{tasks}/{task}/children") as file:
                found.extend(map(int, file.read().split()))
    except OSError:
        # The process has ended.
        pass
    return found


def end_descendants() -> bool:
    """Ends everything below this process. False if nothing was running; children that had ended are reaped."""
    found = reap_any(_NO_WAIT)
    while found > 0:
        found = reap_any(_NO_WAIT)
    if found < 0:
        return False
    end_processes(children)
    return True


def end_processes(find: Callable[[], list[int]]) -> None:
    """Kills the children that `find` returns, with all below them, until it finds none.

    What a killed process leaves behind becomes a child of this process, so whatever forks meanwhile is found too.
    """
    found = find()
    while found:
        for pid in _with_descendants(found):
            kill(pid)
        for pid in found:
            reap(pid)
        found = find()


def _with_descendants(processes: list[int]) -> list[int]:
    found = list(processes)
    for pid in found:
        found.extend(children(pid))
    return found


def reap(pid: int) -> None:
    """Waits for the end of a child, unless the system reaps it by itself."""
    try:
        os.waitpid(pid, _WALL)
    except ChildProcessError:
        pass


def kill(pid: int, whole_group: bool = False) -> None:
    try:
        (os.killpg if whole_group else os.kill)(pid, signal.SIGKILL)
    except OSError:
        pass
