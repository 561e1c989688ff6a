CHARACTER_NAME = "Refused"
INSTRUCTIONS = {}


def divide():
    return 1 / 0  # ! import_error: importing the file raises ZeroDivisionError


divide()


class PromptGenerator:
    def __init__(self, instructions):
        self.instructions = instructions

    def make_system_prompt(self):
        return "Be brief."
