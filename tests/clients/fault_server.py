#!/usr/bin/env python3
"""The model server of the fault matrix: it does what the prompt says, with one fault of faults.py.

    fault_server.py                prints `listening on http://127.0.0.1:PORT` when ready

Each fault has a base URL of its own, http://127.0.0.1:PORT/FAULT/v1, with Chat Completions and Responses, streamed and not.
The prompt names the task and its calls as JSON between <task> and </task> (see fault_cases.py). A tool's result contains a
receipt, `receipt-NUMBER`; the model ends with the receipts it was given, which are nowhere else. GET /met lists the tasks in
which the fault changed something. Standard library only.
"""
import json
import re
import sys
import threading
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import fault_responses
import model
from faults import BODY, BY_NAME, CLOSE, CUT, EMPTY, ERROR, ERROR_FIELD, NO_FAULT, WITHOUT_END, WITHOUT_FINISH
from scripts import Call, as_text

ENGINE_ERROR = {"error": {"message": "the engine died", "type": "server_error", "code": 500}}
TRIES = 4
RECEIPT = re.compile(r"receipt-\d+")


@dataclass(frozen=True)
class Spoken:
    """A reply before its form on the wire; the arguments of calls are what goes there, a text or a value."""
    text: str = ""
    calls: tuple = ()
    finish: str = "stop"


def speak(calls, fault):
    """The reply with these calls, in the fault's way."""
    if fault.as_text:
        return Spoken(fault.as_text(calls), finish=fault.finish("stop"))
    encoded = [replace(call, arguments=fault.arguments(call.arguments)) for call in calls]
    return Spoken(calls=tuple(fault.calls(encoded)), finish=fault.finish("tool_calls"))


# ---------------------------------------------------------------------------------------------------------------------
# Chat Completions

def call_deltas(place, call, fault):
    head = {"index": place, "id": call.id, "type": "function"}
    if not isinstance(call.arguments, str):
        return fault.deltas([{**head, "function": {"name": call.name, "arguments": call.arguments}}])
    rest = [{"index": place, "function": {"arguments": piece}} for piece in model.pieces(call.arguments)]
    return fault.deltas([{**head, "function": {"name": call.name, "arguments": ""}}, *rest])


