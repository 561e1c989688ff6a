"""Says and keeps whatever could break a page that takes text for markup."""

CHARACTER_NAME = "<b>Hostile</b>"
MODEL = "hostile"
INSTRUCTIONS = {"instruction_prompt": "<script>document.title='broken'</script>"}
METADATA = {"comment": "<img src=x onerror=\"document.title='broken'\">"}

MARKUP = "<img src=x onerror=\"document.title='broken'\"><script>document.title='broken'</script>"

VIEW = {
    "title": "<u>View</u>",
    "parts": [
        {"show": "facts", "items": [{"label": "<i>Text</i>", "path": "/text"}]},
        {"show": "table", "path": "/rows", "key": "Row", "columns": [{"label": "<i>Value</i>", "path": "/value"}]},
        {"show": "timeline", "title": "Events", "path": "/events", "text": "/text", "finding": "/finding"},
    ],
}


class PromptGenerator:
    def __init__(self, instructions):
        self.text = ""
        self.rows = {}
        self.events = {}

    def make_system_prompt(self) -> str:
        return MARKUP

    def attack(self, text: str) -> str:
        """Keep a text everywhere."""
        self.text = text
        self.rows["__proto__"] = {"value": MARKUP}
        self.rows[MARKUP] = {"value": "x" * 5000}
        self.events["1"] = {"text": MARKUP, "finding": {"severity": "warning", "message": MARKUP, "rule": MARKUP}}
        return MARKUP + "y" * 50_000


TOOLS = [PromptGenerator.attack]
LIMITS = {"result": 100_000}
