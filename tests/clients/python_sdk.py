#!/usr/bin/env python3
"""The official Python SDK against Callboard, with models that break every rule (scripts.py).

    python_sdk.py GATEWAY_URL MODEL_URL

A check made with `mended` is run twice: through the gateway, where it must pass, and directly against the model server, where
it must fail. So a fault that the SDK tolerates by itself shows up as a failed check.
"""
import asyncio
import json
import re
import sys
from typing import Literal

import openai
from pydantic import BaseModel

from checks import Suite, equal, in_one_line
from scripts import MARATHON_TURNS, SCRIPTS

GATEWAY, MODEL = (f"{url}/v1" for url in sys.argv[1:3])
OPTIONS = {"api_key": "sk-test", "max_retries": 0, "timeout": 20}
gateway = openai.OpenAI(base_url=GATEWAY, **OPTIONS)
direct = openai.OpenAI(base_url=MODEL, **OPTIONS)
suite = Suite("python")

# Failures that are unrelated to the model's faults.
UNRELATED = (openai.APIConnectionError, openai.NotFoundError, openai.AuthenticationError, NameError, ImportError)

ASK = [{"role": "user", "content": "What is the weather like?"}]
OSLO = {"city": "Oslo", "days": 3, "unit": "celsius"}
LIMA = {"city": "Lima", "days": 2, "unit": "celsius"}
PUNE = {"city": "Pune", "days": 1, "unit": "celsius"}
CALL_ID = re.compile(r"call_[A-Za-z0-9]{24,32}")
PARAMETERS = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "days": {"type": "integer", "minimum": 1},
        "unit": {"type": "string", "enum": ["celsius", "fahrenheit"]},
    },
    "required": ["city", "days", "unit"],
    "additionalProperties": False,
}
TOOLS = [{"type": "function", "function": {"name": "get_weather", "description": "A forecast.", "parameters": PARAMETERS}}]


class Weather(BaseModel):
    """A forecast for some days."""
    city: str
    days: int
    unit: Literal["celsius", "fahrenheit"]


class Report(BaseModel):
    title: str
    acts: int
    cast: list[str]


STRICT_TOOLS = [openai.pydantic_function_tool(Weather, name="get_weather")]


def mended(name):
    def add(function):
        suite.check(name)(lambda: function(gateway))
        suite.check(f"{name}: not without the gateway")(lambda: must_break(function))
        return function
    return add


def must_break(function):
    try:
        function(direct)
    except UNRELATED:
        raise
    except Exception as error:
        return in_one_line(error)[:90]
    raise AssertionError("the client got along with the bare model")


def arguments_of(call):
    return json.loads(call.function.arguments)


def expect_calls(message, wanted):
    """The calls of a message are get_weather with these arguments, with valid ids."""
    calls = message.tool_calls or []
    equal([(call.type, call.function.name, arguments_of(call)) for call in calls],
          [("function", "get_weather", arguments) for arguments in wanted])
    ids = [call.id for call in calls]
    assert all(CALL_ID.fullmatch(id) for id in ids) and len(set(ids)) == len(ids), f"ids {ids}"


def result(call):
    return {"role": "tool", "tool_call_id": call.id, "content": f"{arguments_of(call)['days']} days of sun"}


def ask(client, model, messages=ASK, **options):
    return client.chat.completions.create(model=model, messages=messages, tools=TOOLS, **options)


def whole(client, model, messages=ASK):
    return ask(client, model, messages).choices[0].message


def streamed(client, model, messages=ASK):
    """The message as assembled by the SDK's stream helper."""
    with client.chat.completions.stream(model=model, messages=messages, tools=TOOLS) as stream:
        return stream.get_final_completion().choices[0].message


# ---------------------------------------------------------------------------------------------------------------------
# Text and models

@suite.check("text, whole")
def _():
    raw = gateway.chat.completions.with_raw_response.create(model="text", messages=ASK)
    choice = raw.parse().choices[0]
    equal((choice.message.content, choice.finish_reason, choice.message.tool_calls),
          ("The callboard hangs backstage.", "stop", None))
    equal(raw.headers["callboard-contract"], "ok")
    assert raw.headers["x-request-id"], "no request id"


@suite.check("text, streamed in pieces while tools are offered")
def _():
    pieces = [chunk.choices[0].delta.content for chunk in ask(gateway, "text", stream=True) if chunk.choices]
    pieces = [piece for piece in pieces if piece]
    equal("".join(pieces), "The callboard hangs backstage.")
    assert len(pieces) > 1, "the text came in one lump"


@suite.check("models, listed and by name")
def _():
    listed = {model.id for model in gateway.models.list()}
    assert listed >= set(SCRIPTS), f"listed {sorted(listed)}"
    equal(gateway.models.retrieve("text").id, "text")


@suite.check("a well-formed call is passed through unchanged, including its id")
def _():
    raw = gateway.chat.completions.with_raw_response.create(model="well-formed", messages=ASK, tools=TOOLS)
    choice = raw.parse().choices[0]
    expect_calls(choice.message, [OSLO])
    equal((choice.message.tool_calls[0].id, choice.finish_reason), ("call_oslo00000000000000000000", "tool_calls"))
    equal(raw.headers["callboard-contract"], "ok")


