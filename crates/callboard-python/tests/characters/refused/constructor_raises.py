CHARACTER_NAME = "Refused"
INSTRUCTIONS = {}


class PromptGenerator:
    def __init__(self, instructions):
        self.prompt = instructions["prompt"]  # ! invalid_value: __init__() raises KeyError: 'prompt'

    def make_system_prompt(self):
        return "Be brief."
