"""Plain: one tool without output or state, to measure the minimal cost of a call."""

CHARACTER_NAME = "Plain"
INSTRUCTIONS = {"instruction_prompt": "You note events."}

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "note_event",
            "description": "Note an event.",
            "parameters": {
                "type": "object",
                "properties": {
                    "event": {"type": "string", "description": "What happened"},
                    "importance": {"type": "string", "enum": ["low", "medium", "high"], "default": "medium"},
                    "count": {"type": "integer", "minimum": 1, "default": 1, "description": "How often"},
                },
                "required": ["event"],
            },
        },
    }
]


class PromptGenerator:
    def __init__(self, instructions):
        self._instructions = instructions

    def make_system_prompt(self) -> str:
        return self._instructions["instruction_prompt"]

    def handle_tool_call(self, tool_name: str, tool_input: dict) -> str:
        if tool_name == "note_event":
            return f"Noted: {tool_input['event']} ({tool_input.get('importance', 'medium')})"
        raise ValueError(f"Unknown tool: {tool_name}")
