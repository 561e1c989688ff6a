"""What `bench/growth` varies: each dimension has its sizes, and measures the cost at each of them.

A cost is CPU time of Callboard and its workers, in microseconds per request unless said otherwise.
"""

import contextlib
import json
import subprocess
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path

import stored_rows
from connections import ask, connect, open_idle, serving
from gateways import Site
from on_stage import talker
from processes import Process

REQUEST = Path(__file__).resolve().parent / "load/src/request.json"
PER_REQUEST = "CPU us/request"
SETTLE_SECONDS = 0.4
CHAT = "/v1/chat/completions"
# Turns of a conversation that is continued.
TURNS = 4
# A store is opened, and a character loaded, in this time even where there are very many.
SECONDS_TO_START = 600


@dataclass(frozen=True)
class Dimension:
    unit: str
    sizes: tuple
    largest_quick: int
    measure: Callable[[Site, list[int], float], list[float]]
    cost: str = PER_REQUEST


# ---------------------------------------------------------------------------------------------------------------------
# Requests

def chat(model: str, **fields) -> dict:
    return {"model": model, "messages": [{"role": "user", "content": "Go on."}], **fields}


def history(messages: int) -> list[dict]:
    """A request with a history of this many messages."""
    text = "It has about a hundred characters, as many messages of a conversation have."
    spoken = [{"role": ("user", "assistant")[number % 2], "content": f"This is message {number}. {text}"}
              for number in range(messages - 1)]
    return [chat("short-text", stream=True, messages=[*spoken, {"role": "user", "content": "Go on."}])]


def tools(count: int, kind: str = "") -> list[dict]:
    """The tools of the bench's request, again and again under other names."""
    known = json.loads(REQUEST.read_text())["tools"]
    named = ({**tool["function"], "name": f"{tool['function']['name']}_{kind}{number}"}
             for number, tool in ((number, known[number % len(known)]) for number in range(count)))
    return [{"type": "function", "function": function} for function in named]


def same_tools(count: int) -> list[dict]:
    return [chat("short-text", stream=True, **({"tools": tools(count)} if count else {}))]


def other_tools(count: int) -> list[dict]:
    """More sets of tools than are remembered."""
    return [chat("short-text", stream=True, **({"tools": tools(count, f"{number}_")} if count else {})) for number in range(300)]


def arguments(size: int) -> list[dict]:
    return [{**json.loads(REQUEST.read_text()), "model": f"arguments-{size}", "stream": True}]


def events(count: int) -> list[dict]:
    return [chat(f"text-{count}", stream=True)]


def by_requests(bodies: Callable[[int], list[dict]]) -> Callable[[Site, list[int], float], list[float]]:
    """The cost of requests that are made for each size."""
    def measure(site: Site, sizes: list[int], seconds: float) -> list[float]:
        with serving(site, 1) as (process, base):
            return [cpu_us(site, process, base + CHAT, bodies(size), seconds) for size in sizes]
    return measure


def cpu_us(site: Site, process: Process, url: str, bodies: Iterable[dict], seconds: float, connections: int = 4) -> float:
    """CPU time per request, of requests that take turns for this long, after as many to warm up."""
    talks = site.folder / "talks"
    talks.write_text("".join(json.dumps([body]) + "\n" for body in bodies))
    drive(site, url, talks, connections, seconds / 2)
    before = process.cpu_seconds()
    answered = drive(site, url, talks, connections, seconds)
    time.sleep(SETTLE_SECONDS)
    return (process.cpu_seconds() - before) * 1e6 / answered


def drive(site: Site, url: str, talks: Path, connections: int, seconds: float) -> int:
    """The number of requests that were answered in this time, at least one for each connection."""
    command = [site.load, "load", "--url", url, "--key", site.key, "--talks", talks, "--expected", "[DONE]",
               "--connections", connections, "--requests", 10_000_000, "--seconds", max(round(seconds), 1)]
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, check=True)
    seen = json.loads(done.stdout)
    if seen["errors"] or not seen["requests"]:
        raise SystemExit(f"{seen['errors']} requests failed: {seen['first_error']}")
    return seen["requests"]


# ---------------------------------------------------------------------------------------------------------------------
# What there is beside the request

