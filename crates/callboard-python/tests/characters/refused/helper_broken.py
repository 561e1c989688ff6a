CHARACTER_NAME = "Refused"
INSTRUCTIONS = {}
import _broken  # ! import_error: _broken.py line 1


class PromptGenerator:
    def __init__(self, instructions):
        self.instructions = instructions

    def make_system_prompt(self):
        return "Be brief."
