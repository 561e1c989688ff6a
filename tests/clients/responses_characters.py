#!/usr/bin/env python3
"""Characters through the Responses API, with the official Python SDK: their tools, the client's functions, and stored state.

    responses_characters.py URL CALLBOARD MODEL_URL

The model behind the characters runs character_scripts.py. URL serves the shipped characters and the stagehand; checks that stop
Callboard start a separate one.
"""
import asyncio
import json
import sys
import tempfile

import openai

from character_server import CharacterServer
from checks import Suite, equal

URL, CALLBOARD, MODEL = sys.argv[1:4]
OPTIONS = {"api_key": "sk-test", "max_retries": 0, "timeout": 20}
client = openai.OpenAI(base_url=f"{URL}/v1", **OPTIONS)
suite = Suite("responses-characters")

LOGGED = "Logged story event: The red door was opened"
DOOR = {"event": "The red door was opened", "importance": "high"}
OSLO = {"city": "Oslo", "days": 3, "unit": "celsius"}
WEATHER = {
    "type": "function", "name": "get_weather", "description": "A forecast.", "strict": True,
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer"},
                       "unit": {"type": "string", "enum": ["celsius", "fahrenheit"]}},
        "required": ["city", "days", "unit"], "additionalProperties": False,
    },
}
MIRA = "I am Mira the ranger."


def whole(character, words, **options):
    return client.responses.create(model=character, input=words, **options)


def streamed(character, words, **options):
    with client.responses.stream(model=character, input=words, **options) as stream:
        return stream.get_final_response()


def both_ways(name):
    def add(function):
        suite.check(f"{name}, whole")(lambda: function(whole))
        suite.check(f"{name}, streamed")(lambda: function(streamed))
        return function
    return add


def kinds(response):
    return [item.type for item in response.output]


def ran(response):
    return [item for item in response.output if item.type == "mcp_call"]


def texts(response):
    return ["".join(part.text for part in item.content) for item in response.output if item.type == "message"]


def result(response):
    [call] = [item for item in response.output if item.type == "function_call"]
    equal((call.name, json.loads(call.arguments)), ("get_weather", OSLO))
    return [{"type": "function_call_output", "call_id": call.call_id, "output": "rain"}]


def sheet(bag):
    return f"Hero: Mira the ranger, 20 of 20 health. Bag: {bag}."


# ---------------------------------------------------------------------------------------------------------------------
# Calls that run in Callboard

@both_ways("text, a tool with its result, more text")
def _(ask):
    response = ask("narrator", "Open the door.")
    equal((response.model, response.status, kinds(response)), ("narrator", "completed", ["message", "mcp_call", "message"]))
    equal([text.strip() for text in texts(response)], ["The hinges groan.", "Behind it lies the sea."])
    [call] = ran(response)
    equal((call.server_label, call.name, call.output, call.error, call.status),
          ("narrator", "log_story_event", LOGGED, None, "completed"))
    equal(json.loads(call.arguments), DOOR)
    equal(response.usage.total_tokens, 60)


@suite.check("a tool streamed: its item, its arguments, its end")
def _():
    events = [event for event in client.responses.create(model="narrator", input="Open the door.", stream=True)
              if getattr(event, "output_index", None) == 1]
    equal([event.type for event in events], [
        "response.output_item.added", "response.mcp_call.in_progress", "response.mcp_call_arguments.delta",
        "response.mcp_call_arguments.done", "response.mcp_call.completed", "response.output_item.done"])
    equal((events[0].item.output, events[-1].item.output), (None, LOGGED))
    equal(json.loads(events[3].arguments), DOOR)


@both_ways("parallel tools, each with its result")
def _(ask):
    response = ask("narrator", "Three things happen at once.")
    equal([call.output.removeprefix("Logged story event: ") for call in ran(response)], ["First", "Second", "Third"])
    equal(len({call.id for call in ran(response)}), 3)


@both_ways("a tool that fails, and the text after it")
def _(ask):
    response = ask("stagehand", "Stumble.")
    [call] = ran(response)
    equal((call.status, call.output), ("failed", None))
    equal(call.error.type, "mcp_tool_execution_error")
    assert "the trapdoor" in json.dumps(call.error.content), call.error
    assert "the trapdoor" in texts(response)[-1], texts(response)


@suite.check("a stored response with tool calls is continued, and the model gets the calls")
def _():
    first = whole("game_master", MIRA)
    equal(client.responses.retrieve(first.id).to_dict(), first.to_dict())
    second = whole("game_master", "torch", previous_response_id=first.id)
    equal(texts(second)[-1], sheet("1 torch"))
    equal(texts(whole("game_master", "rope", previous_response_id=second.id))[-1], sheet("1 rope, 1 torch"))


