"""The clients: each is a thread with its own random numbers, derived from the seed of the run."""

import json
import random
import threading
import traceback
from collections import deque
from typing import Optional

from http_client import Leave, get, send
from ledger import Ledger, only_show, plan, shown, was_added
from plans import call, step, written
from shipped_cast import PLAYS
from stage import Stage
from websocket import WebSocket
from wires import Ending, Outcome, attempt, chat, over_websocket, response

TURNS = 25
LEAVING = 0.15
UNDO = "a confirmed undo undoes one call"
STATE = "the state that a turn shows is what was acknowledged"
READ = "the state that is read between turns is what was acknowledged"
CONTRACT = "delivered calls keep the contract"
FORM = "replies have the promised form"


class Actor(threading.Thread):
    """Does one thing after another until the run ends. A request that breaks is part of it; any other exception is a failure."""

    def __init__(self, stage: Stage, number: int):
        self.stage, self.report = stage, stage.report
        super().__init__(name=f"{type(self).__name__.lower()}{number}", daemon=True)
        self.chance = random.Random(f"{stage.seed} {self.name}")
        self.turns = 0

    def run(self) -> None:
        going = True
        while going:
            with self.stage.gate.request() as going:
                if going:
                    self.act_safely()

    def act_safely(self) -> None:
        try:
            self.act()
        except (OSError, LookupError) as error:
            self.report.count("other requests that failed", f"{type(error).__name__}: {str(error)[:60]}")
        except Exception:
            self.report.complain(FORM, f"{self.name}: {traceback.format_exc()[-1200:]}")

    def act(self) -> None:
        raise NotImplementedError

    def leave(self) -> Optional[Leave]:
        """Some clients leave: before the reply, within its first bytes, or late."""
        if self.chance.random() > LEAVING:
            return None
        return Leave(self.chance.choice([0, 1, 300, 1000, 3000]), self.chance.random() < 0.5)

    def address(self) -> str:
        """Of any instance."""
        return self.stage.pick(self.chance).address

    def pause(self) -> float:
        return self.chance.choice([0, 0, 0.005, 0.02, 0.1])

    def token(self) -> str:
        self.turns += 1
        return f"{self.name}-{self.turns}"

    def counted(self, wire: str, address: str, outcome: Outcome) -> Outcome:
        self.report.count("requests", wire)
        self.report.count(f"turns {outcome.ending.value}", outcome.code or wire)
        if outcome.ending == Ending.COMPLETED:
            self.stage.count_completed(address)
        return outcome

    # --- a turn over some wire

    def chat(self, body: dict, headers: Optional[dict] = None) -> Outcome:
        address, streamed, leave = self.address(), self.chance.random() < 0.6, self.leave()
        outcome = attempt(chat, address, body, streamed, leave, headers)
        return self.counted(f"chat, {'streamed' if streamed else 'whole'}", address, outcome)

    def response(self, body: dict) -> Outcome:
        address, leave = self.address(), self.leave()
        wire = self.chance.choice(["whole", "streamed", "WebSocket"])
        if wire == "WebSocket":
            outcome = attempt(self.on_new_websocket, address, body, leave)
        else:
            outcome = attempt(response, address, body, wire == "streamed", leave)
        return self.counted(f"responses, {wire}", address, outcome)

    def on_new_websocket(self, address: str, body: dict, leave: Optional[Leave]) -> Outcome:
        socket = WebSocket(address, "/v1/responses")
        try:
            return over_websocket(socket, body, leave)
        finally:
            socket.close()


def difference(seen: list[str], expected: list[str]) -> str:
    missing, more = [one for one in expected if one not in seen], [one for one in seen if one not in expected]
    return f"missing {missing}, not acknowledged {more}, stored {seen}"


class Conversation:
    """One that the suite has created, with what is known of it."""

    def __init__(self, name: str):
        self.name, self.ledger = name, Ledger()
        self.responses: list[dict] = []
        self.turns = 0


