CHARACTER_NAME = "Refused"
INSTRUCTIONS = {}


class PromptGenerator:
    def __init__(self, instructions):
        self.instructions = instructions

    def make_system_prompt(self):
        return "Be brief."

    def make_turn_context(self):
        return f"So far: {self.counts}"  # ! invalid_value: make_turn_context() raises AttributeError
