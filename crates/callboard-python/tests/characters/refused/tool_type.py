CHARACTER_NAME = "Refused"
INSTRUCTIONS = {}
def roll() -> str:
    """Roll a die."""
    return "4"


TOOLS = [
    {
        "type": "retrieval",  # ! invalid_schema: has the type 'retrieval'
        "function": {"name": "roll", "description": "Roll a die"},
    },
]


class PromptGenerator:
    def __init__(self, instructions):
        self.instructions = instructions

    def make_system_prompt(self):
        return "Be brief."
