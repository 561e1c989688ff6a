"""What a client asks for is a plan: the replies that the scripted model gives in this turn, written into the user's message.

So the model servers keep nothing between requests: any of them can give any step, also after a restart.
"""

import json
from typing import Any, Optional

MARK = "plan:"
ECHO = "(the results)"


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "arguments": json.dumps(arguments)}


def step(text: str = "", calls: Optional[list] = None, pause: float = 0.0) -> dict[str, Any]:
    """One reply of the model; `pause` is the time in seconds between its pieces."""
    return {"text": text, "calls": calls or [], "pause": pause}


def written(steps: list[dict]) -> str:
    return MARK + json.dumps(steps)


def text_of(message: dict) -> str:
    content = message.get("content") or ""
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def next_step(messages: list[dict]) -> dict:
    """The step that is due: as many were given as there are assistant messages behind the plan."""
    places = [place for place, message in enumerate(messages) if message["role"] == "user" and text_of(message).startswith(MARK)]
    if not places:
        return step("There is no plan.")
    steps = json.loads(text_of(messages[places[-1]])[len(MARK):])
    turn = messages[places[-1]:]
    given = sum(message["role"] == "assistant" for message in turn)
    due = steps[given] if given < len(steps) else step("That was all.")
    return {**due, "text": results(turn) if due["text"] == ECHO else due["text"]}


def results(turn: list[dict]) -> str:
    """Each result on a line of its own."""
    return "".join("\n" + text_of(message) for message in turn if message["role"] == "tool")
