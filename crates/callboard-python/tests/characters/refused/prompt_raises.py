CHARACTER_NAME = "Refused"
INSTRUCTIONS = {}


class PromptGenerator:
    def __init__(self, instructions):
        pass

    def make_system_prompt(self):
        return "Be {tone}.".format()  # ! invalid_value: make_system_prompt() raises KeyError: 'tone'
