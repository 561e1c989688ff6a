CHARACTER_NAME = "Refused"
INSTRUCTIONS = {}
TOOLS = ()  # ! invalid_schema: TOOLS is a tuple; it must be a list or None


class PromptGenerator:
    def __init__(self, instructions):
        self.instructions = instructions

    def make_system_prompt(self):
        return "Be brief."
