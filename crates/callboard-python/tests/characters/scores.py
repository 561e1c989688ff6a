"""A character that keeps things: what it may keep, and what it may not."""

import collections
import datetime
import enum

CHARACTER_NAME = "Scores"
INSTRUCTIONS = {"questions": ["why?"], "tone": "dry"}
LIMITS = {"tools": 40}


class Level(enum.IntEnum):
    EASY = 1


SEEN_BY_THIS_WORKER = []


class PromptGenerator:
    def __init__(self, instructions):
        self.instructions = instructions
        self.points = {}
        self.rounds = 0
        self._cache = object()

    def make_system_prompt(self):
        self.asked = ["why?"]
        return "Keep score."

    def score(self, who, points=1):
        self.points[who] = self.points.get(who, 0) + points
        self.rounds += 1
        self._last = who
        return str(self.points[who])

    def look(self):
        return repr(sorted((name, value) for name, value in vars(self).items() if name[0] != "_"))

    def forget_rounds(self):
        del self.rounds
        return "forgot"

    def forget_everything(self):
        vars(self).clear()
        return "forgot"

    def change_instructions(self):
        self.instructions["tone"] = "wild"
        return "changed"

    def score_and_raise(self):
        self.points["x"] = 9
        raise ValueError("after the change")

    def score_and_hang(self):
        self.points["x"] = 9
        while True:
            pass

    def score_and_return_a_number(self):
        self.points["x"] = 9
        return 5

    def underscore(self):
        return str(hasattr(self, "_last"))

    def keep(self, what):
        self.kept = {"a": [0, eval(what)]}
        return "kept"

    def keep_much(self):
        self.kept = "x" * (2 << 20)
        return "kept"


def described(name, **properties):
    parameters = {"type": "object", "properties": properties}
    return {"type": "function", "function": {"name": name, "description": name, "parameters": parameters}}


TOOLS = [
    described("score", who={"type": "string", "default": "ann"}, points={"type": "integer"}),
    described("keep", what={"type": "string", "default": "None"}),
    *map(
        described,
        [
            "look",
            "forget_rounds",
            "forget_everything",
            "change_instructions",
            "score_and_raise",
            "score_and_hang",
            "score_and_return_a_number",
            "underscore",
            "keep_much",
        ],
    ),
]
# What must time out does so soon; what must not has time enough on a busy machine.
TOOL_TIMEOUT_MS = {tool["function"]["name"]: 10_000 for tool in TOOLS}
TOOL_TIMEOUT_MS["score_and_hang"] = 100
