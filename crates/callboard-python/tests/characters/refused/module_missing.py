CHARACTER_NAME = "Refused"
INSTRUCTIONS = {}
import a_module_that_nobody_has  # ! import_error: ModuleNotFoundError


class PromptGenerator:
    def __init__(self, instructions):
        self.instructions = instructions

    def make_system_prompt(self):
        return "Be brief."
