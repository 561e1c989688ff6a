"""The channel to Callboard: frames of a length (four bytes, little endian) and JSON, with descriptors beside them."""

import json
import socket
import struct

VERSION = 1

_LENGTH = struct.Struct("<I")
_READ_AT_ONCE = 65536
_DESCRIPTORS_AT_MOST = 8

encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
_decode = json.JSONDecoder().scan_once


class Closed(Exception):
    """Callboard has closed the channel: there is nothing left to do."""


class Channel:
    """One end of a stream socket."""

    def __init__(self, connection):
        self._connection = connection
        self._buffer = b""
        self.descriptors = []

    def fileno(self):
        return self._connection.fileno()

    def close(self):
        self._connection.close()

    def send(self, message):
        self.send_text(encode(message))

    def send_text(self, text):
        """Sends a message that is JSON already. Half a surrogate pair, which UTF-8 cannot hold, becomes `?`."""
        body = text.encode("utf-8", "replace")
        self._connection.sendall(_LENGTH.pack(len(body)) + body)

    def receive(self):
        """The next message. Waits for it."""
        frame = self.next_frame()
        while frame is None:
            piece = self._connection.recv(_READ_AT_ONCE)
            if not piece:
                raise Closed
            self._buffer = self._buffer + piece if self._buffer else piece
            frame = self.next_frame()
        return _decode(frame.decode("utf-8"), 0)[0]

    def fill(self):
        """Reads once, and keeps descriptors that come along. Does not wait where something is there to read."""
        piece, descriptors, _, _ = socket.recv_fds(self._connection, _READ_AT_ONCE, _DESCRIPTORS_AT_MOST)
        if not piece:
            raise Closed
        self._buffer += piece
        self.descriptors.extend(descriptors)

    def next_frame(self):
        """The text of a frame that has come in full, or None."""
        buffer = self._buffer
        if len(buffer) < 4:
            return None
        end = 4 + _LENGTH.unpack_from(buffer)[0]
        if len(buffer) < end:
            return None
        self._buffer = buffer[end:]
        return buffer[4:end]

    def take_descriptors(self, count):
        """The oldest descriptors that came along with frames, in their order."""
        taken, self.descriptors = self.descriptors[:count], self.descriptors[count:]
        return taken
