CHARACTER_NAME = "Refused"
INSTRUCTIONS = {}
TOOL_TIMEOUT_MS = {"rol": 50}  # ! invalid_value: which is no tool


class PromptGenerator:
    def __init__(self, instructions):
        self.instructions = instructions

    def make_system_prompt(self):
        return "Be brief."
