"""The measures of `bench/stage`: the cost of characters, and tools that overrun.

Each measure returns its figures and the rows that judge them. All started processes are stopped and waited for, including
orphans: so CPU time is complete, and a leaked process is an error.
"""

import contextlib
import ctypes
import itertools
import json
import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from processes import Process, all_stats, proportional_bytes

HERE = Path(__file__).resolve().parent
SHIPPED = HERE.parent / "characters"
IN_PROCESS = HERE / "in_process.py"
EVENT = json.dumps({"event": "The red door was opened", "importance": "high"})
LOADED_CHARACTERS = 100
# Conversations at once, and how many times the calls per second of the usual way they are to have.
LANES = {32: 5, 8: 3, 1: None}
SECONDS = 180
ORPHAN_SECONDS = 10
REST_SECONDS = 3
# Smaller differences between two medians are noise.
UNMEASURABLE_MS = 0.05
TOLERATED_GROWTH_KB = 2048
PR_SET_CHILD_SUBREAPER = 36


@dataclass
class Stage:
    """The environment of the measures."""

    folder: Path
    callboard: Path
    driver: Path  # the example stage_bench
    python: Path  # with pydantic
    load: Path
    rounds: int
    share: float  # of the full number of calls

    def count(self, full):
        return max(int(full * self.share), 10)


def row(what, value, unit, relation, limit):
    """One judged figure. `relation` is the side of the limit on which it has to be."""
    met = value >= limit if relation == ">=" else value <= limit
    return {"what": what, "value": value, "unit": unit, "relation": relation, "limit": limit, "met": met}


# ---------------------------------------------------------------------------------------------------------------------
# Processes

def adopt_orphans():
    """Makes this process the reaper of its orphaned descendants."""
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "orphans cannot be adopted")


def wait_for_orphans():
    """Waits for all descendants of this process. One that does not end is an error."""
    deadline = time.monotonic() + ORPHAN_SECONDS
    with contextlib.suppress(ChildProcessError):
        while time.monotonic() < deadline:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                time.sleep(0.002)
        left = [pid for pid, fields in all_stats() if int(fields[1]) == os.getpid()]
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        raise SystemExit(f"{len(left)} processes were left running")


def children_cpu_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def drive(*command):
    """Runs a program that prints one JSON object; the CPU time of all its processes is added to it."""
    before = children_cpu_seconds()
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, check=True, timeout=SECONDS)
    wait_for_orphans()
    return {**json.loads(done.stdout), "cpu_seconds": children_cpu_seconds() - before}


# ---------------------------------------------------------------------------------------------------------------------
# Calls

def measure_calls(stage):
    """Validated calls through workers, alternating with calls in the server's own process with pydantic and threads."""
    figures, rows = {}, []
    for name, file, tool in (("plain", HERE / "characters/plain.py", "note_event"),
                             ("narrator", SHIPPED / "narrator.py", "log_story_event")):
        for lanes, times in LANES.items():
            case = f"{name}, {lanes} at once"
            figures[case] = compare_ways(stage, [file, tool, EVENT], lanes)
            if times:
                rows += calls_rows(case, figures[case], times)
    return figures, rows


def compare_ways(stage, order, lanes):
    ways = {"workers": [stage.driver, "calls"], "in process": [stage.python, "-B", IN_PROCESS]}
    idle = {way: drive(*command, *order, lanes, lanes) for way, command in ways.items()}
    samples = {way: [] for way in ways}
    for _ in range(stage.rounds):
        for way, command in ways.items():
            samples[way].append(drive(*command, *order, stage.count(10000), lanes))
    return {way: calls_summary(own, idle[way]) for way, own in samples.items()}


def calls_summary(samples, idle):
    """Medians over the rounds. A run with almost no calls measures the CPU time that is not spent on calls."""
    for sample in samples:
        sample["cpu_us"] = (sample["cpu_seconds"] - idle["cpu_seconds"]) * 1e6 / (sample["calls"] - idle["calls"])
    errors = [sample["first_error"] for sample in samples if sample.get("errors")]
    keys = ("calls_per_second", "p50_ms", "p99_ms", "cpu_us")
    return {**{key: median(sample[key] for sample in samples) for key in keys}, "errors": errors, "rounds": samples}


def calls_rows(case, ways, times):
    ours, theirs = ways["workers"], ways["in process"]
    ratio = ours["calls_per_second"] / theirs["calls_per_second"]
    return [row(f"calls/s, {case}: workers to in process", ratio, "x", ">=", times),
            row(f"p99, {case}: workers to in process", ours["p99_ms"] / theirs["p99_ms"], "x", "<=", 1)]


# ---------------------------------------------------------------------------------------------------------------------
# Overruns

