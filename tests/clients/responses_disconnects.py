#!/usr/bin/env python3
"""Clients that disconnect in the middle of a response, over HTTP and WebSocket: a turn with output is stored as far as it got;
a turn without output is discarded, so that the client may retry.

    responses_disconnects.py URL

The model waits at a pipe, so a client disconnects exactly there. The next turn of a conversation waits until the turn has ended.
"""
import http.client
import json
import sys
import threading
import time
from pipes import Pipes
from urllib.parse import urlsplit

import openai

from checks import Suite, equal

URL = urlsplit(sys.argv[1])
SECONDS = 20
client = openai.OpenAI(base_url=f"{URL.geturl()}/v1", api_key="sk-test", max_retries=0, timeout=SECONDS)
suite = Suite("responses-disconnects")


# ---------------------------------------------------------------------------------------------------------------------
# Ways to disconnect: each sends a request, waits until the model or tool waits at the pipe, and closes. Streams return events.

def leave_whole(pipes, pipe, **request):
    connection = http.client.HTTPConnection(URL.hostname or "", URL.port, timeout=SECONDS)
    headers = {"content-type": "application/json", "authorization": "Bearer sk-test"}
    connection.request("POST", "/v1/responses", json.dumps(request), headers)
    pipes.reached(pipe)
    connection.close()


def leave_stream(pipes, pipe, until="response.output_text.delta", **request):
    seen = []
    with client.responses.create(**request, stream=True) as stream:
        for event in stream:
            seen.append(event)
            if event.type == until:
                break
        pipes.reached(pipe)
    return seen


def leave_socket(pipes, pipe, until="response.output_text.delta", **request):
    seen = []
    with client.responses.connect() as connection:
        connection.response.create(**request)
        while not seen or seen[-1].type != until:
            seen.append(connection.recv())
        pipes.reached(pipe)
    return seen


def leave_unanswered(pipes, pipe, **request):
    """Requests a stream, and disconnects before its first byte."""
    leave_whole(pipes, pipe, **request, stream=True)


WAYS = {"whole": leave_whole, "unanswered": leave_unanswered, "streamed": leave_stream, "websocket": leave_socket}


def each_way(name, ways=tuple(WAYS)):
    def add(function):
        for way in ways:
            def run(leave=WAYS[way]):
                with Pipes() as pipes:
                    return function(lambda pipe, **request: leave(pipes, pipe, **request), pipes.new())
            suite.check(f"{name}, {way}")(run)
        return function
    return add


def kept(id):
    """The response, as soon as it is stored."""
    deadline = time.monotonic() + SECONDS
    while True:
        try:
            return client.responses.retrieve(id)
        except openai.NotFoundError:
            assert time.monotonic() < deadline, "it was not kept"


def recall(words, **options):
    return client.responses.create(model="recall", input=words, **options).output_text


def items(conversation):
    return list(client.conversations.items.list(conversation, order="asc"))


# ---------------------------------------------------------------------------------------------------------------------

@each_way("a partial response is stored, and can be continued", ("streamed", "websocket"))
def _(leave, pipe):
    begun = leave(pipe, model="hold", input=f"Speak. {pipe}")[0].response
    response = kept(begun.id)
    equal((response.status, response.output[0].status), ("cancelled", "in_progress"))
    said = response.output_text
    assert said and "One moment, please.".startswith(said), said
    equal(recall("And?", previous_response_id=begun.id), f"user: Speak. {pipe} | assistant: {said} | user: And?")


@each_way("a conversation stores the sent text, and continues", ("streamed", "websocket"))
def _(leave, pipe):
    conversation = client.conversations.create().id
    leave(pipe, model="hold", input=f"Speak. {pipe}", conversation=conversation)
    said = recall("And?", conversation=conversation)
    assert said.startswith(f"user: Speak. {pipe} | assistant: One"), said
    equal([(item.role, item.status) for item in items(conversation)][:2], [("user", "completed"), ("assistant", "in_progress")])


@each_way("a disconnect before the first text stores nothing", ("whole", "unanswered"))
def _(leave, pipe):
    conversation = client.conversations.create().id
    leave(pipe, model="hold", input=f"Think. {pipe}", conversation=conversation)
    equal(recall("And?", conversation=conversation), "user: And?")


@each_way("state changes of a character's tool are stored", ("streamed", "websocket"))
def _(leave, pipe):
    conversation = client.conversations.create().id
    leave(pipe, model="game_master", input=f"I am Mira the ranger, but wait. {pipe}", conversation=conversation)
    response = client.responses.create(model="game_master", input="torch", conversation=conversation)
    equal(response.output_text, "Hero: Mira the ranger, 20 of 20 health. Bag: 1 torch.")
    equal([item.type for item in items(conversation)][:3], ["message", "mcp_call", "message"])
    journal = client.get(f"/conversations/{conversation}/journal", cast_to=object)["data"]
    equal([entry["tool"] for entry in journal], ["set_hero", "add_item"])


@each_way("a tool that runs during the disconnect is stored with its turn", ("streamed", "websocket"))
def _(leave, pipe):
    conversation = client.conversations.create().id
    leave(pipe, model="stagehand", input=f"Listen. {pipe}", conversation=conversation)
    said = recall("And?", conversation=conversation)
    assert said.startswith(f"user: Listen. {pipe} | assistant: I go."), said
    [call] = [item for item in items(conversation) if item.type == "mcp_call"]
    equal((call.name, call.status, call.output), ("listen", "in_progress", None))


@each_way("state changes of a turn without output are discarded", ("whole",))
def _(leave, pipe):
    conversation = client.conversations.create().id
    leave(pipe, model="game_master", input=f"I am Mira the ranger, but wait. {pipe}", conversation=conversation)
    equal(recall("And?", conversation=conversation), "user: And?")
    equal(client.get(f"/conversations/{conversation}/journal", cast_to=object)["data"], [])


@each_way("a tool that runs in a turn without output is discarded with its turn", ("whole",))
def _(leave, pipe):
    conversation = client.conversations.create().id
    leave(pipe, model="stagehand", input=f"Listen. {pipe}", conversation=conversation)
    equal(recall("And?", conversation=conversation), "user: And?")


@suite.check("a turn that the SDK retries after a timeout is applied once")
def _():
    impatient = client.with_options(timeout=2, max_retries=5)
    conversation, answers = client.conversations.create().id, []
    with Pipes() as pipes:
        pipe = pipes.new()
        request = {"model": "game_master", "input": f"I am Mira the ranger, but wait. {pipe}", "conversation": conversation}
        asking = threading.Thread(target=lambda: answers.append(impatient.responses.with_raw_response.create(**request)))
        asking.start()
        pipes.reached(pipe)
        pipes.open_for_good(pipe)
        asking.join()
    [answer] = answers
    assert answer.retries_taken > 0, "the SDK did not ask again"
    equal([item.type for item in answer.parse().output], ["mcp_call", "message"])
    equal([item.type for item in items(conversation)], ["message", "mcp_call", "message"])
    journal = client.get(f"/conversations/{conversation}/journal", cast_to=object)["data"]
    equal([entry["tool"] for entry in journal], ["set_hero"])


sys.exit(1 if suite.run() else 0)
