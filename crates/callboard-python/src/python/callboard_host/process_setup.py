"""What every process of the host does to itself: its parent, its limits, its standard streams."""

from __future__ import annotations

import io
import os
import resource
import signal
import socket
import sys
from typing import TYPE_CHECKING, Any

from callboard_host.channel import Channel

if TYPE_CHECKING:
    from collections.abc import Callable

_PR_SET_PDEATHSIG = 1
_PR_SET_NAME = 15
_PR_SET_CHILD_SUBREAPER = 36


def _find_prctl() -> Callable[..., Any]:
    """prctl of the C library. Without it (no ctypes), orphaned processes end when their channels close."""
    try:
        import ctypes

        return ctypes.CDLL(None, use_errno=True).prctl
    except (ImportError, OSError, AttributeError):
        return lambda *_: -1


_prctl = _find_prctl()


def exit_with_parent(parent: int) -> None:
    """Has the kernel kill this process when its parent ends. `parent` is the parent's pid before the fork."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(0)


def adopt_orphans() -> None:
    """Makes orphaned descendants children of this process, so that none escapes."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def set_name(name: str) -> None:
    """Sets the name that `ps` and `top` show."""
    _prctl(_PR_SET_NAME, name.encode("utf-8", "replace")[:15], 0, 0, 0)


def set_up_child(parent: int, descriptors: list[int]) -> Channel:
    """Gives a forked process its own process group, streams and channel. Called first after a fork."""
    channel, stdout, stderr = descriptors[:3]
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setpgid(0, 0)
    exit_with_parent(parent)
    os.dup2(stdout, 1)
    os.dup2(stderr, 2)
    os.close(stdout)
    os.close(stderr)
    return Channel(socket.socket(fileno=channel))


def set_limits(limits: dict[str, Any]) -> None:
    """Sets limits that this process and its children cannot raise."""
    memory = limits["memory"]
    _limit(resource.RLIMIT_DATA, memory)
    # Shared mappings do not count as data. Address space is reserved generously, so this limit only bounds those.
    _limit(resource.RLIMIT_AS, memory * 2)
    _limit(resource.RLIMIT_NOFILE, limits["open_files"])
    _limit(resource.RLIMIT_CORE, 0)


def _limit(which: int, value: int) -> None:
    hard = resource.getrlimit(which)[1]
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(which, (value, value))


def configure_streams() -> None:
    """Flushes at every line, so that nothing is lost when a process is killed, and accepts any text."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(line_buffering=True, errors="backslashreplace")


def flush_streams() -> bool:
    """Flushes both streams. False if one is closed or replaced by something that cannot be flushed."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
        return True
    except (AttributeError, OSError, ValueError):
        return False


def children() -> list[int]:
    """The children of this process; empty where the kernel does not list them."""
    try:
        with open(f"/proc/self/task/{os.getpid()}/children") as file:
            return [int(pid) for pid in file.read().split()]
    except OSError:
        return []


def kill(pid: int, whole_group: bool = False) -> None:
    try:
        (os.killpg if whole_group else os.kill)(pid, signal.SIGKILL)
    except OSError:
        pass
