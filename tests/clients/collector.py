"""Traces as a collector receives them, parsed with OpenTelemetry's protobuf types and checked against its list of names.

The rehearsal model answers, so no model server is needed. The collector refuses the first request, as a busy one would.

    collector.py CALLBOARD
"""
import base64
import json
import os
import queue
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status
from opentelemetry.semconv._incubating.attributes import gen_ai_attributes
from opentelemetry.semconv.attributes import error_attributes, server_attributes, service_attributes
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags, TraceState, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from checks import Suite, equal

SECONDS = 30
SHIPPED = Path(__file__).resolve().parent.parent.parent / "characters"
SAID = "What is 12 plus 30?"
TOOL = {"type": "function", "function": {"name": "roll_dice", "description": "Roll dice with so many sides",
        "parameters": {"type": "object", "properties": {"sides": {"type": "integer"}}, "required": ["sides"]}}}

CALLER = SpanContext(trace_id=0x4BF92F3577B34DA6A3CE929D0E0E4736, span_id=0x00F067AA0BA902B7, is_remote=False,
                     trace_flags=TraceFlags(TraceFlags.SAMPLED), trace_state=TraceState([("congo", "t61"), ("rojo", "1")]))

suite = Suite("collector")


class Collector(ThreadingHTTPServer):
    """Records requests; the first one is refused."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.received = queue.Queue()
        self.refusals = 1
        self.url = f"http://127.0.0.1:{self.server_port}"
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Handler(BaseHTTPRequestHandler):
    server: Collector
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        busy = self.server.refusals > 0
        self.server.refusals -= 1
        if not busy:
            self.server.received.put((self.path, dict(self.headers), body))
        self.send_response(503 if busy else 200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_):
        pass


def read(body):
    """The request in OpenTelemetry's types. In OTLP's JSON ids are hexadecimal; protobuf's parser expects base64."""
    document = json.loads(body)
    for resource in document["resourceSpans"]:
        for scope in resource["scopeSpans"]:
            for span in scope["spans"]:
                for key in ("traceId", "spanId", "parentSpanId"):
                    if key in span:
                        span[key] = base64.b64encode(bytes.fromhex(span[key])).decode()
    return json_format.ParseDict(document, ExportTraceServiceRequest())


def attributes(owner):
    return {pair.key: getattr(pair.value, pair.value.WhichOneof("value")) for pair in owner.attributes}


def start(callboard, folder, collector):
    shutil.copytree(SHIPPED, folder / "characters", ignore=shutil.ignore_patterns("__pycache__"))
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "CALLBOARD_TRACE_CONTENT": "true",
                   "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, "OTEL_EXPORTER_OTLP_HEADERS": "x-key=a%20b",
                   "OTEL_SERVICE_NAME": "stage", "OTEL_RESOURCE_ATTRIBUTES": "deployment.environment.name=test"}
    command = [callboard, "serve", "--listen", "127.0.0.1:0", "--store", "sqlite::memory:", "--model", "rehearsal"]
    process = subprocess.Popen(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, text=True)
    for line in process.stdout or ():
        found = re.search(r"listening on (http://\S+:\d+)", line)
        if found:
            return process, found[1]
    raise SystemExit("Callboard did not start")


def ask(url, body, headers=None):
    headers = {"content-type": "application/json", **(headers or {})}
    request = urllib.request.Request(f"{url}/v1/chat/completions", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=SECONDS) as reply:
        return json.load(reply)


def within(spans):
    """The spans of the caller's trace."""
    return [span for span in spans if int.from_bytes(span.trace_id, "big") == CALLER.trace_id]


def spans_of(collector, url):
    """Runs a turn of a character, one of the gateway and one within a caller's trace; returns all spans of the collector."""
    ask(url, {"model": "calculator", "messages": [{"role": "user", "content": SAID}]})
    ask(url, {"model": "rehearsal", "messages": [{"role": "user", "content": "Roll a die with 6 sides"}], "tools": [TOOL]})
    headers = {}
    TraceContextTextMapPropagator().inject(headers, set_span_in_context(NonRecordingSpan(CALLER)))
    ask(url, {"model": "calculator", "messages": [{"role": "user", "content": SAID}]}, headers)
    requests, spans = [], []
    while sum(not span.parent_span_id for span in spans) < 2 or not within(spans):
        path, headers, body = collector.received.get(timeout=SECONDS)
        equal(path, "/v1/traces")
        equal(headers["x-key"], "a b")
        requests.append(read(body))
        spans += [span for resource in requests[-1].resource_spans for scope in resource.scope_spans for span in scope.spans]
    return requests, spans