def by_stored(site: Site, sizes: list[int], seconds: float) -> list[float]:
    """Turns of stored conversations, each continued from its last response, with more and more rows in the store."""
    with serving(site, 1, name="grown") as (_, base):
        stored_rows.make_template(base)
    costs = []
    for size in sizes:
        stored_rows.fill(site.folder / "grown.db", size)
        with serving(site, 1, name="grown", seconds=SECONDS_TO_START) as (process, base):
            costs.append(continued_cpu_us(process, base, seconds))
    return costs


def continued_cpu_us(process: Process, base: str, seconds: float) -> float:
    """CPU time of turns that follow one another."""
    with contextlib.closing(connect(base)) as connection:
        take_turns(connection, seconds / 2)
        before = process.cpu_seconds()
        turns = take_turns(connection, seconds)
        time.sleep(SETTLE_SECONDS)
        return (process.cpu_seconds() - before) * 1e6 / turns


def take_turns(connection: HTTPConnection, seconds: float) -> int:
    """Conversations of a few turns, one after the other, for this long; returns the number of turns."""
    end, turns, previous = time.monotonic() + seconds, 0, None
    while time.monotonic() < end:
        follows = {"previous_response_id": previous} if turns % TURNS else {}
        reply = ask(connection, json.dumps({"model": "short-text", "input": "Go on.", **follows}), "/v1/responses")
        previous = json.loads(reply)["id"]
        turns += 1
    return turns


def write_characters(folder: Path, count: int) -> None:
    folder.mkdir()
    for number in range(count):
        (folder / f"talker_{number}.py").write_text(talker(f"talker_{number}", 1), encoding="utf-8")


def by_characters(site: Site, sizes: list[int], seconds: float) -> list[float]:
    """Turns of one of many characters."""
    costs = []
    for size in sizes:
        folder = site.folder / f"cast-{size}"
        write_characters(folder, size)
        with serving(site, 1, "--characters", folder, "--model", "short-text", seconds=SECONDS_TO_START) as (process, base):
            costs.append(cpu_us(site, process, base + CHAT, [chat("talker_0", stream=True)], seconds))
    return costs


def by_loading(site: Site, sizes: list[int], _seconds: float) -> list[float]:
    """CPU time of a program from its start until its characters are loaded, in milliseconds."""
    costs = []
    for size in sizes:
        folder = site.folder / f"loaded-{size}"
        write_characters(folder, size)
        with serving(site, 1, "--characters", folder, seconds=SECONDS_TO_START) as (process, _):
            costs.append(process.cpu_seconds() * 1e3)
    return costs


def by_idle_connections(site: Site, sizes: list[int], seconds: float) -> list[float]:
    """Requests on a few connections while others are open."""
    costs = []
    for size in sizes:
        with serving(site, size) as (process, base), open_idle(base, size):
            costs.append(cpu_us(site, process, base + CHAT, [chat("short-text", stream=True)], seconds))
    return costs


def by_busy_connections(site: Site, sizes: list[int], seconds: float) -> list[float]:
    """Requests on many connections at once."""
    costs = []
    for size in sizes:
        with serving(site, size) as (process, base):
            costs.append(cpu_us(site, process, base + CHAT, [chat("short-text", stream=True)], seconds, connections=size))
    return costs


DIMENSIONS = {
    "history": Dimension("messages", (1, 10, 100, 1000), 100, by_requests(history)),
    "same-tools": Dimension("tools, always the same", (0, 8, 32, 128), 32, by_requests(same_tools)),
    "other-tools": Dimension("tools, always others", (0, 8, 32, 128), 32, by_requests(other_tools)),
    "arguments": Dimension("bytes of arguments", (100, 1000, 10_000, 100_000), 10_000, by_requests(arguments)),
    "events": Dimension("events of a stream", (10, 100, 1000, 10_000), 1000, by_requests(events)),
    "store": Dimension("conversations stored", (10, 1000, 100_000, 1_000_000), 1000, by_stored, "CPU us/turn that is stored"),
    "characters": Dimension("characters", (1, 10, 100, 1000), 10, by_characters, "CPU us/turn of one of them"),
    "loading": Dimension("characters", (1, 10, 100, 1000), 10, by_loading, "CPU ms until all are loaded"),
    "idle-connections": Dimension("idle connections", (1, 128, 1000, 5000), 128, by_idle_connections),
    "busy-connections": Dimension("busy connections", (1, 128, 1000, 5000), 128, by_busy_connections),
}
