CHARACTER_NAME = "Refused"
INSTRUCTIONS = {}


class PromptGenerator:
    def __init__(self, instructions):
        pass

    def make_system_prompt(self):
        return "Be brief."

    def get_tools(self):  # ! missing_handler: get_tools(): tool `flip` has no implementation
        return [{"type": "function", "function": {"name": "flip", "description": "Flip a coin"}}]
