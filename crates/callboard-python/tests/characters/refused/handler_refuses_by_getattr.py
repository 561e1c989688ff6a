CHARACTER_NAME = "Refused"
INSTRUCTIONS = {}
TOOLS = [
    {"type": "function", "function": {"name": "roll", "description": "Roll a die"}},
    {"type": "function", "function": {"name": "flip", "description": "Flip a coin"}},  # ! missing_handler: handle_tool_call raises AttributeError
]


class PromptGenerator:
    def __init__(self, instructions):
        self.instructions = instructions

    def make_system_prompt(self):
        return "Be brief."

    def handle_tool_call(self, tool_name, tool_input):
        return getattr(self, "do_" + tool_name)(**tool_input)

    def do_roll(self):
        return "4"
