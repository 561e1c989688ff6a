"""The two servers: llama-cpp-python's with the tiny models, and Callboard in front of it. Both take a free port."""

import json
import os
import queue
import re
import subprocess
import sys
import threading
from pathlib import Path

PATIENCE = 60


class Server:
    """A process that says where it listens. What it prints is kept, and can be waited for."""

    def __init__(self, name, command, announcement, environment=None, folder=None):
        self.name, self.printed, self.lines = name, [], queue.Queue()
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", env=environment, cwd=folder
        )
        threading.Thread(target=self._read, daemon=True).start()
        self.announcement, self.url = announcement, None

    def __enter__(self):
        self.url = self.wait_for(self.announcement)
        return self

    def __exit__(self, *_):
        self.stop()

    def _read(self):
        for line in self.process.stdout or ():
            self.lines.put(line)
        self.lines.put(None)

    def wait_for(self, pattern: str) -> str:
        """The first group of a line that has not been looked at yet."""
        while True:
            line = self.lines.get(timeout=PATIENCE)
            if line is None:
                raise RuntimeError(f"{self.name} ended:\n{''.join(self.printed)}")
            self.printed.append(line)
            if found := re.search(pattern, line):
                return found.group(1)

    def stop(self) -> int:
        """Ends it and returns its exit code."""
        self.process.terminate()
        try:
            return self.process.wait(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()


def start_model_server(scratch: str) -> Server:
    """Makes the models and serves them: `tiny` has tools in its chat template, `plain` has none."""
    maker = Path(__file__).with_name("make_model.py")
    models = []
    for alias, flags in [("tiny", []), ("plain", ["--without-tools"])]:
        path = f"{scratch}/{alias}.gguf"
        subprocess.run([sys.executable, maker, path, *flags], check=True)
        models.append({"model": path, "model_alias": alias, "n_ctx": 8192, "n_threads": 1, "verbose": False})
    config = Path(scratch, "config.json")
    config.write_text(json.dumps({"host": "127.0.0.1", "port": 0, "models": models}))
    command = [sys.executable, "-u", "-m", "llama_cpp.server", "--config_file", str(config)]
    return Server("the model server", command, r"Uvicorn running on (http://[0-9.]+:\d+)")


def start_callboard(program: str, upstream: str, scratch: str, probe: str) -> Server:
    """In a folder of its own, so that no settings but these hold; with or without probes."""
    folder = Path(scratch, f"probe-{probe}")
    folder.mkdir()
    Path(folder, "callboard.toml").write_text(f'[[upstream]]\nurl = "{upstream}/v1"\nprobe = "{probe}"\n')
    return _start_callboard([program, "serve"], folder)


def start_callboard_with_model_server(program: str, scratch: str) -> Server:
    """Callboard starts the model server itself, with the model `tiny`."""
    folder = Path(scratch, "starts")
    folder.mkdir()
    served = ["--model", f"{scratch}/tiny.gguf", "--model_alias", "tiny", "--n_ctx", "8192", "--n_threads", "1"]
    command = [sys.executable, "-m", "llama_cpp.server", *served, "--port", "{port}"]
    Path(folder, "callboard.toml").write_text(f"[[upstream]]\ncommand = {json.dumps(command)}\n")
    return _start_callboard([program, "serve"], folder)


def _start_callboard(command: list[str], folder: Path) -> Server:
    """Without the caller's environment."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder)}
    flags = ["--listen", "127.0.0.1:0", "--store", "sqlite::memory:", "--characters", "."]
    return Server("callboard", [*command, *flags], r"listening on (http://[0-9.]+:\d+)", environment, folder)
