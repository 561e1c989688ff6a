"""Counter: keeps the tokens that it was given, so that the suite can compare them with what clients received."""

CHARACTER_NAME = "Counter"
INSTRUCTIONS = {}
TOOL_TIMEOUT_MS = {"add": 5000, "show": 5000}


class PromptGenerator:
    def __init__(self, instructions):
        self.tokens = []

    def make_system_prompt(self):
        return "You keep tokens."

    def make_turn_context(self):
        return f"There are {len(self.tokens)} tokens."

    def add(self, token: str) -> str:
        """Keep a token.

        Args:
            token: The token.
        """
        self.tokens.append(token)
        return f"kept {token}"

    def show(self) -> str:
        """Show all tokens."""
        return "tokens: " + " ".join(self.tokens)


TOOLS = [PromptGenerator.add, PromptGenerator.show]
