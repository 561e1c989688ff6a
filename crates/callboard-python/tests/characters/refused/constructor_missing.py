CHARACTER_NAME = "Refused"
INSTRUCTIONS = {}


class PromptGenerator:  # ! invalid_value: cannot be made from the instructions alone
    def make_system_prompt(self):
        return "Be brief."
