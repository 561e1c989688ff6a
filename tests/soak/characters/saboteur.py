"""Saboteur: tools that do what no tool should."""

import ctypes
import os
import signal
import sys
import time

CHARACTER_NAME = "Saboteur"
INSTRUCTIONS = {}
LIMITS = {"tools": 20}


class PromptGenerator:
    def __init__(self, instructions):
        self.calls = 0

    def make_system_prompt(self):
        return "Break things."

    def loops(self) -> str:
        """Never returns."""
        while True:
            pass

    def exits(self) -> str:
        """Ends its process."""
        os._exit(7)

    def segfaults(self) -> str:
        """Reads from nowhere."""
        ctypes.string_at(0)
        return "survived"

    def kills_its_parent(self) -> str:
        """Kills the process of its file."""
        os.kill(os.getppid(), signal.SIGKILL)
        return "survived"

    def stops_itself(self) -> str:
        """Suspends its process."""
        os.kill(os.getpid(), signal.SIGSTOP)
        return "survived"

    def forks(self) -> str:
        """Leaves a process behind, in a session of its own."""
        if os.fork() == 0:
            os.setsid()
            time.sleep(600)
            os._exit(0)
        return "forked"

    def floods(self) -> str:
        """Prints ten megabytes."""
        for _ in range(10):
            sys.stdout.write("x" * 1_000_000)
        return "flooded"

    def eats_memory(self) -> str:
        """Allocates more than it may."""
        return str(len(bytearray(2 << 30)))

    def returns_too_much(self) -> str:
        """Returns five megabytes."""
        return "x" * 5_000_000

    def keeps_too_much(self) -> str:
        """Keeps more state than it may."""
        self.hoard = "x" * 2_000_000
        return "kept"

    def keeps_no_json(self) -> str:
        """Keeps what is no JSON."""
        self.thing = {1, 2, 3}
        return "kept"

    def closes_everything(self) -> str:
        """Closes its descriptors."""
        os.closerange(0, 64)
        return "closed"


TOOLS = [value for name, value in vars(PromptGenerator).items() if not name.startswith("_") and name != "make_system_prompt"]
