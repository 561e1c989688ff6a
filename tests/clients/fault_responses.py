"""The Responses API of the model server of the fault matrix, for clients that speak nothing else."""
import json

import model
from faults import WITHOUT_END, WITHOUT_FINISH

USAGE = {"input_tokens": 20, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 10,
         "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 30}


# ---------------------------------------------------------------------------------------------------------------------
# The input

def messages(items):
    """The input as the messages of a chat; calls that follow each other are those of one message."""
    if isinstance(items, str):
        return [{"role": "user", "content": items}]
    chat = []
    for item in items:
        kind = item.get("type", "message")
        if kind == "message":
            chat.append({"role": item["role"], "content": item["content"]})
        elif kind == "function_call":
            call = {"id": item["call_id"], "function": {"name": item["name"], "arguments": item["arguments"]}}
            if not (chat and chat[-1].get("tool_calls")):
                chat.append({"role": "assistant", "tool_calls": []})
            chat[-1]["tool_calls"].append(call)
        elif kind == "function_call_output":
            chat.append({"role": "tool", "tool_call_id": item["call_id"], "content": item["output"]})
    return chat


# ---------------------------------------------------------------------------------------------------------------------
# The response

def call_item(place, call, fault):
    """A call as an item, and its place in the output as the fault has it."""
    wire = {"index": place, "id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
    changed = fault.deltas([wire])
    wire = changed[0] if len(changed) == 1 else wire
    named = {"call_id": wire["id"]} if "id" in wire else {}
    at = {"output_index": wire["index"]} if "index" in wire else {}
    return {"type": "function_call", "id": f"fc_{place}", **named, **wire["function"], "status": "completed"}, at


def text_item(text):
    part = {"type": "output_text", "text": text, "annotations": []}
    return {"type": "message", "id": "msg_0", "role": "assistant", "status": "completed", "content": [part]}


def output(spoken, fault):
    """The items of the output, each with the place that its events name."""
    if spoken.text:
        return [(text_item(spoken.text), {"output_index": 0})]
    return [call_item(place, call, fault) for place, call in enumerate(spoken.calls)]


def response(name, status, items):
    return {"id": "resp_faulty", "object": "response", "created_at": 0, "model": name, "status": status, "output": items,
            "usage": USAGE if status == "completed" else None}


def whole(spoken, fault, name):
    return response(name, "completed", [item for item, _ in output(spoken, fault)])


def events(spoken, fault, name):
    items = output(spoken, fault)
    stream = [{"type": "response.created", "response": response(name, "in_progress", [])}]
    for item, at in items:
        stream += item_events(item, at)
    if fault.ends not in (WITHOUT_FINISH, WITHOUT_END):
        done = response(name, "completed", [item for item, _ in items])
        stream.append({"type": "response.completed", "response": done})
    return [{**event, "sequence_number": number} for number, event in enumerate(stream)]


def item_events(item, at):
    if item["type"] == "message":
        begun, deltas = {**item, "status": "in_progress", "content": []}, text_events(item, at)
    else:
        begun, deltas = {**item, "status": "in_progress", "arguments": ""}, argument_events(item, at)
    yield {"type": "response.output_item.added", **at, "item": begun}
    yield from deltas
    yield {"type": "response.output_item.done", **at, "item": item}


def text_events(item, at):
    [part] = item["content"]
    where = {"item_id": item["id"], **at, "content_index": 0}
    yield {"type": "response.content_part.added", **where, "part": {**part, "text": ""}}
    for piece in model.pieces(part["text"]):
        yield {"type": "response.output_text.delta", **where, "delta": piece}
    yield {"type": "response.output_text.done", **where, "text": part["text"]}
    yield {"type": "response.content_part.done", **where, "part": part}


def argument_events(item, at):
    where, text = {"item_id": item["id"], **at}, item["arguments"]
    for piece in model.pieces(text if isinstance(text, str) else json.dumps(text)):
        yield {"type": "response.function_call_arguments.delta", **where, "delta": piece}
    yield {"type": "response.function_call_arguments.done", **where, "arguments": text}
