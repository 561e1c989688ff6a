"""Processes that the suite starts: they print where they listen, and can be killed, suspended and started again."""

import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Optional

LISTENING = r"listening on http://([0-9.]+:\d+)"
PATIENCE = 60


class Program:
    """Started by `start`, which may be called again after `kill` or `stop`."""

    def __init__(self, name: str, command: list[str], log: Path, environment: dict[str, str], folder: Path):
        self.name, self.command, self.log, self.environment, self.folder = name, command, log, environment, folder
        self.process: Optional[subprocess.Popen] = None
        self.address, self.is_listening = "", False

    def start(self) -> None:
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                        errors="replace", env=self.environment, cwd=self.folder)
        listening, self.is_listening = threading.Event(), False
        threading.Thread(target=self._read, args=(self.process, listening), daemon=True).start()
        if not listening.wait(PATIENCE) or not self.is_listening:
            raise RuntimeError(f"{self.name} does not start: {self.log.read_text(errors='replace')[-2000:]}")

    def _read(self, process, listening) -> None:
        with self.log.open("a", encoding="utf-8") as log:
            for line in process.stdout:
                log.write(line)
                log.flush()
                if found := re.search(LISTENING, line):
                    self.listens(found.group(1))
                    listening.set()
        listening.set()

    def listens(self, address: str) -> None:
        self.address, self.is_listening = address, True

    @property
    def pid(self) -> int:
        assert self.process, f"{self.name} was never started"
        return self.process.pid

    def signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def wait(self, seconds: float = PATIENCE) -> int:
        """The exit code; a process that does not end in time is killed."""
        assert self.process
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()

    def kill(self) -> None:
        self.signal(signal.SIGKILL)
        self.wait()

    def is_running(self) -> bool:
        return self.process is not None and self.process.poll() is None


class ModelServer(Program):
    """Keeps its port when it is started again, so that Callboard finds it."""

    def __init__(self, name: str, models: list[str], scratch: Path, seed: Optional[str] = None):
        self.models, self.seed = models, [seed] if seed else []
        super().__init__(name, [], scratch / f"{name}.log", dict(os.environ), scratch)

    def start(self) -> None:
        port = self.address.rpartition(":")[2] or "0"
        script = Path(__file__).with_name("model_server.py")
        self.command = [sys.executable, "-u", str(script), port, ",".join(self.models), *self.seed]
        super().start()
