"""A zygote: imports one character file, reports its manifest or its problems, and then forks its workers."""

from __future__ import annotations

import gc
import os
from typing import Any

from callboard_host import own_modules, sandbox, worker
from callboard_host.channel import Channel, encode
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


def _load(channel: Channel, path: str, source: dict[str, Any] | None) -> Character | None:
    """Loads the file and reports. Processes that the file forked return None without a report."""
    zygote, folder = os.getpid(), os.path.dirname(path)
    character = None
    try:
        if source is None:
            source = {"text": read_source(path), "modules": {}}
        own_modules.import_from(source["modules"])
        character, manifest = load(path, folder, source["text"])
        source["modules"] = {**source["modules"], **own_modules.texts_of(own_modules.own_modules(folder))}
        report = encode({"loaded": {"manifest": manifest, "source": source}})
        # The manifest refers to the file's variables, which are looked at next.
        del manifest
        character.leftovers = Leftovers(folder, source["text"])
    except InvalidFile as error:
        report = encode({"invalid": {"problems": error.problems}})
    if os.getpid() != zygote:
        return None
    flush_streams()
    channel.send_text(report)
    return character
