CHARACTER_NAME = "Refused"
INSTRUCTIONS = {}
TOOLS = [
    {"type": "function", "function": {"name": "roll"}},  # ! invalid_schema: tool `roll` has no description
]


def roll() -> str:
    return "4"


class PromptGenerator:
    def __init__(self, instructions):
        self.instructions = instructions

    def make_system_prompt(self):
        return "Be brief."
