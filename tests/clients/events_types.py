#!/usr/bin/env python3
"""Checks everything that was sent to the clients against the official SDK's types and the order of events.

    events_types.py FOLDER        the recordings of observer.py while the other suites ran

Known differences are listed in type_exceptions.txt. The list may only shrink: a new difference fails, and so does a listed
one that no longer occurs.
"""
import functools
import re
import sys
from collections import Counter
from pathlib import Path

from openai.types.conversations import Conversation, ConversationDeletedResource, ConversationItem, ConversationItemList
from openai.types.responses import Response, ResponseItemList, ResponseStreamEvent
from openai.types.responses.responses_server_event import ResponsesServerEvent
from openai.types.shared import ErrorObject

from checks import Suite, equal
from recordings import exchanges
from sdk_types import findings

EXCEPTIONS = Path(__file__).with_name("type_exceptions.txt")
ALL = list(exchanges(sys.argv[1]))
suite = Suite("types")

# The type of the answer by path. Callboard's own paths have none.
WHOLE = [
    ("POST", r"/v1/responses(/[^/]+/cancel)?", Response),
    ("GET", r"/v1/responses/[^/]+", Response),
    ("GET", r"/v1/responses/[^/]+/input_items", ResponseItemList),
    ("POST", r"/v1/conversations(/[^/]+)?", Conversation),
    ("GET", r"/v1/conversations/[^/]+", Conversation),
    ("DELETE", r"/v1/conversations/[^/]+", ConversationDeletedResource),
    ("GET|POST", r"/v1/conversations/[^/]+/items", ConversationItemList),
    ("GET", r"/v1/conversations/[^/]+/items/[^/]+", ConversationItem),
    ("DELETE", r"/v1/conversations/[^/]+/items/[^/]+", Conversation),
]
UNTYPED = [
    ("DELETE", r"/v1/responses/[^/]+"),
    ("GET", r"/v1/conversations/[^/]+/(state|journal)"),
    ("POST", r"/v1/conversations/[^/]+/undo"),
    ("GET", r"/v1/models(/.*)?"),
]
LAST = ("response.completed", "response.incomplete", "response.failed")
KINDS = {
    "error", "response.created", "response.in_progress", "response.completed", "response.incomplete", "response.failed",
    "response.output_item.added", "response.output_item.done", "response.content_part.added", "response.content_part.done",
    "response.output_text.delta", "response.output_text.done", "response.reasoning_text.delta",
    "response.reasoning_text.done", "response.reasoning_summary_part.added", "response.reasoning_summary_part.done",
    "response.reasoning_summary_text.delta", "response.reasoning_summary_text.done",
    "response.function_call_arguments.delta", "response.function_call_arguments.done", "response.mcp_call.in_progress",
    "response.mcp_call_arguments.delta", "response.mcp_call_arguments.done", "response.mcp_call.completed",
    "response.mcp_call.failed", "response.custom_tool_call_input.delta", "response.custom_tool_call_input.done",
}


# ---------------------------------------------------------------------------------------------------------------------
# Types

def is_at(exchange, method, path):
    return re.fullmatch(method, exchange.method) and re.fullmatch(path, exchange.path)


def kind_of(exchange):
    """The type of a JSON answer, or None where the SDK has none."""
    for method, path, kind in WHOLE:
        if is_at(exchange, method, path):
            return kind
    assert any(is_at(exchange, *place) for place in UNTYPED), f"no type is known for {exchange.method} {exchange.path}"
    return None


def differences(exchange):
    if exchange.transport == "websocket":
        return of_events(exchange.events, ResponsesServerEvent)
    if exchange.transport == "stream":
        return of_events(exchange.events, ResponseStreamEvent)
    if exchange.status >= 400:
        extra = [f"error body: {name} is beside the error" for name in exchange.value if name != "error"]
        return extra + findings(exchange.value["error"], ErrorObject)
    kind = kind_of(exchange)
    return findings(exchange.value, kind) if kind else []


def of_events(events, kind):
    return [finding for event in events for finding in findings(event, kind)]


@functools.cache
def seen():
    """Every difference, and how often it occurs."""
    return Counter(finding for exchange in ALL for finding in differences(exchange))


def listed():
    lines = (line.split("#")[0].strip() for line in EXCEPTIONS.read_text(encoding="utf-8").splitlines())
    return {line for line in lines if line}


# ---------------------------------------------------------------------------------------------------------------------
# Order

def lanes(exchange):
    """The events by stream: a WebSocket may have several, and each is ordered separately."""
    found = {}
    for event in exchange.events:
        found.setdefault(event.get("stream_id"), []).append(event)
    return found.values()


