"""The faults of model servers that the fault matrix tests, as data: one row is one fault.

A fault changes a good reply at exactly one place on its way to the wire: the arguments of its calls (`arguments`, which by
default makes them JSON), the calls (`calls`), the text that holds them instead (`as_text`), the deltas of one call (`deltas`),
the chunks of a stream (`chunks`), its `finish_reason`, or how it is sent and ends. `refuses` tells what a server does not
accept in a request. See fault_server.py, which plays them.
"""
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from scripts import Call

# Ways to send a reply, besides a stream when one was asked for.
BODY, EMPTY, ERROR, ERROR_FIELD, CUT, CLOSE = "body", "empty", "error", "error field", "cut", "close"
# How a stream ends, if not as it should.
WITHOUT_FINISH, WITHOUT_END = "without finish", "without end"


def same(value):
    return value


def accept(_request):
    return None


@dataclass(frozen=True)
class Fault:
    """One fault. With `two` the task needs two calls in one reply; with `once` only the first reply of a task is bad."""
    name: str
    about: str
    group: str = ""
    two: bool = False
    once: bool = False
    arguments: Callable[[dict], Any] = json.dumps
    calls: Callable[[list[Call]], list[Call]] = same
    as_text: Callable[[Sequence[Call]], str] | None = None
    deltas: Callable[[list[dict]], list[dict]] = same
    chunks: Callable[[list[dict]], list[dict]] = same
    finish: Callable[[str], str] = same
    refuses: Callable[[dict], str | None] = accept
    sends: str = ""
    ends: str = ""


NO_FAULT = Fault("no-fault", "no fault")


# ---------------------------------------------------------------------------------------------------------------------
# Calls: their arguments, names and ids

def names(change: Callable[[str], str]):
    return lambda calls: [replace(call, name=change(call.name)) for call in calls]


def unquoted(value):
    fields = ", ".join(f"{key}: {json.dumps(part)}" for key, part in value.items())
    return "{" + fields + ",}"


def raw_newlines(value):
    return json.dumps(value).replace("\\n", "\n").replace("\\t", "\t")


def lone_backslashes(value):
    return json.dumps(value).replace("\\\\", "\\")


def parts_as_text(value):
    return json.dumps({key: part if isinstance(part, str) else json.dumps(part) for key, part in value.items()})


def lists_unwrapped(value):
    return json.dumps({key: part[0] if isinstance(part, list) else part for key, part in value.items()})


def without_first(value):
    return json.dumps(dict(list(value.items())[1:]))


