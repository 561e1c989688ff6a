#!/usr/bin/env python3
"""The WebSocket of the Responses API, with the official Python SDK's `responses.connect()`.

    responses_websocket.py URL

A connection caches its responses, including those that are not stored.
"""
import asyncio
import json
import sys

import openai
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from checks import Suite, equal

OPTIONS = {"base_url": f"{sys.argv[1]}/v1", "api_key": "sk-test", "max_retries": 0, "timeout": 20}
client = openai.OpenAI(**OPTIONS)
suite = Suite("responses-websocket")

ADD = {"type": "function", "name": "add", "description": "Adds.", "strict": False,
       "parameters": {"type": "object", "required": ["a", "b"],
                      "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}}}
LAST = ("response.completed", "response.incomplete", "response.failed", "error")


def events(connection, **request):
    """Requests a response and reads all its events."""
    connection.response.create(**request)
    seen = []
    while not seen or seen[-1].type not in LAST:
        seen.append(connection.recv())
    return seen


def ask(connection, input, model="recall", **options):
    last = events(connection, model=model, input=input, **options)[-1]
    assert last.type in LAST[:2], last
    return last.response


def fails(connection, **request):
    last = events(connection, **request)[-1]
    equal(last.type, "error")
    return last


@suite.check("the events of a text, in the same order as over HTTP")
def _():
    with client.responses.connect() as connection:
        seen = events(connection, model="text", input="Hello.")
    streamed = list(client.responses.create(model="text", input="Hello.", stream=True))
    equal([event.type for event in seen], [event.type for event in streamed])
    equal([event.sequence_number for event in seen], list(range(len(seen))))
    equal(seen[-1].response.output_text, "The callboard hangs backstage.")


@suite.check("a tool loop on one connection, with nothing stored")
def _():
    with client.responses.connect() as connection:
        response = ask(connection, "Add.", "sums", tools=[ADD], store=False)
        for total in ("5", "10"):
            [call] = [item for item in response.output if item.type == "function_call"]
            output = {"type": "function_call_output", "call_id": call.call_id, "output": total}
            response = ask(connection, [output], "sums", tools=[ADD], store=False, previous_response_id=response.id)
        equal(response.output_text, "The sum is 10.")
    try:
        client.responses.retrieve(response.id)
    except openai.NotFoundError:
        return
    raise AssertionError("it was stored")


@suite.check("generate=False prepares input without a model request; the next response begins with it")
def _():
    with client.responses.connect() as connection:
        prepared = events(connection, model="recall", input=[{"role": "developer", "content": "Whisper."}], store=False,
                          generate=False)
        equal([event.type for event in prepared][-1], "response.completed")
        first = prepared[-1].response
        equal((first.output, first.status), ([], "completed"))
        response = ask(connection, "Hello.", previous_response_id=first.id, store=False)
        equal(response.output_text, "system: Whisper. | user: Hello.")


@suite.check("generate=False without input")
def _():
    with client.responses.connect() as connection:
        first = events(connection, model="recall", input=[], store=False, generate=False)[-1].response
        equal(ask(connection, "Hello.", previous_response_id=first.id, store=False).output_text, "user: Hello.")


@suite.check("a stored response is found on every connection, an unstored one only on its own")
def _():
    with client.responses.connect() as one, client.responses.connect() as other:
        kept, unkept = ask(one, "One."), ask(one, "Two.", store=False)
        equal(ask(other, "Three.", previous_response_id=kept.id).output_text, "user: One. | assistant: user: One. | user: Three.")
        error = fails(other, model="recall", input="Three.", previous_response_id=unkept.id)
        equal((error.status, error.error.code, error.error.param),
              (400, "previous_response_not_found", "previous_response_id"))
        equal(client.responses.retrieve(kept.id).output_text, "user: One.")


@suite.check("a response over HTTP is continued on a connection, and vice versa")
def _():
    first = client.responses.create(model="recall", input="One.")
    with client.responses.connect() as connection:
        second = ask(connection, "Two.", previous_response_id=first.id)
    third = client.responses.create(model="recall", input="Three.", previous_response_id=second.id)
    assert third.output_text.startswith("user: One. | assistant: user: One. | user: Two. | "), third.output_text


@suite.check("a conversation on a connection")
def _():
    conversation = client.conversations.create().id
    with client.responses.connect() as connection:
        ask(connection, "One.", conversation=conversation)
        equal(ask(connection, "Two.", conversation=conversation).output_text,
              "user: One. | assistant: user: One. | user: Two.")


@suite.check("a character on a connection")
def _():
    with client.responses.connect() as connection:
        response = ask(connection, "Open the door.", "narrator")
        equal([item.type for item in response.output], ["message", "mcp_call", "message"])


@suite.check("invalid requests get an error, and the connection stays open")
def _():
    with client.responses.connect() as connection:
        error = fails(connection, model="text", input="Hello.", tools=[{**ADD, "parameters": {"type": "sandwich"}}])
        equal((error.status, error.error.type, error.error.param),
              (400, "invalid_request_error", "tools[0].parameters"))
        error = fails(connection, model="no-such-model", input="Hello.")
        equal((error.status, error.error.code), (404, "model_not_found"))
        for text in ("this is no JSON", "[]", "{}", '{"type": "response.sing"}', '"hello"'):
            connection.send_raw(text)
            event = connection.recv()
            equal((event.type, event.status, event.error.type), ("error", 400, "invalid_request_error"))
        equal(ask(connection, "Hello.").output_text, "user: Hello.")


@suite.check("a model that keeps failing, before and after its first text: an error code, and the connection stays open")
def _():
    with client.responses.connect() as connection:
        [error] = events(connection, model="always-unknown-tool", input="Add.", tools=[ADD])
        equal((error.type, error.status, error.error.code), ("error", 502, "unknown_tool_call"))
        *said, failed = events(connection, model="talks-of-rockets", input="Add.", tools=[ADD])
        equal((said[0].type, [event.type for event in said if event.type == "error"]), ("response.created", []))
        equal((failed.type, failed.response.id), ("response.failed", said[0].response.id))
        assert "unknown_tool_call" in failed.response.error.message, failed.response.error
        equal(ask(connection, "Hello.").output_text, "user: Hello.")


@suite.check("concurrent requests on one connection are answered in order, each with its stream_id")
def _():
    with client.responses.connect() as connection:
        for number in range(3):
            connection.response.create(model="recall", input=f"Number {number}.", stream_id=f"lane {number}")
        done = []
        while len(done) < 3:
            event = connection.recv()
            if event.type == "response.completed":
                done.append((event.stream_id, event.response.output_text))
    equal(sorted(done), [(f"lane {number}", f"user: Number {number}.") for number in range(3)])


@suite.check("a message of two megabytes, and one that is too long")
def _():
    words = "All the world's a stage. " * 80_000
    with client.responses.connect() as connection:
        equal(ask(connection, words, "text").output_text, "The callboard hangs backstage.")
        error = fails(connection, model="text", input=words * 5)
        equal((error.status, error.error.type), (413, "invalid_request_error"))
        equal(ask(connection, "Hello.").output_text, "user: Hello.")


@suite.check("a page of another origin is refused, one of the same origin is accepted")
def _():
    host = sys.argv[1].removeprefix("http://")
    for origin in ("https://example.com", "null", f"http://{host}.example.com", "http://localhost:1"):
        try:
            with connect(f"ws://{host}/v1/responses", origin=origin):
                raise AssertionError(f"{origin} is let in")
        except InvalidStatus as error:
            equal((error.response.status_code, json.loads(error.response.body)["error"]["code"]), (403, "origin_not_allowed"))
    with connect(f"ws://{host}/v1/responses", origin=f"http://{host}") as connection:
        connection.send("Hello?")
        equal(json.loads(connection.recv())["status"], 400)


@suite.check("16 concurrent connections")
def _():
    async def converse(talker, number):
        async with talker.responses.connect() as connection:
            previous = {}
            for line in ("One.", f"Number {number}."):
                await connection.response.create(model="recall", input=line, store=False, **previous)
                async for event in connection:
                    if event.type == "response.completed":
                        break
                previous = {"previous_response_id": event.response.id}
            return event.response.output_text

    async def all_at_once():
        async with openai.AsyncOpenAI(**OPTIONS) as talker:
            return await asyncio.gather(*(converse(talker, number) for number in range(16)))

    equal(asyncio.run(all_at_once()),
          [f"user: One. | assistant: user: One. | user: Number {number}." for number in range(16)])


@suite.check("repaired arguments are complete in the last event")
def _():
    with client.responses.connect() as connection:
        seen = events(connection, model="sums", input="Add.", tools=[ADD])
    pieces = [event.delta for event in seen if event.type == "response.function_call_arguments.delta"]
    equal(json.loads("".join(pieces)), {"a": 2, "b": 3})
    equal(seen[-1].response.output[-1].arguments, "".join(pieces))


sys.exit(1 if suite.run() else 0)
