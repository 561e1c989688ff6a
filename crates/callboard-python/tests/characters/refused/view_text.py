CHARACTER_NAME = "Refused"
INSTRUCTIONS = {}
VIEW = "<b>"  # ! invalid_value: VIEW is str; it must be a dict


class PromptGenerator:
    def __init__(self, instructions):
        self.instructions = instructions

    def make_system_prompt(self):
        return "Be brief."
