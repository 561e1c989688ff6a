CHARACTER_NAME = "Refused"
INSTRUCTIONS = {}


def roll(**arguments) -> str:
    return "4"


TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "roll",
            "description": "rrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrr",  # ! invalid_schema: has 201 characters, at most 200 are allowed
        },
    },
]


class PromptGenerator:
    def __init__(self, instructions):
        self.instructions = instructions

    def make_system_prompt(self):
        return "Be brief."
