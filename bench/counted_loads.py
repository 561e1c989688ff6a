"""The loads of `bench/count` on the whole program: one client that sends one request after the other, on loopback.

Callboard has one thread and otherwise its defaults: a store in a file, and traces. The upstream follows its pace, so that it
reads the same pieces however slow it is: the events of streamed-text each by itself, all others in one write. What the serving
thread does is counted per request. What other threads do afterwards, for the store, depends on how many turns there are at a
time, so it is counted with one turn at a time.
"""

import contextlib
import json
import sqlite3
import subprocess
import time
import urllib.request
from pathlib import Path
from statistics import median

from callgrind import CountedProgram
from gateways import Site, start_upstream

# A thousand in all.
LOADS = {
    "whole-call": ("whole-tool-call", 400),
    "streamed-call": ("streamed-tool-call", 400),
    "streamed-text": ("streamed-text", 100),
    "streamed-text-unpaced": ("streamed-text-unpaced", 100),
}
WARM_UP = 20
STORED = "whole-tool-call"
# Turns at a time, and how often.
STORED_TURNS, STORED_TIMES = 4, 6
SECONDS = 300


def count(site: Site) -> dict[str, int]:
    """Instructions per request."""
    start_upstream(site)
    store = site.folder / "store.db"
    command = [site.callboard, "serve", "--listen", "127.0.0.1:0", "--upstream", f"{site.upstream}/v1",
               "--store", f"sqlite:{store}"]
    program = CountedProgram(site, "callboard", command, {"CALLBOARD_THREADS": "1"})
    url = f"{program.process.announced_address(120)}/v1/chat/completions"
    follow(site.upstream, program.process.child.pid)
    counts = {name: count_load(site, program, url, *load) for name, load in LOADS.items()}
    counts["store-one-turn"] = count_storing(site, program, url, store)
    return counts


def follow(upstream: str, pid: int) -> None:
    """Lets the upstream follow the pace of this process."""
    request = urllib.request.Request(f"{upstream}/follow/{pid}", method="PUT")
    urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=20).close()


def count_load(site: Site, program: CountedProgram, url: str, scenario: str, requests: int) -> int:
    """Of the serving thread, which is the one with the most."""
    drive(site, url, scenario, WARM_UP)
    program.count()
    drive(site, url, scenario, requests)
    return round(max(program.count().values()) / requests)


def count_storing(site: Site, program: CountedProgram, url: str, store: Path) -> int:
    """Of all threads but the serving one, when each turn is stored before the next; the median of some."""
    with contextlib.closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as reader:
        store_turns(site, url, reader, WARM_UP)
        program.count()
        return round(median(count_turns(site, program, url, reader) for _ in range(STORED_TIMES)))


def count_turns(site: Site, program: CountedProgram, url: str, reader: sqlite3.Connection) -> float:
    """Without what timers do meanwhile, which is what they do in the same time without turns."""
    began = time.monotonic()
    store_turns(site, url, reader, STORED_TURNS)
    counted, seconds = program.count().values(), time.monotonic() - began
    time.sleep(seconds)
    idle = sum(program.count().values())
    return (sum(counted) - max(counted) - idle) / STORED_TURNS


def store_turns(site: Site, url: str, reader: sqlite3.Connection, turns: int) -> None:
    for _ in range(turns):
        before = traces(reader)
        drive(site, url, STORED, 1)
        while traces(reader) == before:
            time.sleep(0.01)


def traces(reader: sqlite3.Connection) -> int:
    return reader.execute("SELECT count(*) FROM traces").fetchone()[0]


def drive(site: Site, url: str, scenario: str, requests: int) -> None:
    command = [site.load, "load", "--url", url, "--key", site.key, "--scenario", scenario, "--connections", 1,
               "--requests", requests, "--seconds", SECONDS]
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, check=True)
    seen = json.loads(done.stdout)
    if seen["errors"] or seen["requests"] != requests:
        raise SystemExit(f"{scenario}: {seen['requests']} of {requests} requests were answered; {seen['first_error']}")
