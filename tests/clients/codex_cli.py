"""Codex as an isolated process, for the suites that use it."""
import json
import os
from pathlib import Path

import client_process

CONFIG = """
model = "{model}"
model_provider = "callboard"
[analytics]
enabled = false
[model_providers.callboard]
name = "Callboard"
base_url = "{url}"
env_key = "CALLBOARD_KEY"
wire_api = "responses"
supports_websockets = {websockets}
"""


class Codex:
    """Codex with a home folder of its own, without its sandbox, which may not work inside another one."""

    def __init__(self, program: str, home: Path, workspace: Path):
        self.program, self.home, self.workspace = program, home, workspace

    def use(self, base_url, model, websockets=False):
        """Configures the model server."""
        config = CONFIG.format(url=base_url, websockets=str(websockets).lower(), model=model)
        (self.home / "config.toml").write_text(config, encoding="utf-8")

    def ask(self, seconds, prompt):
        """Lets codex work without questions; its events are what it printed."""
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.home), "CODEX_HOME": str(self.home),
                       "CALLBOARD_KEY": "sk-test", **client_process.NO_OTHER_HOSTS}
        command = [self.program, "exec", "--skip-git-repo-check", "--json", "--ephemeral", "-s", "danger-full-access", "-C",
                   str(self.workspace), prompt]
        done = client_process.run(command, seconds, env=environment)
        return done, [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
