"""Shared parts of the cast's system prompts.

The leading underscore makes this file a helper: Callboard does not take it for a character, and
every character in this folder can import it. A prompt is plain text, put together from paragraphs;
nothing goes through `str.format`, so braces in a prompt are just braces.
"""

from datetime import datetime

LANGUAGES = {
    "en": "Speak English.",
    "fr": "Parle français.",
    "en/fr": "Speak English, unless the user speaks French; then answer in French.",
    "fr/en": "Parle français, sauf si l'utilisateur parle anglais ; réponds alors en anglais.",
}

STYLE = (
    "Your words may be read aloud. Answer in one to four short sentences of plain text: no lists, "
    "no headings, no emoji, no stage directions. Ask at most one question at a time."
)

LISTENING = (
    "What the user says may come from a speech recogniser. If a word makes no sense, guess the one "
    "that sounds like it; if you cannot guess, ask in one short sentence. A message that is only "
    "\"...\" means that the user was silent: say something short to go on. After three of them in a "
    "row, say goodbye."
)

TOOL_MANNERS = (
    "When a tool fits, call it; never write a call as text, and never claim that you did something "
    "a tool did not confirm. Do not talk about tools to the user. A result that begins with "
    "\"Error: \" says what was wrong: correct the call and try once more, or tell the user plainly "
    "what did not work."
)

DAYS = {
    "en": ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"],
    "fr": ["lundi", "mardi", "mercredi", "jeudi", "vendredi", "samedi", "dimanche"],
}

MONTHS = {
    "en": ["January", "February", "March", "April", "May", "June", "July", "August", "September",
           "October", "November", "December"],
    "fr": ["janvier", "février", "mars", "avril", "mai", "juin", "juillet", "août", "septembre",
           "octobre", "novembre", "décembre"],
}


def paragraphs(*parts: str) -> str:
    """Joins the parts that are not empty, with a blank line between them."""
    return "\n\n".join(part.strip() for part in parts if part and part.strip())


def language_line(language) -> str:
    """The sentence that says which language to speak; without a known one, the user's."""
    return LANGUAGES.get(language, "Speak the language of the user.")


def persona(instructions: dict, *more: str) -> str:
    """A whole system prompt: who the character is, then the manners that the cast shares."""
    return paragraphs(
        instructions["instruction_prompt"],
        *more,
        STYLE,
        LISTENING,
        language_line(instructions.get("language")),
    )


def date_and_time(language="en", now=None) -> str:
    """Now, in words, by the clock of the machine: "Saturday 1 March 2025, 09:05"."""
    now = now or datetime.now()
    day, month = DAYS[language][now.weekday()], MONTHS[language][now.month - 1]
    return f"{day} {now.day} {month} {now.year}, {now:%H:%M}"
