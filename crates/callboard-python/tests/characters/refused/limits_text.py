CHARACTER_NAME = "Refused"
INSTRUCTIONS = {}
LIMITS = {
    "tools": "many",  # ! invalid_value: it must be a whole number
}


class PromptGenerator:
    def __init__(self, instructions):
        self.instructions = instructions

    def make_system_prompt(self):
        return "Be brief."