def checks(requests, spans):
    roots = {span.name.split(" ")[0]: span for span in spans if not span.parent_span_id}

    def own(root):
        return [span for span in spans if span.trace_id == root.trace_id and span.parent_span_id]

    @suite.check("the resource names the service")
    def _():
        resource = attributes(requests[0].resource_spans[0].resource)
        equal(resource[service_attributes.SERVICE_NAME], "stage")
        equal(resource["deployment.environment.name"], "test")

    @suite.check("ids and times are valid")
    def _():
        equal(len({span.span_id for span in spans}), len(spans))
        for span in spans:
            equal((len(span.trace_id), len(span.span_id)), (16, 8))
            assert 0 < span.start_time_unix_nano <= span.end_time_unix_nano, span
        for root in roots.values():
            for span in own(root):
                equal(span.parent_span_id, root.span_id)
                assert root.start_time_unix_nano <= span.start_time_unix_nano, span
                assert span.end_time_unix_nano <= root.end_time_unix_nano, span

    @suite.check("every attribute name is in the conventions, or Callboard's own")
    def _():
        known = {value for module in (gen_ai_attributes, error_attributes, server_attributes)
                 for key, value in vars(module).items() if key.isupper() and isinstance(value, str)}
        used = {key for span in spans for key in attributes(span)}
        unknown = {key for key in used if key not in known and not key.startswith("callboard.")}
        equal(unknown, set())
        return f"{len(used)} names"

    @suite.check("a character's turn is an agent span with a model request and a tool")
    def _():
        root = roots["invoke_agent"]
        seen = attributes(root)
        equal((seen["gen_ai.agent.name"], seen["gen_ai.operation.name"]), ("calculator", "invoke_agent"))
        operations = [attributes(span)["gen_ai.operation.name"] for span in own(root)]
        assert operations.count("chat") >= 2 and operations.count("execute_tool") >= 1, operations
        tool = next(attributes(span) for span in own(root) if span.name.startswith("execute_tool "))
        equal(tool["gen_ai.tool.type"], "function")
        assert json.loads(tool["gen_ai.tool.call.arguments"]) and "42" in tool["gen_ai.tool.call.result"], tool
        equal(json.loads(seen["gen_ai.input.messages"])[-1], {"role": "user", "parts": [{"type": "text", "content": SAID}]})
        equal(json.loads(seen["gen_ai.output.messages"])[0]["role"], "assistant")

    @suite.check("a turn of the gateway lists the calls sent to the client")
    def _():
        root = roots["turn"]
        equal(root.kind, Span.SPAN_KIND_SERVER)
        call = next(event for event in root.events if event.name == "callboard.tool_call")
        equal(attributes(call)["gen_ai.tool.name"], "roll_dice")
        output = json.loads(attributes(own(root)[-1])["gen_ai.output.messages"])
        equal(output[0]["parts"][-1]["name"], "roll_dice")

    @suite.check("a turn is part of its caller's trace")
    def _():
        turn = next(span for span in within(spans) if span.name.startswith("invoke_agent "))
        equal(int.from_bytes(turn.parent_span_id, "big"), CALLER.span_id)
        others = [span for span in within(spans) if span is not turn]
        assert len(others) >= 3 and all(span.parent_span_id == turn.span_id for span in others), others
        equal({span.trace_state.replace(" ", "") for span in within(spans)}, {"congo=t61,rojo=1"})

    @suite.check("successful turns have no error")
    def _():
        for span in spans:
            assert span.status.code != Status.STATUS_CODE_ERROR and "error.type" not in attributes(span), span


def main():
    collector = Collector()
    with tempfile.TemporaryDirectory() as folder:
        process, url = start(sys.argv[1], Path(folder), collector)
        try:
            checks(*spans_of(collector, url))
        finally:
            process.kill()
            process.wait()
    sys.exit(1 if suite.run() else 0)


main()
