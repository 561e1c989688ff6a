CHARACTER_NAME = "Refused"
INSTRUCTIONS = {}


class PromptGenerator:
    def __init__(self, instructions, more):  # ! invalid_value: missing a required argument: 'more'
        pass

    def make_system_prompt(self):
        return "Be brief."