# ---------------------------------------------------------------------------------------------------------------------
# Repairs

@mended("create: a damaged call, then its result")
def _(client):
    choice = ask(client, "sloppy").choices[0]
    equal((choice.finish_reason, choice.message.content.strip()), ("tool_calls", "Let me look."))
    expect_calls(choice.message, [OSLO])
    history = [*ASK, choice.message, result(choice.message.tool_calls[0])]
    equal(ask(client, "sloppy", history).choices[0].message.content, "Oslo: 3 days of sun")


@suite.check("create: the header says what was repaired")
def _():
    raw = gateway.chat.completions.with_raw_response.create(model="sloppy", messages=ASK, tools=TOOLS)
    assert "trailing_comma" in raw.headers["callboard-contract"], raw.headers["callboard-contract"]


@mended("create: arguments sent as an object")
def _(client):
    expect_calls(whole(client, "object-arguments"), [OSLO])


@mended("stream=True: deltas in order, names and ids once")
def _(client):
    chunks = list(ask(client, "sloppy", stream=True))
    deltas = [chunk.choices[0].delta for chunk in chunks if chunk.choices]
    equal(deltas[0].role, "assistant")
    calls = [call for delta in deltas for call in delta.tool_calls or []]
    equal({call.index for call in calls}, {0})
    equal([call.function.name for call in calls if call.function.name], ["get_weather"])
    equal(len([call.id for call in calls if call.id]), 1)
    equal(json.loads("".join(call.function.arguments or "" for call in calls)), OSLO)
    equal([chunk.choices[0].finish_reason for chunk in chunks if chunk.choices][-1], "tool_calls")


@mended("stream helper: a damaged call")
def _(client):
    done = []
    with client.chat.completions.stream(model="sloppy", messages=ASK, tools=TOOLS) as stream:
        for event in stream:
            if event.type == "tool_calls.function.arguments.done":
                done.append((event.name, event.index, json.loads(event.arguments)))
        choice = stream.get_final_completion().choices[0]
    equal(done, [("get_weather", 0, OSLO)])
    expect_calls(choice.message, [OSLO])
    equal(choice.finish_reason, "tool_calls")


@mended("stream helper: arguments sent as an object")
def _(client):
    expect_calls(streamed(client, "object-arguments"), [OSLO])


@mended("parse: strict pydantic tools")
def _(client):
    message = client.chat.completions.parse(model="sloppy", messages=ASK, tools=STRICT_TOOLS).choices[0].message
    equal([call.function.parsed_arguments for call in message.tool_calls], [Weather(**OSLO)])
    equal(arguments_of(message.tool_calls[0]), OSLO)


@mended("parse: a pydantic response format")
def _(client):
    message = client.chat.completions.parse(model="report", messages=ASK, response_format=Report).choices[0].message
    equal(message.parsed, Report(title="Hamlet", acts=5, cast=["Hamlet", "Ophelia"]))


@mended("stream helper: a pydantic response format")
def _(client):
    with client.chat.completions.stream(model="report", messages=ASK, response_format=Report) as stream:
        message = stream.get_final_completion().choices[0].message
    equal(message.parsed, Report(title="Hamlet", acts=5, cast=["Hamlet", "Ophelia"]))


def parallel(client, speak, model):
    message = speak(client, model)
    expect_calls(message, [OSLO, LIMA, PUNE])
    history = [*ASK, message, *map(result, reversed(message.tool_calls))]
    equal(speak(client, model, history).content,
          "Oslo: 3 days of sun; Lima: 2 days of sun; Pune: 1 days of sun")


@mended("parallel calls, results sent back in another order")
def _(client):
    parallel(client, whole, "parallel")


@mended("parallel calls streamed under one index, results sent back in another order")
def _(client):
    parallel(client, streamed, "parallel")


@mended("parallel calls under one id, results sent back in another order")
def _(client):
    parallel(client, whole, "parallel-same-id")


@mended("parallel calls streamed under one id, results sent back in another order")
def _(client):
    parallel(client, streamed, "parallel-same-id")


@mended("20 turns with tools, whole and streamed in turn")
def _(client):
    history, ids = list(ASK), set()
    for turn in range(MARATHON_TURNS):
        message = (streamed if turn % 2 else whole)(client, "marathon", history)
        expect_calls(message, [{"city": f"Town {turn}", "days": turn + 1, "unit": "celsius"}])
        ids.add(message.tool_calls[0].id)
        history += [message, result(message.tool_calls[0])]
    equal(len(ids), MARATHON_TURNS)
    equal(ask(client, "marathon", history).choices[0].message.content, "Town 19: 20 days of sun")


# ---------------------------------------------------------------------------------------------------------------------
# Re-asks

@mended("create: a missing argument is re-asked")
def _(client):
    expect_calls(whole(client, "forgetful"), [OSLO])