class ConversationActor(Actor):
    """Turns of the counter in conversations, with undo; every turn shows the state."""

    def __init__(self, stage: Stage, number: int):
        super().__init__(stage, number)
        self.kept: list[Conversation] = []
        self.current: Optional[Conversation] = None

    def act(self) -> None:
        if not self.current or self.current.turns >= TURNS:
            self.current = self.create()
        self.current.turns += 1
        act = self.chance.choices([self.turn, self.undo, self.read], [8, 1, 1])[0]
        act(self.current)

    def create(self) -> Conversation:
        reply = send(self.address(), "POST", "/v1/conversations", {"metadata": {"by": self.name}})
        if reply.status != 200:
            raise LookupError(f"POST /v1/conversations: {reply.error_code()}")
        self.kept.append(Conversation(reply.json()["id"]))
        return self.kept[-1]

    def turn(self, conversation: Conversation, in_order: bool = True) -> None:
        token = self.token()
        certain = conversation.ledger.begin(token)
        body = {"model": "counter", "conversation": conversation.name,
                "input": plan(token, self.pause(), self.chance.random() < 0.2)}
        outcome = self.response(body)
        if (tokens := shown(outcome)) is not None:
            for complaint in conversation.ledger.complaints(tokens, certain, in_order):
                self.report.complain(STATE, f"{conversation.name}: {complaint}")
        conversation.ledger.end(token, outcome)
        if outcome.ending == Ending.COMPLETED:
            conversation.responses.append(outcome.response)

    def read(self, conversation: Conversation) -> None:
        """What was acknowledged is there for every instance."""
        certain = conversation.ledger.certain()
        state = get(self.address(), f"/v1/conversations/{conversation.name}/state")["state"] or {}
        for complaint in conversation.ledger.complaints(state.get("tokens", []), certain):
            self.report.complain(READ, f"{conversation.name}: {complaint}")

    def undo(self, conversation: Conversation) -> None:
        confirmed, _ = conversation.ledger.certain()
        path = f"/v1/conversations/{conversation.name}/undo"
        try:
            reply = send(self.address(), "POST", path, {"last": 1}, self.leave())
        except Exception:  # the outcome is unknown
            self.report.count("undo", "broken")
            self.doubt_newest(conversation, confirmed)
            return
        self.report.count("undo", "ok" if reply.status == 200 else reply.error_code())
        if reply.status == 200:
            for complaint in conversation.ledger.undo(reply.json()["state"]["tokens"]):
                self.report.complain(UNDO, f"{conversation.name}: {complaint}")
        elif "store_outcome_unknown" in reply.error_code():
            self.doubt_newest(conversation, confirmed)

    def doubt_newest(self, conversation: Conversation, confirmed: list[str]) -> None:
        if confirmed:
            conversation.ledger.doubt(confirmed[-1])


class SharedActor(ConversationActor):
    """Several of these use the same conversation at the same time, on all instances."""

    shared: Optional[Conversation] = None
    creation = threading.Lock()

    def act(self) -> None:
        with self.creation:
            conversation = SharedActor.shared
            if not conversation or conversation.turns >= 3 * TURNS:
                conversation = SharedActor.shared = self.create()
            conversation.turns += 1
        self.turn(conversation, in_order=False)


class BranchActor(Actor):
    """Responses that continue any earlier one: the state is exactly that of the branch."""

    def __init__(self, stage: Stage, number: int):
        super().__init__(stage, number)
        self.nodes: list[tuple[dict, list[str]]] = []

    def act(self) -> None:
        previous: Optional[dict] = None
        tokens: list[str] = []
        if self.nodes and self.chance.random() < 0.95:
            previous, tokens = self.chance.choice(self.nodes[-6:])
        token = self.token()
        body = {"model": "counter", "input": plan(token, self.pause())}
        outcome = self.response({**body, "previous_response_id": previous["id"]} if previous else body)
        self.compare(outcome, [*tokens, token] if was_added(outcome, token) else tokens)

    def compare(self, outcome: Outcome, tokens: list[str]) -> None:
        seen = shown(outcome)
        if seen is not None and seen != tokens:
            self.report.complain(STATE, f"{self.name}, {outcome.response['id']}: {difference(seen, tokens)}")
        if outcome.ending == Ending.COMPLETED and len(tokens) < TURNS:
            self.nodes.append((outcome.response, tokens))

    def verify(self) -> None:
        """Continues the newest branches once more."""
        for previous, tokens in self.nodes[-3:]:
            body = {"model": "counter", "input": only_show(), "previous_response_id": previous["id"]}
            self.compare(response(self.address(), body, False, None), tokens)


