#!/usr/bin/env python3
"""Characters through Chat Completions, with the official Python SDK: text, tools, terminal output, errors, state.

    chat_characters.py CALLBOARD MODEL_URL

The model behind the characters runs character_scripts.py; the first message of each conversation selects the script.
"""
import asyncio
import json
import os
import sys
import tempfile

import openai

from character_server import CharacterServer
from checks import Suite, equal

CALLBOARD, MODEL = sys.argv[1:3]
OPTIONS = {"api_key": "sk-test", "max_retries": 0, "timeout": 20}
suite = Suite("chat-characters")


def user(words):
    return {"role": "user", "content": words}


def assistant(words):
    return {"role": "assistant", "content": words}


# ---------------------------------------------------------------------------------------------------------------------
# Ways to request a reply: each returns the text and the finish reason, and checks that no tool calls reach the client

def whole(character, messages):
    completion = client.chat.completions.create(model=character, messages=messages)
    [choice] = completion.choices
    equal((completion.model, choice.message.role, choice.message.tool_calls), (character, "assistant", None))
    return choice.message.content, choice.finish_reason


def streamed(character, messages):
    chunks = list(client.chat.completions.create(model=character, messages=messages, stream=True))
    return folded(character, chunks)


def with_helper(character, messages):
    with client.chat.completions.stream(model=character, messages=messages) as stream:
        [choice] = stream.get_final_completion().choices
    equal((choice.message.role, choice.message.tool_calls), ("assistant", None))
    return choice.message.content, choice.finish_reason


def folded(character, chunks):
    equal({chunk.model for chunk in chunks}, {character})
    choices = [choice for chunk in chunks for choice in chunk.choices]
    equal(choices[0].delta.role, "assistant")
    assert not any(choice.delta.tool_calls for choice in choices), "a call was shown"
    [finish] = [choice.finish_reason for choice in choices if choice.finish_reason]
    assert choices[-1].finish_reason, "something came after the finish"
    return "".join(choice.delta.content or "" for choice in choices), finish


WAYS = {"whole": whole, "streamed": streamed, "stream helper": with_helper}


def check(name):
    """A check that must read everything that characters print. Output of a failed check is discarded before the next one."""
    def add(function):
        @suite.check(name)
        def _():
            server.waiting_lines()
            remark = function()
            equal(server.waiting_lines(), [])
            return remark
        return function
    return add


def each_way(name):
    """A check for each way to request a reply."""
    def add(function):
        for way, ask in WAYS.items():
            check(f"{name}, {way}")(lambda ask=ask: function(ask))
        return function
    return add


def pieces(stream, chunks):
    """The text of a stream as it arrives; all chunks are appended to `chunks`."""
    for chunk in stream:
        chunks.append(chunk)
        if chunk.choices and chunk.choices[0].delta.content:
            yield chunk.choices[0].delta.content


def read_until(words, text):
    """Reads until this text has arrived."""
    seen = ""
    for piece in words:
        seen += piece
        if seen.endswith(text):
            return
    raise AssertionError(f"the stream ended after {seen!r}")


def write(pipe, words="go"):
    with open(pipe, "w", encoding="utf-8") as end:
        end.write(words)


# ---------------------------------------------------------------------------------------------------------------------
# The narrator

LINE = "[narrator] [NARRATOR EVENT]"


@each_way("narrator: text, tool, terminal output, more text")
def _(ask):
    equal(ask("narrator", [user("Open the door.")]), ("The hinges groan. \n\nBehind it lies the sea.", "stop"))
    equal(server.next_lines(1), [f"{LINE} [HIGH] The red door was opened"])


@check("narrator: the text before a call is sent before the tool has run")
def _():
    pipe, chunks = server.pipe(), []
    stream = client.chat.completions.create(model="narrator", messages=[user(f"Open the door. {pipe}")], stream=True)
    words = pieces(stream, chunks)
    read_until(words, "The hinges groan.")
    equal(server.waiting_lines(), [])
    write(pipe)
    equal(server.next_lines(1), [f"{LINE} [HIGH] The red door was opened"])
    equal("".join(words).strip(), "Behind it lies the sea.")
    equal(folded("narrator", chunks)[1], "stop")


