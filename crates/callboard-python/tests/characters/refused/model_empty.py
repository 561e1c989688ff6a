CHARACTER_NAME = "Refused"
INSTRUCTIONS = {}
MODEL = ""  # ! invalid_value: MODEL is


class PromptGenerator:
    def __init__(self, instructions):
        self.instructions = instructions

    def make_system_prompt(self):
        return "Be brief."
