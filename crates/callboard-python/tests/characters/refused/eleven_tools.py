CHARACTER_NAME = "Refused"
INSTRUCTIONS = {}


def roll() -> str:
    return "4"


TOOLS = [  # ! invalid_schema: 11 tools, at most 10 are allowed
    {"type": "function", "function": {"name": "roll", "description": "Roll a die"}},
]
for number in range(10):
    globals()["roll%d" % number] = roll
    TOOLS.append({"type": "function", "function": {"name": "roll%d" % number, "description": "Roll a die"}})


class PromptGenerator:
    def __init__(self, instructions):
        self.instructions = instructions

    def make_system_prompt(self):
        return "Be brief."