@check("narrator: the first text is sent before the reply is complete, with or without tools")
def _():
    pipe, chunks = server.pipe(), []
    stream = client.chat.completions.create(model="narrator", messages=[user(f"Just talk. {pipe}")], stream=True)
    words = pieces(stream, chunks)
    read_until(words, "Once upon a time")
    write(pipe)
    equal(("".join(words), folded("narrator", chunks)), ("", ("Once upon a time", "stop")))


@each_way("narrator: three rounds")
def _(ask):
    equal(ask("narrator", [user("Three things happen, one by one.")]),
          ("A lamp flickers. \n\nA key lies in the sand. \n\nLogged story event: The key broke", "stop"))
    equal(server.next_lines(3), [f"{LINE} [LOW] A lamp flickered", f"{LINE} [MEDIUM] A key was found",
                                  f"{LINE} [HIGH] The key broke"])


@each_way("narrator: three calls in one reply, under one index and one id")
def _(ask):
    equal(ask("narrator", [user("Three things happen at once.")]),
          ("So much happens. \n\nLogged story event: First | Logged story event: Second | Logged story event: Third", "stop"))
    equal(server.next_lines(3), [f"{LINE} [MEDIUM] {event}" for event in ("First", "Second", "Third")])


@each_way("narrator: a call written as text is run and not shown")
def _(ask):
    equal(ask("narrator", [user("Write the call down.")]),
          ("Listen.\n\nLogged story event: It was written", "stop"))
    equal(server.next_lines(1), [f"{LINE} [MEDIUM] It was written"])


# ---------------------------------------------------------------------------------------------------------------------
# Errors go to the model, which repeats them

@each_way("an unknown tool")
def _(ask):
    equal(ask("narrator", [user("Dance.")]), ("Error: Unknown tool: dance", "stop"))


@each_way("truncated arguments")
def _(ask):
    words, finish = ask("narrator", [user("Break off.")])
    equal(finish, "stop")
    assert words.startswith("Error: Invalid JSON arguments - "), words


@each_way("arguments that violate the schema")
def _(ask):
    for line, named in (("Exaggerate.", "medium"), ("Leave it out.", "event")):
        words, finish = ask("narrator", [user(line)])
        equal(finish, "stop")
        assert words.startswith("Error: Invalid parameters - ") and named in words, words


@each_way("arguments that can be repaired")
def _(ask):
    equal(ask("narrator", [user("Be sloppy.")]), ("Logged story event: It was mended", "stop"))
    equal(server.next_lines(1), [f"{LINE} [HIGH] It was mended"])


@each_way("a valid call between two invalid ones")
def _(ask):
    words, finish = ask("narrator", [user("One good, two bad.")])
    unknown, good, wrong = words.split(" | ")
    equal((unknown, good, finish), ("Error: Unknown tool: dance", "Logged story event: A good one", "stop"))
    assert wrong.startswith("Error: Invalid parameters - "), wrong
    equal(server.next_lines(1), [f"{LINE} [MEDIUM] A good one"])


@each_way("a tool that raises")
def _(ask):
    equal(ask("stagehand", [user("Stumble.")]), ("Error: ValueError: the trapdoor", "stop"))


@each_way("a tool that overruns is killed before the model gets the error")
def _(ask):
    pipe = server.pipe()
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    equal(ask("stagehand", [user(f"Oversleep. {pipe}")]), ("I go. \n\nError: Tool execution timed out", "stop"))
    # Reads to EOF; a tool process that is still alive would make this raise.
    equal((os.read(reader, 99), os.read(reader, 99)), (b"began", b""))
    os.close(reader)
    equal(ask("stagehand", [user("Stumble.")]), ("Error: ValueError: the trapdoor", "stop"))


# ---------------------------------------------------------------------------------------------------------------------
# Timing

