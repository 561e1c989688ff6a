"""The Cline CLI as an isolated process, for the suites that use it."""
import json
import os
from pathlib import Path

import client_process

PROVIDER = "openai-compatible"


class Cline:
    """Cline with a home folder of its own."""

    def __init__(self, program: str, home: Path, workspace: Path):
        self.program, self.home, self.workspace = program, home, workspace
        self.settings = home / "settings.json"
        self.settings.write_text('{"telemetryOptOut": true, "autoUpdateEnabled": false}', encoding="utf-8")

    def environment(self):
        """Isolates Cline from the user's settings, its updates and all other hosts.

        It requests feature flags even when telemetry is off; the proxy address refuses that.
        """
        return {**os.environ, **client_process.NO_OTHER_HOSTS, "HOME": str(self.home), "CLINE_NO_AUTO_UPDATE": "1",
                "CLINE_GLOBAL_SETTINGS_PATH": str(self.settings)}

    def run(self, seconds, *arguments):
        command = [self.program, *arguments, "--data-dir", str(self.home / "data")]
        return client_process.run(command, seconds, env=self.environment(), cwd=self.workspace)

    def use(self, seconds, base_url, model):
        """Configures the model server."""
        return self.run(seconds, "auth", "-p", PROVIDER, "-k", "sk-test", "-m", model, "-b", base_url)

    def ask(self, seconds, model, prompt, *options):
        """Lets Cline work without questions; its events are what it printed."""
        done = self.run(seconds, "-P", PROVIDER, "-m", model, "--json", "--auto-approve", "true", *options, "-c",
                        str(self.workspace), prompt)
        return done, [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