def measure_overruns(stage):
    """A tool that overruns: the time until it is dead, and until its successor has answered."""
    figures = drive(stage.driver, "overruns", HERE / "characters/late.py", stage.count(100))
    rows = []
    for tool in ("spin", "sleep"):
        times = figures[tool]
        rows += [row(f"{tool}: dead after its deadline, {name}", times["answered"][key], "ms", "<=", 20)
                 for name, key in (("p50", "p50_ms"), ("max", "max_ms"))]
        rows += [row(f"{tool}: its successor has answered after that, {name}", times["successor"][key], "ms", "<=", 20)
                 for name, key in (("p50", "p50_ms"), ("max", "max_ms"))]
    return figures, rows


# ---------------------------------------------------------------------------------------------------------------------
# Loading

def measure_loading(stage):
    """CPU time of all processes of a Callboard with a hundred characters at startup, and of one with none."""
    crowd, empty = stage.folder / "crowd", stage.folder / "empty"
    make_crowd(crowd)
    empty.mkdir()
    samples = {"hundred": [], "none": []}
    for _ in range(stage.rounds):
        samples["hundred"].append(start_and_stop(stage, crowd, LOADED_CHARACTERS))
        samples["none"].append(start_and_stop(stage, empty, 0))
    figures = {name: {key: median(sample[key] for sample in own) for key in own[0]} for name, own in samples.items()}
    title = f"{LOADED_CHARACTERS} characters: CPU from start to end"
    return figures, [row(title, figures["hundred"]["cpu_seconds"], "s", "<=", 1)]


def make_crowd(folder):
    """Copies of the shipped characters under new names, with the helpers that they import."""
    shutil.copytree(SHIPPED, folder, ignore=shutil.ignore_patterns("__pycache__", "*.toml"))
    cast = sorted(path for path in folder.glob("*.py") if not path.name.startswith("_"))
    texts = [(path.stem, path.read_text(encoding="utf-8")) for path in cast]
    for path in cast:
        path.unlink()
    for number, (name, text) in enumerate(itertools.islice(itertools.cycle(texts), LOADED_CHARACTERS)):
        text, changed = re.subn(r'^CHARACTER_NAME = .*$', f'CHARACTER_NAME = "Member {number}"', text, flags=re.MULTILINE)
        assert changed == 1, f"{name} has no CHARACTER_NAME"
        (folder / f"{name}_{number}.py").write_text(text, encoding="utf-8")


def start_and_stop(stage, characters, expected):
    before, began = children_cpu_seconds(), time.monotonic()
    with Process("callboard", serve_command(stage, characters, "http://127.0.0.1:9"), stage.folder) as process:
        address = process.announced_address(60)
        seconds = time.monotonic() - began
        with opener().open(f"{address}/v1/characters", timeout=20) as reply:
            cast = json.load(reply)
        process.child.send_signal(signal.SIGTERM)
        process.child.wait(timeout=30)
    wait_for_orphans()
    if len(cast["data"]) != expected:
        raise SystemExit(f"{len(cast['data'])} of {expected} characters were loaded: {json.dumps(cast['problems'])[:2000]}")
    return {"cpu_seconds": children_cpu_seconds() - before, "seconds": seconds}


def serve_command(stage, characters, upstream):
    return [stage.callboard, "serve", "--listen", "127.0.0.1:0", "--upstream", f"{upstream}/v1", "--store",
            "sqlite::memory:", "--characters", characters, "--model", "short-text"]


def opener():
    return urllib.request.build_opener(urllib.request.ProxyHandler({}))


# ---------------------------------------------------------------------------------------------------------------------
# Memory at rest

def measure_rest(stage):
    """Proportional memory of all processes of a Callboard whose characters are at rest, and while they are not yet."""
    crowd, empty = stage.folder / "crowd_at_rest", stage.folder / "nobody"
    make_crowd(crowd)
    empty.mkdir()
    cast = sum(not path.name.startswith("_") for path in SHIPPED.glob("*.py"))
    casts = {"none": (empty, 0), "shipped": (SHIPPED, cast), "hundred": (crowd, LOADED_CHARACTERS)}
    figures = {name: memory_at_rest(stage, folder, count) for name, (folder, count) in casts.items()}
    megabytes = {name: own["at_rest"]["bytes"] / 2**20 for name, own in figures.items()}
    title = f"{LOADED_CHARACTERS} characters at rest: memory beyond that without characters"
    return figures, [row(title, megabytes["hundred"] - megabytes["none"], "MB", "<=", 20),
                     row(f"all processes at rest with the {cast} shipped characters", megabytes["shipped"], "MB", "<=", 60)]


def memory_at_rest(stage, characters, expected):
    environment = {"CALLBOARD_PYTHON_REST_SECONDS": str(REST_SECONDS)}
    command = serve_command(stage, characters, "http://127.0.0.1:9")
    with Process("callboard", command, stage.folder, environment) as process:
        address = process.announced_address(60)
        awake = proportional_memory(process)
        process.wait_until(lambda: characters_at_rest(address) == expected and len(process.pids()) == 1, 60)
        at_rest = proportional_memory(process)
        process.child.send_signal(signal.SIGTERM)
        process.child.wait(timeout=30)
    wait_for_orphans()
    return {"awake": awake, "at_rest": at_rest}


