CHARACTER_NAME = "Refused"
INSTRUCTIONS = {}


class PromptGenerator:
    def __init__(self, instructions):
        pass

    def make_system_prompt(self):
        return "Be brief."

    handle_tool_call = 5  # ! invalid_value: PromptGenerator.handle_tool_call is not a method
