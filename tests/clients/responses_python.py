#!/usr/bin/env python3
"""The official Python SDK's `responses` against Callboard, with models that break every rule (scripts.py, responses_scripts.py).

    responses_python.py URL

Conversations and stored responses are in responses_stored.py, characters in responses_characters.py, sockets in
responses_websocket.py.
"""
import asyncio
import json
import re
import sys
from typing import Literal

import openai
from openai.lib.responses_tool_runner import RegisteredFunction, ResponsesToolRunner
from pydantic import BaseModel

from checks import Suite, equal

URL = f"{sys.argv[1]}/v1"
OPTIONS = {"api_key": "sk-test", "max_retries": 0, "timeout": 20}
client = openai.OpenAI(base_url=URL, **OPTIONS)
suite = Suite("responses-python")

ASK = "What is the weather like?"
OSLO = {"city": "Oslo", "days": 3, "unit": "celsius"}
LIMA = {"city": "Lima", "days": 2, "unit": "celsius"}
PUNE = {"city": "Pune", "days": 1, "unit": "celsius"}
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
WEATHER = {"type": "function", "name": "get_weather", "description": "A forecast.", "parameters": PARAMETERS, "strict": True}
NUMBERS = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}, "required": ["a", "b"],
           "additionalProperties": False}
ADD = {"type": "function", "name": "add", "description": "Adds.", "parameters": NUMBERS, "strict": True}
NOTE = 'Line 1: "quoted", {"not": "an argument"}\nLine 2: \\ and 🎭\n'
TEXT_EVENTS = [
    "response.created", "response.in_progress", "response.output_item.added", "response.content_part.added",
    "response.output_text.delta", "response.output_text.done", "response.content_part.done", "response.output_item.done",
    "response.completed",
]


class Weather(BaseModel):
    """A forecast for some days."""
    city: str
    days: int
    unit: Literal["celsius", "fahrenheit"]


class Report(BaseModel):
    title: str
    acts: int
    cast: list[str]


HAMLET = Report(title="Hamlet", acts=5, cast=["Hamlet", "Ophelia"])


def whole(model, input=ASK, **options):
    return client.responses.create(model=model, input=input, **options)


def helped(model, input=ASK, **options):
    """The response as assembled by the SDK's stream helper."""
    with client.responses.stream(model=model, input=input, **options) as stream:
        return stream.get_final_response()


def both_ways(name):
    """A check for whole and for streamed responses."""
    def add(function):
        suite.check(f"{name}, whole")(lambda: function(whole))
        suite.check(f"{name}, streamed")(lambda: function(helped))
        return function
    return add


def kinds(response):
    return [item.type for item in response.output]


def calls_of(response):
    return [item for item in response.output if item.type == "function_call"]


def expect_calls(response, wanted):
    """The calls are get_weather with these arguments, with valid ids."""
    calls = calls_of(response)
    equal([(call.name, json.loads(call.arguments), call.status) for call in calls],
          [("get_weather", arguments, "completed") for arguments in wanted])
    ids = [call.call_id for call in calls]
    assert all(re.fullmatch(r"call_[A-Za-z0-9]{24,32}", id) for id in ids) and len(set(ids)) == len(ids), f"ids {ids}"


def result(call):
    words = f"{json.loads(call.arguments)['days']} days of sun"
    return {"type": "function_call_output", "call_id": call.call_id, "output": words}


def in_turn(events):
    """The types of events, without adjacent duplicates."""
    types = [event.type for event in events]
    return [kind for place, kind in enumerate(types) if place == 0 or types[place - 1] != kind]


# ---------------------------------------------------------------------------------------------------------------------
# Text

@suite.check("text, whole")
def _():
    raw = client.responses.with_raw_response.create(model="text", input=ASK, metadata={"act": "one"})
    response = raw.parse()
    equal((response.output_text, response.status, response.model, kinds(response)),
          ("The callboard hangs backstage.", "completed", "text", ["message"]))
    equal((response.metadata, response.error, response.incomplete_details), ({"act": "one"}, None, None))
    equal((response.usage.input_tokens, response.usage.output_tokens, response.usage.total_tokens), (20, 10, 30))
    assert response.id.startswith("resp_") and response.output[0].id.startswith("msg_"), response
    equal(raw.headers["callboard-contract"], "ok")
    assert raw.headers["x-request-id"], "no request id"


@suite.check("text, streamed in pieces, with the events in order")
def _():
    events = list(client.responses.create(model="text", input=ASK, tools=[WEATHER], stream=True))
    equal(in_turn(events), TEXT_EVENTS)
    pieces = [event.delta for event in events if event.type == "response.output_text.delta"]
    equal("".join(pieces), "The callboard hangs backstage.")
    assert len(pieces) > 1, "the text came in one lump"
    equal([event.sequence_number for event in events], list(range(len(events))))
    equal(events[-1].response.output_text, "The callboard hangs backstage.")