@suite.check("create: the header and the usage include the re-ask")
def _():
    raw = gateway.chat.completions.with_raw_response.create(model="forgetful", messages=ASK, tools=TOOLS)
    assert "reasked=invalid_tool_arguments" in raw.headers["callboard-contract"], raw.headers["callboard-contract"]
    equal(raw.parse().usage.total_tokens, 60)


@mended("stream helper: a missing argument is re-asked")
def _(client):
    expect_calls(streamed(client, "forgetful"), [OSLO])


@mended("a valid call beside an invalid one is kept, in its position")
def _(client):
    message = whole(client, "half-forgetful")
    expect_calls(message, [LIMA, OSLO])
    history = [*ASK, message, *map(result, message.tool_calls)]
    equal(whole(client, "half-forgetful", history).content, "Lima: 2 days of sun; Oslo: 3 days of sun")


@mended("a valid call beside an invalid one is kept, streamed")
def _(client):
    expect_calls(streamed(client, "half-forgetful"), [LIMA, OSLO])


@mended("parse: an incomplete response format is re-asked")
def _(client):
    message = client.chat.completions.parse(model="forgetful-report", messages=ASK, response_format=Report)
    equal(message.choices[0].message.parsed, Report(title="Hamlet", acts=5, cast=[]))


# ---------------------------------------------------------------------------------------------------------------------
# Usage, concurrency

@suite.check("usage in the last chunk of a stream, exactly when requested")
def _():
    chunks = list(ask(gateway, "sloppy", stream=True, stream_options={"include_usage": True}))
    equal([chunk.usage.total_tokens for chunk in chunks if chunk.usage], [30])
    assert chunks[-1].usage and not chunks[-1].choices, "usage is not in a last chunk of its own"
    assert not any(chunk.usage for chunk in ask(gateway, "sloppy", stream=True)), "usage without being asked for"


@suite.check("32 conversations at once")
def _():
    async def converse(client, number):
        model = ("sloppy", "forgetful")[number % 2]
        completion = await client.chat.completions.create(model=model, messages=ASK, tools=TOOLS)
        expect_calls(completion.choices[0].message, [OSLO])
        return completion.choices[0].message.tool_calls[0].id

    async def all_at_once():
        async with openai.AsyncOpenAI(base_url=GATEWAY, **OPTIONS) as client:
            return await asyncio.gather(*(converse(client, number) for number in range(32)))

    equal(len(set(asyncio.run(all_at_once()))), 32)


# ---------------------------------------------------------------------------------------------------------------------
# Errors

def raises(kind, request, **wanted):
    """The request raises exactly this error, with these attributes."""
    try:
        request()
    except kind as error:
        equal({name: getattr(error, name) for name in wanted}, wanted)
        assert error.body["message"] and error.body["type"], f"a body without message or type: {error.body}"
        return
    raise AssertionError(f"no {kind.__name__}")


@suite.check("400 for a tool result without its call, with its param")
def _():
    history = [*ASK, {"role": "tool", "tool_call_id": "call_nowhere", "content": "3"}]
    raises(openai.BadRequestError, lambda: ask(gateway, "text", history), status_code=400,
           param="messages[1].tool_call_id", type="invalid_request_error")


@suite.check("400 for parameters that are no schema, with their param")
def _():
    tools = [{"type": "function", "function": {"name": "get_weather", "parameters": {"type": "sandwich"}}}]
    refuses("tools[0].function.parameters", tools=tools)


@suite.check("400 for a tool_choice that names no tool")
def _():
    refuses("tool_choice", tools=TOOLS, tool_choice={"type": "function", "function": {"name": "launch_rocket"}})


def refuses(place, **options):
    """A 400 whose param is this path, or below it."""
    try:
        gateway.chat.completions.create(model="text", messages=ASK, **options)
    except openai.BadRequestError as error:
        assert error.param.startswith(place), f"param {error.param}"
        return
    raise AssertionError("accepted")


@suite.check("404 for an unknown model")
def _():
    raises(openai.NotFoundError, lambda: ask(gateway, "no-such-model"), status_code=404, code="model_not_found")
    raises(openai.NotFoundError, lambda: gateway.models.retrieve("no-such-model"), code="model_not_found")


@suite.check("404 for an unknown path")
def _():
    raises(openai.NotFoundError, lambda: gateway.get("/nowhere", cast_to=object), status_code=404)


def stays_bad(model, code):
    suite.check(f"502 {code} when the model keeps failing")(
        lambda: raises(openai.InternalServerError, lambda: ask(gateway, model), status_code=502, code=code))
    suite.check(f"{code} in a stream")(
        lambda: raises(openai.APIError, lambda: list(ask(gateway, model, stream=True)), code=code))


stays_bad("always-without-days", "invalid_tool_arguments")
stays_bad("always-unknown-tool", "unknown_tool_call")
stays_bad("always-broken-json", "malformed_tool_arguments")


@suite.check("502 tool_choice_unmet when a required call is never made")
def _():
    raises(openai.InternalServerError, lambda: ask(gateway, "never-calls", tool_choice="required"), status_code=502,
           code="tool_choice_unmet")


if __name__ == "__main__":
    sys.exit(1 if suite.run() else 0)
