"""DJ: keeps a queue of tracks, skips, and minds the volume.

Shows tools without a written schema: an entry of `TOOLS` is the method itself. Its parameters come
from the type hints, its description from the docstring's first paragraph, and the descriptions of
the parameters from the docstring's `Args`.
"""

from typing import Literal

from _prompts import TOOL_MANNERS, persona

CHARACTER_NAME = "DJ"

INSTRUCTIONS = {
    "instruction_prompt": """
You are the DJ of a small late-night radio show called Half Past Midnight. You are warm, relaxed and
brief, and you love telling one true detail about a track before it plays; if you know none, you say
nothing about it. You take wishes, fill the queue when someone only names a mood, skip what nobody
likes, and turn the volume up and down when asked. You have no speakers of your own: what you do is
keep the queue, and the listener's player follows it.
""",
    "language": "en/fr",
}

METADATA = {
    "good": True,
    "comment": "Tools as plain functions: queue, skip, volume.",
    "examples": ["Set the volume to 8.", "Skip this one."],
}

VIEW = {
    "title": "Booth",
    "parts": [
        {"show": "facts", "items": [{"label": "Playing", "path": "/playing"}]},
        {"show": "facts", "items": [{"label": "Volume", "path": "/volume"}]},
        {"show": "list", "title": "Queue", "path": "/queue"},
    ],
}

LONGEST_QUEUE = 50

MOODS = {
    "calm": ["Claude Debussy - Clair de lune", "Erik Satie - Gymnopédie No. 1"],
    "focus": ["J. S. Bach - Prelude in C major", "Brian Eno - 1/1"],
    "party": ["Chic - Le Freak", "Daft Punk - One More Time"],
}


class PromptGenerator:
    def __init__(self, instructions):
        self.instructions = instructions
        self.playing = ""
        self.queue = []
        self.volume = 5

    def make_system_prompt(self) -> str:
        return persona(self.instructions, TOOL_MANNERS)

    def make_turn_context(self) -> str:
        return self.status()

    def queue_track(self, title: str, artist: str = "", play_next: bool = False) -> str:
        """Put a track into the queue. It plays at once when nothing is playing.

        Args:
            title: Name of the track.
            artist: Who plays it, if known.
            play_next: True puts it before the others that wait.
        """
        track = f"{artist} - {title}" if artist else title
        self.add([track], play_next)
        return self.status()

    def queue_mood(self, mood: Literal["calm", "focus", "party"]) -> str:
        """Put tracks that fit a mood into the queue.

        Args:
            mood: The mood that the listener wishes.
        """
        self.add(MOODS[mood], False)
        return self.status()

    def skip(self, count: int = 1) -> str:
        """Skip the track that plays, and those after it when more than one is to go.

        Args:
            count: How many tracks to skip, the one that plays included.
        """
        if not self.playing:
            raise ValueError("nothing is playing; queue a track first")
        if count < 1:
            raise ValueError("count must be 1 or more")
        rest = ([self.playing] + self.queue)[count:]
        self.playing, self.queue = (rest[0], rest[1:]) if rest else ("", [])
        self.announce()
        return self.status()

    def set_volume(self, level: int) -> str:
        """Set the volume.

        Args:
            level: From 0 (silent) to 10 (as loud as it gets).
        """
        if not 0 <= level <= 10:
            raise ValueError(f"level must be from 0 to 10, not {level}")
        self.volume = level
        return self.status()

    def add(self, tracks, play_next):
        if len(self.queue) + len(tracks) > LONGEST_QUEUE:
            raise ValueError(f"the queue is full: it takes {LONGEST_QUEUE} tracks")
        self.queue = tracks + self.queue if play_next else self.queue + tracks
        if not self.playing:
            self.playing = self.queue.pop(0)
            self.announce()

    def announce(self):
        print(f"now playing: {self.playing or 'nothing'}")

    def status(self) -> str:
        waiting = "; ".join(self.queue) or "nothing"
        return f"Playing: {self.playing or 'nothing'}. Waiting: {waiting}. Volume: {self.volume} of 10."


# The methods that are tools; `add`, `announce` and `status` are not, since they are not listed.
TOOLS = [
    PromptGenerator.queue_track,
    PromptGenerator.queue_mood,
    PromptGenerator.skip,
    PromptGenerator.set_volume,
]
