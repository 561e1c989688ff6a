CHARACTER_NAME = "Refused"
INSTRUCTIONS = {}


def roll(**arguments) -> str:
    return "4"


TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "roll",
            "description": "Roll a die",
            "parameters": {"type": "object", "properties": {"sides": {"type": "integer", "enum": (1, 2)}}},  # ! invalid_schema: cannot be written as JSON
        },
    },
]


class PromptGenerator:
    def __init__(self, instructions):
        self.instructions = instructions

    def make_system_prompt(self):
        return "Be brief."
