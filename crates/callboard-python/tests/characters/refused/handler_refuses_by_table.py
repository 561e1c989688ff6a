CHARACTER_NAME = "Refused"
INSTRUCTIONS = {}
TOOLS = [
    {"type": "function", "function": {"name": "roll", "description": "Roll a die"}},
    {"type": "function", "function": {"name": "flip", "description": "Flip a coin"}},  # ! missing_handler: did you mean `filp`
]


class PromptGenerator:
    def __init__(self, instructions):
        self._tools = {"roll": self.throw, "filp": self.filp}

    def make_system_prompt(self):
        return "Be brief."

    def handle_tool_call(self, tool_name, tool_input):
        tool = self._tools.get(tool_name)
        return tool(**tool_input) if tool else "Unknown tool"

    def throw(self):
        return "4"

    def filp(self):
        return "heads"
