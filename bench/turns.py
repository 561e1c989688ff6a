"""The turns of `bench/ledger`: each case stored and not stored, with the same upstream request.

A talk is a list of dependent requests. Where turns are not stored, the client sends the whole history.
"""

import itertools
import json
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles

HERE = Path(__file__).resolve().parent
CHARACTERS = HERE / "characters"
WAYS = ("not stored", "stored")
# Turns per talk, if they depend on each other.
LENGTH = 4
WORDS = "The retry loop waits the same time after every failure. Make it wait twice as long each time."


@dataclass(frozen=True)
class Case:
    name: str
    talks: int
    model: str
    stream: bool
    home: str  # what links the turns of a stored talk: nothing, the previous response, or a conversation

    def talk(self, way: str, base: str, count: int) -> list:
        """This many talks, each a list of bodies."""
        if way == "stored":
            return [self.stored(base) for _ in range(count)]
        return [self.unstored()] * count

    def stored(self, base: str) -> list[dict]:
        turn = {**agent(self.model, self.stream), "store": True}
        if self.home == "conversation":
            return [{**turn, "conversation": new_conversation(base)}] * LENGTH
        if self.home == "response":
            return [turn, *[{**turn, "previous_response_id": "$PREVIOUS"}] * (LENGTH - 1)]
        return [turn]

    def unstored(self) -> list[dict]:
        turn = {**agent(self.model, self.stream), "store": False}
        if not self.home:
            return [turn]
        said = [turn["input"] + answer(self.model, number) for number in range(LENGTH)]
        return [{**turn, "input": list(itertools.chain(*said[:earlier])) + turn["input"]} for earlier in range(LENGTH)]


CASES = [
    Case("model-whole", 1500, "short-text", False, ""),
    Case("model-streamed", 1500, "short-text", True, ""),
    Case("model-followed", 300, "short-text", True, "response"),
    Case("model-conversation", 300, "short-text", True, "conversation"),
    Case("character-talks", 250, "talker", True, "conversation"),
    Case("character-changes", 200, "noter", True, "conversation"),
    Case("character-followed", 200, "noter", True, "response"),
]


def agent(model: str, stream: bool) -> dict:
    """The request of a coding agent; a character has its own tools and prompt."""
    turn = {"model": model, "stream": stream, "input": [{"type": "message", "role": "user", "content": WORDS}]}
    if model in ("talker", "noter"):
        return turn
    chat = json.loads((HERE / "load/src/request.json").read_text())
    functions = [{"type": "function", **tool["function"]} for tool in chat["tools"]]
    return {**turn, "instructions": chat["messages"][0]["content"], "tools": functions}


def answer(model: str, number: int) -> list[dict]:
    """The model's output, as a client sends it back."""
    text = "The delay now doubles checked."
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text, "annotations": []}]}
    call = {"type": "mcp_call", "id": f"mcp_{number}", "server_label": "noter", "name": "note",
            "arguments": '{"text":"The delay doubles."}', "output": "1 notes", "error": None}
    return [call, said] if model == "noter" else [said]


def new_conversation(base: str) -> str:
    headers = {"authorization": "Bearer bench", "content-type": "application/json"}
    request = urllib.request.Request(f"{base}/v1/conversations", b"{}", headers)
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=20) as reply:
        return json.load(reply)["id"]


def summary(samples: dict) -> dict:
    """Medians over the rounds. The ratio covers all processes of Callboard, without the database server.

    Each ratio compares two consecutive samples, so a slowdown of the machine affects both.
    """
    parts = ("callboard", "workers", "database", "requests_per_second")
    figures = {way: {part: median(sample[part] for sample in own) for part in parts} for way, own in samples.items()}
    every = [sample for own in samples.values() for sample in own]
    ratios = paired(samples, "callboard", "workers")
    return {
        **figures,
        "ratio": median(ratios),
        "middle_half": quantiles(ratios, n=4)[::2] if len(ratios) > 1 else ratios * 2,
        "own_ratio": median(paired(samples, "callboard")),
        "errors": [sample["first_error"] for sample in every if sample["errors"]],
        "foreign_share": max(sample["foreign_share"] for sample in every),
        "rounds": samples,
    }


def paired(samples: dict, *parts: str) -> list[float]:
    """The ratio of stored to unstored turns in each round."""
    spent = {way: [sum(sample[part] for part in parts) for sample in own] for way, own in samples.items()}
    return [stored / unstored for unstored, stored in zip(*(spent[way] for way in WAYS))]
