"""A Callboard for many connections, and connections that are open without a request."""

import contextlib
import http.client
import json
import socket
import urllib.parse
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import gateways
from processes import Process

REQUEST = Path(__file__).resolve().parent / "load/src/request.json"


@contextmanager
def serving(site: gateways.Site, connections: int, *options, name="", seconds: float = 60) -> Iterator[tuple[Process, str]]:
    """A Callboard with its defaults and a store of its own, or of this name. More connections get a higher limit of requests."""
    environment = {"CALLBOARD_LIMITS_IN_FLIGHT": str(2 * connections)} if connections > 500 else {}
    name = name or f"callboard-{len(site.processes)}"
    process, base = gateways.serve_callboard(site, name, gateways.callboard(site), options, environment, seconds)
    with process:
        yield process, base


@contextmanager
def open_idle(base: str, count: int) -> Iterator[None]:
    """This many connections, each of which has had one reply."""
    body = json.dumps({**json.loads(REQUEST.read_text()), "model": "whole-tool-call"})
    with contextlib.ExitStack() as opened:
        for _ in range(count):
            ask(opened.enter_context(contextlib.closing(connect(base))), body)
        yield


def connect(base: str) -> http.client.HTTPConnection:
    address = urllib.parse.urlsplit(base)
    connection = http.client.HTTPConnection(str(address.hostname), address.port, timeout=60)
    connection.connect()
    with suppress(OSError):
        connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def ask(connection: http.client.HTTPConnection, body: str, path: str = "/v1/chat/completions") -> bytes:
    """The body of a reply, which must be a success."""
    headers = {"content-type": "application/json", "authorization": "Bearer bench"}
    connection.request("POST", path, body, headers)
    reply = connection.getresponse()
    text = reply.read()
    if reply.status != 200:
        raise SystemExit(f"{path} answered {reply.status}: {text[:500]!r}")
    return text
