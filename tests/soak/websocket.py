"""A WebSocket client, as much of RFC 6455 as the Responses API needs."""

import base64
import json
import os
import socket
import struct
from typing import Any

from http_client import TIMEOUT, reset_on_close

TEXT, CLOSE, PING, PONG = 1, 8, 9, 10
MASK = b"\x00\x00\x00\x00"


class WebSocket:
    def __init__(self, address: str, path: str):
        host, port = address.split(":")
        self.socket = socket.create_connection((host, int(port)), timeout=TIMEOUT)
        self.buffer = b""
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall((f"GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                             f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n").encode())
        self._read_head()

    def _read_head(self) -> None:
        while b"\r\n\r\n" not in self.buffer:
            self._receive()
        head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        if b" 101 " not in head.split(b"\r\n")[0]:
            self.close()
            raise ConnectionError(head.decode(errors="replace").split("\r\n")[0])

    def _receive(self) -> None:
        data = self.socket.recv(65536)
        if not data:
            raise ConnectionError("the WebSocket was closed")
        self.buffer += data

    def _take(self, size: int) -> bytes:
        while len(self.buffer) < size:
            self._receive()
        taken, self.buffer = self.buffer[:size], self.buffer[size:]
        return taken

    def _send_frame(self, kind: int, data: bytes) -> None:
        size = bytes([0x80 | len(data)]) if len(data) < 126 else struct.pack(">BH", 0x80 | 126, len(data))
        self.socket.sendall(bytes([0x80 | kind]) + size + MASK + data)

    def send(self, value: Any) -> None:
        """Sends one JSON text of less than 64 KiB."""
        self._send_frame(TEXT, json.dumps(value).encode())

    def receive(self) -> dict:
        """The next event."""
        while True:
            kind, size = self._take(2)
            size &= 0x7F
            if size == 126:
                [size] = struct.unpack(">H", self._take(2))
            elif size == 127:
                [size] = struct.unpack(">Q", self._take(8))
            data = self._take(size)
            if kind & 0x0F == TEXT:
                return json.loads(data)
            if kind & 0x0F == PING:
                self._send_frame(PONG, data)
            elif kind & 0x0F == CLOSE:
                raise ConnectionError("the WebSocket was closed")

    def close(self, reset: bool = False) -> None:
        if reset:
            reset_on_close(self.socket)
        self.socket.close()
