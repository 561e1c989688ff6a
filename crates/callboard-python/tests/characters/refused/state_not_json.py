CHARACTER_NAME = "Refused"
INSTRUCTIONS = {}


class PromptGenerator:
    def __init__(self, instructions):
        self.seen = set()

    def make_system_prompt(self):  # ! invalid_value: self.seen is a set, and so cannot be kept
        return "Be brief."
