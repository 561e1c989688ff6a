"""The root: an interpreter with the modules that characters commonly use, which forks one dresser for each file."""

import faulthandler
import gc
import importlib
import os
import socket
import warnings

from callboard_host import dresser
from callboard_host.forking import Forker
from callboard_host.processes import adopt_orphans, die_with, prepare_streams, set_name
from callboard_host.wire import VERSION, Channel

PRELOADED = (
    "asyncio base64 bisect calendar collections contextlib copy dataclasses datetime decimal enum fractions functools "
    "hashlib heapq inspect itertools json logging math operator pathlib random re secrets statistics string subprocess "
    "textwrap threading time traceback typing unicodedata urllib.parse uuid"
).split()


def run(settings):
    """The life of the root: says hello, then forks dressers until Callboard closes the channel."""
    die_with(settings["parent"])
    adopt_orphans()
    set_name("callboard-root")
    prepare_streams()
    warnings.filterwarnings("ignore", category=DeprecationWarning, message=".*fork.*")
    faulthandler.enable()
    channel = Channel(socket.socket(fileno=_take_standard_input()))
    for name in PRELOADED:
        importlib.import_module(name)
    root = os.getpid()
    channel.send({"hello": {"version": VERSION, "pid": root}})
    gc.collect()
    gc.freeze()
    Forker(channel, 3, lambda _order, descriptors: dresser.live(root, settings, descriptors)).serve()


def _take_standard_input():
    """The channel came as standard input; characters find that empty."""
    channel = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return channel
