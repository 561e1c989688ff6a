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
            "parameters": {
                "type": "object",
                "properties": {"p%d" % number: {"type": "integer"} for number in range(11)},  # ! invalid_schema: has 11 properties, at most 10
            },
        },
    },
]


class PromptGenerator:
    def __init__(self, instructions):
        self.instructions = instructions

    def make_system_prompt(self):
        return "Be brief."
