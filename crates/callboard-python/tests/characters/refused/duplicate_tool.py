CHARACTER_NAME = "Refused"
INSTRUCTIONS = {}


def roll() -> str:
    return "4"


TOOLS = [
    {"type": "function", "function": {"name": "roll", "description": "Roll a die"}},
    {"type": "function", "function": {"name": "roll", "description": "Roll it again"}},  # ! duplicate_name: two tools are named 'roll'
]


class PromptGenerator:
    def __init__(self, instructions):
        self.instructions = instructions

    def make_system_prompt(self):
        return "Be brief."
