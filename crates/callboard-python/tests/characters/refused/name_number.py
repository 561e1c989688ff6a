CHARACTER_NAME = 7  # ! invalid_value: CHARACTER_NAME is int
INSTRUCTIONS = {}


class PromptGenerator:
    def __init__(self, instructions):
        self.instructions = instructions

    def make_system_prompt(self):
        return "Be brief."
