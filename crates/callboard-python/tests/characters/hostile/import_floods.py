import sys

for _ in range(100):
    sys.stdout.write("x" * 1_000_000)
raise RuntimeError("flooded")

CHARACTER_NAME = "Saboteur"
INSTRUCTIONS = {}


class PromptGenerator:
    def __init__(self, instructions):
        pass

    def make_system_prompt(self):
        return "Break things."
