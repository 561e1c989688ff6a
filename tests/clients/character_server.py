"""A Callboard that serves the shipped characters and the stagehand from its own folder, for the suites about characters.

Its output is recorded line by line, so that a check can wait for the lines of its own turn.
"""
import os
import queue
import re
import select
import shutil
import signal
import subprocess
import threading
from pathlib import Path

SECONDS = 20
HERE = Path(__file__).resolve().parent
SHIPPED = HERE.parent.parent / "characters"


class CharacterServer:
    """A running Callboard that works in `folder`, in front of a model server."""

    def __init__(self, folder, callboard: str, model_url: str, store="sqlite::memory:"):
        self.folder = Path(folder)
        self.folder.mkdir(exist_ok=True)
        self.pipes = 0
        self.lines = queue.Queue()
        self.log = self.folder / "callboard.log"
        characters = self.folder / "characters"
        shutil.copytree(SHIPPED, characters, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(HERE / "characters" / "stagehand.py", characters)
        command = [callboard, "serve", "--listen", "127.0.0.1:0", "--upstream", f"{model_url}/v1", "--store", store,
                   "--characters", str(characters), "--model", "character-script"]
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.folder)}
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(command, cwd=self.folder, env=environment, stdin=subprocess.DEVNULL,
                                            stdout=subprocess.PIPE, stderr=log, text=True)
        threading.Thread(target=self._read, daemon=True).start()
        self.url = self._announced()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def _read(self):
        for line in self.process.stdout or ():
            self.lines.put(line.rstrip("\n"))

    def _announced(self):
        while True:
            try:
                found = re.search(r"listening on (http://\S+:\d+)", self.lines.get(timeout=SECONDS))
            except queue.Empty:
                self.process.kill()
                raise SystemExit(f"Callboard did not start:\n{self.log.read_text()}") from None
            if found:
                return found[1]

    def waiting_lines(self) -> list[str]:
        """The unread lines that characters printed."""
        lines = []
        while not self.lines.empty():
            lines.append(self.lines.get())
        return [line for line in lines if line.startswith("[")]

    def next_lines(self, count: int) -> list[str]:
        """Waits for the next lines that characters print."""
        lines = []
        while len(lines) < count:
            try:
                line = self.lines.get(timeout=SECONDS)
            except queue.Empty:
                raise AssertionError(f"no more lines after {lines}") from None
            lines += [line] if line.startswith("[") else []
        return lines

    def pipe(self) -> str:
        """The path of a new pipe: opening it for reading waits for a writer, and vice versa."""
        self.pipes += 1
        path = self.folder / f"pipe-{self.pipes}"
        os.mkfifo(path)
        return str(path)

    def stop(self) -> tuple[int, int, int]:
        """Stops the program. Returns its exit status, and how many of its processes are still alive."""
        family = [os.pidfd_open(pid) for pid in descendants(self.process.pid)]
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(timeout=SECONDS)
        alive = sum(not select.select([member], [], [], SECONDS)[0] for member in family)
        for member in family:
            os.close(member)
        return status, len(family), alive


def descendants(pid: int) -> list[int]:
    parents = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents.setdefault(int(fields[1]), []).append(int(entry.parent.name))
    found, left = [], [pid]
    while left:
        children = parents.get(left.pop(), [])
        found += children
        left += children
    return found
