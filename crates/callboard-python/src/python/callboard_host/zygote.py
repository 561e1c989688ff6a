"""A zygote: imports one character file, reports its manifest or its problems, and then forks its workers."""

from __future__ import annotations

import gc
import os
from typing import Any

from callboard_host import sandbox, worker
from callboard_host.channel import Channel
from callboard_host.fork_server import ForkServer
from callboard_host.leftovers import Leftovers
from callboard_host.loading import Character, InvalidFile, load, read_source
from callboard_host.process_setup import adopt_orphans, flush_streams, set_limits, set_name, set_up_child


def run(parent: int, limits: dict[str, Any], is_sandboxed: bool, descriptors: list[int]) -> None:
    channel = set_up_child(parent, descriptors)
    adopt_orphans()
    channel.send({"hello": {"pid": os.getpid()}})
    request = channel.receive()
    set_name(request["id"])
    set_limits(limits)
    if is_sandboxed:
        sandbox.enter(os.path.dirname(request["path"]))
    character = _load(channel, request["path"], request["source"])
    flush_streams()
    if character is None:
        return
    gc.freeze()
    zygote = os.getpid()
    ForkServer(channel, parent, 4, lambda given: worker.run(zygote, character, limits, given)).serve()


def _load(channel: Channel, path: str, source: str | None) -> Character | None:
    """Loads the file and reports. Processes that the file forked return None without a report."""
    zygote = os.getpid()
    report: dict[str, Any]
    character = None
    try:
        if source is None:
            source = read_source(path)
        character, manifest = load(path, os.path.dirname(path), source)
        character.leftovers = Leftovers(os.path.dirname(path), source)
        report = {"loaded": {"manifest": manifest, "source": source}}
    except InvalidFile as error:
        report = {"invalid": {"problems": error.problems}}
    if os.getpid() != zygote:
        return None
    flush_streams()
    channel.send(report)
    return character