def half(value):
    text = json.dumps(value)
    return text[:len(text) // 2]


def joined(calls):
    return [replace(calls[0], arguments="".join(call.arguments for call in calls))]


def with_one_id(calls):
    return [replace(call, id=calls[0].id) for call in calls]


# ---------------------------------------------------------------------------------------------------------------------
# Calls as text, in the formats of several families

def hermes(calls):
    return "\n".join("<tool_call>\n%s\n</tool_call>" % json.dumps({"name": call.name, "arguments": call.arguments})
                     for call in calls)


def qwen_coder(calls):
    def parameter(key, value):
        return f"<parameter={key}>\n{value if isinstance(value, str) else json.dumps(value)}\n</parameter>\n"
    return "\n".join(f"<tool_call>\n<function={call.name}>\n"
                     + "".join(parameter(*field) for field in call.arguments.items()) + "</function>\n</tool_call>"
                     for call in calls)


def mistral(calls):
    return "[TOOL_CALLS]" + json.dumps([{"name": call.name, "arguments": call.arguments} for call in calls])


def llama(calls):
    return "; ".join(json.dumps({"type": "function", "name": call.name, "parameters": call.arguments}) for call in calls)


def deepseek(calls):
    written = "".join(f"<｜tool▁call▁begin｜>{call.name}<｜tool▁sep｜>{json.dumps(call.arguments)}<｜tool▁call▁end｜>"
                      for call in calls)
    return f"<｜tool▁calls▁begin｜>{written}<｜tool▁calls▁end｜><｜end▁of▁sentence｜>"


def kimi(calls):
    written = "".join(f"<|tool_call_begin|>functions.{call.name}:{place}<|tool_call_argument_begin|>"
                      f"{json.dumps(call.arguments)}<|tool_call_end|>" for place, call in enumerate(calls))
    return f"<|tool_calls_section_begin|>{written}<|tool_calls_section_end|>"


def harmony(calls):
    return "<|channel|>analysis<|message|>I have to write.<|end|>" + "".join(
        f"<|start|>assistant<|channel|>commentary to=functions.{call.name} <|constrain|>json<|message|>"
        f"{json.dumps(call.arguments)}<|call|>" for call in calls)


def thinking(calls):
    return "<think>\nI have to write.\n</think>\n" + hermes(calls)


# ---------------------------------------------------------------------------------------------------------------------
# Streams

def without(key):
    return lambda deltas: [{name: value for name, value in delta.items() if name != key} for delta in deltas]


def indexed(change):
    return lambda deltas: [{**delta, "index": change(delta["index"])} for delta in deltas]


def with_empty_ids(deltas):
    return [{**delta, "id": ""} for delta in deltas]


def with_repeated_head(deltas):
    head = deltas[0]
    return [{**head, "function": {"name": head["function"]["name"], "arguments": delta["function"]["arguments"]}}
            for delta in deltas]


def with_name_in_pieces(deltas):
    head, *rest = deltas
    if not rest:
        return deltas
    name = head["function"]["name"]
    cut = len(name) // 2
    first = {**head, "function": {**head["function"], "name": name[:cut]}}
    return [first, {"index": head["index"], "function": {"name": name[cut:]}}, *rest]


def with_null_arguments(deltas):
    head, *rest = deltas
    return [{**head, "function": {**head["function"], "arguments": None}}, *rest] if rest else deltas


def without_role(chunks):
    def mute(choice):
        return {**choice, "delta": {key: value for key, value in choice["delta"].items() if key != "role"}}
    return [{**chunk, "choices": [mute(choice) for choice in chunk["choices"]]} for chunk in chunks]


def with_null_choices(chunks):
    """Reports its speed in chunks of their own, as some servers do, asked or not."""
    return [{**chunks[0], "choices": None, "usage": None}, *chunks]


def together(chunks):
    """All that follows the first chunk of calls in that chunk, as a server with speculative decoding sends it."""
    talk = [chunk for chunk in chunks if not tool_deltas(chunk)]
    calls = [delta for chunk in chunks for delta in tool_deltas(chunk)]
    if not calls:
        return chunks
    last = next(place for place, chunk in enumerate(talk) if chunk["choices"] and chunk["choices"][0]["finish_reason"])
    lump = {**talk[0], "choices": [{"index": 0, "delta": {"tool_calls": calls}, "finish_reason": None}]}
    return [*talk[:last], lump, *talk[last:]]


def tool_deltas(chunk):
    return [delta for choice in chunk["choices"] for delta in choice["delta"].get("tool_calls", ())]


# ---------------------------------------------------------------------------------------------------------------------
# Requests that are refused: the message of the 400

USUAL_FIELDS = {"model", "messages", "input", "instructions", "tools", "tool_choice", "stream", "temperature", "max_tokens"}


def refuses_field(name, message):
    return lambda request: message if name in request else None


def refuses_more_fields(request):
    unusual = sorted(set(request) - USUAL_FIELDS)
    return "; ".join(f"{name}: Extra inputs are not permitted" for name in unusual) or None


def refuses_strict(request):
    strict = any("strict" in tool.get("function", tool) for tool in request.get("tools") or [])
    return "tools.0.function.strict: Extra inputs are not permitted" if strict else None


def refuses_null_content(request):
    for place, message in enumerate(request.get("messages", ())):
        if "content" in message and message["content"] is None:
            return f"messages[{place}].content: Input should be a valid string"
    return None


def refuses_long_ids(request):
    for message in request.get("messages", ()):
        for call in message.get("tool_calls") or ():
            if not (len(call["id"]) == 9 and call["id"].isalnum()):
                return f"Tool call id was {call['id']} but must be a-z, A-Z, 0-9, with a length of 9."
    return None


def refuses_neighbours(request):
    roles = [message["role"] for message in request.get("messages", ())]
    if any(first == second == "user" for first, second in zip(roles, roles[1:])):
        return "Conversation roles must alternate user/assistant/user/assistant/..."
    return None


# ---------------------------------------------------------------------------------------------------------------------
# The table

def group(title, *faults):
    return [replace(fault, group=title) for fault in faults]


FAULTS = [
    *group(
        "Arguments",
        Fault("object", "`arguments` is an object, not a string", arguments=same),
        Fault("encoded-twice", "encoded twice", arguments=lambda value: json.dumps(json.dumps(value))),
        Fault("python", "Python literals: single quotes, `True`", arguments=repr),
        Fault("unquoted", "keys without quotes, a trailing comma", arguments=unquoted),
        Fault("raw-newlines", "raw newlines and tabs in strings", arguments=raw_newlines),
        Fault("fence", "in a code fence", arguments=lambda value: f"```json\n{json.dumps(value)}\n```"),
        Fault("parts-as-text", "numbers, booleans and lists as text", arguments=parts_as_text),
        Fault("no-list", "a single value instead of a list", arguments=lists_unwrapped),
        Fault("joined", "two calls joined as `{…}{…}`", two=True, calls=joined),
        Fault("missing", "a required one is missing, until the model hears of it", once=True, arguments=without_first),
        Fault("unreadable", "not JSON at all, until the model hears of it", once=True,
              arguments=lambda value: '{"' + next(iter(value)) + '" : = ]'),
        Fault("lone-backslashes", "backslashes that are not escaped, until the model hears of it", once=True,
              arguments=lone_backslashes),
        Fault("half", "cut in the middle, reported as complete", once=True, arguments=half),
    ),
    *group(
        "Names and ids",
        Fault("spelling", "the name in another spelling", calls=names(lambda name: name.replace("_", "-").title())),
        Fault("prefix", "`functions.NAME:0`", calls=names(lambda name: f"functions.{name}:0")),
        Fault("token", "a special token behind the name", calls=names(lambda name: f"{name}<|channel|>commentary")),
        Fault("unknown-tool", "a tool that was not offered, until the model hears of it", once=True,
              calls=names(lambda name: "do_it_now")),
        Fault("no-id", "no id", deltas=without("id")),
        Fault("empty-id", "an empty id", deltas=with_empty_ids),
        Fault("one-id", "one id for two calls", two=True, calls=with_one_id),
    ),
    *group(
        "Calls as text",
        Fault("hermes", "Hermes, Qwen: `<tool_call>{…}`", as_text=hermes),
        Fault("qwen-coder", "Qwen3-Coder: `<function=…>`", as_text=qwen_coder),
        Fault("mistral", "Mistral: `[TOOL_CALLS][…]`", as_text=mistral),
        Fault("llama", "Llama 3: a bare object", as_text=llama),
        Fault("deepseek", "DeepSeek V3.1", as_text=deepseek),
        Fault("kimi", "Kimi K2", as_text=kimi),
        Fault("harmony", "gpt-oss: harmony", as_text=harmony),
        Fault("thinking", "after `<think>…</think>`, two calls", two=True, as_text=thinking),
    ),
    *group(
        "Streams",
        Fault("no-index", "no `index`", deltas=without("index")),
        Fault("index-zero", "two calls with `index` 0", two=True, deltas=indexed(lambda index: 0)),
        Fault("index-from-one", "`index` counted from 1", deltas=indexed(lambda index: index + 1)),
        Fault("index-text", "`index` is a string", deltas=indexed(str)),
        Fault("no-role", "no role", chunks=without_role),
        Fault("head-repeated", "id and name in every delta", deltas=with_repeated_head),
        Fault("name-in-pieces", "the name in two pieces", deltas=with_name_in_pieces),
        Fault("null-arguments", "`arguments` null at first", deltas=with_null_arguments),
        Fault("one-chunk", "two calls in one chunk", two=True, chunks=together),
        Fault("null-choices", "a chunk whose `choices` is null", chunks=with_null_choices),
        Fault("no-finish", "no `finish_reason`", ends=WITHOUT_FINISH),
        Fault("no-end", "neither `finish_reason` nor `[DONE]`", ends=WITHOUT_END),
        Fault("stop", "`stop` although there are calls", finish=lambda reason: "stop"),
        Fault("tool-calls", "`tool_calls` although there are none", finish=lambda reason: "tool_calls"),
        Fault("body", "a body instead of a stream", sends=BODY),
        Fault("empty", "an empty stream; the answer comes only unstreamed", sends=EMPTY),
        Fault("error", "an error inside the first stream", once=True, sends=ERROR),
        Fault("error-field", "the same as an `error:` field", once=True, sends=ERROR_FIELD),
        Fault("cut", "the connection breaks in the first call", once=True, sends=CUT),
        Fault("close", "the connection breaks before the first reply", once=True, sends=CLOSE),
    ),
    *group(
        "Refusals",
        Fault("refuses-tools", "`tools`; calls come as text", as_text=hermes,
              refuses=refuses_field("tools", "this model does not support tools")),
        Fault("refuses-parallel", "`parallel_tool_calls`", refuses=refuses_field(
            "parallel_tool_calls", "Unsupported parameter: 'parallel_tool_calls' is not supported with this model.")),
        Fault("refuses-stream-options", "`stream_options`",
              refuses=refuses_field("stream_options", "stream_options: Extra inputs are not permitted")),
        Fault("refuses-strict", "`strict` in tools", refuses=refuses_strict),
        Fault("refuses-more", "every field but the usual ones", refuses=refuses_more_fields),
        Fault("refuses-null", "`content: null` beside calls", refuses=refuses_null_content),
        Fault("refuses-ids", "ids that have not nine characters", refuses=refuses_long_ids),
        Fault("refuses-neighbours", "two user messages in a row", refuses=refuses_neighbours),
    ),
]
BY_NAME = {fault.name: fault for fault in [NO_FAULT, *FAULTS]}