def responses_in(events, may_end_early):
    """The streams of single responses, without errors outside of any response, as on a WebSocket.

    A client may disconnect early. Others would report a missing end themselves.
    """
    stream = []
    for event in events:
        if event["type"] == "response.created" and stream:
            raise AssertionError(f"a response begins before {stream[0]['response']['id']} has ended")
        if stream or event["type"] == "response.created":
            stream.append(event)
        else:
            equal(event["type"], "error")
        if event["type"] in LAST:
            yield stream
            stream = []
    assert may_end_early or not stream, f"a stream ended with {stream[-1]['type']}"


def keep_order(stream):
    """One response: sequence numbers without gaps, items that begin and end once, and a last event with all items."""
    equal([event["sequence_number"] for event in stream], list(range(len(stream))))
    equal(stream[1]["type"], "response.in_progress")
    equal({event["response"]["id"] for event in stream if "response" in event}, {stream[0]["response"]["id"]})
    added = [event for event in stream if event["type"] == "response.output_item.added"]
    done = {event["output_index"]: event["item"] for event in stream if event["type"] == "response.output_item.done"}
    equal([event["output_index"] for event in added], list(range(len(added))))
    ids = [event["item"]["id"] for event in added]
    assert len(set(ids)) == len(ids), f"ids {ids}"
    for event in stream:
        if "item_id" in event:
            equal(event["item_id"], ids[event["output_index"]])
    output = stream[-1]["response"]["output"]
    equal([item["id"] for item in output], ids)
    broken_off = [place for place in range(len(added)) if place not in done]
    if stream[-1]["type"] != "response.failed":
        equal(broken_off, [])
    equal([output[place] for place in done], list(done.values()))
    equal([output[place]["status"] for place in broken_off], ["in_progress"] * len(broken_off))
    for place, item in done.items():
        keep_words(place, item, stream)


def keep_words(place, item, stream):
    """The deltas of an item add up to the item."""
    words = {}
    for event in stream:
        if event.get("output_index") == place and event["type"].endswith(".delta"):
            kind = event["type"].removesuffix(".delta")
            words[kind] = words.get(kind, "") + event["delta"]
    text = "".join(part["text"] for part in [*(item.get("summary") or []), *(item.get("content") or [])] if "text" in part)
    whole = text or item.get("arguments") or item.get("input")
    if whole:
        equal("".join(words.values()), whole)


# ---------------------------------------------------------------------------------------------------------------------

@suite.check("planted differences are found")
def _():
    whole = next(exchange.value for exchange in ALL if exchange.status == 200 and exchange.path == "/v1/responses"
                 and exchange.transport == "whole" and exchange.value["output"])
    known = set(findings(whole, Response))
    [first, *rest] = whole["output"]
    without_id = {name: value for name, value in first.items() if name != "id"}
    for planted in ({**whole, "extra": 1}, {**whole, "model": 7}, {**whole, "status": "done"}, {**whole, "usage": {}},
                    {**whole, "output": [without_id, *rest]}, {**whole, "output": [{**first, "type": "song"}, *rest]}):
        assert set(findings(planted, Response)) - known, f"not found: {planted}"


@suite.check("everything sent matches the SDK's types, except for the listed exceptions")
def _():
    new = {finding: count for finding, count in sorted(seen().items()) if finding not in listed()}
    assert not new, f"not as the types say: {new}"
    return f"{len(ALL)} exchanges, {sum(len(exchange.events) for exchange in ALL)} events"


@suite.check("every listed exception still occurs")
def _():
    gone = sorted(listed() - seen().keys())
    assert not gone, f"take these off {EXCEPTIONS.name}: {gone}"
    return f"{len(listed())} listed"


@suite.check("every kind of event was sent, the common ones over WebSocket too")
def _():
    kinds = {transport: {event["type"] for exchange in ALL if exchange.transport == transport for event in exchange.events}
             for transport in ("stream", "websocket")}
    equal(sorted(kinds["stream"] ^ KINDS), [])
    both = {"error", "response.completed", "response.function_call_arguments.done", "response.output_text.delta"}
    equal(sorted(both - kinds["websocket"]), [])


@suite.check("the events of every response are in order")
def _():
    count = 0
    for exchange in ALL:
        for events in lanes(exchange):
            for stream in responses_in(events, exchange.cut or exchange.transport == "websocket"):
                keep_order(stream)
                count += 1
    assert count, "no response was streamed"
    return f"{count} responses"


sys.exit(1 if suite.run() else 0)
