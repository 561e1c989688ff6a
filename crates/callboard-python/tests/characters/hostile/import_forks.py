import os

SIDE = os.fork()

CHARACTER_NAME = "Saboteur"
INSTRUCTIONS = {}


class PromptGenerator:
    def __init__(self, instructions):
        pass

    def make_system_prompt(self):
        return "Break things."
