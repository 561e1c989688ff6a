CHARACTER_NAME = "Refused"
INSTRUCTIONS = {}


class PromptGenerator:  # ! missing_attribute: PromptGenerator has no make_system_prompt
    def __init__(self, instructions):
        pass
