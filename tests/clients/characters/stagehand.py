"""Stagehand: a character for the suite in chat_characters.py. Its tools wait for each other, overrun, fail and keep nothing.

The pipes belong to the suite, which decides what happens when.
"""
import time
from pathlib import Path

CHARACTER_NAME = "Stagehand"
INSTRUCTIONS = {"instruction_prompt": "You move what has to be moved."}
TOOL_TIMEOUT_MS = {"listen": 5000, "signal": 5000, "oversleep": 100}


def listen(pipe: str) -> str:
    """Wait for a signal.

    Args:
        pipe: Where it comes from.
    """
    return "heard " + Path(pipe).read_text(encoding="utf-8")


def signal(pipe: str, word: str) -> str:
    """Give a signal.

    Args:
        pipe: Where the suite listens.
        word: What to say.
    """
    Path(pipe).write_text(word, encoding="utf-8")
    return "said " + word


def oversleep(pipe: str) -> str:
    """Say that it begins, and much too late that it is done.

    Args:
        pipe: Where to say so. It is closed when this process ends, and not before.
    """
    with open(pipe, "w", encoding="utf-8") as words:
        print("began", end="", file=words, flush=True)
        time.sleep(60)
        print("done", end="", file=words)
    return "rested"


def stumble(reason: str) -> str:
    """Fail.

    Args:
        reason: Why.
    """
    raise ValueError(reason)


TOOLS = [listen, signal, oversleep, stumble]


class PromptGenerator:
    def __init__(self, instructions):
        self._instructions = instructions

    def make_system_prompt(self):
        return self._instructions["instruction_prompt"]
