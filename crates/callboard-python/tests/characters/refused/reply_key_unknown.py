CHARACTER_NAME = "Refused"
INSTRUCTIONS = {}
REPLY = {"shout": True}  # ! invalid_value: deliver_text, ask_again, confirm


class PromptGenerator:
    def __init__(self, instructions):
        self.instructions = instructions

    def make_system_prompt(self):
        return "Be brief."
