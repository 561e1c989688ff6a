CHARACTER_NAME = "Refused"
INSTRUCTIONS = {}


def roll(*, a: int = 0, b: int = 0, c: int = 0, d: int = 0, e: int = 0, f: int = 0, g: int = 0, h: int = 0, i: int = 0, j: int = 0, k: int = 0) -> str:  # ! invalid_schema: has 11 properties
    """Roll a die."""
    return "4"


TOOLS = [roll]


class PromptGenerator:
    def __init__(self, instructions):
        self.instructions = instructions

    def make_system_prompt(self):
        return "Be brief."
