"""opencode as an isolated server, for the suites that use it: one process, any number of sessions at once."""
import json
import os
import urllib.request
from pathlib import Path

import client_process

# Models, plugins and language servers would come from other hosts.
OFFLINE = {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
           "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1"}


class OpenCode(client_process.Server):
    """`models` maps the name of each model to the base URL of its server."""

    def __init__(self, program: str, home: Path, workspace: Path, models: dict[str, str]):
        self.workspace = workspace
        config = home / "opencode.json"
        config.write_text(json.dumps(settings(models)), encoding="utf-8")
        environment = {"PATH": os.environ["PATH"], "HOME": str(home), "OPENCODE_CONFIG": str(config), **OFFLINE,
                       **client_process.NO_OTHER_HOSTS}
        super().__init__([program, "serve", "--port", "0"], env=environment, cwd=workspace)

    def post(self, path, body, seconds):
        request = urllib.request.Request(f"{self.url}{path}", json.dumps(body).encode(), {"content-type": "application/json"})
        with urllib.request.urlopen(request, timeout=seconds) as reply:
            return json.load(reply)

    def ask(self, seconds, model, prompt):
        """The last message of a new session with this prompt. TimeoutError if it does not come in time."""
        session = self.post("/session", {"title": model}, seconds)["id"]
        body = {"model": {"providerID": model, "modelID": model}, "parts": [{"type": "text", "text": prompt}]}
        try:
            return self.post(f"/session/{session}/message", body, seconds)
        except TimeoutError:
            self.post(f"/session/{session}/abort", {}, seconds)
            raise


def settings(models):
    """A provider for each model, because a provider has one base URL."""
    providers = {model: {"npm": "@ai-sdk/openai-compatible", "name": model, "models": {model: {"name": model}},
                         "options": {"baseURL": url, "apiKey": "sk-test"}} for model, url in models.items()}
    return {"autoupdate": False, "share": "disabled", "permission": {"*": "allow"}, "provider": providers}
