"""Tools that look for what is not theirs, and that leave something for the next conversation."""

import builtins
import gc
import math
import mmap
import os
import signal
import struct
import sys
import time
import types

CHARACTER_NAME = "Prying"
INSTRUCTIONS = {}
LIMITS = {"tools": 40}
NOTES = []


class Board:
    notes = {}


def collect(notes=[]):
    notes.append("s")


def leaves(where: str) -> str:
    """Leaves something for the next conversation.

    Args:
        where: where it is left
    """
    global NOTES
    if where == "builtins":
        builtins.secret = "s"
    elif where == "another module":
        math.secret = "s"
    elif where == "new module":
        sys.modules["secret"] = types.ModuleType("secret")
    elif where == "environment":
        os.environ["SECRET"] = "s"
    elif where == "folder":
        os.chdir("/")
    elif where == "list":
        NOTES.append("s")
    elif where == "name":
        NOTES = ["s"]
    elif where == "class":
        Board.notes["s"] = 1
    elif where == "function":
        leaves.secret = "s"
    elif where == "default":
        collect()
    elif where == "timer":
        signal.signal(signal.SIGALRM, lambda *_: None)
        signal.setitimer(signal.ITIMER_REAL, 600)
    return str(os.getpid())


def finds() -> str:
    """Looks for what was left."""
    found = {
        "builtins": hasattr(builtins, "secret"),
        "another module": hasattr(math, "secret"),
        "new module": "secret" in sys.modules,
        "environment": "SECRET" in os.environ,
        "folder": os.getcwd() == "/",
        "list": bool(NOTES),
        "class": bool(Board.notes),
        "function": hasattr(leaves, "secret"),
        "default": bool(collect.__defaults__[0]),
        "timer": signal.getitimer(signal.ITIMER_REAL)[0] > 0,
    }
    return ", ".join(name for name, is_there in found.items() if is_there)


def imports() -> str:
    """Imports an installed module that is not loaded yet."""
    import wave  # noqa: F401

    return str(os.getpid())


def resets_its_clock(how: str) -> str:
    """Overwrites what its worker reports of the call.

    Args:
        how: what it writes
    """
    pages = [value for value in gc.get_objects() if isinstance(value, mmap.mmap)]
    while True:
        for page in pages:
            number, _ = struct.unpack_from("<QQ", page, 0)
            struct.pack_into("<QQ", page, 0, number if how == "now" else 0, time.monotonic_ns())


def lists_files() -> str:
    """Lists what is open."""
    folder = "/proc/self/fd"
    names = [os.readlink(os.path.join(folder, name)) for name in os.listdir(folder) if os.path.lexists(os.path.join(folder, name))]
    return " ".join(sorted(name.split(":")[0] for name in names if not name.startswith("/proc")))


def lists_variables() -> str:
    """Lists the environment."""
    return " ".join(os.environ)


def reads_its_parent(what: str) -> str:
    """Reads memory or environment of the program that runs this interpreter.

    Args:
        what: the file in /proc
    """
    root = open(f"/proc/{os.getppid()}/stat").read().rpartition(")")[2].split()[1]
    read = []
    for process in (os.getppid(), root):
        with open(f"/proc/{process}/{what}", "rb") as file:
            if what == "mem":
                file.seek(int(open(f"/proc/{process}/maps").read().split("-")[0], 16))
            read.append(file.read(1))
    return "read"


def tries(code: str) -> str:
    """Runs code.

    Args:
        code: the code, which sets `result`
    """
    names = {}
    exec("import os, socket, subprocess, ctypes, tempfile, asyncio\nlibc = ctypes.CDLL(None, use_errno=True)\n" + code, names)
    return str(names["result"])


TOOLS = [leaves, finds, imports, resets_its_clock, lists_files, lists_variables, reads_its_parent, tries]
TOOL_TIMEOUT_MS = {**dict.fromkeys([tool.__name__ for tool in TOOLS], 20_000), "resets_its_clock": 100}


class PromptGenerator:
    def __init__(self, instructions):
        pass

    def make_system_prompt(self):
        return "Pry."
