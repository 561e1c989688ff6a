"""Talker: a character with state and a tool that its model never calls."""

CHARACTER_NAME = "Talker"
INSTRUCTIONS = {"instruction_prompt": "You talk."}
MODEL = "short-text"


class PromptGenerator:
    def __init__(self, instructions):
        self.instructions = instructions
        self.notes = []

    def make_system_prompt(self):
        return self.instructions["instruction_prompt"]

    def note(self, text: str) -> str:
        """Note something.

        Args:
            text: What to note.
        """
        self.notes.append(text)
        return f"{len(self.notes)} notes"


TOOLS = [PromptGenerator.note]