def proportional_memory(process):
    pids = process.pids()
    return {"processes": len(pids), "bytes": sum(map(proportional_bytes, pids))}


def characters_at_rest(address):
    with opener().open(f"{address}/v1/characters", timeout=20) as reply:
        return sum(character["at_rest"] for character in json.load(reply)["data"])


# ---------------------------------------------------------------------------------------------------------------------
# The first text

def measure_first_word(stage):
    """Time to the first text of characters that differ only in their tools, alternating, through the program."""
    characters = stage.folder / "talkers"
    characters.mkdir()
    for name, tools in (("silent", 0), ("silent_too", 0), ("equipped", 10)):
        (characters / f"{name}.py").write_text(talker(name, tools), encoding="utf-8")
    with contextlib.ExitStack() as running:
        upstream = running.enter_context(Process("upstream", [stage.load, "upstream", "--port", 0], stage.folder))
        command = serve_command(stage, characters, upstream.announced_address())
        callboard = running.enter_context(Process("callboard", command, stage.folder))
        address = callboard.announced_address().removeprefix("http://")
        times = first_words(address, ["silent", "equipped", "silent_too"], stage.count(2000))
    wait_for_orphans()
    return first_word_figures(times)


def talker(name, tools):
    """A character whose tools are never called."""
    lines = [f'CHARACTER_NAME = "{name}"', 'INSTRUCTIONS = {"instruction_prompt": "You talk."}', "TOOLS = []"]
    for number in range(tools):
        lines += [f"def tool_{number}(place: str, days: int = 1, loud: bool = False) -> str:",
                  f'    """Look up the weather of kind {number} for some days."""', '    return "sunny"',
                  f"TOOLS.append(tool_{number})"]
    lines += ["class PromptGenerator:", "    def __init__(self, instructions):", "        pass",
              "    def make_system_prompt(self):", '        return "You talk."']
    return "\n".join(lines) + "\n"


def first_words(address, models, count):
    """Milliseconds to the first text of each model, over one connection, in varying order."""
    host, port = address.split(":")
    times = {model: [] for model in models}
    with socket.create_connection((host, int(port)), timeout=20) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for model in models * 50:
            first_word(connection, address, model)
        for turn in range(count):
            shift = turn % len(models)
            for model in models[shift:] + models[:shift]:
                times[model].append(first_word(connection, address, model))
    return times


def first_word(connection, address, model):
    body = json.dumps({"model": model, "stream": True, "messages": [{"role": "user", "content": "Hello."}]})
    head = (f"POST /v1/chat/completions HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer bench\r\n"
            f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n")
    began, reply, word = time.perf_counter(), b"", None
    connection.sendall((head + body).encode())
    while not reply.endswith(b"0\r\n\r\n"):
        piece = connection.recv(65536)
        if not piece:
            raise SystemExit(f"the stream of {model} broke off: {reply[:500]!r}")
        reply += piece
        if word is None and b'"content":"The' in reply:
            word = (time.perf_counter() - began) * 1e3
    if word is None or b"data: [DONE]" not in reply:
        raise SystemExit(f"{model} gave no whole answer: {reply[:500]!r}")
    return word


def first_word_figures(times):
    middle = {model: median(own) for model, own in times.items()}
    difference = median(with_tools - without for with_tools, without in zip(times["equipped"], times["silent"]))
    noise = abs(median(one - other for one, other in zip(times["silent"], times["silent_too"])))
    figures = {"median_ms": middle, "difference_ms": difference, "noise_ms": noise, "samples": len(times["silent"])}
    return figures, [row("first word: tools on offer minus none, median", difference, "ms", "<=", max(noise, UNMEASURABLE_MS))]


# ---------------------------------------------------------------------------------------------------------------------
# Soak

def measure_soak(stage):
    """Many calls of which every tenth is killed; each must be answered, and nothing may leak."""
    figures = drive(stage.driver, "soak", HERE / "characters/late.py", stage.count(10000))
    before, after = figures["before"], figures["after"]
    grown = {key: after[key] - before[key] for key in before}
    names = {"processes": "processes below", "open_files": "open files", "open_files_below": "open files of processes below"}
    rows = [row(f"soak: more {name} than before", grown[key], "", "<=", 0) for key, name in names.items()]
    memory = {"kilobytes": "the server", "kilobytes_below": "what forks its workers"}
    rows += [row(f"soak: memory of {name}, growth", grown[key], "KB", "<=", TOLERATED_GROWTH_KB) for key, name in memory.items()]
    return figures, rows


MEASURES = {"calls": measure_calls, "overruns": measure_overruns, "loading": measure_loading, "rest": measure_rest,
            "first-word": measure_first_word, "soak": measure_soak}
