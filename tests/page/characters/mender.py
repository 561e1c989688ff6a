"""Counts what its scripted model calls it with, rightly or wrongly."""

CHARACTER_NAME = "Mender"
MODEL = "mender"
UNDO = True
INSTRUCTIONS = {"instruction_prompt": "You count."}
METADATA = {"comment": "Counts."}

VIEW = {
    "title": "Count",
    "parts": [
        {"show": "facts", "items": [{"label": "Sum", "path": "/sum"}]},
        {"show": "bars", "items": [{"label": "Full", "path": "/sum", "of": "/full"}]},
        {"show": "list", "title": "Numbers", "path": "/numbers"},
    ],
}


class PromptGenerator:
    def __init__(self, instructions):
        self.sum = 0
        self.full = 100
        self.numbers = []

    def make_system_prompt(self) -> str:
        return "You count what you hear."

    def make_turn_context(self) -> str:
        return f"The sum is {self.sum}."

    def add(self, number: int) -> str:
        """Add a number to the sum."""
        self.sum += number
        self.numbers.append(number)
        return f"The sum is {self.sum}."

    def fail(self) -> str:
        """Fail at once."""
        raise ValueError("this tool always fails")


TOOLS = [PromptGenerator.add, PromptGenerator.fail]
