"""A scripted model server in a process of its own, which the suite kills and restarts.

    model_server.py PORT MODEL[,MODEL...] [SEED]      prints `listening on URL`; port 0 picks a free one

With a seed it misbehaves: three of four replies have a fault, chosen by that seed.
"""

import json
import random
import socket
import struct
import sys
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Optional

from plans import next_step

USAGE = {"prompt_tokens": 20, "completion_tokens": 10, "total_tokens": 30}
PIECE = 16
LONGEST = 20.0
HEAD = {"id": "chatcmpl-soak", "created": 1, "model": "soak"}


def deltas(reply: dict) -> Iterator[dict]:
    yield {"role": "assistant", "content": ""}
    text = reply["text"]
    for at in range(0, len(text), PIECE):
        yield {"content": text[at:at + PIECE]}
    for place, made in enumerate(reply["calls"]):
        function = {"name": made["name"], "arguments": ""}
        yield {"tool_calls": [{"index": place, "id": f"call_{place}", "type": "function", "function": function}]}
        for at in range(0, len(made["arguments"]), PIECE):
            yield {"tool_calls": [{"index": place, "function": {"arguments": made["arguments"][at:at + PIECE]}}]}


def finish_reason(reply: dict) -> str:
    return "tool_calls" if reply["calls"] else "stop"


def events(reply: dict) -> Iterator[str]:
    for delta in deltas(reply):
        yield json.dumps({**HEAD, "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta}]})
    last = {"index": 0, "delta": {}, "finish_reason": finish_reason(reply)}
    yield json.dumps({**HEAD, "object": "chat.completion.chunk", "choices": [last], "usage": USAGE})
    yield "[DONE]"


def whole(reply: dict) -> dict:
    message = {"role": "assistant", "content": reply["text"]}
    if reply["calls"]:
        message["tool_calls"] = [{"id": f"call_{place}", "type": "function", "function": made}
                                 for place, made in enumerate(reply["calls"])]
    choice = {"index": 0, "message": message, "finish_reason": finish_reason(reply)}
    return {**HEAD, "object": "chat.completion", "choices": [choice], "usage": USAGE}


class Model(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    models: tuple[str, ...] = ()
    chance: Optional[random.Random] = None

    def log_message(self, *_):
        """Logs nothing."""

    def do_GET(self):
        self.send_json(200, {"object": "list", "data": [{"id": name, "object": "model"} for name in self.models]})

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))))
        reply, streamed = next_step(request["messages"]), request.get("stream", False)
        if self.chance and self.chance.random() < 0.75:
            self.close_connection = True
            self.chance.choice(FAULTS)(self, reply, streamed)
        elif streamed:
            self.send_events(events(reply), reply["pause"])
            self.wfile.write(b"0\r\n\r\n")
        else:
            time.sleep(reply["pause"])
            self.send_json(200, whole(reply))

    def send_json(self, status, value):
        body = json.dumps(value).encode()
        self.begin(status, "application/json", **{"content-length": str(len(body))})
        self.wfile.write(body)

    def begin(self, status, content_type, **headers):
        self.send_response(status)
        for name, value in {"content-type": content_type, **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.flush()

    def begin_stream(self):
        self.begin(200, "text/event-stream", **{"transfer-encoding": "chunked"})

    def send_events(self, data, pause=0.0):
        self.begin_stream()
        for event in data:
            self.send_chunk(f"data: {event}\n\n".encode())
            time.sleep(pause)

    def send_chunk(self, data):
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def hang(self):
        """Until the other side closes."""
        self.connection.settimeout(LONGEST)
        self.connection.recv(1)

    def reset(self):
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()


# --- faults: each is given the server, the reply that would be right, and whether a stream was asked for

def half(reply):
    data = list(events(reply))
    return data[:len(data) // 2]


def broken_json(server, reply, streamed):
    if streamed:
        server.send_events([*half(reply), '{"choices": [{"index": 0, "delta": {"content": '])
        server.wfile.write(b"0\r\n\r\n")
    else:
        server.begin(200, "application/json", **{"content-length": "12"})
        server.wfile.write(b'{"choices": ')


def hangs_at_once(server, reply, streamed):
    server.hang()


def hangs_in_the_middle(server, reply, streamed):
    server.send_events(half(reply))
    server.hang()


def resets_at_once(server, reply, streamed):
    server.reset()


def resets_in_the_middle(server, reply, streamed):
    server.send_events(half(reply))
    server.reset()


def breaks_off(server, reply, streamed):
    server.begin(200, "application/json", **{"content-length": "100000"})
    server.wfile.write(b'{"choices": [')


def endless_comments(server, reply, streamed):
    server.send_events(half(reply))
    deadline = time.monotonic() + LONGEST
    while time.monotonic() < deadline:
        server.send_chunk(b": the model thinks\n\n")
        time.sleep(0.05)


def endless_line(server, reply, streamed):
    server.begin_stream()
    server.send_chunk(b'data: {"choices": [{"index": 0, "delta": {"content": "')
    for _ in range(64):
        server.send_chunk(b"x" * 65536)


def fails(server, reply, streamed):
    server.send_json(500, {"error": {"message": "out of order"}})


def is_busy(server, reply, streamed):
    server.send_json(429, {"error": {"message": "busy"}})


def no_http(server, reply, streamed):
    server.wfile.write(b"\x00\xff this is no HTTP\r\n\r\n")


FAULTS = [broken_json, hangs_at_once, hangs_in_the_middle, resets_at_once, resets_in_the_middle, breaks_off,
          endless_comments, endless_line, fails, is_busy, no_http]


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request, client_address):
        """Clients that leave are what the suite is about."""


def main():
    port, models, *seed = sys.argv[1:]
    Model.models = tuple(models.split(","))
    Model.chance = random.Random(seed[0]) if seed else None
    server = Server(("127.0.0.1", int(port)), Model)
    print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
