"""Processes of clients: isolated from the user's settings and all other hosts, and ended with all they started."""
import contextlib
import os
import re
import signal
import subprocess
import threading
from dataclasses import dataclass

# A proxy that nothing listens at, so that only this machine is reached.
NO_OTHER_HOSTS = {"HTTPS_PROXY": "http://127.0.0.1:9", "NO_PROXY": "127.0.0.1"}

running: set[subprocess.Popen] = set()
starting = threading.RLock()
terminated = threading.Event()


@dataclass
class Finished:
    """`status` is None if the time was over."""
    status: int | None
    stdout: str
    stderr: str


def run(command, seconds, **options) -> Finished:
    process = start(command, stderr=subprocess.PIPE, **options)
    try:
        stdout, stderr = process.communicate(timeout=seconds)
        return Finished(process.returncode, stdout, stderr)
    except subprocess.TimeoutExpired:
        end_group(process)
        return Finished(None, *process.communicate())
    finally:
        running.discard(process)


def start(command, **options):
    with starting:
        if terminated.is_set():
            raise SystemExit(1)
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                                   start_new_session=True, **options)
        running.add(process)
    return process


def end_group(process):
    """Ends a process that was started in a session of its own, and all it has started."""
    kill_group(process)
    process.wait()
    running.discard(process)


def kill_group(process):
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def end_all_on_sigterm():
    """Processes in sessions of their own would outlive a suite that runs out of time."""
    def end_all(*_):
        terminated.set()
        with starting:
            for process in list(running):
                kill_group(process)
            os._exit(1)
    signal.signal(signal.SIGTERM, end_all)


class Server:
    """A program that prints `listening on URL` when it is ready; it ends with the block. Its last lines are kept for errors."""

    def __init__(self, command, **options):
        self.lines = []
        self.process = start(command, stderr=subprocess.STDOUT, **options)

    def __enter__(self):
        assert self.process.stdout
        for line in self.process.stdout:
            self.lines.append(line)
            listening = re.search(r"listening on (http://[\w.:]+)", line)
            if listening:
                self.url = listening[1]
                threading.Thread(target=self._read, daemon=True).start()
                return self
        raise RuntimeError(f"{self.process.args[0]} did not start: {''.join(self.lines[-20:])}")

    def _read(self):
        for line in self.process.stdout or ():
            self.lines = [*self.lines[-200:], line]

    def __exit__(self, *_):
        end_group(self.process)
