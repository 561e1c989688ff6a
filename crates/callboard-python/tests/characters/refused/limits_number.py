CHARACTER_NAME = "Refused"
INSTRUCTIONS = {}
LIMITS = 20  # ! invalid_value: LIMITS is int; it must be a dict


class PromptGenerator:
    def __init__(self, instructions):
        self.instructions = instructions

    def make_system_prompt(self):
        return "Be brief."
