CHARACTER_NAME = "Refused"
INSTRUCTIONS = {}
TOOLS = [
    {"type": "function", "function": {"name": "roll", "description": "Roll a die"}},
    {"type": "function", "function": {"name": "flip", "description": "Flip a coin"}},  # ! missing_handler: tool `flip` has no implementation
]


class PromptGenerator:
    def __init__(self, instructions):
        pass

    def make_system_prompt(self):
        return "Be brief."

    def handle_tool_call(self, tool_name, tool_input):
        if tool_name == "roll":
            return "4"
        raise ValueError(tool_name)
