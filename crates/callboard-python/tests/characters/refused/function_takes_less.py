CHARACTER_NAME = "Refused"
INSTRUCTIONS = {}


def roll() -> str:
    return "4"


TOOLS = [
    {
        "type": "function",
        "function": {  # ! invalid_schema: got an unexpected keyword argument 'sides'
            "name": "roll",
            "description": "Roll a die",
            "parameters": {"type": "object", "properties": {"sides": {"type": "integer"}}},
        },
    },
]


class PromptGenerator:
    def __init__(self, instructions):
        self.instructions = instructions

    def make_system_prompt(self):
        return "Be brief."
