CHARACTER_NAME = "Refused"
INSTRUCTIONS = {}
REPLY = "shout"  # ! invalid_value: tools_only


class PromptGenerator:
    def __init__(self, instructions):
        self.instructions = instructions

    def make_system_prompt(self):
        return "Be brief."
