"""A worker: runs one request at a time with the character it was forked with."""

from __future__ import annotations

import _thread
import mmap
import os
import struct
import sys
import time
import traceback
from typing import TYPE_CHECKING, Any

from callboard_host.awaiting import resolve
from callboard_host.channel import Channel, encode_tree
from callboard_host.descendants import end_descendants
from callboard_host.loading import Character
from callboard_host.problems import describe_message, describe_place, describe_traceback
from callboard_host.process_setup import adopt_orphans, flush_streams, set_up_child
from callboard_host.state import NotJson, require_json, require_utf8

if TYPE_CHECKING:
    from callboard_host.tool_checks import Tool

    Request = dict[str, Any]
    Reply = dict[str, Any]
    State = dict[str, Any]

_PROGRESS = struct.Struct("<QQ")


class ToolError(Exception):
    """The character failed in a known way. `report` is what Callboard receives."""

    def __init__(self, kind: str, **details: Any) -> None:
        super().__init__(kind)
        self.report = {kind: details}


def run(parent: int, character: Character, limits: dict[str, Any], descriptors: list[int]) -> None:
    channel = set_up_child(parent, descriptors)
    adopt_orphans()
    progress = mmap.mmap(descriptors[3], _PROGRESS.size)
    os.close(descriptors[3])
    # A process that a tool forks must neither reply in the worker's place nor keep its channel open.
    os.register_at_fork(after_in_child=channel.close)
    channel.send({"hello": {"pid": os.getpid()}})
    Worker(channel, character, limits, progress).serve()


class Worker:
    """Receives requests and replies to them, until Callboard closes the channel."""

    def __init__(self, channel: Channel, character: Character, limits: dict[str, Any], progress: mmap.mmap) -> None:
        self._channel, self._progress = channel, progress
        self._handle = RequestHandler(character, limits).handle
        self._leftovers = character.leftovers
        self._pid = os.getpid()
        self._threads = _thread._count()
        self._streams = sys.stdout, sys.stderr

    def serve(self) -> None:
        receive, send, now = self._channel.receive, self._channel.send_text, time.monotonic_ns
        while True:
            request = receive()
            number = request["number"]
            started = now()
            # Callboard reads this page when a call seems late: the deadline counts from here.
            _PROGRESS.pack_into(self._progress, 0, number, started)
            reply, state = self._handle(request)
            if os.getpid() != self._pid:
                os._exit(0)
            exit_reason = self._exit_reason(reply)
            if exit_reason:
                reply["exit_reason"] = exit_reason
            body = f'{{"number":{number},"took":{(now() - started) // 1000},{encode_tree(reply)[1:]}'
            send(body if state is None else f'{body[:-1]},"state":{state}}}')
            if exit_reason:
                os._exit(0)

    def _exit_reason(self, reply: Reply) -> str | None:
        """Why this worker cannot run another call, if the last one left something behind."""
        if end_descendants():
            return "a process was left running"
        if not flush_streams() or self._streams != (sys.stdout, sys.stderr):
            return "a standard stream was closed or replaced"
        if _thread._count() > self._threads:
            return "a thread was left running"
        if "error" in reply and reply["error"].get("raised", {}).get("exception") == "MemoryError":
            return "memory ran out"
        return self._leftovers.find()


