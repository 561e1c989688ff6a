"""Every way to implement a tool, plain and async."""

import asyncio
import enum
from typing import Annotated, Dict, List, Literal, Optional

CHARACTER_NAME = "Ways"
INSTRUCTIONS = {"language": "fr/en"}
LIMITS = {"tools": 40, "description": 400}


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


def described(name, properties=None, required=()):
    function = {"name": name, "description": "The tool " + name}
    if properties is not None:
        function["parameters"] = {"type": "object", "properties": properties, "required": list(required)}
    return {"type": "function", "function": function}


def of_the_module(word, times=2):
    return word * times


async def of_the_module_async(word):
    await asyncio.sleep(0)
    return word.title()


def with_the_instance(self, word):
    return "%s %s" % (word, self.greeting)


def plain(
    text: str,
    count: int,
    weight: float,
    loud: bool,
    words: List[str],
    points: Dict[str, int],
    size: Literal["small", "large"],
    colour: Colour,
    nick: Optional[str] = None,
    tags: Optional[List[str]] = None,
    colours: List[Colour] = [Colour.RED],
    sides: Annotated[int, "How many sides"] = 6,
) -> str:
    """Shows what it
    was given.

    More words that no model needs.

    Args:
        text: Any text,
            over two lines: with a colon.
        count (int): How many.
        words: Some words.

    Returns:
        text: what it was given
    """
    return repr((text, count, weight, loud, words, points, size, colour, nick, tags, colours, sides))


def sphinx(text: str, count: int = 3) -> str:
    """Shows what it was given.

    :param text: any text
    :param int count: how many
    """
    return text * count


async def plain_async(self, text: str) -> str:
    """Answers a moment later."""
    await asyncio.sleep(0.001)
    return text + self.greeting


def slow(milliseconds: int) -> str:
    """Takes its time."""
    import time

    time.sleep(milliseconds / 1000)
    return "done"


def hurried(milliseconds: int) -> str:
    """Takes its time, but has little."""
    return slow(milliseconds)


WORD = {"word": {"type": "string"}}
LIMITS["properties"] = 12

TOOLS = [
    described("branch", WORD, ["word"]),
    described("branch_in_match", WORD),
    described("method", {"word": {"type": "string"}, "times": {"type": "integer", "default": 3}}, ["word"]),
    described("async_method", WORD, ["word"]),
    described("static_method", WORD, ["word"]),
    described("of_the_module", {"word": {"type": "string"}, "times": {"type": "integer"}}, ["word"]),
    described("of_the_module_async", WORD, ["word"]),
    described("with_the_instance", WORD, ["word"]),
    described("without_parameters"),
    described("dice", {"sides": {"type": "integer", "enum": [4, 6, 20]}}, ["sides"]),
    described("model_config", {"model_config": {"type": "string"}, "class": {"type": "string"}}),
    described(
        "nested",
        {
            "unit": {
                "type": "object",
                "properties": {"wounds": {"type": "integer", "default": 1}, "tags": {"type": "array", "default": []}},
            },
            "list": {"type": "array", "items": {"type": "object", "properties": {"x": {"type": "null", "default": None}}}},
            "mode": {"type": "string", "default": "normal", "x-names": "modes"},
        },
    ),
    plain,
    sphinx,
    plain_async,
    slow,
    hurried,
]
# All but `hurried`, which has the default of 100 ms, have time enough on a busy machine.
TOOL_TIMEOUT_MS = {
    name: 2_000
    for name in (tool["function"]["name"] if isinstance(tool, dict) else tool.__name__ for tool in TOOLS)
    if name != "hurried"
}


class PromptGenerator:
    def __init__(self, instructions):
        self.greeting = "hello"

    async def make_system_prompt(self):
        return "Show the ways."

    async def handle_tool_call(self, tool_name, tool_input):
        if tool_name == "branch":
            return "branch " + tool_input["word"]
        if tool_name in ("branch_in_match", "nested", "model_config"):
            return repr(tool_input)
        raise ValueError(tool_name)

    def method(self, word, times):
        return self.greeting + word * times

    async def async_method(self, word):
        return await of_the_module_async(word) + self.greeting

    @staticmethod
    def static_method(word):
        return word[::-1]

    def without_parameters(self):
        return "nothing was needed"

    def dice(self, sides):
        return "%d of %d" % (sides, sides)

    def make_turn_context(self):
        return "You say " + self.greeting

    def get_names(self):
        return {"units": ["Swarmlord", "Zoé"], "modes": {"normal": []}}
