"""What must be true at the end, with the load stopped."""

import os
import re
from collections.abc import Iterator

from actors import Actor, BranchActor, Conversation, ConversationActor, HistoryActor, NamedActor, stored_conversation
from callboard import WORKERS, Callboard
from figures import Figures, children, figures, is_running, status, wait_until, zombies
from http_client import get, send
from plans import MARK
from stage import Stage

SPARE_KILOBYTES = 20 * 1024
SPARE_FILES = 16
FILES_PER_WORKER = 5
SETTLING = 90
OF_POSTGRES = ("postgres", "tail", "bash")  # the server, and what ends it with this process


# --- processes

def complaints_about_growth(callboard: Callboard, before: Figures) -> list[str]:
    """Waits until the figures are back; memory may have grown by half and a little more."""
    most = most_processes(callboard)

    def exceeded() -> list[str]:
        now = figures(callboard.pid)
        limits = {"kilobytes": before.kilobytes * 3 // 2 + SPARE_KILOBYTES, "threads": before.threads,
                  "files": before.files + SPARE_FILES + FILES_PER_WORKER * max(now.processes - before.processes, 0),
                  "processes": most}
        return [f"{callboard.name}: {name} {getattr(now, name)}, allowed {limit}; before: {before}; now: {now}"
                for name, limit in limits.items() if getattr(now, name) > limit]

    wait_until(lambda: not exceeded(), SETTLING)
    return exceeded()


def most_processes(callboard: Callboard) -> int:
    """One for Python itself, one for each file, and its workers."""
    loaded = callboard.metrics()["worker_characters_loaded"]
    return 1 + int(loaded) * (1 + WORKERS)


def check_growth(stage: Stage, before: list[Figures], name: str) -> None:
    complaints: list[str] = []
    for callboard, figures_before in zip(stage.callboards, before):
        complaints += complaints_about_growth(callboard, figures_before)
        print(f"         {callboard.name} before: {figures_before}; now: {figures(callboard.pid)}")
    stage.report.check(name, complaints)


def check_zombies(stage: Stage) -> None:
    def found() -> list[int]:
        return [pid for callboard in stage.callboards for pid in zombies(all_below(callboard.pid))]

    wait_until(lambda: not found(), SETTLING)
    stage.report.check("no zombie process", [f"{pid}: {status(pid)}" for pid in found()])


def all_below(pid: int) -> list[int]:
    by_parent, found = children(), [pid]
    for one in found:
        found += by_parent.get(one, [])
    return found


def orphans(stage: Stage) -> dict[int, str]:
    """Processes that lost their parent became children of this one (`adopt_orphans`). Those that have ended are reaped here."""
    own = {program.pid for program in [*stage.callboards, *stage.upstreams]}
    adopted = [pid for pid in set(children().get(os.getpid(), [])) - own if is_running(pid)]
    names = {pid: status(pid).get("Name", "") for pid in adopted}
    return {pid: name for pid, name in names.items() if name not in OF_POSTGRES}


def check_orphans(stage: Stage) -> None:
    wait_until(lambda: not orphans(stage), 30)
    stage.report.check("no orphaned process", [f"{pid} {name}" for pid, name in orphans(stage).items()])


# --- the log

def log_lines(stage: Stage) -> Iterator[str]:
    for callboard in stage.callboards:
        with callboard.log.open(encoding="utf-8", errors="replace") as lines:
            yield from lines


def check_log(stage: Stage) -> None:
    panics, content = [], []
    for line in log_lines(stage):
        if "panicked at" in line:
            panics.append(line.strip())
        if MARK in line:
            content.append(line.strip())
        if found := re.search(r" (ERROR|WARN) (\S+):", line):
            stage.report.count("log lines", " ".join(found.groups()))
    stage.report.check("no panic in the log", panics)
    stage.report.check("nothing that users said in the log", content)


# --- metrics

def complaints_about_metrics(callboard: Callboard) -> Iterator[str]:
    metrics = callboard.metrics()
    for name, value in metrics.items():
        if not value >= 0:
            yield f"{callboard.name}: {name} is {value}"
    yield from complaints_about_histograms(callboard.name, metrics)
    turns = sum(value for name, value in metrics.items() if re.match(r'callboard_turns_total\{.*outcome="complete"', name))
    if turns < callboard.completed:
        yield f"{callboard.name}: {turns} complete turns, but clients got {callboard.completed}"


