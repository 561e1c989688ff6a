#!/usr/bin/env python3
"""A scripted model server: Chat Completions, streamed and whole, with the faults of real servers.

The model's name selects a script (see scripts.py, and character_scripts.py for characters), and the history in the request
selects the step, so the server is stateless and serves any number of clients. It is strict about requests: a history that a
chat template could not render is refused. Standard library only.

    model.py [--record FILE]        prints `listening on http://127.0.0.1:PORT` when ready
"""
import argparse
import json
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Optional

import responses_scripts
import scripts
from character_scripts import character_script

SCRIPTS = {**scripts.SCRIPTS, **responses_scripts.SCRIPTS, "character-script": character_script}

USAGE = {"prompt_tokens": 20, "completion_tokens": 10, "total_tokens": 30}
PIECE = 7
MOST_PIECES = 2000


def history_fault(messages):
    """Why a strict server would refuse this history, or None."""
    open_calls = set()
    for place, message in enumerate(messages):
        if message["role"] == "tool":
            if message.get("tool_call_id") not in open_calls:
                return f"messages[{place}]: a tool result without its call"
            open_calls.remove(message["tool_call_id"])
            continue
        if open_calls:
            return f"messages[{place}]: calls without results: {sorted(open_calls)}"
        for call in message.get("tool_calls") or []:
            try:
                arguments = json.loads(call["function"]["arguments"])
            except (TypeError, ValueError):
                arguments = None
            if not isinstance(arguments, dict):
                return f"messages[{place}]: arguments that are no JSON object"
            open_calls.add(call["id"])
    return f"calls without results: {sorted(open_calls)}" if open_calls else None


# ---------------------------------------------------------------------------------------------------------------------
# A reply on the wire

def finish_reason(reply):
    if reply.finish is not None:
        return reply.finish
    return "tool_calls" if reply.calls else "stop"


def whole_call(call):
    wire = {"type": "function", "function": {"name": call.name, "arguments": call.arguments}}
    return wire if call.id is None else {"id": call.id, **wire}


def whole(reply, model):
    message = {"role": "assistant", "content": reply.text or None}
    if reply.reasoning:
        message["reasoning_content"] = reply.reasoning
    if reply.calls:
        message["tool_calls"] = [whole_call(call) for call in reply.calls]
    choice = {"index": 0, "message": message, "finish_reason": finish_reason(reply), "logprobs": logprobs(reply, reply.text)}
    return {"id": "chatcmpl-scripted", "object": "chat.completion", "created": int(time.time()), "model": model,
            "choices": [choice], "usage": USAGE}


def logprobs(reply, text):
    """Log probabilities of each piece of text, if the script has them."""
    if not (reply.sure and text):
        return None
    return {"content": [{**token(piece), "top_logprobs": [token(piece)]} for piece in pieces(text)]}


def token(text):
    return {"token": text, "logprob": -0.25, "bytes": list(text.encode())}


def pieces(text):
    length = max(PIECE, len(text) // MOST_PIECES)
    return [text[at:at + length] for at in range(0, len(text), length)]


def call_deltas(call, place, reply):
    """The deltas of one call, with the faults of the reply."""
    index = {} if "no_index" in reply.faults else {"index": 0 if "index_zero" in reply.faults else place}
    named = {"type": "function"} if call.id is None else {"id": call.id, "type": "function"}
    if not isinstance(call.arguments, str):
        yield {**index, **named, "function": {"name": call.name, "arguments": call.arguments}}
        return
    yield {**index, **named, "function": {"name": call.name, "arguments": ""}}
    repeated = {"name": call.name} if "name_in_every_delta" in reply.faults else {}
    for piece in pieces(call.arguments):
        yield {**index, "function": {**repeated, "arguments": piece}}


def deltas(reply):
    if "no_role" not in reply.faults:
        yield {"role": "assistant", "content": ""}
    for piece in pieces(reply.reasoning):
        yield {"reasoning_content": piece}
    for piece in pieces(reply.text):
        yield {"content": piece}
    if reply.pause:
        Path(reply.pause).read_bytes()
    for place, call in enumerate(reply.calls):
        for delta in call_deltas(call, place, reply):
            yield {"tool_calls": [delta]}


def chunks(reply, model, with_usage):
    head = {"id": "chatcmpl-scripted", "object": "chat.completion.chunk", "created": int(time.time()), "model": model}
    for delta in deltas(reply):
        sure = logprobs(reply, delta.get("content"))
        yield {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None, "logprobs": sure}]}
    yield {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": finish_reason(reply)}]}
    if with_usage:
        yield {**head, "choices": [], "usage": USAGE}


# ---------------------------------------------------------------------------------------------------------------------
# The server

class Model(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    record: Optional[str] = None

    def log_message(self, *_):
        """Logs nothing."""

    def do_GET(self):
        if self.path != "/v1/models":
            self.refuse(404, "not_found", f"no such path: {self.path}")
            return
        models = [{"id": name, "object": "model", "created": 0, "owned_by": "scripts"} for name in SCRIPTS]
        self.send_json(200, {"object": "list", "data": models})

    def do_POST(self):
        raw = self.rfile.read(int(self.headers.get("content-length", 0)))
        if self.path != "/v1/chat/completions":
            self.refuse(404, "not_found", f"no such path: {self.path}")
            return
        request = json.loads(raw)
        if self.record:
            with open(self.record, "a", encoding="utf-8") as record:
                record.write(json.dumps(request) + "\n")
        self.answer(request)

    def answer(self, request):
        script = SCRIPTS.get(request["model"])
        if script is None:
            return self.refuse(404, "model_not_found", f"no such model: {request['model']}")
        fault = history_fault(request["messages"])
        if fault:
            return self.refuse(400, "bad_history", fault)
        try:
            reply = script(request["messages"])
        except (KeyError, IndexError, StopIteration, TypeError, ValueError) as error:
            return self.refuse(400, "off_script", f"the script has no reply to this history: {error!r}")
        if reply is None:
            return self.refuse(400, "script_over", "the conversation is longer than the script")
        if request.get("stream"):
            with_usage = (request.get("stream_options") or {}).get("include_usage", False)
            return self.send_stream(chunks(reply, request["model"], with_usage))
        return self.send_json(200, whole(reply, request["model"]))

    def refuse(self, status, code, message):
        error = {"message": message, "type": "invalid_request_error", "param": None, "code": code}
        self.send_json(status, {"error": error})

    def send_json(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def send_stream(self, events):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for event in events:
            self.send_event(json.dumps(event))
        self.send_event("[DONE]")
        self.wfile.write(b"0\r\n\r\n")

    def send_event(self, data):
        event = f"data: {data}\n\n".encode()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(event), event))
        self.wfile.flush()


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--record", help="append every request body to this file, one JSON value a line")
    Model.record = parser.parse_args().record
    server = Server(("127.0.0.1", 0), Model)
    print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
