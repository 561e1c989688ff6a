CHARACTER_NAME = " "  # ! invalid_value: CHARACTER_NAME is ' '; it must be text that is not empty
INSTRUCTIONS = {}


class PromptGenerator:
    def __init__(self, instructions):
        self.instructions = instructions

    def make_system_prompt(self):
        return "Be brief."
