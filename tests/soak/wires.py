"""One turn over one wire, and how it ended for the client."""

import enum
import json
import time
from dataclasses import dataclass, field
from typing import Any, Optional

from http_client import LONGEST, ClientLeft, Leave, Reply, send, server_sent_events
from websocket import WebSocket


class Ending(enum.Enum):
    COMPLETED = "ok"  # the client has received the end
    REFUSED = "refused"  # a status and nothing else, or no connection: no part of the turn may be kept
    BROKEN = "broken"  # an error after the beginning, or a lost connection
    LEFT = "disconnected"  # the client closed the connection itself


@dataclass
class Outcome:
    ending: Ending
    code: str = ""
    text: str = ""
    calls: list[dict] = field(default_factory=list)
    response: dict = field(default_factory=dict)

    def may_be_kept(self) -> bool:
        return self.ending != Ending.REFUSED or "store_outcome_unknown" in self.code


def attempt(turn, *arguments, **options) -> Outcome:
    """A turn whose connection may break at any moment."""
    try:
        return turn(*arguments, **options)
    except ClientLeft:
        return Outcome(Ending.LEFT)
    except ConnectionRefusedError:
        return Outcome(Ending.REFUSED, "connection refused")
    except TimeoutError:
        return Outcome(Ending.BROKEN, "timeout of the client")
    except Exception as error:  # http.client has many exceptions for a connection that breaks
        return Outcome(Ending.BROKEN, f"connection lost: {type(error).__name__}")


def refused(reply: Reply) -> Outcome:
    return Outcome(Ending.REFUSED, reply.error_code())


# --- Chat Completions

def chat(address: str, body: dict, streamed: bool, leave: Optional[Leave], headers: Optional[dict] = None) -> Outcome:
    reply = send(address, "POST", "/v1/chat/completions", {**body, "stream": streamed}, leave, **(headers or {}))
    if reply.status != 200:
        return refused(reply)
    if streamed:
        return folded_chat(list(server_sent_events(reply.body)))
    choice = reply.json()["choices"][0]
    calls = [made["function"] for made in choice["message"].get("tool_calls") or []]
    return Outcome(Ending.COMPLETED, choice["finish_reason"], choice["message"].get("content") or "", calls)


def folded_chat(events: list[str]) -> Outcome:
    text, calls, finish = "", [], ""
    for event in map(json.loads, (event for event in events if event != "[DONE]")):
        if "error" in event:
            return Outcome(Ending.BROKEN, f"in the stream: {event['error']['code']}")
        for choice in event["choices"]:
            finish = choice.get("finish_reason") or finish
            text += choice["delta"].get("content") or ""
            for fragment in choice["delta"].get("tool_calls") or []:
                add_fragment(calls, fragment)
    if events[-1:] != ["[DONE]"]:
        return Outcome(Ending.BROKEN, "the stream has no end")
    return Outcome(Ending.COMPLETED, finish, text, calls)


def add_fragment(calls: list[dict], fragment: dict) -> None:
    if fragment["index"] == len(calls):
        calls.append(dict(fragment["function"]))
    else:
        calls[fragment["index"]]["arguments"] += fragment["function"]["arguments"]


# --- Responses

def response(address: str, body: dict, streamed: bool, leave: Optional[Leave]) -> Outcome:
    reply = send(address, "POST", "/v1/responses", {**body, "stream": streamed}, leave)
    if reply.status != 200:
        return refused(reply)
    if not streamed:
        return ended_response(reply.json())
    events = [json.loads(event) for event in server_sent_events(reply.body)]
    return folded_response(events)


def folded_response(events: list[dict]) -> Outcome:
    last: dict[str, Any] = events[-1] if events else {"type": "no event"}
    if last["type"] in ("response.completed", "response.incomplete"):
        return ended_response(last["response"])
    error = last.get("error") or (last.get("response") or {}).get("error") or {}
    return Outcome(Ending.BROKEN, f"in the stream: {last['type']} {error.get('code')}")


def ended_response(ended: dict) -> Outcome:
    if ended["status"] not in ("completed", "incomplete"):
        return Outcome(Ending.BROKEN, f"status {ended['status']}")
    messages = [item for item in ended["output"] if item["type"] == "message"]
    text = "".join(part.get("text", "") for item in messages for part in item["content"])
    calls = [item for item in ended["output"] if item["type"] == "function_call"]
    return Outcome(Ending.COMPLETED, ended["status"], text, calls, ended)


LAST = ("response.completed", "response.incomplete", "response.failed", "error")


def over_websocket(socket: WebSocket, body: dict, leave: Optional[Leave]) -> Outcome:
    """Over an open WebSocket. A client leaves after a number of events, which is less than that of bytes."""
    socket.send({"type": "response.create", **body})
    events: list[dict[str, Any]] = []
    deadline = time.monotonic() + LONGEST
    while not events or events[-1]["type"] not in LAST:
        if time.monotonic() > deadline:
            raise TimeoutError
        if leave and len(events) >= leave.after // 100:
            socket.close(leave.reset)
            raise ClientLeft
        events.append(socket.receive())
    if events[-1]["type"] == "error" and len(events) == 1:
        error = events[-1]
        return Outcome(Ending.REFUSED, f"{error.get('status')} {error['error']['code']}")
    return folded_response(events)
