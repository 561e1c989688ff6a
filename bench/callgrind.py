"""Programs under callgrind, and the instructions that it counted.

Each thread is counted by itself. A count covers the time between two dumps, so what a program does at its start is not in it.
"""

import subprocess
import time
from pathlib import Path

from gateways import Site
from processes import Process, all_thread_states


def count_function(program: Path, argument: str, function: str, folder: Path) -> tuple[int, str]:
    """The instructions of one function and of all that it calls, and what the program printed."""
    out = folder / f"callgrind.{argument}"
    command = ["valgrind", "--tool=callgrind", "--collect-atstart=no", f"--toggle-collect={function}",
               f"--callgrind-out-file={out}", program, argument]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{program.name} {argument} failed under valgrind:\n{done.stderr[-2000:]}")
    counted = sum(totals([out]).values())
    if counted == 0:
        raise SystemExit(f"{program.name} {argument} was counted as nothing: is {function} still its function?")
    return counted, done.stdout


class CountedProgram:
    """A server under callgrind."""

    def __init__(self, site: Site, name: str, command: list, environment: dict):
        self.files = site.folder / "callgrind"
        valgrind = ["valgrind", "--tool=callgrind", "--separate-threads=yes", f"--callgrind-out-file={self.files}"]
        self.process: Process = site.start(name, [*valgrind, *command], environment)
        self.dumps = 0

    def wait_until_idle(self) -> None:
        """Until all threads sleep."""
        while set(all_thread_states(self.process.child.pid)) != {"S"}:
            time.sleep(0.002)

    def count(self) -> dict[int, int]:
        """The instructions since the last count, by thread."""
        self.wait_until_idle()
        self.dumps += 1
        command = ["callgrind_control", f"--dump={self.dumps}", str(self.process.child.pid)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        found = sorted(self.files.parent.glob(f"{self.files.name}.{self.dumps}-*"))
        if done.returncode != 0 or not found:
            raise SystemExit(f"callgrind did not answer: {done.stdout}{done.stderr}")
        return totals(found)


def totals(files: list[Path]) -> dict[int, int]:
    """The sum of each file, by the thread that it is about."""
    counted = {}
    for file in files:
        fields = dict(line.split(": ", 1) for line in file.read_text(errors="replace").splitlines() if is_field(line))
        counted[int(fields.get("thread", 1))] = int(fields["totals"])
    return counted


def is_field(line: str) -> bool:
    return line.startswith(("thread: ", "totals: "))
