"""The root process: an interpreter with commonly used modules imported. It forks one zygote per character file."""

from __future__ import annotations

import faulthandler
import gc
import importlib
import os
import socket
import warnings
from typing import Any

from callboard_host import sandbox, zygote
from callboard_host.channel import VERSION, Channel
from callboard_host.fork_server import ForkServer
from callboard_host.imports import list_host_modules
from callboard_host.process_setup import (
    adopt_orphans,
    close_descriptors,
    close_memory,
    configure_streams,
    exit_with_parent,
    set_name,
)

PRELOADED = (
    "asyncio base64 bisect calendar collections contextlib copy dataclasses datetime decimal enum fractions functools "
    "hashlib heapq inspect itertools json logging math operator pathlib random re secrets statistics string subprocess "
    "textwrap threading time traceback typing unicodedata urllib.parse uuid"
).split()


def run(parent: int, limits: dict[str, Any], is_sandboxed: bool) -> None:
    """Says hello, then forks zygotes until Callboard closes the channel."""
    exit_with_parent(parent)
    adopt_orphans()
    close_descriptors()
    close_memory()
    set_name("callboard-root")
    configure_streams()
    warnings.filterwarnings("ignore", category=DeprecationWarning, message=".*fork.*")
    faulthandler.enable()
    channel = Channel(socket.socket(fileno=_take_standard_input()))
    for name in PRELOADED:
        importlib.import_module(name)
    list_host_modules()
    root = os.getpid()
    channel.send({"hello": {"version": VERSION, "pid": root, "kernel": sandbox.offered()}})
    gc.collect()
    gc.freeze()
    ForkServer(channel, parent, 3, lambda descriptors: zygote.run(root, limits, is_sandboxed, descriptors)).serve()


def _take_standard_input() -> int:
    """Moves the channel away from standard input, which is empty for characters."""
    channel = os.dup(0)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    return channel
