#!/usr/bin/env python3
"""Codex against Callboard, over HTTP and over WebSocket: it reads a file, writes another and reads it, with a model that breaks
every call.

    codex.py URL CODEX OBSERVED        OBSERVED is the folder of recordings of observer.py in front of URL
"""
import json
import sys
import tempfile
from pathlib import Path

from checks import Suite, equal
from codex_cli import Codex
from recordings import exchanges

URL, CODEX, OBSERVED = sys.argv[1:4]
SECONDS = 60
NOTES = "the callboard hangs backstage"
suite = Suite("codex")


class Task:
    """One run of codex in its own workspace."""

    def __init__(self, folder, websockets, model="codex-editor"):
        home, workspace = folder / "home", folder / "workspace"
        self.source, self.target = workspace / "notes.txt", workspace / "loud.txt"
        for path in (home, workspace):
            path.mkdir(parents=True)
        self.source.write_text(NOTES + "\n", encoding="utf-8")
        self.codex = Codex(CODEX, home, workspace)
        self.codex.use(f"{URL}/v1", model, websockets)

    def play(self):
        prompt = f"Read {self.source} and write its text in capitals to {self.target}"
        done, self.events = self.codex.ask(SECONDS, prompt)
        self.problems = done.stderr
        return self

    def items(self, kind):
        done = [event["item"] for event in self.events if event["type"] == "item.completed"]
        return [item for item in done if item["type"] == kind]


def requests_for(task):
    """The requests of codex for this task: HTTP bodies, and messages of WebSockets."""
    for exchange in exchanges(OBSERVED):
        asked = exchange.asked if isinstance(exchange.asked, list) else [exchange.asked]
        if str(task.source) in json.dumps(asked):
            yield exchange.transport, asked


def task_checks(folder, transport, websockets):
    task = Task(folder / transport, websockets)

    @suite.check(f"{transport}: finishes the task")
    def _():
        last = task.play().events[-1]
        assert last["type"] == "turn.completed", f"{task.events[-3:]} {task.problems[-500:]}"
        assert last["usage"]["input_tokens"] and last["usage"]["output_tokens"], last

    @suite.check(f"{transport}: the file is written with the content that was read")
    def _():
        equal(task.target.read_text(encoding="utf-8"), NOTES.upper() + "\n")

    @suite.check(f"{transport}: every command ran, and no call was refused")
    def _():
        equal([item["exit_code"] for item in task.items("command_execution")], [0, 0, 0, 0])
        complaints = [item["message"] for item in task.items("error") if "metadata" not in item["message"]]
        equal(complaints, [])

    @suite.check(f"{transport}: both results of parallel calls reach the model")
    def _():
        equal(task.items("agent_message")[-1]["text"], f"{NOTES.upper()} and 1 {task.target}")

    return task


with tempfile.TemporaryDirectory(prefix="callboard-codex-") as folder:
    over_http = task_checks(Path(folder), "http", False)

    @suite.check("http: each request was streamed")
    def _():
        equal({transport for transport, _ in requests_for(over_http)}, {"stream"})

    over_websocket = task_checks(Path(folder), "websocket", True)

    @suite.check("websocket: one connection, and only new items after the first request")
    def _():
        [(transport, messages)] = requests_for(over_websocket)
        equal(transport, "websocket")
        equal([message.get("generate") for message in messages], [False, None, None, None, None])
        assert all(message.get("previous_response_id") for message in messages[1:]), messages
        kinds = [[item["type"] for item in message["input"]] for message in messages[2:]]
        equal(kinds, [["function_call_output"], ["function_call_output"], ["function_call_output"] * 2])

    @suite.check("a model that codex knows by name writes the file with a custom tool")
    def _():
        task = Task(Path(folder) / "known", True, "gpt-5.5").play()
        assert task.events[-1]["type"] == "turn.completed", f"{task.events[-3:]} {task.problems[-500:]}"
        equal(task.target.read_text(encoding="utf-8"), NOTES.upper() + "\n")
        [(_, messages)] = requests_for(task)
        tools = messages[0]["tools"]
        assert "apply_patch" in [tool.get("name") for tool in tools if tool["type"] == "custom"], tools

    sys.exit(1 if suite.run() else 0)
