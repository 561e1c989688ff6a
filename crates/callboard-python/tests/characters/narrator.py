"""A character as its format has always been: TOOLS, and one handler with a branch for each tool."""

CHARACTER_NAME = "Narrator"
VOICE_SOURCE = {"source_type": "file", "path_on_server": "voices/narrator.wav"}
INSTRUCTIONS = {"instruction_prompt": "Tell a story.", "language": "en"}
METADATA = {"good": True, "comment": None, "season": 2}
TOOL_TIMEOUT_MS = 10_000

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "log_story_event",
            "description": "Log an important narrative event to the terminal",
            "parameters": {
                "type": "object",
                "properties": {
                    "event": {"type": "string", "description": "What happened"},
                    "importance": {"type": "string", "enum": ["low", "medium", "high"], "default": "medium"},
                },
                "required": ["event"],
            },
        },
    }
]


class PromptGenerator:
    def __init__(self, instructions):
        self.instructions = instructions

    def make_system_prompt(self) -> str:
        return self.instructions["instruction_prompt"]

    def handle_tool_call(self, tool_name: str, tool_input: dict) -> str:
        if tool_name == "log_story_event":
            print("[%s] %s" % (tool_input["importance"].upper(), tool_input["event"]))
            return "Logged: " + tool_input["event"]
        raise ValueError("Unknown tool: " + tool_name)
