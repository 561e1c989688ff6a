CHARACTER_NAME = "Refused"
INSTRUCTIONS = {}
TOOLS = [
    {"type": "function", "function": {"name": "roll", "description": "Roll a die"}},
    {"type": "function", "function": {"name": "flip", "description": "Flip a coin"}},  # ! missing_handler: handle_tool_call returns Unknown tool: …
]


class PromptGenerator:
    def __init__(self, instructions):
        self.instructions = instructions

    def make_system_prompt(self):
        return "Be brief."

    async def handle_tool_call(self, tool_name, tool_input):
        return await self.dispatch(tool_name, tool_input)

    async def dispatch(self, name, arguments):
        if name == "roll":
            return "4"
        return f"Unknown tool: {name}"