class SocketActor(BranchActor):
    """The same on a connection that stays open, over many responses."""

    def __init__(self, stage: Stage, number: int):
        super().__init__(stage, number)
        self.connected_to = ""
        self.socket: Optional[WebSocket] = None

    def response(self, body: dict) -> Outcome:
        if not self.socket:
            self.connected_to = self.address()
        outcome = attempt(self.on_open_websocket, body)
        if outcome.ending in (Ending.BROKEN, Ending.LEFT) and self.socket:
            self.socket.close()
            self.socket = None
        return self.counted("responses, open WebSocket", self.connected_to, outcome)

    def on_open_websocket(self, body: dict) -> Outcome:
        self.socket = self.socket or WebSocket(self.connected_to, "/v1/responses")
        return over_websocket(self.socket, body, self.leave())


class HistoryActor(Actor):
    """Chat Completions with the counter: the client's history is the key, so the state is exactly that of the history."""

    def __init__(self, stage: Stage, number: int):
        super().__init__(stage, number)
        self.messages: list[dict] = []
        self.tokens: list[str] = []
        self.last: deque[tuple[str, str, str, str]] = deque(maxlen=4)

    def act(self) -> None:
        if len(self.tokens) >= TURNS:
            self.messages, self.tokens = [], []
        token = self.token()
        self.turn(plan(token, self.pause()), token)

    def turn(self, text: str, token: str) -> None:
        messages = [*self.messages, {"role": "user", "content": text}]
        outcome = self.chat({"model": "counter", "messages": messages})
        self.last.append((token, outcome.ending.value, outcome.code, outcome.text[:300]))
        if outcome.ending != Ending.COMPLETED:
            return
        tokens = [*self.tokens, token] if was_added(outcome, token) else self.tokens
        seen = shown(outcome)
        if seen is not None and seen != tokens:
            self.report.complain(STATE, f"{self.name}: {difference(seen, tokens)}; its last turns: {self.last}")
        self.messages, self.tokens = [*messages, {"role": "assistant", "content": outcome.text}], tokens

    def verify(self) -> None:
        self.turn(only_show(), "none")


class NamedActor(Actor):
    """Chat Completions in conversations that the client names."""

    def __init__(self, stage: Stage, number: int):
        super().__init__(stage, number)
        self.ledger = Ledger()
        self.last: deque[tuple[str, str, str, str]] = deque(maxlen=4)

    def act(self) -> None:
        token = self.token()
        if self.turns % TURNS == 0:
            self.ledger = Ledger()
        self.turn(plan(token, self.pause()), token)

    def turn(self, text: str, token: str) -> None:
        certain = self.ledger.begin(token)
        name = f"{self.name}-{self.turns // TURNS}"
        body = {"model": "counter", "messages": [{"role": "user", "content": text}]}
        outcome = self.chat(body, {"callboard-conversation": name})
        if (tokens := shown(outcome)) is not None:
            for complaint in self.ledger.complaints(tokens, certain):
                self.report.complain(STATE, f"{name}: {complaint}; its last turns: {self.last}")
        self.last.append((token, outcome.ending.value, outcome.code, outcome.text[:100]))
        self.ledger.end(token, outcome)

    def verify(self) -> None:
        self.turn(only_show(), "none")


