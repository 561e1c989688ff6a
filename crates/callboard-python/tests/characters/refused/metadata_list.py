CHARACTER_NAME = "Refused"
INSTRUCTIONS = {}
METADATA = ["good"]  # ! invalid_value: METADATA is list; it must be a dict


class PromptGenerator:
    def __init__(self, instructions):
        self.instructions = instructions

    def make_system_prompt(self):
        return "Be brief."
