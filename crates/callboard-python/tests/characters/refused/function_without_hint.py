CHARACTER_NAME = "Refused"
INSTRUCTIONS = {}


def roll(sides) -> str:  # ! invalid_schema: parameter `sides` of roll() has no type hint
    """Roll a die."""
    return "4"


TOOLS = [roll]


class PromptGenerator:
    def __init__(self, instructions):
        self.instructions = instructions

    def make_system_prompt(self):
        return "Be brief."