TOOL = {"type": "function", "function": {"name": "find_play", "parameters": {
    "type": "object", "properties": {"title": {"type": "string"}, "act": {"type": "integer"}}, "required": ["title"]}}}
ARGUMENTS = ['{"title": "Hamlet", "act": 2}', "{'title': 'Hamlet', 'act': 2,}", '{"title": "Hamlet", "act": "2"}',
             '{"title": "Hamlet", "act": 2']
CALLED = {"title": "Hamlet", "act": 2}


class ToolsActor(Actor):
    """Plain models with the client's tools: a call that is delivered keeps the contract."""

    def act(self) -> None:
        made = {"name": "find_play", "arguments": self.chance.choice(ARGUMENTS)}
        again = step("", [call("find_play", **CALLED)])
        steps = [step("Let me look. " * self.chance.choice([1, 40]), [made], self.pause()), again]
        body = {"model": self.chance.choice(["soak", "steady", "rogue"]), "tools": [TOOL],
                "messages": [{"role": "user", "content": written(steps)}]}
        outcome = self.chat(body)
        if outcome.ending == Ending.COMPLETED and [json.loads(one["arguments"]) for one in outcome.calls] != [CALLED]:
            self.report.complain(CONTRACT, f"{outcome.code} {outcome.calls} for {made}")


class CastActor(Actor):
    """The shipped characters and a hostile one, over all wires."""

    def act(self) -> None:
        character = self.chance.choice([*PLAYS, "saboteur", "saboteur"])
        tools = PLAYS.get(character) or [(name, {}) for name in SABOTAGE]
        picked = [self.chance.choice(tools) for _ in range(self.chance.choice([0, 1, 2]))]
        text = written([step("Well. ", [call(name, **arguments) for name, arguments in picked], self.pause()), step("Done.")])
        if self.chance.random() < 0.5:
            self.chat({"model": character, "messages": [{"role": "user", "content": text}]})
        else:
            self.response({"model": character, "input": text})


SABOTAGE = ["loops", "exits", "segfaults", "kills_its_parent", "stops_itself", "forks", "floods", "eats_memory",
            "returns_too_much", "keeps_too_much", "keeps_no_json", "closes_everything"]
PATHS = ["/v1/models", "/metrics", "/v1/traces?limit=100", "/v1/characters", "/v1/upstreams", "/health", "/ready",
         "/no/such/path"]


class WatchingActor(Actor):
    """Lists what can be listed."""

    def act(self) -> None:
        path = self.chance.choice(PATHS)
        try:
            reply = send(self.address(), "GET", path, None, self.leave())
            self.report.count("lists", f"{path} {reply.status}")
        except Exception as error:
            self.report.count("lists", f"{path} {type(error).__name__}")


def make_actors(stage: Stage) -> list[Actor]:
    kinds = [ConversationActor] * 3 + [SharedActor] * 2 + [BranchActor] * 2 + [SocketActor] + [HistoryActor] * 2 \
        + [NamedActor] + [ToolsActor] * 3 + [CastActor] * 3 + [WatchingActor]
    return [kind(stage, number) for number, kind in enumerate(kinds)]


def stored_conversation(address: str, name: str) -> tuple[list[str], list[dict], list[dict]]:
    """Its tokens, its items and its journal."""
    state = get(address, f"/v1/conversations/{name}/state")
    items = all_pages(address, f"/v1/conversations/{name}/items?order=asc&limit=100", "last_id")
    journal = all_pages(address, f"/v1/conversations/{name}/journal?limit=100", "sequence")
    return (state["state"] or {}).get("tokens", []), items, journal


def all_pages(address: str, path: str, cursor: str) -> list[dict]:
    entries: list[dict] = []
    page: dict = {"has_more": True}
    while page["has_more"]:
        last = page.get(cursor) or (entries[-1].get(cursor) if entries else None)
        page = get(address, path + (f"&after={last}" if last is not None else ""))
        entries += page["data"]
    return entries
