CHARACTER_NAME = "Refused"
INSTRUCTIONS = {}


def roll(*sides: int) -> str:  # ! invalid_schema: cannot be given by name
    """Roll a die."""
    return "4"


TOOLS = [roll]


class PromptGenerator:
    def __init__(self, instructions):
        self.instructions = instructions

    def make_system_prompt(self):
        return "Be brief."
