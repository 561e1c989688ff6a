"""What every process of the host does with itself: its place in the family, its limits, its standard streams."""

import os
import resource
import signal
import socket
import sys

from callboard_host.wire import Channel

_PR_SET_PDEATHSIG = 1
_PR_SET_NAME = 15
_PR_SET_CHILD_SUBREAPER = 36


def _find_prctl():
    """prctl of the C library. Without it (no ctypes) a family that lost its head ends when its channels close."""
    try:
        import ctypes

        return ctypes.CDLL(None, use_errno=True).prctl
    except (ImportError, OSError, AttributeError):
        return lambda *_: -1


_prctl = _find_prctl()


def die_with(parent):
    """Makes the kernel end this process when its parent ends; `parent` is who that was before the fork."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(0)


def adopt_orphans():
    """Makes descendants that lost their parent children of this process, so that none gets away."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def set_name(name):
    """The name that `ps` and `top` show."""
    _prctl(_PR_SET_NAME, name.encode("utf-8", "replace")[:15], 0, 0, 0)


def start_life(parent, descriptors):
    """The first thing after a fork: a process group, streams and a channel of its own. Returns the channel."""
    channel, stdout, stderr = descriptors[:3]
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setpgid(0, 0)
    die_with(parent)
    os.dup2(stdout, 1)
    os.dup2(stderr, 2)
    os.close(stdout)
    os.close(stderr)
    return Channel(socket.socket(fileno=channel))


def set_limits(limits):
    """Limits that this process and all it forks cannot raise again."""
    memory = limits["memory"]
    _limit(resource.RLIMIT_DATA, memory)
    # Shared mappings do not count as data; address space is reserved generously, so its limit only bounds those.
    _limit(resource.RLIMIT_AS, memory * 2)
    _limit(resource.RLIMIT_NOFILE, limits["open_files"])
    _limit(resource.RLIMIT_CORE, 0)


def _limit(which, value):
    hard = resource.getrlimit(which)[1]
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(which, (value, value))


def prepare_streams():
    """Lines leave at once, so that nothing is lost when a process is killed, and any text can be printed."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(line_buffering=True, errors="backslashreplace")


def flush_streams():
    """Whether both streams are there and take what was printed."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
        return True
    except (AttributeError, OSError, ValueError):
        return False


def children():
    """The processes whose parent this is, or none where the kernel does not tell."""
    try:
        with open("/proc/self/task/%d/children" % os.getpid()) as file:
            return [int(pid) for pid in file.read().split()]
    except OSError:
        return []


def kill(pid, whole_group=False):
    try:
        (os.killpg if whole_group else os.kill)(pid, signal.SIGKILL)
    except OSError:
        pass
