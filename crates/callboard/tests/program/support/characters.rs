//! Characters that tests put on stage.

/// Tells, sleeps and fails.
pub(crate) const TELLER: &str = r#"
CHARACTER_NAME = "Teller"
INSTRUCTIONS = {"instruction_prompt": "You tell stories."}
TOOL_TIMEOUT_MS = {"nap": 60}

def say(word: str) -> str:
    """Say one word."""
    print(f"said {word}")
    return f"You said {word}."

def nap() -> str:
    """Sleep for a long while."""
    import time
    time.sleep(30)
    return "rested"

def fail(reason: str) -> str:
    """Fail for a reason."""
    raise ValueError(reason)

TOOLS = [say, nap, fail]

class PromptGenerator:
    def __init__(self, instructions):
        self.instructions = instructions

    def make_system_prompt(self):
        return self.instructions["instruction_prompt"]
"#;

/// Knows two people by name.
pub(crate) const POSTMAN: &str = r#"
CHARACTER_NAME = "Postman"
INSTRUCTIONS = {"instruction_prompt": "You bring letters."}

class PromptGenerator:
    def __init__(self, instructions):
        pass

    def make_system_prompt(self):
        return "You bring letters."

    def get_names(self):
        return {"people": ["Ada", "Grace"]}

    def bring(self, to: str) -> str:
        return f"{to} has the letter."

TOOLS = [{"type": "function", "function": {"name": "bring", "description": "Bring a letter.", "parameters": {
    "type": "object", "properties": {"to": {"type": "string", "x-names": "people"}}, "required": ["to"]}}}]
"#;

/// Keeps a count.
pub(crate) const COUNTER: &str = r#"
CHARACTER_NAME = "Counter"
INSTRUCTIONS = {"instruction_prompt": "You count."}

class PromptGenerator:
    def __init__(self, instructions):
        self.count = 0

    def make_system_prompt(self):
        return "You count."

    def make_turn_context(self):
        return f"The count is {self.count}."

    def add(self, number: int = 1) -> str:
        """Add a number to the count."""
        self.count += number
        if self.count > 100:
            raise ValueError("too many")
        return f"The count is {self.count}."

TOOLS = [PromptGenerator.add]
"#;
