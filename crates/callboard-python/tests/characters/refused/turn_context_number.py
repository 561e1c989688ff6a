CHARACTER_NAME = "Refused"
INSTRUCTIONS = {}


class PromptGenerator:
    def __init__(self, instructions):
        self.instructions = instructions

    def make_system_prompt(self):
        return "Be brief."

    async def make_turn_context(self):  # ! invalid_value: make_turn_context() returns int; it must return text
        return 5