def whole_call(place, call, fault):
    """A call outside of a stream. A fault that makes several deltas of it does not show here."""
    wire = {"index": place, "id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
    changed = fault.deltas([wire])
    wire = changed[0] if len(changed) == 1 else wire
    return {name: value for name, value in wire.items() if name != "index"}


def chunks(spoken, fault, head, with_usage):
    def chunk(delta, finish=None):
        return {**head, "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    stream = [chunk({"role": "assistant", "content": ""})]
    stream += [chunk({"content": piece}) for piece in model.pieces(spoken.text)]
    stream += [chunk({"tool_calls": [delta]}) for place, call in enumerate(spoken.calls)
               for delta in call_deltas(place, call, fault)]
    if fault.ends not in (WITHOUT_FINISH, WITHOUT_END):
        stream.append(chunk({}, spoken.finish))
    stream = fault.chunks(stream)
    return [*stream, {**head, "choices": [], "usage": model.USAGE}] if with_usage else stream


def whole(spoken, fault, head):
    message = {"role": "assistant", "content": spoken.text or None}
    if spoken.calls:
        message["tool_calls"] = [whole_call(place, call, fault) for place, call in enumerate(spoken.calls)]
    choice = {"index": 0, "message": message, "finish_reason": spoken.finish}
    return {**head, "object": "chat.completion", "choices": [choice], "usage": model.USAGE}


# ---------------------------------------------------------------------------------------------------------------------
# The server

class Tasks:
    """How often the model was asked in each task, and in which tasks its fault showed."""

    def __init__(self):
        self.lock = threading.Lock()
        self.tries = {}
        self.met = set()

    def begin(self, task):
        with self.lock:
            self.tries[task] = self.tries.get(task, 0) + 1
            return self.tries[task]

    def meets(self, task):
        with self.lock:
            self.met.add(task)


class FaultyModel(model.Model, BaseHTTPRequestHandler):
    """One request; `chat` is false for Responses."""
    tasks = Tasks()

    def do_GET(self):
        if self.path == "/met":
            return self.send_json(200, sorted(self.tasks.met))
        _, name, *rest = self.path.split("/")
        if rest != ["v1", "models"] or name not in BY_NAME:
            return self.refuse(404, "not_found", f"no such path: {self.path}")
        return self.send_json(200, {"object": "list", "data": [
            {"id": name, "object": "model", "created": 0, "owned_by": "faults"}]})

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))))
        _, name, _, *rest = self.path.split("/")
        self.chat = rest == ["chat", "completions"]
        if name not in BY_NAME or not (self.chat or rest == ["responses"]):
            return self.refuse(404, "not_found", f"no such path: {self.path}")
        messages = request["messages"] if self.chat else fault_responses.messages(request["input"])
        return self.answer_task(request, messages, BY_NAME[name])

    def answer_task(self, request, messages, fault):
        task = find_task(messages)
        if task is None:
            return self.refuse(400, "no_task", "no message contains a task")
        refusal = fault.refuses({**request, "messages": messages})
        if refusal:
            self.tasks.meets(task["name"])
            return self.refuse(400, "unsupported_parameter", refusal)
        refusal = history_fault(messages)
        if refusal:
            return self.refuse(400, "bad_history", refusal)
        tries = self.tasks.begin(task["name"])
        if fault.once and tries > 1:
            fault = NO_FAULT
        receipts = sorted(set(RECEIPT.findall(json.dumps(messages))))
        if receipts or tries > TRIES:
            said = f"That is done: {', '.join(receipts)}." if receipts else "I give up."
            return self.send(request, task, Spoken(said, finish=fault.finish("stop")), Spoken(said), fault)
        calls = [Call(call["name"], call["arguments"], f"call_{tries}{place}{'0' * 22}")
                 for place, call in enumerate(task["calls"])]
        return self.send(request, task, speak(calls, fault), speak(calls, NO_FAULT), fault)

    def send(self, request, task, spoken, good, fault):
        """Sends a reply with its fault, which shows if the reply without it would be another one."""
        streamed = request.get("stream", False)
        reply = self.render(request, spoken, fault)
        if fault.sends == CLOSE or (streamed and (fault.sends or fault.ends)) or reply != self.render(request, good, NO_FAULT):
            self.tasks.meets(task["name"])
        if fault.sends == CLOSE:
            self.close_connection = True
        elif not streamed:
            self.send_json(200, reply)
        elif fault.sends == BODY:
            self.send_json(200, self.render({**request, "stream": False}, spoken, fault))
        else:
            self.send_events(reply, fault.sends, fault.ends)

    def render(self, request, spoken, fault):
        """The body of a reply, or the list of its events."""
        name, streamed = request["model"], request.get("stream", False)
        if not self.chat:
            return (fault_responses.events if streamed else fault_responses.whole)(spoken, fault, name)
        head = {"id": "chatcmpl-faulty", "created": 0, "model": name}
        if not streamed:
            return whole(spoken, fault, head)
        return chunks(spoken, fault, head, (request.get("stream_options") or {}).get("include_usage", False))

    def send_events(self, events, sends, ends):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for event in events[:sent_of(events, sends)]:
            self.send_event(json.dumps(event))
        if sends == CUT:
            self.close_connection = True
            return
        if sends == ERROR:
            self.send_event(json.dumps(ENGINE_ERROR if self.chat else {"type": "error", **ENGINE_ERROR["error"]}))
        elif sends == ERROR_FIELD:
            field = f"error: {json.dumps(ENGINE_ERROR['error'])}\n\n".encode()
            self.wfile.write(b"%x\r\n%s\r\n" % (len(field), field))
        elif ends != WITHOUT_END:
            self.send_event("[DONE]")
        self.wfile.write(b"0\r\n\r\n")


def sent_of(events, sends):
    """How many events of a stream are sent."""
    return {EMPTY: 0, ERROR: 1, ERROR_FIELD: 1, CUT: len(events) // 2}.get(sends, len(events))


def find_task(messages):
    """The task of the newest message that has one."""
    for message in reversed(messages):
        found = re.search("<task>(.*)</task>", as_text(message.get("content")), re.DOTALL)
        if found and message["role"] == "user":
            return json.loads(found[1])
    return None


def history_fault(messages):
    """Why a chat template could not render this history, or None."""
    for message in messages:
        if not all(isinstance(call.get("id"), str) for call in message.get("tool_calls") or ()):
            return "a call without an id"
    return model.history_fault(messages)


def main():
    ThreadingHTTPServer.request_queue_size = 128
    server = ThreadingHTTPServer(("127.0.0.1", 0), FaultyModel)
    server.daemon_threads = True
    print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    sys.exit(main())