class RequestHandler:
    """Runs the character's code. Every operation returns a reply and, where it is stored, the state as JSON."""

    def __init__(self, character: Character, limits: dict[str, Any]) -> None:
        self._character, self._limits = character, limits
        self._operations = {
            "call_tool": self._call_tool,
            "start_conversation": self._start_conversation,
            "turn_context": self._turn_context,
            "list_tools": self._list_tools,
            "list_names": self._list_names,
        }

    def handle(self, request: Request) -> tuple[Reply, str | None]:
        try:
            return self._operations[request["operation"]](request)
        except ToolError as error:
            report: dict[str, Any] = error.report
        except NotJson as error:
            report = {"state_not_json": {"path": error.path, "found": error.found, "remedy": error.remedy}}
        except BaseException as error:
            report = self._raised(error)
        return {"error": report}, None

    def _call_tool(self, request: Request) -> tuple[Reply, str | None]:
        state = request["state"]
        instance = self._character.states.restore(state)
        if request["heard"] is not None:
            # Not kept, because of its underscore.
            instance._heard = request["heard"]
        tool = self._character.tools.get(request["tool"]) or self._dynamic_tool(instance, request["tool"])
        text = tool.run(instance, request["arguments"])
        return {"text": self._text(text)}, self._capture(instance, state)

    def _dynamic_tool(self, instance: Any, name: str) -> Tool:
        """A tool that only get_tools() returns, and that this worker has not seen yet."""
        if hasattr(instance, "get_tools"):
            self._get_tools(instance)
        if name not in self._character.tools:
            raise ToolError("unknown_tool", name=name)
        return self._character.tools[name]

    def _start_conversation(self, request: Request) -> tuple[Reply, str | None]:
        instance = self._character.states.restore(None)
        if "metadata" in request and hasattr(instance, "begin_conversation"):
            self._begin_conversation(instance, request["metadata"])
        reply: Reply = {"text": self._text(instance.make_system_prompt())}
        if hasattr(instance, "get_tools"):
            reply["tools"] = self._get_tools(instance)
        return reply, self._capture(instance, None)

    def _begin_conversation(self, instance: Any, metadata: Any) -> None:
        try:
            resolve(instance.begin_conversation(metadata))
        except ValueError as error:
            # The metadata is the client's, and so is its fault.
            fault = describe_message(error)
            raise ToolError(
                "raised", exception="InvalidMetadata", message=fault, place=None, traceback=""
            ) from None

    def _turn_context(self, request: Request) -> tuple[Reply, str | None]:
        instance = self._character.states.restore(request["state"])
        return {"text": self._text(instance.make_turn_context())}, None

    def _list_tools(self, request: Request) -> tuple[Reply, str | None]:
        return {"tools": self._get_tools(self._character.states.restore(request["state"]))}, None

    def _list_names(self, request: Request) -> tuple[Reply, str | None]:
        names = resolve(self._character.states.restore(request["state"]).get_names())
        if not isinstance(names, dict):
            raise ToolError("wrong_type", got=type(names).__name__)
        require_json(names, "get_names()")
        require_utf8(names, "get_names()")
        return {"names": names}, None

    def _get_tools(self, instance: Any) -> list[dict[str, Any]]:
        problems: list[str] = []
        tools = self._character.add_tools(
            resolve(instance.get_tools()),
            lambda _path, _kind, what, remedy: problems.append(f"get_tools(): {what}; {remedy}"),
            lambda _warning: None,
        )
        if problems:
            raise ToolError("raised", exception="InvalidTools", message=problems[0], place=None, traceback="")
        return [tool.manifest() for tool in tools]

    def _text(self, value: Any) -> str:
        """Checks that a function returned text, and not too much of it."""
        value = resolve(value) if type(value) is not str else value
        if not isinstance(value, str):
            raise ToolError("wrong_type", got=type(value).__name__)
        text = str(value)
        self._check_size(text, "result", "output_too_large")
        return text

    def _capture(self, instance: Any, previous: State | None) -> str | None:
        state = self._character.states.capture(instance)
        if not state and previous is None:
            return None
        text = encode_tree(state)
        self._check_size(text, "state", "state_too_large")
        if not text.isascii():
            for name, value in state.items():
                require_utf8(value, "self." + name)
        return text

    def _check_size(self, text: str, limit_name: str, error_kind: str) -> None:
        limit = self._limits[limit_name]
        # A character is at most four bytes of UTF-8: short texts need not be encoded.
        if len(text) * 4 > limit:
            size = len(text.encode("utf-8", "replace"))
            if size > limit:
                raise ToolError(error_kind, size=size, limit=limit)

    def _raised(self, error: BaseException) -> dict[str, Any]:
        if isinstance(error, MemoryError):
            # The frames refer to what filled the memory.
            traceback.clear_frames(error.__traceback__)
        details = {
            "exception": type(error).__name__,
            "message": describe_message(error),
            "place": describe_place(error, self._character.folder),
            "traceback": describe_traceback(error),
        }
        return {"raised": details}
