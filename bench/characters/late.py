"""Late: tools that overrun their deadlines in different ways, and one that does not."""

import mmap
import struct
import time

CHARACTER_NAME = "Late"
INSTRUCTIONS = {"instruction_prompt": "You are late."}
TOOL_TIMEOUT_MS = {"spin": 50, "sleep": 50, "hang": 20, "quick": 10_000}

STAMPS = struct.Struct("<QQ")


def shared(page):
    with open(page, "r+b") as file:
        return mmap.mmap(file.fileno(), STAMPS.size)


def spin(page: str) -> str:
    """Loop without end, and write down the time all the while.

    Args:
        page: The file for when it began and when it was last alive.
    """
    began = time.time_ns()
    stamps = shared(page)
    while True:
        STAMPS.pack_into(stamps, 0, began, time.time_ns())


def sleep(page: str) -> str:
    """Sleep outside of the interpreter.

    Args:
        page: The file for when it began.
    """
    began = time.time_ns()
    STAMPS.pack_into(shared(page), 0, began, began)
    time.sleep(600)
    return "late"


def hang() -> str:
    """Return long after every deadline."""
    time.sleep(600)
    return "late"


def quick() -> str:
    """Answer at once."""
    return "here"


TOOLS = [spin, sleep, hang, quick]


class PromptGenerator:
    def __init__(self, instructions):
        self._instructions = instructions

    def make_system_prompt(self) -> str:
        return self._instructions["instruction_prompt"]
