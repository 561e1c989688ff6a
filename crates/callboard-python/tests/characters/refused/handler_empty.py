CHARACTER_NAME = "Refused"
INSTRUCTIONS = {}
TOOLS = [{"type": "function", "function": {"name": "roll", "description": "Roll a die"}}]  # ! missing_handler: returns None


class PromptGenerator:
    def __init__(self, instructions):
        self.instructions = instructions

    def make_system_prompt(self):
        return "Be brief."

    def handle_tool_call(self, tool_name, tool_input):
        """Soon."""
