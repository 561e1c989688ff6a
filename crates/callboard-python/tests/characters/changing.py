"""A character whose tools depend on its state."""

CHARACTER_NAME = "Doorkeeper"
INSTRUCTIONS = {}
TOOL_TIMEOUT_MS = 2_500


def described(name):
    return {"type": "function", "function": {"name": name, "description": "The tool " + name}}


class PromptGenerator:
    def __init__(self, instructions):
        self.is_open = False

    def make_system_prompt(self):
        return "Keep the door."

    def get_tools(self):
        return [described("shut_door" if self.is_open else "open_door")]

    def open_door(self):
        self.is_open = True
        return "open"

    def shut_door(self):
        self.is_open = False
        return "shut"
