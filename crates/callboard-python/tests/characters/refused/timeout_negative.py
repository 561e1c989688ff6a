CHARACTER_NAME = "Refused"
INSTRUCTIONS = {}
TOOL_TIMEOUT_MS = -5  # ! invalid_value: TOOL_TIMEOUT_MS is -5


class PromptGenerator:
    def __init__(self, instructions):
        self.instructions = instructions

    def make_system_prompt(self):
        return "Be brief."