@both_ways("a history sent back by the client, as items or as references, restores the state")
def _(ask):
    first = ask("game_master", MIRA)
    items = [item.to_dict() for item in first.output]
    for sent in (items, [{"type": "item_reference", "id": item["id"]} for item in items]):
        history = [{"role": "user", "content": MIRA}, *sent, {"role": "user", "content": "torch"}]
        equal(texts(ask("game_master", history))[-1], sheet("1 torch"))


@suite.check("another model may answer in between: the character keeps its state")
def _():
    lines = [("game_master", "Count with me."), ("game_master", "torch"), ("recall", "Who is there?"), ("game_master", "rope")]
    conversation, last = client.conversations.create().id, None
    for model, line in lines:
        in_conversation = whole(model, line, conversation=conversation)
        last = whole(model, line, previous_response_id=last.id if last else None)
    for response in (in_conversation, last):
        equal(texts(response)[-1], "Hero: not made yet. Bag: 1 rope, 1 torch.")


@suite.check("two continuations of a response have separate state")
def _():
    first = whole("game_master", MIRA)
    for item in ("torch", "rope"):
        equal(texts(whole("game_master", item, previous_response_id=first.id))[-1], sheet(f"1 {item}"))


# ---------------------------------------------------------------------------------------------------------------------
# The client's own functions

@both_ways("a character's tool and a client's function in one turn")
def _(ask):
    first = ask("narrator", "Open the door and ask for the weather.", tools=[WEATHER])
    equal(sorted(kinds(first)), ["function_call", "mcp_call", "message"])
    equal([call.output for call in ran(first)], [LOGGED])
    second = ask("narrator", result(first), tools=[WEATHER], previous_response_id=first.id)
    equal(texts(second), [f"{LOGGED} | rain"])


@both_ways("a character's tool, then a client's function, in a conversation")
def _(ask):
    conversation = client.conversations.create().id
    first = ask("narrator", "Open the door, then ask for the weather.", tools=[WEATHER], conversation=conversation)
    equal(kinds(first), ["mcp_call", "function_call"])
    second = ask("narrator", result(first), tools=[WEATHER], conversation=conversation)
    equal(texts(second), [f"{LOGGED} | rain"])
    items = client.conversations.items.list(conversation, order="asc")
    equal([item.type for item in items], ["message", "mcp_call", "function_call", "function_call_output", "message"])


@suite.check("the same without a store: the client sends the whole history")
def _():
    history = [{"role": "user", "content": "Open the door, then ask for the weather."}]
    first = whole("narrator", history, tools=[WEATHER], store=False)
    history += [item.model_dump(exclude_none=True) for item in first.output] + result(first)
    equal(texts(whole("narrator", history, tools=[WEATHER], store=False)), [f"{LOGGED} | rain"])


@suite.check("a function with the name of a character's tool is refused, with its param")
def _():
    try:
        whole("narrator", "Open the door.", tools=[{**WEATHER, "name": "log_story_event"}])
    except openai.BadRequestError as error:
        return equal(error.param, "tools[0].name")
    raise AssertionError("accepted")


@suite.check("max_tool_calls is enforced")
def _():
    response = whole("narrator", "Three things happen, one by one.", max_tool_calls=1)
    equal(len([call for call in ran(response) if call.output]), 1)
    equal(response.max_tool_calls, 1)


# ---------------------------------------------------------------------------------------------------------------------
# Conversations: state, journal, undo

def play(conversation, *lines):
    """Sends these messages to the game master. Returns the last reply."""
    for line in lines:
        response = whole("game_master", line, conversation=conversation)
    return texts(response)[-1]


def about(conversation, what):
    return client.get(f"/conversations/{conversation}/{what}", cast_to=object)


def undo(conversation, **what):
    return client.post(f"/conversations/{conversation}/undo", body=what, cast_to=object)


@suite.check("a conversation stores the state of its character")
def _():
    conversation = client.conversations.create().id
    equal(play(conversation, MIRA, "torch", "rope"), sheet("1 rope, 1 torch"))
    state = json.dumps(about(conversation, "state"))
    assert all(word in state for word in ("Mira", "torch", "rope")), state


@suite.check("the journal lists each call that changed the state")
def _():
    conversation = client.conversations.create().id
    play(conversation, MIRA, "torch")
    journal = json.dumps(about(conversation, "journal"))
    assert journal.index("set_hero") < journal.index("add_item"), journal