@check("the text before a call is sent while the tool runs")
def _():
    pipe, chunks = server.pipe(), []
    stream = client.chat.completions.create(model="stagehand", messages=[user(f"Listen. {pipe}")], stream=True)
    words = pieces(stream, chunks)
    read_until(words, "I go.")
    write(pipe, "a knock")
    equal("".join(words).strip(), "heard a knock")


@each_way("calls of a stateless character run concurrently, with results in order")
def _(ask):
    equal(ask("stagehand", [user(f"Listen and speak. {server.pipe()}")]), ("heard now | said now", "stop"))


# ---------------------------------------------------------------------------------------------------------------------
# Turns that end without text

def thoughts(message):
    return (message.model_extra or {}).get("reasoning_content")


@check("a reply with only reasoning is complete, whole")
def _():
    [choice] = client.chat.completions.create(model="narrator", messages=[user("Think only.")]).choices
    equal((choice.message.content or "", choice.finish_reason), ("", "stop"))
    equal(thoughts(choice.message), "What could they mean?")


@check("a reply with only reasoning is complete, streamed")
def _():
    chunks = list(client.chat.completions.create(model="narrator", messages=[user("Think only.")], stream=True))
    equal(folded("narrator", chunks), ("", "stop"))
    equal("".join(thoughts(chunk.choices[0].delta) or "" for chunk in chunks if chunk.choices), "What could they mean?")


@each_way("an empty reply is complete")
def _(ask):
    words, finish = ask("narrator", [user("Say nothing.")])
    equal((words or "", finish), ("", "stop"))


@each_way("an empty reply after a call is complete")
def _(ask):
    words, finish = ask("narrator", [user("Act, then say nothing.")])
    equal((words or "", finish), ("", "stop"))
    equal(server.next_lines(1), [f"{LINE} [MEDIUM] Nobody spoke"])


# ---------------------------------------------------------------------------------------------------------------------
# Conversations

@each_way("quiz: a history continues with its state, and an edited one forks it")
def _(ask):
    opening = [user("Geography for 100.")]
    question, _ = ask("quiz_show", opening)
    equal(question, "Geography for 100: What is the capital of Canada?")
    asked = [*opening, assistant(question)]
    right, _ = ask("quiz_show", [*asked, user("Ottawa!")])
    equal(right, "Right, for 100 points. The answer: Ottawa. Score: 100.")
    wrong, _ = ask("quiz_show", [*asked, user("Toronto, surely.")])
    equal(wrong, "Wrong, no points. The answer: Ottawa. Score: 0.")
    for answer, verdict, score in (("Ottawa!", right, "100; 1 right"), ("Toronto, surely.", wrong, "0; 0 right")):
        prompt, _ = ask("quiz_show", [*asked, user(answer), assistant(verdict), user("And now?")])
        assert f"Score: {score} of 1 asked. Gone from the board: geography 100." in prompt, prompt[-200:]
    equal(ask("quiz_show", opening)[0], question)


@each_way("game: the bag at the third turn")
def _(ask):
    history = [user("I am Mira the ranger.")]
    for line, bag in (("torch", "empty"), ("Rope", "1 torch"), (None, "1 rope, 1 torch")):
        words, finish = ask("game_master", history)
        equal((words, finish), (f"Hero: Mira the ranger, 20 of 20 health. Bag: {bag}.", "stop"))
        history += [assistant(words), user(line)]


@check("20 concurrent conversations have separate state")
def _():
    async def play(talker, number):
        ask = talker.chat.completions.create
        opening = [user("I am Mira the ranger.")]
        first = (await ask(model="game_master", messages=opening, user=f"player {number}")).choices[0].message
        second = await ask(model="game_master", messages=[*opening, first, user(f"token {number}")], user=f"player {number}")
        return second.choices[0].message.content

    async def all_at_once():
        async with openai.AsyncOpenAI(base_url=f"{server.url}/v1", **OPTIONS) as talker:
            return await asyncio.gather(*(play(talker, number) for number in range(20)))

    equal(asyncio.run(all_at_once()),
          [f"Hero: Mira the ranger, 20 of 20 health. Bag: 1 token {number}." for number in range(20)])


