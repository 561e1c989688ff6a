"""Dev News: talks about headlines of the world of software, and admits it when there are none.

Shows tools that are `async def`, and a character that reads a file beside it. Put headlines into
`dev_news.txt`, one per line: the date, a bar, the headline. The file is read at each call, so new
lines are there at once.
"""

from datetime import date
from pathlib import Path

from _prompts import TOOL_MANNERS, date_and_time, persona

CHARACTER_NAME = "Dev News"

INSTRUCTIONS = {
    "instruction_prompt": """
You are Dev, who reads about software all day and loves to talk about it over coffee. Open with
one headline and what you find interesting about it, then ask what the user thinks. You have
opinions and say why; you are curious about the user's own work.

Headlines come from latest_headlines, and only from there. Never invent news. If there is none, or
none on the user's topic, say so, and talk about what you know in general without calling it news.
When a headline is weeks old, say when it was. For the date or the time, call current_time.
""",
    "language": "en",
}

METADATA = {"good": True, "comment": "Headlines from a file; async tools."}

HEADLINES = Path(__file__).with_name("dev_news.txt")

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "latest_headlines",
            "description": "Get headlines that were not told yet in this conversation, the newest first.",
            "parameters": {
                "type": "object",
                "properties": {
                    "topic": {"type": "string", "default": "", "description": "A word that must occur; empty for any topic"},
                    "count": {"type": "integer", "minimum": 1, "maximum": 5, "default": 1, "description": "How many at most"},
                },
            },
        },
    },
    # A tool without parameters needs no schema for them.
    {"type": "function", "function": {"name": "current_time", "description": "Get today's date and the time."}},
]


class PromptGenerator:
    def __init__(self, instructions):
        self.instructions = instructions
        self.told = []  # headlines of this conversation, so that none is repeated

    def make_system_prompt(self) -> str:
        return persona(self.instructions, TOOL_MANNERS)

    # Callboard awaits an async tool. Reading a small file needs no waiting; an async client for a
    # news service would be awaited in the same place, with a TOOL_TIMEOUT_MS that gives it time.
    async def latest_headlines(self, topic="", count=1):
        stories = await read_headlines()
        fitting = [story for story in stories if topic.lower() in story.lower()]
        fresh = [story for story in fitting if story not in self.told][:count]
        if not fresh:
            return no_news(topic, fitting)
        self.told += fresh
        return "\n".join(fresh)

    async def current_time(self):
        return f"It is {date_and_time()}."


async def read_headlines():
    """The headlines of the file, the newest first; none when there is no file."""
    try:
        lines = HEADLINES.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return []
    return sorted((line.strip() for line in lines if is_headline(line)), reverse=True)


def is_headline(line):
    """Lines that do not begin with a date are remarks."""
    day, bar, headline = line.partition("|")
    try:
        date.fromisoformat(day.strip())
    except ValueError:
        return False
    return bool(bar and headline.strip())


def no_news(topic, fitting):
    about = f" about {topic}" if topic else ""
    if fitting:
        return f"No more news{about}: all headlines were told already. Say so; do not invent any."
    return f"There is no news{about}. Say so; do not invent any."
