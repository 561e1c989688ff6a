"""The variables of a character file: which there are, of what type, and what to write where one is wrong."""

import math

from callboard_host.state import NotPlain, require_plain
from callboard_host.wire import encode

LANGUAGES = ("en", "fr", "en/fr", "fr/en")
REPLIES = ("tools_only",)
TOOL_CHOICES = ("auto", "required")
TIMEOUT_MS = 100
TIMEOUT_MS_AT_MOST = 600_000
LIMITS = {
    "tools": 10,
    "properties": 10,
    "enum": 10,
    "description": 200,
    "arguments": None,
    "result": None,
    "rounds": None,
}
LIMIT_AT_MOST = 1_000_000


class Attributes:
    """Reads the variables of a module, and reports each that is wrong."""

    def __init__(self, module, places, problems, warnings):
        self._names = vars(module)
        self._places, self._problems, self._warnings = places, problems, warnings

    def read(self):
        """Everything but TOOLS and PromptGenerator, as it goes into the manifest."""
        return {
            "name": self._name(),
            "voice": self._plain(
                "VOICE_SOURCE", dict, 'write VOICE_SOURCE = {"source_type": "file", …}, or leave it out'
            ),
            "instructions": self._instructions(),
            "metadata": self._plain("METADATA", dict, 'write METADATA = {"comment": "…"}, or leave it out'),
            "model": self._text("MODEL", 'write MODEL = "name-of-a-model", or leave it out'),
            "limits": self._limits(),
            "reply": self._reply(),
            "requires_call": self._tool_choice() == "required",
            "undo": self._undo(),
            "view": self._plain("VIEW", (dict, list), "describe the view with dicts, lists and text, or leave it out"),
        }

    def timeouts(self, tool_names, names_are_final):
        """TOOL_TIMEOUT_MS as a default and exceptions by tool."""
        value = self._names.get("TOOL_TIMEOUT_MS")
        if value is None:
            return {"default_ms": TIMEOUT_MS, "by_tool": {}}
        if not isinstance(value, dict):
            return {"default_ms": self._milliseconds(value), "by_tool": {}}
        for name in value:
            if names_are_final and name not in tool_names:
                what = "TOOL_TIMEOUT_MS names %r, which is no tool" % (name,)
                self._report("invalid_value", what, "use the name of a tool, or remove it", name)
        return {
            "default_ms": TIMEOUT_MS,
            "by_tool": {str(name): self._milliseconds(one, name) for name, one in value.items()},
        }

    def _milliseconds(self, value, *path):
        if _is_number(value) and 0 < value <= TIMEOUT_MS_AT_MOST:
            return value
        what = "TOOL_TIMEOUT_MS is %.60r; it must be a number above 0 and up to %d, or a dict of such by tool" % (
            value,
            TIMEOUT_MS_AT_MOST,
        )
        self._report(
            "invalid_value", what, "write TOOL_TIMEOUT_MS = 250, in milliseconds", *path, name="TOOL_TIMEOUT_MS"
        )
        return TIMEOUT_MS

    def _name(self):
        value = self._required("CHARACTER_NAME", 'write CHARACTER_NAME = "Narrator"')
        if value is not None and (not isinstance(value, str) or not value.strip()):
            what = "CHARACTER_NAME is %s; it must be text that is not empty" % _shown(value)
            self._report("invalid_value", what, 'write CHARACTER_NAME = "Narrator"')
        elif value is None and "CHARACTER_NAME" in self._names:
            self._report(
                "invalid_value", "CHARACTER_NAME is None; it must be text", 'write CHARACTER_NAME = "Narrator"'
            )
        return value if isinstance(value, str) else ""

    def _instructions(self):
        value = self._required("INSTRUCTIONS", 'write INSTRUCTIONS = {"instruction_prompt": "…", "language": "en"}')
        if "INSTRUCTIONS" in self._names and not isinstance(value, dict):
            what = "INSTRUCTIONS is %s; it must be a dict" % _shown(value)
            self._report("invalid_value", what, 'write INSTRUCTIONS = {"instruction_prompt": "…"}')
        if not isinstance(value, dict):
            return {}
        language = value.get("language")
        if language is not None and language not in LANGUAGES:
            known = ", ".join(LANGUAGES)
            self._warnings.append("the language %.40r is not known; known are %s" % (language, known))
        return _printable(value)

    def _limits(self):
        value = self._names.get("LIMITS")
        if value is None:
            return dict(LIMITS)
        if not isinstance(value, dict):
            self._report(
                "invalid_value",
                "LIMITS is %s; it must be a dict" % _shown(value),
                'write LIMITS = {"tools": 20}',
                name="LIMITS",
            )
            return dict(LIMITS)
        limits = dict(LIMITS)
        for key, limit in value.items():
            if key not in LIMITS:
                self._report(
                    "invalid_value",
                    "LIMITS has the unknown key %r" % (key,),
                    "known are " + ", ".join(LIMITS),
                    key,
                    name="LIMITS",
                )
            elif type(limit) is not int or not 0 < limit <= LIMIT_AT_MOST:
                what = "LIMITS[%r] is %.60r; it must be a whole number from 1 to %d" % (key, limit, LIMIT_AT_MOST)
                self._report("invalid_value", what, 'write LIMITS = {"%s": 20}' % key, key, name="LIMITS")
            else:
                limits[key] = limit
        return limits

    def _reply(self):
        value = self._names.get("REPLY")
        if value is not None and value not in REPLIES:
            what = "REPLY is %.60r; it may be %s" % (value, " or ".join(map(repr, REPLIES)))
            self._report(
                "invalid_value",
                what,
                'write REPLY = "tools_only", or leave it out for a character that talks',
                name="REPLY",
            )
            return None
        return value

    def _tool_choice(self):
        value = self._names.get("TOOL_CHOICE", "auto")
        if value not in TOOL_CHOICES:
            what = "TOOL_CHOICE is %.60r; it may be %s" % (value, " or ".join(map(repr, TOOL_CHOICES)))
            self._report("invalid_value", what, 'write TOOL_CHOICE = "required", or leave it out', name="TOOL_CHOICE")
        return value

    def _undo(self):
        value = self._names.get("UNDO", False)
        if not isinstance(value, bool):
            self._report(
                "invalid_value",
                "UNDO is %s; it must be True or False" % _shown(value),
                "write UNDO = True",
                name="UNDO",
            )
        return value is True

    def _text(self, name, remedy):
        value = self._names.get(name)
        if value is not None and (not isinstance(value, str) or not value.strip()):
            self._report(
                "invalid_value",
                "%s is %s; it must be text that is not empty" % (name, _shown(value)),
                remedy,
                name=name,
            )
            return None
        return value

    def _plain(self, name, kinds, remedy):
        value = self._names.get(name)
        if value is None:
            return None
        if not isinstance(value, kinds):
            wanted = "a dict" if kinds is dict else "a dict or a list"
            self._report("invalid_value", "%s is %s; it must be %s" % (name, _shown(value), wanted), remedy, name=name)
            return None
        try:
            require_plain(value, name)
        except NotPlain as error:
            what = "%s cannot be written as JSON: %s is %s" % (name, error.path, error.found)
            self._report("invalid_value", what, error.remedy, name=name)
            return None
        return value

    def _required(self, name, remedy):
        if name not in self._names:
            self._problems.add("missing_attribute", None, "%s is missing" % name, remedy)
        return self._names.get(name)

    def _report(self, kind, what, remedy, *path, name=None):
        name = name or what.split(" ", 1)[0]
        self._problems.add(kind, self._places.line(name, *path), what, remedy)


def _is_number(value):
    return type(value) in (int, float) and math.isfinite(value)


def _shown(value):
    """A value as an author recognises it: empty text as itself, others by their type."""
    return "%r" % value if isinstance(value, str) and not value.strip() else type(value).__name__


def _printable(value):
    """Instructions as JSON; what JSON cannot hold is shown as text, since only the character itself uses it."""
    if isinstance(value, dict):
        return {str(key): _printable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_printable(item) for item in value]
    try:
        encode(value).encode("utf-8")
        return value
    except (TypeError, ValueError):
        return ascii(value)
