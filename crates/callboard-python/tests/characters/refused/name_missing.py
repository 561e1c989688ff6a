# ? missing_attribute: CHARACTER_NAME is missing
INSTRUCTIONS = {}


class PromptGenerator:
    def __init__(self, instructions):
        self.instructions = instructions

    def make_system_prompt(self):
        return "Be brief."