def bag(conversation):
    return about(conversation, "state")["state"]["bag"]


def tools(entries):
    return [entry["tool"] for entry in entries]


@suite.check("undo of the last changes, and of an undo")
def _():
    conversation = client.conversations.create().id
    play(conversation, MIRA, "torch", "rope")
    taken = undo(conversation, last=1)
    equal((taken["state"]["bag"], tools(taken["undone"]), taken["restored"]), ({"torch": 1}, ["add_item"], []))
    equal((undo(conversation, last=1)["state"]["bag"], bag(conversation)), ({}, {}))
    given = undo(conversation, call_id=taken["call_id"])
    equal(given["state"], about(conversation, "state")["state"])
    equal(bag(conversation), {"rope": 1, "torch": 1})


@suite.check("undo of one call by its id, with all after it, or only this one")
def _():
    conversation = client.conversations.create().id
    play(conversation, MIRA, "torch", "rope")
    [_, torch, _] = [entry["call_id"] for entry in about(conversation, "journal")["data"]]
    alone = undo(conversation, call_id=torch, mode="single")
    equal(bag(conversation), {"rope": 1})
    undo(conversation, call_id=alone["call_id"])
    equal(bag(conversation), {"rope": 1, "torch": 1})
    equal(tools(undo(conversation, call_id=torch, mode="cascade")["undone"]), ["add_item", "add_item"])
    equal(bag(conversation), {})


@suite.check("the next turn continues from an undo")
def _():
    conversation = client.conversations.create().id
    play(conversation, MIRA, "torch")
    undo(conversation, last=1)
    equal(play(conversation, "rope"), sheet("1 rope"))


@suite.check("refused undo: nothing to undo, too many calls, an unknown call")
def _():
    conversation = client.conversations.create().id
    play(conversation, MIRA)
    for wish, status, code in (({"last": 2}, 409, "cannot_undo"), ({"call_id": "call_nowhere"}, 404, "call_not_found"),
                               ({"last": 0}, 400, None), ({}, 400, None), ({"first": 1}, 400, "unknown_parameter")):
        try:
            undo(conversation, **wish)
        except openai.APIStatusError as error:
            equal((wish, error.status_code, error.code if code else None), (wish, status, code))
        else:
            raise AssertionError(f"accepted: {wish}")


@suite.check("20 concurrent conversations have separate state")
def _():
    async def converse(talker, number):
        conversation = (await talker.conversations.create()).id
        for line in (MIRA, f"token {number}"):
            response = await talker.responses.create(model="game_master", input=line, conversation=conversation)
        return texts(response)[-1]

    async def all_at_once():
        async with openai.AsyncOpenAI(base_url=f"{URL}/v1", **OPTIONS) as talker:
            return await asyncio.gather(*(converse(talker, number) for number in range(20)))

    equal(asyncio.run(all_at_once()), [sheet(f"1 token {number}") for number in range(20)])


@suite.check("concurrent turns of one conversation run one after the other, and none is lost")
def _():
    conversation = client.conversations.create().id
    play(conversation, "Count with me.")

    async def all_at_once():
        async with openai.AsyncOpenAI(base_url=f"{URL}/v1", **OPTIONS) as talker:
            ask = talker.responses.create
            return await asyncio.gather(*(ask(model="game_master", input=f"token {number}", conversation=conversation)
                                          for number in range(8)))

    asyncio.run(all_at_once())
    state = json.dumps(about(conversation, "state"))
    equal([number for number in range(8) if f"token {number}" not in state], [])


@suite.check("everything is stored across a restart")
def _():
    with tempfile.TemporaryDirectory(prefix="callboard-kept-") as folder:
        store = f"sqlite:{folder}/kept.db"
        with CharacterServer(f"{folder}/first", CALLBOARD, MODEL, store) as server:
            talker = openai.OpenAI(base_url=f"{server.url}/v1", **OPTIONS)
            conversation = talker.conversations.create().id
            for line in (MIRA, "torch"):
                last = talker.responses.create(model="game_master", input=line, conversation=conversation)
            equal(server.stop()[0], 0)
        with CharacterServer(f"{folder}/second", CALLBOARD, MODEL, store) as server:
            talker = openai.OpenAI(base_url=f"{server.url}/v1", **OPTIONS)
            equal(talker.responses.retrieve(last.id).to_dict(), last.to_dict())
            again = talker.responses.create(model="game_master", input="rope", conversation=conversation)
            equal(texts(again)[-1], sheet("1 rope, 1 torch"))


sys.exit(1 if suite.run() else 0)
