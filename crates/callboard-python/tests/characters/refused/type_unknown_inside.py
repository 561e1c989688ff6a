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
                "properties": {
                    "list": {
                        "type": "array",
                        "items": {"type": "thing"},  # ! invalid_schema: parameter `list[]` has the unknown type
                    },
                },
            },
        },
    },
]


class PromptGenerator:
    def __init__(self, instructions):
        self.instructions = instructions

    def make_system_prompt(self):
        return "Be brief."
