CHARACTER_NAME = "Refused"
INSTRUCTIONS = {}
SCHEMA = {"type": "object", "properties": {}}
SCHEMA["properties"]["again"] = SCHEMA


def roll(again=None) -> str:
    return "4"


TOOLS = [
    {"type": "function", "function": {"name": "roll", "description": "Roll a die", "parameters": SCHEMA}},  # ! invalid_schema: nested deeper
]


class PromptGenerator:
    def __init__(self, instructions):
        self.instructions = instructions

    def make_system_prompt(self):
        return "Be brief."
