"""Tools that leave processes behind which try to outlive the call. Each holds the lock of a folder while it lives."""

import ctypes
import fcntl
import os
import signal
import time

CHARACTER_NAME = "Escapist"
INSTRUCTIONS = {}
LIMITS = {"tools": 40}

libc = ctypes.PyDLL(None)


def hold(folder):
    """Locks the folder for as long as any process forked from here lives."""
    descriptor = os.open(os.path.join(folder, "lock"), os.O_RDWR | os.O_CREAT)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    return descriptor


def stay(folder):
    """What a process that was left behind does."""
    with open(os.path.join(folder, "started"), "w"):
        pass
    while True:
        time.sleep(600)


def wait_for_start(folder):
    while not os.path.exists(os.path.join(folder, "started")):
        time.sleep(0.001)


def daemon(folder, run=stay):
    lock = hold(folder)
    child = os.fork()
    if child == 0:
        os.setsid()
        if os.fork() == 0:
            run(folder)
        os._exit(0)
    os.close(lock)
    os.waitpid(child, 0)
    wait_for_start(folder)


def hop(folder):
    """Changes its process number all the time."""
    with open(os.path.join(folder, "started"), "w"):
        pass
    for _ in range(3):
        if os.fork() == 0:
            break
    while True:
        if os.fork():
            os._exit(0)


def leaves_a_daemon(folder: str) -> str:
    """Forks twice and leaves the session.

    Args:
        folder: the folder to lock
    """
    daemon(folder)
    return "left"


def leaves_hoppers(folder: str) -> str:
    """Leaves processes that fork while they are killed.

    Args:
        folder: the folder to lock
    """
    daemon(folder, hop)
    return "left"


def leaves_a_silent_child(folder: str) -> str:
    """Leaves a child whose end sends no signal, which a plain wait does not see.

    Args:
        folder: the folder to lock
    """
    lock = hold(folder)
    if libc.syscall(56 if os.uname().machine == "x86_64" else 220, 0, 0, 0, 0, 0) == 0:
        stay(folder)
    os.close(lock)
    wait_for_start(folder)
    return "left"


def leaves_a_sibling(folder: str) -> str:
    """Leaves a process that is a child of the worker's parent.

    Args:
        folder: the folder to lock
    """
    lock = hold(folder)
    flags = 0x8000 | signal.SIGCHLD
    if libc.syscall(56 if os.uname().machine == "x86_64" else 220, flags, 0, 0, 0, 0) == 0:
        stay(folder)
    os.close(lock)
    wait_for_start(folder)
    return "left"


def stops_adopting(folder: str) -> str:
    """Forks twice where the worker does not adopt what is left.

    Args:
        folder: the folder to lock
    """
    libc.prctl(36, 0, 0, 0, 0)
    daemon(folder)
    return "left"


def hangs_beside_a_daemon(folder: str) -> str:
    """Forks twice and leaves the session, then hangs.

    Args:
        folder: the folder to lock
    """
    daemon(folder)
    while True:
        time.sleep(600)


def hangs_beside_hoppers(folder: str) -> str:
    """Leaves processes that fork while they are killed, then hangs.

    Args:
        folder: the folder to lock
    """
    daemon(folder, hop)
    while True:
        time.sleep(600)


def hangs_for_long(folder: str) -> str:
    """Forks twice and leaves the session, then hangs for longer than any test.

    Args:
        folder: the folder to lock
    """
    daemon(folder)
    while True:
        time.sleep(600)


def kills_beside_a_daemon(folder: str) -> str:
    """Forks twice and leaves the session, then kills itself.

    Args:
        folder: the folder to lock
    """
    daemon(folder)
    os.kill(os.getpid(), signal.SIGKILL)
    return "survived"


def stops_its_parent() -> str:
    """Stops the process that forks workers."""
    os.kill(os.getppid(), signal.SIGSTOP)
    return "stopped"


def stops_itself_later() -> str:
    """Stops the worker after the call."""
    signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGSTOP))
    signal.setitimer(signal.ITIMER_REAL, 0.02)
    return str(os.getpid())


def exits_hard() -> str:
    """Calls os._exit."""
    os._exit(7)


def answers() -> str:
    """Answers, to show that all is well."""
    return "well"


TOOLS = [
    leaves_a_daemon,
    leaves_hoppers,
    leaves_a_silent_child,
    leaves_a_sibling,
    stops_adopting,
    hangs_beside_a_daemon,
    hangs_beside_hoppers,
    hangs_for_long,
    kills_beside_a_daemon,
    stops_its_parent,
    stops_itself_later,
    exits_hard,
    answers,
]
TOOL_TIMEOUT_MS = {
    **dict.fromkeys([tool.__name__ for tool in TOOLS], 20_000),
    **dict.fromkeys(["hangs_beside_a_daemon", "hangs_beside_hoppers"], 1_000),
    "hangs_for_long": 600_000,
}


class PromptGenerator:
    def __init__(self, instructions):
        pass

    def make_system_prompt(self):
        return "Leave."
