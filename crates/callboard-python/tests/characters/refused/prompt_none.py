CHARACTER_NAME = "Refused"
INSTRUCTIONS = {}


class PromptGenerator:
    def __init__(self, instructions):
        pass

    def make_system_prompt(self):  # ! invalid_value: make_system_prompt() returns NoneType; it must return text
        "Be brief."
