CHARACTER_NAME = "Refused"
INSTRUCTIONS = {}
VOICE_SOURCE = {"cuts": {1, 2}}  # ! invalid_value: is a set


class PromptGenerator:
    def __init__(self, instructions):
        self.instructions = instructions

    def make_system_prompt(self):
        return "Be brief."
