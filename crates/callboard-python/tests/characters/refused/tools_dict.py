CHARACTER_NAME = "Refused"
INSTRUCTIONS = {}
TOOLS = {"roll": 1}  # ! invalid_schema: list or None


class PromptGenerator:
    def __init__(self, instructions):
        self.instructions = instructions

    def make_system_prompt(self):
        return "Be brief."