@both_ways("instructions and items of every role reach the model")
def _(ask):
    items = [{"role": "developer", "content": "Whisper."}, {"role": "user", "content": "Who goes there?"},
             {"role": "assistant", "content": "A friend."},
             {"role": "user", "content": [{"type": "input_text", "text": "Name "}, {"type": "input_text", "text": "him."}]}]
    response = ask("recall", items, instructions="Be brief.")
    equal(response.output_text, "system: Be brief.\n\nWhisper. | user: Who goes there? | assistant: A friend. | user: Name him.")
    equal(response.instructions, "Be brief.")


@suite.check("a text cut by the token limit is incomplete, whole and streamed")
def _():
    events = list(client.responses.create(model="long-winded", input=ASK, max_output_tokens=16, stream=True))
    equal(events[-1].type, "response.incomplete")
    for response in (whole("long-winded", max_output_tokens=16), events[-1].response):
        expect_incomplete(response)


def expect_incomplete(response):
    equal((response.status, response.incomplete_details.reason), ("incomplete", "max_output_tokens"))
    equal((response.output_text, response.output[0].status), ("And so on and so", "incomplete"))
    equal(response.max_output_tokens, 16)


@both_ways("reasoning is an item before the answer")
def _(ask):
    response = ask("thinker")
    equal((kinds(response), response.output_text), (["reasoning", "message"], "Forty-two."))
    equal([part.text for part in response.output[0].content], ["What is six times seven?"])


@both_ways("reasoning is returned as a summary on request")
def _(ask):
    response = ask("thinker", reasoning={"summary": "auto"})
    equal([part.text for part in response.output[0].summary], ["What is six times seven?"])
    equal(response.reasoning.summary, "auto")


@both_ways("log probabilities")
def _(ask):
    response = ask("sure", include=["message.output_text.logprobs"], top_logprobs=1)
    [part] = response.output[0].content
    equal("".join(each.token for each in part.logprobs), "Certainly so.")
    assert all(each.logprob == -0.25 and each.top_logprobs for each in part.logprobs), part.logprobs


# ---------------------------------------------------------------------------------------------------------------------
# Calls

@both_ways("a damaged call, then its result after previous_response_id")
def _(ask):
    first = ask("sloppy", tools=[WEATHER])
    equal(first.output_text.strip(), "Let me look.")
    expect_calls(first, [OSLO])
    second = ask("sloppy", [result(*calls_of(first))], tools=[WEATHER], previous_response_id=first.id)
    equal((second.output_text, second.previous_response_id), ("Oslo: 3 days of sun", first.id))


@both_ways("a damaged call, then the whole history without a store")
def _(ask):
    history = [{"role": "user", "content": ASK}]
    first = ask("thinking-caller", history, tools=[WEATHER], store=False)
    equal(kinds(first), ["reasoning", "function_call"])
    expect_calls(first, [OSLO])
    history += [item.model_dump(exclude_none=True) for item in first.output]
    second = ask("thinking-caller", [*history, result(*calls_of(first))], tools=[WEATHER], store=False)
    equal(second.output_text, "Oslo: 3 days of sun")


@both_ways("parallel calls, results sent back in another order")
def _(ask):
    first = ask("parallel-same-id", tools=[WEATHER])
    expect_calls(first, [OSLO, LIMA, PUNE])
    results = [result(call) for call in reversed(calls_of(first))]
    second = ask("parallel-same-id", results, tools=[WEATHER], previous_response_id=first.id)
    equal(second.output_text, "Oslo: 3 days of sun; Lima: 2 days of sun; Pune: 1 days of sun")


@both_ways("one call at a time with parallel_tool_calls=False")
def _(ask):
    response = ask("parallel", tools=[WEATHER], parallel_tool_calls=False)
    expect_calls(response, [OSLO])
    equal(response.parallel_tool_calls, False)


@both_ways("a missing argument is re-asked")
def _(ask):
    response = ask("forgetful", tools=[WEATHER])
    expect_calls(response, [OSLO])
    equal(response.usage.total_tokens, 60)


@suite.check("the header names repairs and re-asks")
def _():
    raw = client.responses.with_raw_response.create(model="forgetful", input=ASK, tools=[WEATHER])
    assert "reasked=invalid_tool_arguments" in raw.headers["callboard-contract"], raw.headers["callboard-contract"]


