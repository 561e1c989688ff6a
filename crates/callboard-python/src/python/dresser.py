"""A dresser: runs one character file, reports what it is or what is wrong with it, and then forks its workers."""

import gc
import os

from callboard_host import worker
from callboard_host.forking import Forker
from callboard_host.loading import Refused, load, read_source
from callboard_host.processes import adopt_orphans, flush_streams, set_limits, set_name, start_life


def live(parent, settings, descriptors):
    """The life of a dresser."""
    channel = start_life(parent, descriptors)
    adopt_orphans()
    channel.send({"hello": {"pid": os.getpid()}})
    order = channel.receive()
    set_name(order["id"])
    set_limits(settings["limits"])
    character = _dress(channel, order)
    flush_streams()
    if character is None:
        return
    gc.freeze()
    dresser = os.getpid()
    Forker(channel, 4, lambda _order, given: worker.live(dresser, character, settings["limits"], given)).serve()


def _dress(channel, order):
    """Loads the file and reports. A process that the file forked may come here too: it has nothing to say."""
    dresser = os.getpid()
    path = order["path"]
    try:
        source = order["source"] if order["source"] is not None else read_source(path)
        character, manifest = load(path, os.path.dirname(path), source)
        report = {"loaded": {"manifest": manifest, "source": source}}
    except Refused as refused:
        character, report = None, {"refused": {"problems": refused.problems}}
    if os.getpid() != dresser:
        return None
    flush_streams()
    channel.send(report)
    return character
