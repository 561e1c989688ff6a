"""Quiz Show: a board of topics and points, and a host who does not flatter.

Shows tools that keep a secret and a score. The model never sees an answer before it is judged:
it asks for the question, passes on what the user said, and gets the verdict.
"""

import re
import unicodedata

from _prompts import TOOL_MANNERS, persona
from _quiz_questions import QUESTIONS

CHARACTER_NAME = "Quiz Show"

INSTRUCTIONS = {
    "instruction_prompt": """
You are the host of a quiz show: quick, dry, a little snarky, never cruel. Greet the contestant, name
the topics, and let them pick a topic and 100 to 500 points. Get the question with ask_question and
read it out word for word. Whatever the contestant answers goes to check_answer, as they said it; that
tool is the judge, not you. A contestant who passes gets check_answer with "pass". Comment the verdict
in one sentence, say the score, and ask for the next pick. Never make up questions of your own, and
give no hints. After five questions, or when the contestant has had enough, announce the final score
and end with "Bye!".
""",
    "language": "en",
}

METADATA = {"good": True, "comment": "Forty questions; the score is kept as state."}

POINTS = [100, 200, 300, 400, 500]

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "ask_question",
            "description": "Open the question at a place of the board. Returns the question to read out.",
            "parameters": {
                "type": "object",
                "properties": {
                    "topic": {"type": "string", "enum": list(QUESTIONS), "description": "The topic picked"},
                    "points": {"type": "integer", "enum": POINTS, "description": "The points picked: more is harder"},
                },
                "required": ["topic", "points"],
            },
        },
    },
    {
        "type": "function",
        "function": {
            "name": "check_answer",
            "description": "Judge the contestant's answer to the open question and keep the score.",
            "parameters": {
                "type": "object",
                "properties": {
                    "answer": {"type": "string", "description": "What the contestant said, or 'pass'", "maxLength": 200},
                },
                "required": ["answer"],
            },
        },
    },
]


class PromptGenerator:
    def __init__(self, instructions):
        self.instructions = instructions
        self.score = 0
        self.right = 0
        self.taken = []  # places of the board that are gone, such as "history 300"
        self.open = {}  # the question that waits for an answer: its topic and points

    def make_system_prompt(self) -> str:
        topics = "The topics are: " + ", ".join(QUESTIONS) + "."
        return persona(self.instructions, topics, TOOL_MANNERS)

    def make_turn_context(self) -> str:
        waiting = f" Waiting for an answer to {place(**self.open)}." if self.open else ""
        gone = ", ".join(self.taken) or "nothing"
        return f"Score: {self.score}; {self.right} right of {len(self.taken)} asked. Gone from the board: {gone}.{waiting}"

    def ask_question(self, topic, points):
        if self.open:
            raise ValueError(f"{place(**self.open)} is still open; call check_answer first")
        if place(topic, points) in self.taken:
            raise ValueError(f"{place(topic, points)} is gone; let the contestant pick another place")
        self.taken.append(place(topic, points))
        self.open = {"topic": topic, "points": points}
        question, _ = question_at(topic, points)
        return f"{topic.capitalize()} for {points}: {question}"

    def check_answer(self, answer):
        if not self.open:
            raise ValueError("no question is open; call ask_question first")
        points = self.open["points"]
        _, accepted = question_at(**self.open)
        self.open = {}
        if is_right(answer, accepted):
            self.score += points
            self.right += 1
            return f"Right, for {points} points. The answer: {accepted[0]}. Score: {self.score}."
        return f"Wrong, no points. The answer: {accepted[0]}. Score: {self.score}."


def place(topic, points):
    return f"{topic} {points}"


def question_at(topic, points):
    return QUESTIONS[topic][POINTS.index(points)]


def is_right(answer, accepted):
    """An answer is right when it holds an accepted one as whole words: "I'd say the Titanic!"."""
    said = f" {words(answer)} "
    return any(f" {words(one)} " in said for one in accepted)


def words(text):
    """Lower case, without accents and punctuation, one space between words."""
    without_accents = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return " ".join(re.findall("[a-z0-9]+", without_accents.lower()))
