#!/usr/bin/env python3
"""Two clients with different keys: neither has access to the other's stored objects.

    responses_owners.py URL

Objects of another client get the same answer as objects that do not exist.
"""
import sys
from pipes import Pipes

import openai

from checks import Suite, equal

OPTIONS = {"base_url": f"{sys.argv[1]}/v1", "max_retries": 0, "timeout": 20}
one = openai.OpenAI(api_key="sk-one", **OPTIONS)
other = openai.OpenAI(api_key="sk-other", **OPTIONS)
suite = Suite("responses-owners")


def answer(request):
    """The error of a refused request."""
    try:
        request()
    except openai.APIStatusError as error:
        return error.status_code, error.code, error.param, error.body["message"]
    raise AssertionError("accepted")


def hidden(status, request, id, missing):
    """The request with the id of another client is refused like the one with an unknown id."""
    seen, wanted = answer(lambda: request(id)), answer(lambda: request(missing))
    equal(seen[0], status)
    equal(seen, (*wanted[:3], wanted[3].replace(missing, id)))


def own(client, path, **options):
    return client.get(path, cast_to=object, **options)


@suite.check("responses of another client are not found")
def _():
    made = one.responses.create(model="recall", input="My secret.")
    for request in (other.responses.retrieve, other.responses.delete, other.responses.cancel, other.responses.input_items.list):
        hidden(404, request, made.id, "resp_nowhere")
    hidden(400, lambda id: other.responses.create(model="recall", input="And?", previous_response_id=id), made.id, "resp_nowhere")
    equal(one.responses.retrieve(made.id).output_text, "user: My secret.")


@suite.check("items of another client cannot be referenced")
def _():
    [item] = one.responses.create(model="recall", input="My secret.").output
    refer = [{"role": "user", "content": "Again."}]
    for id in (item.id, item.id[:-1] + ("2" if item.id[-1] == "1" else "1")):
        said = [{"type": "item_reference", "id": id}, *refer]
        status, _, param, _ = answer(lambda said=said: other.responses.create(model="recall", input=said))
        equal((id, status, param), (id, 400, "input[0].id"))
    equal(one.responses.create(model="recall", input=[{"type": "item_reference", "id": item.id}, *refer]).output_text,
          "assistant: user: My secret. | user: Again.")


@suite.check("conversations of another client are not found")
def _():
    made = one.conversations.create(items=[{"role": "user", "content": "My secret."}])
    [item] = one.conversations.items.list(made.id)
    for request in (
        other.conversations.retrieve,
        other.conversations.delete,
        lambda id: other.conversations.update(id, metadata={"a": "b"}),
        lambda id: other.conversations.items.list(id),
        lambda id: other.conversations.items.create(id, items=[{"role": "user", "content": "Mine now."}]),
        lambda id: other.conversations.items.retrieve(item.id, conversation_id=id),
        lambda id: other.conversations.items.delete(item.id, conversation_id=id),
        lambda id: own(other, f"/conversations/{id}/state"),
        lambda id: own(other, f"/conversations/{id}/journal"),
        lambda id: other.post(f"/conversations/{id}/undo", body={"last": 1}, cast_to=object),
        lambda id: other.responses.create(model="recall", input="And?", conversation=id),
        lambda id: other.responses.create(model="game_master", input="And?", conversation=id, stream=True),
    ):
        hidden(404, request, made.id, "conv_nowhere")
    equal(one.responses.create(model="recall", input="And?", conversation=made.id).output_text, "user: My secret. | user: And?")


@suite.check("an item of one conversation is not found in another one")
def _():
    mine, his = (client.conversations.create(items=[{"role": "user", "content": "Hello."}]) for client in (one, other))
    [item] = one.conversations.items.list(mine.id)
    for request in (other.conversations.items.retrieve, other.conversations.items.delete):
        equal(answer(lambda request=request: request(item.id, conversation_id=his.id))[:2], (404, "item_not_found"))
    equal([kept.id for kept in one.conversations.items.list(mine.id)], [item.id])


@suite.check("the state of a character belongs to the client")
def _():
    made = one.conversations.create()
    one.responses.create(model="game_master", input="I am Mira the ranger.", conversation=made.id)
    hidden(404, lambda id: own(other, f"/conversations/{id}/state"), made.id, "conv_nowhere")
    hidden(404, lambda id: other.post(f"/conversations/{id}/undo", body={"last": 1}, cast_to=object), made.id, "conv_nowhere")
    equal(own(one, f"/conversations/{made.id}/state")["state"]["hero"]["name"], "Mira")


@suite.check("a turn of one client does not block another client")
def _():
    made = one.conversations.create()
    with Pipes() as pipes:
        pipe = pipes.new()
        with one.responses.stream(model="hold", input=f"Speak. {pipe}", conversation=made.id) as stream:
            next(iter(stream))
            hidden(404, lambda id: other.responses.create(model="recall", input="And?", conversation=id), made.id, "conv_nowhere")
            pipes.release(pipe)
            equal(stream.get_final_response().status, "completed")


@suite.check("a WebSocket has access to the objects of its key only")
def _():
    made = one.responses.create(model="recall", input="My secret.")
    with one.responses.connect() as mine, other.responses.connect() as his:
        for connection, kind in ((mine, "response.completed"), (his, "error")):
            connection.response.create(model="recall", input="And?", previous_response_id=made.id)
            last = connection.recv()
            while last.type not in ("response.completed", "error"):
                last = connection.recv()
            equal(last.type, kind)
        equal((last.status, last.error.code), (400, "previous_response_not_found"))


sys.exit(1 if suite.run() else 0)
