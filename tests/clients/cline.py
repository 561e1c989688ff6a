#!/usr/bin/env python3
"""The Cline CLI against Callboard: it reads a file, writes another and reads it, with a model that breaks every call.

    cline.py GATEWAY_URL MODEL_URL CLINE

Without the gateway, Cline must fail to write the file.
"""
import sys
import tempfile
from pathlib import Path
from typing import Any

from checks import Suite, equal
from cline_cli import Cline

GATEWAY, MODEL, CLINE = sys.argv[1:4]
SECONDS = 60
NOTES = "the callboard hangs backstage"
suite = Suite("cline")


class Task:
    """One run of Cline in its own workspace."""

    def __init__(self, folder, url):
        home, workspace = folder / "home", folder / "workspace"
        self.source, self.target = workspace / "notes.txt", workspace / "loud.txt"
        for path in (home, workspace):
            path.mkdir(parents=True)
        self.source.write_text(NOTES + "\n", encoding="utf-8")
        self.cline = Cline(CLINE, home, workspace)
        self.cline.use(SECONDS, f"{url}/v1", "cline-editor")

    def play(self):
        prompt = f"Read {self.source} and write its text in capitals to {self.target}"
        _, self.events = self.cline.ask(SECONDS, "cline-editor", prompt, "--retries", "1")
        return self

    def written(self):
        return self.target.read_text(encoding="utf-8") if self.target.exists() else None

    def tools(self):
        """The tools that ran, in order, with their input as parsed by Cline."""
        starts = [event["event"] for event in self.events if event.get("type") == "agent_event"]
        return [(start["toolName"], start["input"]) for start in starts
                if start["type"] == "content_start" and start["contentType"] == "tool"]

    def result(self):
        [result] = [event for event in self.events if event["type"] == "run_result"]
        return result


with tempfile.TemporaryDirectory(prefix="callboard-cline-") as folder:
    through_gateway: Any = None

    @suite.check("finishes the task through the gateway")
    def _():
        global through_gateway
        through_gateway = Task(Path(folder) / "gateway", GATEWAY).play()
        equal(through_gateway.result()["finishReason"], "completed")

    @suite.check("the file is written with the content that was read")
    def _():
        equal(through_gateway.written(), NOTES.upper() + "\n")

    @suite.check("every tool got input that matches its schema")
    def _():
        source, target = str(through_gateway.source), str(through_gateway.target)
        equal(through_gateway.tools(), [
            ("read_files", {"files": [{"path": source, "start_line": 1}]}),
            ("editor", {"path": target, "old_text": None, "new_text": NOTES.upper() + "\n"}),
            ("read_files", {"files": [{"path": target}]}),
            ("run_commands", {"commands": [f"wc -l {target}"]}),
        ])

    @suite.check("both results of parallel calls reach the model")
    def _():
        text = through_gateway.result()["text"]
        assert NOTES.upper() in text and f"1 {through_gateway.target}" in text, text

    @suite.check("the task fails without the gateway")
    def _():
        alone = Task(Path(folder) / "alone", MODEL).play()
        assert "read_files" in [name for name, _ in alone.tools()], "Cline did not even talk to the model"
        equal(alone.written(), None)
        return f"{alone.result()['finishReason']}: {alone.result()['text'][:90]}"

    sys.exit(1 if suite.run() else 0)
