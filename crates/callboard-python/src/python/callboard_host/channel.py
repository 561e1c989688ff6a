"""The channel to Callboard: frames of a length (four bytes, little endian) and JSON, with descriptors attached."""

from __future__ import annotations

import json
import json.encoder
import socket
import struct
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

VERSION = 5

_LENGTH = struct.Struct("<I")
_READ_AT_ONCE = 65536
_MAX_DESCRIPTORS = 8

_encoder = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
encode = _encoder.encode
# Their C functions are called directly; mypy does not know them.
_decoder: Any = json.JSONDecoder()
_c_encoder: Any = json.encoder
_scan = _decoder.scan_once


def _tree_encoder() -> Callable[[Any], str]:
    """As `encode`, in half the time, for values that are known to have no loops: one C encoder serves all of them."""
    make = _c_encoder.c_make_encoder
    if make is None:
        return encode
    pieces = make(None, _encoder.default, _c_encoder.encode_basestring, None, ":", ",", False, False, False)
    return lambda value: "".join(pieces(value, 0))


encode_tree = _tree_encoder()


def decode(frame: bytes) -> Any:
    """The JSON value of a frame."""
    return _scan(frame.decode("utf-8"), 0)[0]


class Closed(Exception):
    """Callboard has closed the channel."""


class Channel:
    """One end of a Unix socket."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._buffer = b""
        self._descriptors: list[int] = []

    def fileno(self) -> int:
        return self._connection.fileno()

    def close(self) -> None:
        self._connection.close()

    def send(self, message: dict[str, Any]) -> None:
        self.send_text(encode(message))

    def send_text(self, text: str) -> None:
        """Sends a message that is JSON already. A lone surrogate, which UTF-8 cannot encode, becomes `?`."""
        body = text.encode("utf-8", "replace")
        self._connection.sendall(_LENGTH.pack(len(body)) + body)

    def receive(self) -> dict[str, Any]:
        """Waits for the next message."""
        buffer = self._buffer
        while True:
            end = 4 + _LENGTH.unpack_from(buffer)[0] if len(buffer) >= 4 else _READ_AT_ONCE
            if len(buffer) >= end:
                break
            chunk = self._connection.recv(_READ_AT_ONCE)
            if not chunk:
                raise Closed
            buffer = self._buffer = buffer + chunk if buffer else chunk
        self._buffer = buffer[end:]
        message: dict[str, Any] = decode(buffer[4:end])
        return message

    def fill(self) -> None:
        """Reads once, and keeps attached descriptors."""
        chunk, descriptors, _, _ = socket.recv_fds(self._connection, _READ_AT_ONCE, _MAX_DESCRIPTORS)
        if not chunk:
            raise Closed
        self._buffer += chunk
        self._descriptors.extend(descriptors)

    def next_frame(self) -> bytes | None:
        """The body of the next frame, if all of it has arrived."""
        buffer = self._buffer
        if len(buffer) < 4:
            return None
        end = 4 + _LENGTH.unpack_from(buffer)[0]
        if len(buffer) < end:
            return None
        self._buffer = buffer[end:]
        return buffer[4:end]

    def take_descriptors(self, count: int) -> list[int]:
        """The oldest descriptors received, in order."""
        taken, self._descriptors = self._descriptors[:count], self._descriptors[count:]
        return taken
