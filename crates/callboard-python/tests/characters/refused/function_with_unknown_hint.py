CHARACTER_NAME = "Refused"
INSTRUCTIONS = {}


def roll(sides: "Die") -> str:  # ! invalid_schema: the type hints of roll() cannot be read
    """Roll a die."""
    return "4"


TOOLS = [roll]


class PromptGenerator:
    def __init__(self, instructions):
        self.instructions = instructions

    def make_system_prompt(self):
        return "Be brief."
