#!/usr/bin/env python3
"""Errors of the Responses API, with the official Python SDK: refused requests, and models that keep failing.

    responses_errors.py URL
"""
import http.client
import json
import sys
from urllib.parse import urlsplit

import openai

from checks import Suite, equal

URL = urlsplit(sys.argv[1])
client = openai.OpenAI(base_url=f"{URL.geturl()}/v1", api_key="sk-test", max_retries=0, timeout=20)
suite = Suite("responses-errors")

ASK = "What is the weather like?"
NUMBERS = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}, "required": ["a", "b"],
           "additionalProperties": False}
ADD = {"type": "function", "name": "add", "description": "Adds.", "parameters": NUMBERS, "strict": True}
WEATHER = {"type": "function", "name": "get_weather", "description": "A forecast.", "strict": False, "parameters": {
    "type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}, "required": ["city", "days"]}}
BEGUN = ["response.created", "response.in_progress", "response.output_item.added", "response.content_part.added",
         "response.output_text.delta"]
BODY_BYTES = 8 * 1024 * 1024


def in_turn(events):
    """The types of events, without adjacent duplicates."""
    types = [event.type for event in events]
    return [kind for place, kind in enumerate(types) if place == 0 or types[place - 1] != kind]


# ---------------------------------------------------------------------------------------------------------------------
# Requests that are refused

def refuses(kind, wanted, **options):
    """The request raises exactly this error with these attributes, whole and streamed."""
    for stream in (False, True):
        try:
            client.responses.create(**{"model": "text", "input": ASK, "stream": stream, **options})
        except kind as error:
            equal({name: getattr(error, name) for name in wanted}, wanted)
            assert error.body["message"] and error.body["type"], f"a body without message or type: {error.body}"
            continue
        raise AssertionError(f"no {kind.__name__}")


def refused(name, param, **options):
    suite.check(f"400 for {name}, with its param")(
        lambda: refuses(openai.BadRequestError, {"status_code": 400, "param": param, "type": "invalid_request_error"}, **options))


refused("parameters that are no object", "tools[0].parameters", tools=[{**WEATHER, "parameters": {"type": "sandwich"}}])
refused("a parameter that is no schema", "tools[0].parameters",
        tools=[{**ADD, "parameters": {**NUMBERS, "properties": {"a": {"type": "sandwich"}, "b": {}}}}])
refused("a result without its call", "input[0].call_id",
        input=[{"type": "function_call_output", "call_id": "call_nowhere", "output": "3"}])
refused("a call without its result", "input[0]",
        input=[{"type": "function_call", "call_id": "call_1", "name": "get_weather", "arguments": "{}"},
               {"role": "user", "content": "Well?"}])
refused("a tool_choice that names no tool", "tool_choice.name", tools=[WEATHER],
        tool_choice={"type": "function", "name": "launch_rocket"})
refused("a tool_choice that forces a hosted tool", "tool_choice.type", tools=[{"type": "web_search"}, WEATHER],
        tool_choice={"type": "web_search"})
refused("a response in the background", "background", background=True)
refused("an unknown previous response", "previous_response_id", previous_response_id="resp_nowhere")
refused("a previous response beside a conversation", "previous_response_id", previous_response_id="resp_1",
        conversation="conv_1")


@suite.check("404 for an unknown model and an unknown conversation")
def _():
    refuses(openai.NotFoundError, {"status_code": 404, "code": "model_not_found"}, model="no-such-model")
    refuses(openai.NotFoundError, {"status_code": 404, "code": "conversation_not_found"}, conversation="conv_nowhere")


@suite.check("a schema error names its location in the schema")
def _():
    wrong = {**NUMBERS, "properties": {"a": {"type": "integer"}, "b": {"type": "sandwich"}}}
    try:
        client.responses.create(model="text", input=ASK, tools=[{**ADD, "parameters": wrong}])
    except openai.BadRequestError as error:
        assert "/properties/b/type" in error.body["message"], error.body
        return
    raise AssertionError("accepted")


def answer_to(body):
    """The status and the error for a body that an SDK would not send."""
    connection = http.client.HTTPConnection(URL.hostname or "", URL.port, timeout=20)
    connection.request("POST", "/v1/responses", body, {"content-type": "application/json", "authorization": "Bearer sk-test"})
    reply = connection.getresponse()
    return reply.status, json.loads(reply.read())["error"]


@suite.check("413 for a body over the limit, with the limit")
def _():
    try:
        client.responses.create(model="text", input="x" * BODY_BYTES)
    except openai.APIStatusError as error:
        equal((error.status_code, error.type), (413, "invalid_request_error"))
        assert str(BODY_BYTES) in error.body["message"], error.body
        return
    raise AssertionError("accepted")


@suite.check("400 for bodies that are no JSON, no object, or no text")
def _():
    for body in (b"", b"{", b"[]", b'"text"', b'{"model": "text", "input": "\xff"}', b'{"model": "text", "input": "\\ud800"}',
                 b'{"model": "text", "input": ' + b"[" * 100_000):
        status, error = answer_to(body)
        equal((body[:40], status, error["type"]), (body[:40], 400, "invalid_request_error"))


# ---------------------------------------------------------------------------------------------------------------------
# Models that keep failing

@suite.check("502 with its code when the model keeps failing before any text, whole and streamed")
def _():
    for model, code in (("always-without-days", "invalid_tool_arguments"), ("always-unknown-tool", "unknown_tool_call")):
        refuses(openai.InternalServerError, {"status_code": 502, "code": code}, model=model, tools=[WEATHER])


def breaks_off(model, code, **options):
    """The model keeps failing after its first text: a status for a whole reply, events for a stream."""
    @suite.check(f"502 {code} when the model keeps failing after its first text")
    def _():
        try:
            client.responses.create(model=model, input=ASK, tools=[WEATHER], **options)
        except openai.InternalServerError as error:
            return equal((error.status_code, error.code), (502, code))
        raise AssertionError("no error")

    @suite.check(f"{code} in a stream that has begun is raised by the SDK")
    def _():
        seen = []
        try:
            for event in client.responses.create(model=model, input=ASK, tools=[WEATHER], stream=True, **options):
                seen.append(event)
        except openai.APIError as error:
            equal(error.code, code)
            return equal(in_turn(seen), BEGUN)
        raise AssertionError(f"no error after {in_turn(seen)}")

    @suite.check(f"{code} in a stream that has begun is followed by response.failed")
    def _():
        *_, error, last = raw_events(model=model, tools=[WEATHER], **options)
        equal((error["type"], error["code"], error["error"]["code"]), ("error", code, code))
        response = last["response"]
        equal((last["type"], response["status"], response["error"]["code"]), ("response.failed", "failed", "server_error"))
        assert code in response["error"]["message"], response["error"]
        equal([(item["type"], item["status"]) for item in response["output"]], [("message", "in_progress")])


def raw_events(**request):
    """The raw events of a stream; the SDK would stop at the first error."""
    with client.responses.with_streaming_response.create(input=ASK, stream=True, **request) as reply:
        sent = [line.removeprefix("data: ") for line in reply.iter_lines() if line.startswith("data: ")]
    equal(sent.pop(), "[DONE]")
    return [json.loads(event) for event in sent]


breaks_off("talks-of-rockets", "unknown_tool_call")
breaks_off("never-calls", "tool_choice_unmet", tool_choice="required")

sys.exit(1 if suite.run() else 0)
