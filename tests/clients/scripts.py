"""The scripts of the model server, by model name.

A script is a list of steps, one for each turn of the model; the number of assistant messages in the history selects the step.
A step may begin with a slip: a reply that cannot be repaired, so that the gateway has to re-ask. A re-ask ends in that slip,
and gets the step's correct reply. All faults here are faults of real models and servers; the tools are those of the suites
(get_weather, add) and those of Cline.
"""
import json
from dataclasses import dataclass, field, replace
from typing import Callable

# An id that is not unique: every call of every turn has it.
SAME_ID = "tool_0"


@dataclass(frozen=True)
class Call:
    """A tool call. A string of arguments is sent unchanged, anything else is sent unencoded."""
    name: str
    arguments: object
    id: str | None = SAME_ID


@dataclass(frozen=True)
class Reply:
    """One reply. `finish` overrides the correct finish_reason; `faults` are those of the stream, see model.py.

    `pause` names a pipe: between its text and its calls a streamed reply waits until the pipe is written to. `sure` adds
    log probabilities.
    """
    text: str = ""
    calls: tuple[Call, ...] = ()
    finish: str | None = None
    faults: frozenset[str] = field(default_factory=frozenset)
    reasoning: str = ""
    pause: str | None = None
    sure: bool = False


@dataclass(frozen=True)
class Step:
    """The reply of one turn, or a function of the history, and the slip before it."""
    reply: Reply | Callable[[list], Reply]
    slip: Reply | None = None


ALL_STREAM_FAULTS = frozenset({"no_index", "no_role", "name_in_every_delta"})


def steps(*script):
    def play(messages):
        spoken = [message for message in messages if message["role"] == "assistant"]
        due = len(spoken)
        if spoken and due <= len(script) and is_slip(spoken[-1], script[due - 1].slip):
            return perform(script[due - 1].reply, messages)
        if due >= len(script):
            return None
        return script[due].slip or perform(script[due].reply, messages)
    return play


def always(reply):
    return lambda messages: reply


def perform(reply, messages):
    return reply if isinstance(reply, Reply) else reply(messages)


def is_slip(message, slip):
    """Whether an assistant message is that slip; of several calls the last one is the invalid one."""
    if slip is None:
        return False
    if not slip.calls:
        return as_text(message.get("content")).strip() == slip.text.strip()
    wrong = json.loads(slip.calls[-1].arguments)
    return any(json.loads(call["function"]["arguments"]) == wrong for call in message.get("tool_calls") or [])


# ---------------------------------------------------------------------------------------------------------------------
# Reading the history

def as_text(content):
    if isinstance(content, list):
        return "".join(part.get("text", "") for part in content)
    return content or ""


def answered_calls(messages):
    """The calls of the last assistant message with calls, as (arguments, result) in the order of the calls."""
    calls = next(message["tool_calls"] for message in reversed(messages) if message.get("tool_calls"))
    results = {message["tool_call_id"]: as_text(message["content"]) for message in messages if message["role"] == "tool"}
    return [(json.loads(call["function"]["arguments"]), results[call["id"]]) for call in calls]


def tell_weather(messages):
    return Reply("; ".join(f"{arguments['city']}: {result}" for arguments, result in answered_calls(messages)))


# ---------------------------------------------------------------------------------------------------------------------
# Weather

OSLO = Call("get_weather", '{"city": "Oslo", "days": "3", "unit": "Celsius",}')
GOOD_OSLO = Call("get_weather", '{"city": "Oslo", "days": 3, "unit": "celsius"}', "call_oslo00000000000000000000")
OSLO_AS_OBJECT = replace(OSLO, arguments={"city": "Oslo", "days": 3, "unit": "celsius"})
LIMA = Call("get_weather", "{'city': 'Lima', 'days': 2, 'unit': 'celsius'}")
PUNE = Call("functions.get_weather", '```json\n{"city": "Pune", "days": 1.0, "unit": "celsius"}\n```')
WITHOUT_DAYS = Call("get_weather", '{"city": "Oslo", "unit": "celsius"}')

SLOPPY = Reply("Let me look. ", (OSLO,), "stop", ALL_STREAM_FAULTS)
THREE_TOWNS = tuple(replace(call, id=f"tool_{place}") for place, call in enumerate((OSLO, LIMA, PUNE)))

DAMAGES = (
    lambda arguments: json.dumps(arguments)[:-1] + ",}",
    lambda arguments: repr(arguments),
    lambda arguments: json.dumps({**arguments, "days": str(arguments["days"])}),
    lambda arguments: arguments,
    lambda arguments: json.dumps(json.dumps(arguments)),
    lambda arguments: "```json\n" + json.dumps(arguments) + "\n```",
    lambda arguments: json.dumps({**arguments, "unit": " CELSIUS "}),
)
NAMES = ("get_weather", "functions.get_weather", "Get_Weather", "get-weather")
MARATHON_TURNS = 20


