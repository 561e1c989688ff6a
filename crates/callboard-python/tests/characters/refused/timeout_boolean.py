CHARACTER_NAME = "Refused"
INSTRUCTIONS = {}
TOOL_TIMEOUT_MS = True  # ! invalid_value: TOOL_TIMEOUT_MS is True


class PromptGenerator:
    def __init__(self, instructions):
        self.instructions = instructions

    def make_system_prompt(self):
        return "Be brief."
