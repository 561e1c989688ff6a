# ? missing_attribute: INSTRUCTIONS is missing
CHARACTER_NAME = "Refused"


class PromptGenerator:
    def __init__(self, instructions):
        self.instructions = instructions

    def make_system_prompt(self):
        return "Be brief."
