"""Noter: one small tool that changes its state at every call. In `bench/ledger` the model calls it each turn."""

CHARACTER_NAME = "Noter"
INSTRUCTIONS = {"instruction_prompt": "You take notes."}
MODEL = "call-then-text"
TOOL_TIMEOUT_MS = 10_000


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
