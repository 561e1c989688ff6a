def wait_forever():
    while True: pass


wait_forever()

CHARACTER_NAME = "Saboteur"
INSTRUCTIONS = {}


class PromptGenerator:
    def __init__(self, instructions):
        pass

    def make_system_prompt(self):
        return "Break things."
