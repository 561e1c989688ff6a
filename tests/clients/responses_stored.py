#!/usr/bin/env python3
"""Stored objects of the Responses API, with the official Python SDK: responses, their input, conversations.

    responses_stored.py URL

The model `recall` repeats the history that it was sent, so every answer shows what was stored.
"""
import json
import sys

import openai

from checks import Suite, equal

client = openai.OpenAI(base_url=f"{sys.argv[1]}/v1", api_key="sk-test", max_retries=0, timeout=20)
suite = Suite("responses-stored")

ADD = {"type": "function", "name": "add", "description": "Adds.", "strict": False,
       "parameters": {"type": "object", "required": ["a", "b"],
                      "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}}}


def ask(words, model="recall", **options):
    return client.responses.create(model=model, input=words, **options)


def raises(kind, request, **wanted):
    try:
        request()
    except kind as error:
        return equal({name: getattr(error, name) for name in wanted}, wanted)
    raise AssertionError(f"no {kind.__name__}")


def missing(request, code):
    raises(openai.NotFoundError, request, status_code=404, code=code)


def words_of(item):
    return "".join(part.text for part in item.content)


# ---------------------------------------------------------------------------------------------------------------------
# Responses

@suite.check("a response is stored as it was sent, whole and streamed")
def _():
    first = ask("Hello.", metadata={"scene": "two"}, instructions="Be kind.")
    equal(client.responses.retrieve(first.id).to_dict(), first.to_dict())
    last = list(client.responses.create(model="thinker", input="Hello.", stream=True))[-1].response
    equal(client.responses.retrieve(last.id).to_dict(), last.to_dict())


@suite.check("an incomplete response is stored, and so is one that failed after its first text")
def _():
    response = ask("Go on.", model="long-winded")
    equal(client.responses.retrieve(response.id).to_dict(), response.to_dict())
    failed = begun_and_failed()
    kept = client.responses.retrieve(failed.id)
    equal((kept.status, kept.output_text, kept.output[0].status), ("failed", "Three, two, one.", "in_progress"))
    assert "unknown_tool_call" in kept.error.message, kept.error
    equal(ask("And?", previous_response_id=failed.id).output_text, "user: Add. | assistant: Three, two, one. | user: And?")


def begun_and_failed(**options):
    """The initial object of a response that failed later."""
    stream = client.responses.create(model="talks-of-rockets", input="Add.", tools=[ADD], stream=True, **options)
    begun = next(iter(stream)).response
    raises(openai.APIError, lambda: list(stream), code="unknown_tool_call")
    return begun


@suite.check("the input of a response is listed, page by page, in either order")
def _():
    first = ask([{"role": "developer", "content": "Whisper."}, {"role": "user", "content": "One."}])
    second = ask("Two.", previous_response_id=first.id)
    items = list(client.responses.input_items.list(second.id, order="asc", limit=1))
    equal([(item.role, words_of(item)) for item in items][:2], [("developer", "Whisper."), ("user", "One.")])
    equal((items[-1].role, words_of(items[-1])), ("user", "Two."))
    backwards = [item.id for item in client.responses.input_items.list(second.id)]
    equal(backwards, [item.id for item in reversed(items)])
    assert len(set(backwards)) == len(backwards) and all(backwards), backwards


@suite.check("a deleted response is not found")
def _():
    response = ask("Hello.")
    client.responses.delete(response.id)
    missing(lambda: client.responses.retrieve(response.id), "response_not_found")
    missing(lambda: client.responses.delete(response.id), "response_not_found")
    missing(lambda: client.responses.input_items.list(response.id), "response_not_found")
    raises(openai.BadRequestError, lambda: ask("And?", previous_response_id=response.id),
           param="previous_response_id", code="previous_response_not_found")


@suite.check("store=False stores nothing")
def _():
    response = ask("Hello.", store=False)
    missing(lambda: client.responses.retrieve(response.id), "response_not_found")
    raises(openai.BadRequestError, lambda: ask("And?", previous_response_id=response.id),
           param="previous_response_id", code="previous_response_not_found")


@suite.check("a response that is not in the background cannot be cancelled")
def _():
    response = ask("Hello.")
    raises(openai.BadRequestError, lambda: client.responses.cancel(response.id), code="response_not_cancellable")
    missing(lambda: client.responses.cancel("resp_nowhere"), "response_not_found")


@suite.check("two continuations of a response are independent")
def _():
    first = ask("One.")
    left = ask("Left.", previous_response_id=first.id)
    right = ask("Right.", previous_response_id=first.id)
    equal(left.output_text, "user: One. | assistant: user: One. | user: Left.")
    equal(right.output_text, "user: One. | assistant: user: One. | user: Right.")


@suite.check("instructions are not carried over, everything else is")
def _():
    first = ask("One.", instructions="Be kind.")
    second = ask("Two.", previous_response_id=first.id, instructions="Be rude.")
    assert second.output_text.startswith("system: Be rude. | user: One. | "), second.output_text
    third = ask("Three.", previous_response_id=second.id)
    assert third.output_text.startswith("user: One. | "), third.output_text


@suite.check("an item is referenced by its id")
def _():
    [message] = ask("Hello.").output
    equal(ask([{"type": "item_reference", "id": message.id}, {"role": "user", "content": "Again."}]).output_text,
          "assistant: user: Hello. | user: Again.")


# ---------------------------------------------------------------------------------------------------------------------
# Conversations

@suite.check("a conversation is created, read, changed and deleted")
def _():
    made = client.conversations.create(metadata={"scene": "one"})
    assert made.id.startswith("conv_"), made
    equal(client.conversations.retrieve(made.id), made)
    changed = client.conversations.update(made.id, metadata={"scene": "two"})
    equal((changed.id, changed.metadata), (made.id, {"scene": "two"}))
    equal(client.conversations.retrieve(made.id).metadata, {"scene": "two"})
    equal(client.conversations.delete(made.id).deleted, True)
    missing(lambda: client.conversations.retrieve(made.id), "conversation_not_found")
    missing(lambda: ask("Hello?", conversation=made.id), "conversation_not_found")


@suite.check("items of a conversation: added, listed, read, deleted")
def _():
    opening = [{"role": "developer", "content": "Whisper."}, {"role": "user", "content": "One."}]
    made = client.conversations.create(items=opening)
    added = client.conversations.items.create(made.id, items=[{"role": "assistant", "content": "Two."}])
    equal([words_of(item) for item in added.data], ["Two."])
    listed = list(client.conversations.items.list(made.id, order="asc", limit=2))
    equal([(item.role, words_of(item)) for item in listed],
          [("developer", "Whisper."), ("user", "One."), ("assistant", "Two.")])
    equal([item.id for item in client.conversations.items.list(made.id)], [item.id for item in reversed(listed)])
    equal(words_of(client.conversations.items.retrieve(listed[1].id, conversation_id=made.id)), "One.")
    equal(client.conversations.items.delete(listed[1].id, conversation_id=made.id).id, made.id)
    missing(lambda: client.conversations.items.retrieve(listed[1].id, conversation_id=made.id), "item_not_found")
    equal(ask("Three.", conversation=made.id).output_text, "system: Whisper. | assistant: Two. | user: Three.")


@suite.check("items with the id of another one get a new id")
def _():
    made = client.conversations.create(items=[{"id": "msg_mine", "role": "user", "content": "One."}])
    client.conversations.items.create(made.id, items=[{"id": "msg_mine", "role": "user", "content": "Two."}] * 2)
    ask([{"id": "msg_mine", "role": "user", "content": "Three."}], conversation=made.id)
    ids = [item.id for item in client.conversations.items.list(made.id, order="asc")]
    equal((len(ids), len(set(ids)), ids.index("msg_mine")), (5, 5, 0))
    client.conversations.items.delete("msg_mine", conversation_id=made.id)
    equal([item.id for item in client.conversations.items.list(made.id, order="asc", limit=1)], ids[1:])


@suite.check("a conversation continues without sending its history, whole and streamed")
def _():
    made = client.conversations.create()
    first = ask("One.", conversation=made.id)
    equal((first.output_text, first.conversation.id), ("user: One.", made.id))
    with client.responses.stream(model="recall", input="Two.", conversation={"id": made.id}) as stream:
        equal(stream.get_final_response().output_text, "user: One. | assistant: user: One. | user: Two.")
    items = list(client.conversations.items.list(made.id, order="asc"))
    equal([item.role for item in items], ["user", "assistant", "user", "assistant"])
    equal(items[1].id, first.output[0].id)


@suite.check("a call and its result are stored in the conversation")
def _():
    made = client.conversations.create()
    first = ask("Add.", model="sums", tools=[ADD], conversation=made.id)
    for total in ("5", "10"):
        [call] = [item for item in first.output if item.type == "function_call"]
        output = {"type": "function_call_output", "call_id": call.call_id, "output": total}
        first = ask([output], model="sums", tools=[ADD], conversation=made.id)
    equal(first.output_text, "The sum is 10.")
    items = list(client.conversations.items.list(made.id, order="asc"))
    equal([item.type for item in items],
          ["message", "function_call", "function_call_output", "function_call", "function_call_output", "message"])
    equal([json.loads(item.arguments) for item in items if item.type == "function_call"], [{"a": 2, "b": 3}, {"a": 5, "b": 5}])


@suite.check("a failed turn stores nothing in the conversation")
def _():
    made = client.conversations.create()
    raises(openai.InternalServerError, lambda: ask("Add.", model="always-unknown-tool", tools=[ADD], conversation=made.id),
           code="unknown_tool_call")
    begun_and_failed(conversation=made.id)
    equal(list(client.conversations.items.list(made.id)), [])
    equal(ask("One.", conversation=made.id).output_text, "user: One.")


@suite.check("a missing conversation is not found")
def _():
    missing(lambda: client.conversations.retrieve("conv_nowhere"), "conversation_not_found")
    missing(lambda: client.conversations.items.list("conv_nowhere"), "conversation_not_found")
    missing(lambda: client.conversations.delete("conv_nowhere"), "conversation_not_found")


sys.exit(1 if suite.run() else 0)
