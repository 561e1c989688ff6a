CHARACTER_NAME = "Refused"
INSTRUCTIONS = {}
TOOLS = [{"type": "function"}]  # ! invalid_schema: is no function and no dict


class PromptGenerator:
    def __init__(self, instructions):
        self.instructions = instructions

    def make_system_prompt(self):
        return "Be brief."