@suite.check("a call streamed: its item, its arguments, its end")
def _():
    events = [event for event in client.responses.create(model="sloppy", input=ASK, tools=[WEATHER], stream=True)
              if getattr(event, "output_index", None) == 1]
    equal(in_turn(events), ["response.output_item.added", "response.function_call_arguments.delta",
                            "response.function_call_arguments.done", "response.output_item.done"])
    begun, done, item = events[0].item, events[-2], events[-1].item
    equal((begun.type, begun.name, begun.arguments, begun.status), ("function_call", "get_weather", "", "in_progress"))
    equal("".join(event.delta for event in events[1:-2]), done.arguments)
    equal((item.arguments, item.call_id, item.status), (done.arguments, begun.call_id, "completed"))
    equal(json.loads(done.arguments), OSLO)


@both_ways("functions in a namespace are called by their names")
def _(ask):
    tools = [{"type": "namespace", "name": "sums", "description": "Sums.", "tools": [ADD]}, {"type": "web_search"}]
    first = ask("namespaced", tools=tools)
    [call] = calls_of(first)
    equal((call.namespace, call.name, json.loads(call.arguments)), ("sums", "add", {"a": 2, "b": 3}))
    output = {"type": "function_call_output", "call_id": call.call_id, "output": "5"}
    equal(ask("namespaced", [output], tools=tools, previous_response_id=first.id).output_text, "The sum is 5.")


@both_ways("a custom tool takes and returns plain text")
def _(ask):
    tools = [{"type": "custom", "name": "take_note", "description": "Takes a note."}, WEATHER]
    first = ask("note-taker", tools=tools)
    [call] = first.output
    equal((call.type, call.name, call.input), ("custom_tool_call", "take_note", NOTE))
    output = {"type": "custom_tool_call_output", "call_id": call.call_id, "output": "Noted: " + NOTE}
    equal(ask("note-taker", [output], tools=tools, previous_response_id=first.id).output_text, "Noted: " + NOTE)
    history = [{"role": "user", "content": ASK}, call.to_dict(), output]
    equal(ask("note-taker", history, tools=tools, store=False).output_text, "Noted: " + NOTE)


@suite.check("hosted tools beside functions are ignored")
def _():
    hosted = [{"type": "web_search"}, {"type": "image_generation"}, {"type": "code_interpreter", "container": {"type": "auto"}}]
    expect_calls(whole("sloppy", tools=[*hosted, WEATHER]), [OSLO])


for streamed in (False, True):
    @suite.check(f"the SDK's own tool runner{', streamed' if streamed else ''}: two rounds of damaged calls")
    def _(streamed=streamed):
        seen = []

        def add(arguments):
            seen.append((arguments["a"], arguments["b"]))
            return str(arguments["a"] + arguments["b"])

        runner = ResponsesToolRunner(functions=[RegisteredFunction(ADD, add)])
        response = runner.run(client, {"model": "sums", "input": ASK}, stream=streamed)
        equal((response.output_text, seen), ("The sum is 10.", [(2, 3), (5, 5)]))


# ---------------------------------------------------------------------------------------------------------------------
# Parse

@suite.check("parse: a pydantic text format")
def _():
    equal(client.responses.parse(model="reporter", input=ASK, text_format=Report).output_parsed, HAMLET)


@suite.check("parse: a pydantic text format, streamed")
def _():
    equal(helped("report", text_format=Report).output_parsed, HAMLET)


@suite.check("parse: an incomplete text format is re-asked")
def _():
    response = client.responses.parse(model="forgetful-report", input=ASK, text_format=Report)
    equal(response.output_parsed, Report(title="Hamlet", acts=5, cast=[]))


@suite.check("parse: strict pydantic tools")
def _():
    tools = [openai.pydantic_function_tool(Weather, name="get_weather")]
    response = client.responses.parse(model="sloppy", input=ASK, tools=tools)
    equal([call.parsed_arguments for call in calls_of(response)], [Weather(**OSLO)])


@both_ways("text.format with a JSON schema")
def _(ask):
    schema = {**Report.model_json_schema(), "additionalProperties": False}
    response = ask("report", text={"format": {"type": "json_schema", "name": "report", "schema": schema, "strict": True}})
    equal(json.loads(response.output_text), HAMLET.model_dump())
    equal((response.text.format.type, response.text.format.name), ("json_schema", "report"))


@suite.check("32 conversations at once, each with a call and its result")
def _():
    async def converse(talker, number):
        model = ("sloppy", "forgetful")[number % 2]
        first = await talker.responses.create(model=model, input=ASK, tools=[WEATHER])
        [call] = calls_of(first)
        output = {"type": "function_call_output", "call_id": call.call_id, "output": f"number {number}"}
        second = await talker.responses.create(model=model, input=[output], tools=[WEATHER], previous_response_id=first.id)
        return second.output_text

    async def all_at_once():
        async with openai.AsyncOpenAI(base_url=URL, **OPTIONS) as talker:
            return await asyncio.gather(*(converse(talker, number) for number in range(32)))

    equal(asyncio.run(all_at_once()), [f"Oslo: number {number}" for number in range(32)])

sys.exit(1 if suite.run() else 0)
