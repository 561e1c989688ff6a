CHARACTER_NAME = "Refused"
INSTRUCTIONS = {}


def roll(**arguments) -> str:
    return "4"


TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "roll",
            "description": "   ",  # ! invalid_schema: tool `roll` has no description
        },
    },
]


class PromptGenerator:
    def __init__(self, instructions):
        self.instructions = instructions

    def make_system_prompt(self):
        return "Be brief."
