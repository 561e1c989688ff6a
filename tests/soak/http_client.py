"""Requests over HTTP that may break off: the client leaves after some bytes of the reply, politely or with a reset."""

import http.client
import json
import socket
import struct
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Optional

TIMEOUT = 15  # without a byte
LONGEST = 60
READ = 512


class ClientLeft(Exception):
    """The client closed the connection on purpose."""


@dataclass
class Leave:
    """When a client leaves: after how many bytes of the body, and whether with a reset."""

    after: int
    reset: bool


@dataclass
class Reply:
    status: int
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)

    def error_code(self) -> str:
        try:
            return f"{self.status} {self.json()['error']['code']}"
        except (ValueError, KeyError, TypeError):
            return f"{self.status} without a code"


def reset_on_close(connection: socket.socket) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def send(address: str, method: str, path: str, body: Any = None, leave: Optional[Leave] = None, **headers: str) -> Reply:
    connection = http.client.HTTPConnection(address, timeout=TIMEOUT)
    data = None if body is None else json.dumps(body).encode()
    try:
        connection.request(method, path, data, {"content-type": "application/json", **headers})
        if leave and leave.after == 0:
            raise ClientLeft
        response = connection.getresponse()
        return Reply(response.status, read_body(response, leave))
    except ClientLeft:
        if leave and leave.reset and connection.sock:
            reset_on_close(connection.sock)
        raise
    finally:
        connection.close()


def read_body(response: http.client.HTTPResponse, leave: Optional[Leave]) -> bytes:
    body, deadline = b"", time.monotonic() + LONGEST
    while piece := response.read1(READ):
        if time.monotonic() > deadline:
            raise TimeoutError
        body += piece
        if leave and len(body) >= leave.after:
            response.close()
            raise ClientLeft
    return body


def get(address: str, path: str) -> Any:
    """What is at a path that must be there."""
    reply = send(address, "GET", path)
    if reply.status != 200:
        raise LookupError(f"GET {path}: {reply.error_code()}")
    return reply.json()


def server_sent_events(body: bytes) -> Iterator[str]:
    for line in body.decode().split("\n"):
        if line.startswith("data: "):
            yield line[len("data: "):]
