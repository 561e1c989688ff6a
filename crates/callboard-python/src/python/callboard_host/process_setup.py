"""What every process of the host does to itself: its parent, its limits, its standard streams."""

from __future__ import annotations

import io
import os
import resource
import signal
import socket
import sys
from typing import Any

from callboard_host.capabilities import READ_MEMORY, drop_capabilities
from callboard_host.channel import Channel
from callboard_host.kernel import prctl

_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_SET_NAME = 15
_PR_SET_CHILD_SUBREAPER = 36


def exit_with_parent(parent: int) -> None:
    """Has the kernel kill this process when its parent ends. `parent` is the parent's pid before the fork."""
    signal_with_parent(signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)


def signal_with_parent(number: int) -> None:
    """Has the kernel send this process a signal when its parent ends."""
    prctl(_PR_SET_PDEATHSIG, number)


def adopt_orphans() -> None:
    """Makes orphaned descendants children of this process, so that none escapes."""
    prctl(_PR_SET_CHILD_SUBREAPER, 1)


def close_memory() -> None:
    """Closes the memory of this process, and of those that it forks, to characters in other processes.

    The user root might read it all the same, by its capabilities.
    """
    prctl(_PR_SET_DUMPABLE, 0)
    drop_capabilities(READ_MEMORY)


def close_descriptors() -> None:
    """Closes what was inherited but for the standard streams: a character must not find the program's sockets."""
    for descriptor in map(int, os.listdir("/proc/self/fd")):
        if descriptor > 2:
            try:
                os.close(descriptor)
            except OSError:
                # The one that listed them.
                pass


def set_name(name: str) -> None:
    """Sets the name that `ps` and `top` show."""
    prctl(_PR_SET_NAME, name.encode("utf-8", "replace")[:15])


def set_up_child(parent: int, descriptors: list[int]) -> Channel:
    """Gives a forked process its own process group, streams and channel. Called first after a fork."""
    channel, stdout, stderr = descriptors[:3]
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGCHLD, signal.SIGCONT):
        signal.signal(number, signal.SIG_DFL)
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