def marathon_step(turn):
    arguments = {"city": f"Town {turn}", "days": turn + 1, "unit": "celsius"}
    call = Call(NAMES[turn % len(NAMES)], DAMAGES[turn % len(DAMAGES)](arguments))
    faults = ALL_STREAM_FAULTS if turn % 2 else frozenset({"index_zero"})
    return Step(Reply("", (call,), "stop" if turn % 3 else None, faults))


# ---------------------------------------------------------------------------------------------------------------------
# Sums, for clients that run the tool loop themselves

def add_to_sum(messages):
    [(_, total)] = answered_calls(messages)
    return Reply("", (Call("add", {"a": int(total), "b": 5}),), "stop", frozenset({"no_index"}))


def tell_sum(messages):
    [(_, total)] = answered_calls(messages)
    return Reply(f"The sum is {total}.")


# ---------------------------------------------------------------------------------------------------------------------
# Cline's editing task: the prompt names the file to read and the file to write, by absolute paths, in that order

def paths(messages):
    prompt = next(as_text(message["content"]) for message in messages if message["role"] == "user")
    source, target = [word for word in prompt.split() if word.startswith("/")]
    return source, target


def read_notes(messages):
    source, _ = paths(messages)
    arguments = '{"files": [{"path": %s, "start_line": "1"},],}' % json.dumps(source)
    return Reply("I read the notes first.", (Call("read_files", arguments),), "stop", ALL_STREAM_FAULTS)


def write_capitals(messages):
    """Writes the content of the first tool result, so the file is correct only if the read was."""
    _, target = paths(messages)
    [read] = json.loads(next(as_text(message["content"]) for message in messages if message["role"] == "tool"))
    notes = read["result"].removeprefix("1 | ")
    arguments = {"path": target, "old_text": None, "new_text": notes.upper() + "\n"}
    return Reply("", (Call("functions.editor", repr(arguments)),), "stop", frozenset({"index_zero"}))


def look_again(messages):
    _, target = paths(messages)
    read = Call("read-files", {"files": [{"path": target}]}, "tool_1")
    count = Call("Run_Commands", json.dumps(json.dumps({"commands": f"wc -l {target}"})), "tool_2")
    return Reply("", (read, count), "stop", frozenset({"index_zero"}))


def tell_both(messages):
    return Reply(" and ".join(result for _, result in answered_calls(messages)))


SCRIPTS = {
    "text": steps(Step(Reply("The callboard hangs backstage."))),
    "well-formed": steps(Step(Reply("", (GOOD_OSLO,))), Step(tell_weather)),
    "sloppy": steps(Step(SLOPPY), Step(tell_weather)),
    "object-arguments": steps(Step(Reply("", (OSLO_AS_OBJECT,), "stop")), Step(tell_weather)),
    "parallel": steps(Step(Reply("", THREE_TOWNS, "stop", frozenset({"index_zero"}))), Step(tell_weather)),
    "parallel-same-id": steps(Step(Reply("", (OSLO, LIMA, PUNE), "stop")), Step(tell_weather)),
    "forgetful": steps(Step(SLOPPY, slip=Reply("", (WITHOUT_DAYS,))), Step(tell_weather)),
    "half-forgetful": steps(
        Step(Reply("", (OSLO,)), slip=Reply("", (LIMA, WITHOUT_DAYS))),
        Step(tell_weather),
    ),
    "marathon": steps(*map(marathon_step, range(MARATHON_TURNS)), Step(tell_weather)),
    "sums": steps(Step(Reply("", (Call("add", '{"a": "2", "b": 3,}'),), "stop", ALL_STREAM_FAULTS)), Step(add_to_sum),
                  Step(tell_sum)),
    "report": steps(Step(Reply('```json\n{"title": "Hamlet", "acts": "5", "cast": ["Hamlet", "Ophelia",],}\n```'))),
    "forgetful-report": steps(
        Step(Reply('{"title": "Hamlet", "acts": 5, "cast": []}'), slip=Reply('{"title": "Hamlet", "cast": []}')),
    ),
    "always-without-days": always(Reply("", (WITHOUT_DAYS,))),
    "always-unknown-tool": always(Reply("", (replace(OSLO, name="launch_rocket"),))),
    "always-broken-json": always(Reply("", (replace(OSLO, arguments='{"city": "Oslo" "days": 3 :'),))),
    "never-calls": always(Reply("I would rather talk.")),
    "cline-editor": steps(
        Step(read_notes),
        Step(write_capitals, slip=Reply("", (Call("editor", '{"old_text": null}'),))),
        Step(look_again),
        Step(tell_both),
    ),
}
