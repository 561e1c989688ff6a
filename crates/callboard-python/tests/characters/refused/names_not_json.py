CHARACTER_NAME = "Refused"
INSTRUCTIONS = {}


class PromptGenerator:
    def __init__(self, instructions):
        self.instructions = instructions

    def make_system_prompt(self):
        return "Be brief."

    def get_names(self):  # ! invalid_value: get_names()['units'] is a set
        return {"units": {"Carnifex"}}