@check("usage is the sum over the rounds, in the last chunk")
def _():
    chunks = list(client.chat.completions.create(model="narrator", messages=[user("Open the door.")], stream=True,
                                                 stream_options={"include_usage": True}))
    equal([chunk.usage.total_tokens for chunk in chunks if chunk.usage], [60])
    assert chunks[-1].usage and not chunks[-1].choices, "usage is not in a last chunk of its own"
    server.next_lines(1)


# ---------------------------------------------------------------------------------------------------------------------
# Models and refusals

@check("models: characters beside the server's own")
def _():
    listed = {model.id for model in client.models.list()}
    cast = {"narrator", "game_master", "quiz_show", "calculator", "stagehand"}
    assert listed >= cast | {"character-script", "text"}, f"listed {sorted(listed)}"
    assert not any(name.startswith("_") for name in listed), f"helpers among {sorted(listed)}"
    equal(client.models.retrieve("narrator").id, "narrator")


@check("the server's own models are served")
def _():
    equal(whole("text", [user("Hello?")]), ("The callboard hangs backstage.", "stop"))


WEATHER = {"type": "function", "function": {"name": "get_weather", "parameters": {
    "type": "object", "required": ["city"], "additionalProperties": False,
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}, "unit": {"enum": ["celsius", "fahrenheit"]}},
}}}
FORMAT = {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "object", "properties": {}}}}


def refused(param, **options):
    try:
        client.chat.completions.create(model="narrator", messages=[user("Open the door.")], **options)
    except openai.BadRequestError as error:
        equal((error.status_code, error.param, error.type), (400, param, "invalid_request_error"))
        assert "narrator" in error.body["message"], error.body
        return
    raise AssertionError("accepted")


def message_of(**options):
    """The message of a reply, whole or streamed, and its finish reason."""
    if not options.get("stream"):
        [choice] = client.chat.completions.create(model="narrator", **options).choices
        return choice.message, choice.finish_reason
    options.pop("stream")
    with client.chat.completions.stream(model="narrator", **options) as stream:
        [choice] = stream.get_final_completion().choices
    return choice.message, choice.finish_reason


def brings_a_tool(stream):
    """The character's tool has run when the client gets its own call; the client's result goes on with both."""
    messages = [user("Open the door and ask for the weather.")]
    message, finish = message_of(messages=messages, tools=[WEATHER], stream=stream)
    [call] = message.tool_calls
    arguments = json.loads(call.function.arguments)
    equal((call.function.name, arguments), ("get_weather", {"city": "Oslo", "days": 3, "unit": "celsius"}))
    equal((message.content.strip(), finish), ("Come in.", "tool_calls"))
    equal(server.next_lines(1), [f"{LINE} [HIGH] The red door was opened"])
    messages += [message.model_dump(include={"role", "content", "tool_calls"}),
                 {"role": "tool", "tool_call_id": call.id, "content": "3 days of sun"}]
    message, finish = message_of(messages=messages, tools=[WEATHER], stream=stream)
    equal((message.content, finish), ("Logged story event: The red door was opened | 3 days of sun", "stop"))


check("a client brings a tool to a character, whole")(lambda: brings_a_tool(stream=False))
check("a client brings a tool to a character, streamed")(lambda: brings_a_tool(stream=True))


@check("a response format in a request to a character is refused")
def _():
    refused("response_format", response_format=FORMAT)


@check("shutdown: exit with 0 on SIGTERM, and no process is left")
def _():
    status, family, alive = server.stop()
    equal((status, alive), (0, 0))
    return f"{family} processes of characters before"


with tempfile.TemporaryDirectory(prefix="callboard-characters-") as folder, CharacterServer(folder, CALLBOARD, MODEL) as server:
    client = openai.OpenAI(base_url=f"{server.url}/v1", **OPTIONS)
    failed = suite.run()
    if failed:
        print(server.log.read_text(errors="replace")[-3000:], file=sys.stderr)
sys.exit(1 if failed else 0)
