CHARACTER_NAME = "Refused"
INSTRUCTIONS = {}


def roll(**arguments) -> str:
    return "4"


TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "1roll",  # ! invalid_schema: is no name for a tool
            "description": "Roll a die",
        },
    },
]


class PromptGenerator:
    def __init__(self, instructions):
        self.instructions = instructions

    def make_system_prompt(self):
        return "Be brief."
