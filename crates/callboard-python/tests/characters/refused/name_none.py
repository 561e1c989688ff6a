CHARACTER_NAME = None  # ! invalid_value: CHARACTER_NAME is None
INSTRUCTIONS = {}


class PromptGenerator:
    def __init__(self, instructions):
        self.instructions = instructions

    def make_system_prompt(self):
        return "Be brief."
