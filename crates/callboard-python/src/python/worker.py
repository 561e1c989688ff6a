"""A worker: performs one order at a time with the character it was forked with."""

import _thread
import mmap
import os
import struct
import sys
import time
import traceback

from callboard_host.calling import settle
from callboard_host.problems import message_of, traceback_of
from callboard_host.processes import flush_streams, start_life
from callboard_host.state import NotPlain, require_plain, require_text
from callboard_host.wire import encode

_SLIP = struct.Struct("<QQ")


class Fault(Exception):
    """The character failed in a way of its own kind. `report` is what Callboard is told."""

    def __init__(self, kind, **details):
        super().__init__(kind)
        self.report = {kind: details}


def live(parent, character, limits, descriptors):
    """The life of a worker."""
    channel = start_life(parent, descriptors)
    slip = mmap.mmap(descriptors[3], _SLIP.size)
    os.close(descriptors[3])
    # What a tool forks must neither answer in the worker's place nor keep its channel open.
    os.register_at_fork(after_in_child=channel.close)
    channel.send({"hello": {"pid": os.getpid()}})
    Worker(channel, character, limits, slip).serve()


class Worker:
    """Takes orders and answers them, until Callboard closes the channel."""

    def __init__(self, channel, character, limits, slip):
        self._channel, self._slip = channel, slip
        self._perform = Performer(character, limits).perform
        self._pid = os.getpid()
        self._threads = _thread._count()
        self._streams = sys.stdout, sys.stderr

    def serve(self):
        receive, send, now, pack = self._channel.receive, self._channel.send_text, time.monotonic_ns, _SLIP.pack_into
        while True:
            order = receive()
            number = order["number"]
            started = now()
            # Callboard reads this slip when a call seems late: the deadline counts from here.
            pack(self._slip, 0, number, started)
            reply, state = self._perform(order)
            if os.getpid() != self._pid:
                os._exit(0)
            leaving = self._reason_to_leave(reply)
            if leaving:
                reply["leaving"] = leaving
            body = '{"number":%d,"took":%d,%s' % (number, (now() - started) // 1000, encode(reply)[1:])
            send(body if state is None else '%s,"state":%s}' % (body[:-1], state))
            if leaving:
                os._exit(0)

    def _reason_to_leave(self, reply):
        """Why this worker cannot take another call: what the last one left behind."""
        if not flush_streams() or self._streams != (sys.stdout, sys.stderr):
            return "a standard stream was closed or replaced"
        if _thread._count() > self._threads:
            return "a thread was left running"
        if "fault" in reply and reply["fault"].get("raised", {}).get("exception") == "MemoryError":
            return "memory ran out"
        try:
            while True:
                pid, _ = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    return "a process was left running"
        except ChildProcessError:
            return None


class Performer:
    """Performs orders: what a character's code does with each, as a reply and, where it is kept, the state as JSON."""

    def __init__(self, character, limits):
        self._character, self._limits = character, limits
        self._performances = {
            "call": self._call,
            "open": self._open,
            "context": self._context,
            "tools": self._tools,
            "names": self._names,
        }

    def perform(self, order):
        try:
            return self._performances[order["do"]](order)
        except Fault as fault:
            return {"fault": fault.report}, None
        except NotPlain as error:
            fault = {"path": error.path, "found": error.found, "remedy": error.remedy}
            return {"fault": {"state_not_json": fault}}, None
        except BaseException as error:
            return {"fault": _raised(error)}, None

    def _call(self, order):
        given = order["state"]
        instance = self._character.keeper.make(given)
        tool = self._character.tools.get(order["tool"]) or self._offered(instance, order["tool"])
        text = tool.run(instance, order["arguments"])
        return {"text": self._text(text)}, self._state_of(instance, given)

    def _offered(self, instance, name):
        """A tool that only get_tools() offers, and that this worker has not met yet."""
        if hasattr(instance, "get_tools"):
            self._tools_of(instance)
        if name not in self._character.tools:
            raise Fault("unknown_tool")
        return self._character.tools[name]

    def _open(self, _order):
        instance = self._character.keeper.make(None)
        reply = {"text": self._text(instance.make_system_prompt())}
        if hasattr(instance, "get_tools"):
            reply["tools"] = self._tools_of(instance)
        return reply, self._state_of(instance, None)

    def _context(self, order):
        instance = self._character.keeper.make(order["state"])
        return {"text": self._text(instance.make_turn_context())}, None

    def _tools(self, order):
        return {"tools": self._tools_of(self._character.keeper.make(order["state"]))}, None

    def _names(self, order):
        names = settle(self._character.keeper.make(order["state"]).get_names())
        if not isinstance(names, dict):
            raise Fault("wrong_type", got=type(names).__name__)
        require_plain(names, "get_names()")
        require_text(names, "get_names()")
        return {"names": names}, None

    def _tools_of(self, instance):
        problems = []
        tools = self._character.adopt(settle(instance.get_tools()), lambda _path, *problem: problems.append(problem))
        if problems:
            _, what, remedy = problems[0]
            raise Fault(
                "raised", exception="InvalidTools", message="get_tools(): %s; %s" % (what, remedy), traceback=""
            )
        return [tool.manifest() for tool in tools]

    def _text(self, value):
        """What a function returned, once it is known to be text, and not too much of it."""
        if type(value) is not str:
            value = settle(value)
            if not isinstance(value, str):
                raise Fault("wrong_type", got=type(value).__name__)
            value = str(value)
        at_most = self._limits["result"]
        if len(value) * 4 > at_most:
            size = len(value.encode("utf-8", "replace"))
            if size > at_most:
                raise Fault("output_too_large", size=size, limit=at_most)
        return value

    def _state_of(self, instance, given):
        state = self._character.keeper.collect(instance)
        if not state and given is None:
            return None
        text = encode(state)
        at_most = self._limits["state"]
        if len(text) * 4 > at_most:
            size = len(text.encode("utf-8", "replace"))
            if size > at_most:
                raise Fault("state_too_large", size=size, limit=at_most)
        if not text.isascii():
            for name, value in state.items():
                require_text(value, "self." + name)
        return text


def _raised(error):
    if isinstance(error, MemoryError):
        # What the frames hold is what filled the memory.
        traceback.clear_frames(error.__traceback__)
    message, origin = message_of(error), traceback_of(error)
    return {"raised": {"exception": type(error).__name__, "message": message, "traceback": origin}}