def complaints_about_histograms(name: str, metrics: dict[str, float]) -> Iterator[str]:
    """Buckets do not fall, and the last one is the count."""
    last: dict[str, float] = {}
    for sample, value in metrics.items():
        if "_bucket{" in sample:
            series = re.sub(r',?le="[^"]*"', "", sample).replace("_bucket{", "_count{").replace("{}", "")
            if value < last.get(series, 0):
                yield f"{name}: {sample} is less than the bucket before it"
            last[series] = value
    for series, value in last.items():
        if metrics.get(series) != value:
            yield f"{name}: {series} is {metrics.get(series)}, its last bucket {value}"


def complaints_about_falling(callboard: Callboard, before: dict[str, float]) -> Iterator[str]:
    """Counters of one process never fall and never vanish."""
    now = callboard.metrics()
    for name, value in before.items():
        if re.match(r"\w+(_total|_count|_bucket)\b", name) and now.get(name, -1) < value:
            yield f"{callboard.name}: {name} was {value} and is {now.get(name)}"


# --- the store

def check_store(stage: Stage, actors: list[Actor]) -> None:
    conversations = [one for actor in actors if isinstance(actor, ConversationActor) for one in actor.kept]
    found: dict[str, list[str]] = {"state": [], "items": [], "journal": [], "responses": []}
    for number, conversation in enumerate(conversations):
        address = stage.callboards[number % len(stage.callboards)].address
        compare_conversation(address, conversation, found)
    turns = sum(len(one.responses) for one in conversations)
    print(f"         {len(conversations)} conversations with {turns} acknowledged responses are compared with the store")
    for part, complaints in found.items():
        stage.report.check(f"acknowledged turns are in the store: {part}", complaints)


def compare_conversation(address: str, conversation: Conversation, found: dict[str, list[str]]) -> None:
    name, ledger = conversation.name, conversation.ledger
    tokens, items, journal = stored_conversation(address, name)
    in_order = "shared" not in (ledger.confirmed or ["shared"])[0]
    found["state"] += [f"{name}: {complaint}" for complaint in ledger.complaints(tokens, ledger.certain(), in_order)]
    ids = [item["id"] for item in items]
    if len(set(ids)) != len(ids):
        found["items"].append(f"{name}: an id is there twice: {ids}")
    for response in conversation.responses:
        missing = [item["id"] for item in response["output"] if item["id"] not in ids]
        found["items"] += [f"{name}: {item} of {response['id']} is missing" for item in missing]
        found["responses"] += complaints_about_response(address, response)
    found["journal"] += [f"{name}: {complaint}" for complaint in complaints_about_journal(tokens, journal)]


def complaints_about_response(address: str, response: dict) -> list[str]:
    reply = send(address, "GET", f"/v1/responses/{response['id']}")
    if reply.status != 200:
        return [f"{response['id']} was acknowledged: {reply.error_code()}"]
    same = reply.json()["output"] == response["output"] and reply.json()["status"] == response["status"]
    return [] if same else [f"{response['id']} differs from what was sent: {reply.body.decode()} instead of {response}"]


def complaints_about_journal(tokens: list[str], journal: list[dict]) -> Iterator[str]:
    """Its numbers have no gap, and the calls that are in effect are those that made the state."""
    sequences = [entry["sequence"] for entry in journal]
    if sequences != list(range(1, len(sequences) + 1)):
        yield f"the sequence has a gap: {sequences}"
    added = [entry["arguments"] for entry in journal if entry["tool"] == "add"]
    for token in tokens:
        times = sum(f'"{token}"' in arguments for arguments in added)
        if times != 1:
            yield f"{token} is in the state, and {times} times in the journal"


def check_histories(actors: list[Actor]) -> None:
    """Continues every history, which compares the state; the result is in the report."""
    for actor in actors:
        if isinstance(actor, (BranchActor, HistoryActor, NamedActor)):
            actor.verify()


def check_traces(stage: Stage) -> None:
    """Pages through the newest traces."""
    complaints, ids, path = [], [], "/v1/traces?limit=100"
    for _ in range(5):
        page = get(stage.callboards[0].address, path)
        ids += [trace["id"] for trace in page["data"]]
        complaints += [f"{trace}" for trace in page["data"] if trace["outcome"] not in ("complete", "failed", "interrupted")]
        path = f"/v1/traces?limit=100&after={page['last_id']}"
        if not page["has_more"]:
            break
    if len(set(ids)) != len(ids) or not ids:
        complaints.append(f"{len(ids)} traces with {len(set(ids))} ids")
    stage.report.check("traces are listed once each", complaints)
