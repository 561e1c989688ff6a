#!/usr/bin/env python3
"""Text reaches the model and is returned unchanged: all kinds of characters, and texts of a megabyte.

    responses_unicode.py URL
"""
import json
import sys

import openai

from checks import Suite, equal

client = openai.OpenAI(base_url=f"{sys.argv[1]}/v1", api_key="sk-test", max_retries=0, timeout=20)
suite = Suite("responses-unicode")

LETTERS = {
    "accents, composed and not": "Ångström A\u030angstro\u0308m ﬁ",
    "letters beyond 16 bits": "🎭🏳️‍🌈👩‍👩‍👧‍👦 𝄞 𐍈 \U0010fffd",
    "right to left": "שלום مرحبا \u202e\u2067abc\u2069",
    "no spaces": "舞台上的角色。ฉากละคร",
    "separators of lines": "a\nb\r\nc\u2028d\u2029e\u0085f\vg\fh",
    "controls and nothing at all": "a\x00b\x01c\x1bd\x7fe\ufefff\u200bg",
    "what looks like framing": "data: [DONE]\n\nevent: error\ndata: {}\n\n: callboard",
    "quotes and slashes": "\\\" \\u0041 \\n </script> \\ud83d {\"a\": \"b\"}",
    "spaces around": "  \t two words\t  ",
}
MEGABYTE = "Die ganze Welt ist Bühne. " * 40_000


def whole(words, model="recall", **options):
    return client.responses.create(model=model, input=words, **options)


def streamed(words, model="recall", **options):
    with client.responses.stream(model=model, input=words, **options) as stream:
        return stream.get_final_response()


def on_socket(words, model="recall", **options):
    with client.responses.connect() as connection:
        connection.response.create(model=model, input=words, **options)
        event = connection.recv()
        while event.type not in ("response.completed", "error"):
            event = connection.recv()
    assert event.type == "response.completed", event
    return event.response


WAYS = (whole, streamed, on_socket)


def text_of(item):
    return "".join(part.text for part in item.content)


def comes_back(ask, words):
    response = ask(words)
    equal(response.output_text, f"user: {words}")
    equal(client.responses.retrieve(response.id).output_text, f"user: {words}")
    equal([text_of(item) for item in client.responses.input_items.list(response.id)], [words])


for name, words in LETTERS.items():
    @suite.check(f"{name}: sent, answered, stored")
    def _(words=words):
        for ask in WAYS:
            comes_back(ask, words)


@suite.check("in a conversation, its metadata, its items and the instructions")
def _():
    words = " ".join(LETTERS.values())
    made = client.conversations.create(metadata={"title": words[:400]}, items=[{"role": "user", "content": words}])
    equal(client.conversations.retrieve(made.id).metadata, {"title": words[:400]})
    equal([text_of(item) for item in client.conversations.items.list(made.id)], [words])
    response = whole("And?", conversation=made.id, instructions=words)
    equal((response.output_text, response.instructions), (f"system: {words} | user: {words} | user: And?", words))


@suite.check("in a call and its result")
def _():
    words = "".join(LETTERS.values())
    tool = {"type": "function", "name": "say", "strict": False, "parameters": {
        "type": "object", "properties": {"words": {"type": "string"}}, "required": ["words"]}}
    for ask in WAYS:
        first = ask(words, "parrot", tools=[tool])
        [call] = first.output
        equal(json.loads(call.arguments), {"words": words})
        result = {"type": "function_call_output", "call_id": call.call_id, "output": words}
        equal(ask([result], "parrot", tools=[tool], previous_response_id=first.id).output_text, words)


@suite.check("a megabyte sent, answered, stored")
def _():
    comes_back(whole, MEGABYTE)
    for ask in (streamed, on_socket):
        equal(ask(MEGABYTE, "text").output_text, "The callboard hangs backstage.")


@suite.check("a megabyte in a conversation, in many items")
def _():
    made = client.conversations.create()
    items = [{"role": "user", "content": f"{number}: {MEGABYTE[:20_000]}"} for number in range(50)]
    equal(whole(items, "text", conversation=made.id).output_text, "The callboard hangs backstage.")
    kept = [text_of(item) for item in client.conversations.items.list(made.id, order="asc", limit=7)]
    equal(len(kept), 51)
    assert kept[:50] == [item["content"] for item in items], "other texts than those sent"
    answer = whole("And?", conversation=made.id).output_text
    assert answer.endswith("assistant: The callboard hangs backstage. | user: And?"), answer[-100:]


sys.exit(1 if suite.run() else 0)
