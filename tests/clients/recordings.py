"""Reads the recordings of observer.py: HTTP/1.1 exchanges, whole or streamed as events, and the messages of WebSockets.

The last exchange of a broken connection is incomplete; its received part is read. Standard library only.
"""
import json
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

TEXT, LAST_FRAME = 1, 0x80


@dataclass
class Exchange:
    """One request and its answer. Exactly one of `value` (a JSON body) and `events` (a stream, a WebSocket) is set."""
    method: str
    path: str
    query: str
    asked: Any
    status: int
    value: Any = None
    events: list = field(default_factory=list)
    transport: str = "whole"
    cut: bool = False
    """Whether one side disconnected before a stream had ended. Unknown for a WebSocket."""


def exchanges(folder) -> Iterator[Exchange]:
    """All recorded exchanges, connection by connection."""
    for asked in sorted(Path(folder).glob("*.asked"), key=lambda path: int(path.stem)):
        yield from connection(asked.read_bytes(), asked.with_suffix(".answered").read_bytes())


def connection(asked: bytes, answered: bytes) -> Iterator[Exchange]:
    while asked and answered:
        line, _, asked_body, asked, _ = message(asked)
        method, target, _ = line.split(" ", 2)
        path, _, query = target.partition("?")
        while answered.startswith(b"HTTP/1.1 102 "):
            _, _, answered = answered.partition(b"\r\n\r\n")
        if not answered:
            return
        line, reply, body, answered, ended = message(answered)
        exchange = Exchange(method, path, query, as_asked(asked_body), int(line.split(" ")[1]))
        if exchange.status == 101:
            exchange.transport = "websocket"
            exchange.asked = [as_asked(text) for text in texts(asked)]
            exchange.events = [json.loads(text) for text in texts(answered)]
            asked = answered = b""
        elif reply.get("content-type", "").startswith("text/event-stream"):
            exchange.transport = "stream"
            exchange.events, exchange.cut = server_sent(body), not ended
        else:
            exchange.value = as_json(body)
        yield exchange


# ---------------------------------------------------------------------------------------------------------------------
# HTTP

def message(data):
    """The first message: its start line, its headers, its body, the remaining bytes, and whether it is complete."""
    head, _, rest = data.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    if headers.get("transfer-encoding") == "chunked":
        return first, headers, *chunked(rest)
    length = int(headers.get("content-length", 0))
    return first, headers, rest[:length], rest[length:], len(rest) >= length


def chunked(data):
    body = b""
    while data:
        size, _, data = data.partition(b"\r\n")
        length = int(size.split(b";")[0] or b"0", 16)
        body, data = body + data[:length], data[length + 2:]
        if length == 0:
            return body, data, True
    return body, data, False


def as_json(body):
    return json.loads(body) if body else None


def as_asked(body):
    """The body of a client, which need not be JSON."""
    try:
        return as_json(body)
    except (ValueError, RecursionError):
        return str(body)


def server_sent(body):
    """The events of a stream, without comments and an incomplete last event. The name of each must equal its type."""
    events = []
    for block in body.decode().split("\n\n")[:-1]:
        lines = dict(line.split(": ", 1) for line in block.split("\n") if line and not line.startswith(":"))
        if not lines or lines["data"] == "[DONE]":
            continue
        event = json.loads(lines["data"])
        assert lines.get("event", event.get("type")) == event.get("type"), f"{lines.get('event')} before {event}"
        events.append(event)
    return events


# ---------------------------------------------------------------------------------------------------------------------
# WebSocket

def texts(data):
    """The text messages of one direction."""
    message = b""
    while len(data) >= 2:
        first, payload, data = frame(data)
        if payload is None:
            return
        if first & 0x0F in (0, TEXT):
            message += payload
            if first & LAST_FRAME:
                yield message.decode()
                message = b""


def frame(data):
    """The first byte of the first frame, its payload, and the remaining bytes; an incomplete frame has no payload."""
    first, second = data[:2]
    length, at = second & 0x7F, 2
    if length >= 126:
        form, size = ("!H", 2) if length == 126 else ("!Q", 8)
        if len(data) < at + size:
            return first, None, b""
        (length,), at = struct.unpack(form, data[at:at + size]), at + size
    mask = b""
    if second & 0x80:
        mask, at = data[at:at + 4], at + 4
    payload = data[at:at + length]
    if len(payload) < length:
        return first, None, b""
    if mask:
        key = (mask * (length // 4 + 1))[:length]
        payload = (int.from_bytes(payload) ^ int.from_bytes(key)).to_bytes(length)
    return first, payload, data[at + length:]
