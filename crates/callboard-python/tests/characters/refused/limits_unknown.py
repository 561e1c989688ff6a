CHARACTER_NAME = "Refused"
INSTRUCTIONS = {}
LIMITS = {"tools": 20, "legs": 4}  # ! invalid_value: unknown key 'legs'


class PromptGenerator:
    def __init__(self, instructions):
        self.instructions = instructions

    def make_system_prompt(self):
        return "Be brief."
