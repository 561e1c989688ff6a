CHARACTER_NAME = "Refused"
INSTRUCTIONS = {}
UNDO = 1  # ! invalid_value: UNDO is int; it must be True or False


class PromptGenerator:
    def __init__(self, instructions):
        self.instructions = instructions

    def make_system_prompt(self):
        return "Be brief."
