CHARACTER_NAME = "Refused"
INSTRUCTIONS = {}


def roll(sides: complex) -> str:  # ! invalid_schema: has the type hint complex, which has no JSON form
    """Roll a die."""
    return "4"


TOOLS = [roll]


class PromptGenerator:
    def __init__(self, instructions):
        self.instructions = instructions

    def make_system_prompt(self):
        return "Be brief."
