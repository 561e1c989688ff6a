"""The variables of a character file: their types, their defaults, and what to write where one is wrong."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from callboard_host.channel import encode
from callboard_host.problems import Problems, SourceLines, did_you_mean
from callboard_host.state import NotJson, require_json
from callboard_host.view_check import faults_of_view

if TYPE_CHECKING:
    import types
    from collections.abc import Iterable

LANGUAGES = ("en", "fr", "en/fr", "fr/en")
REPLY = {"deliver_text": True, "ask_again": False, "confirm": False}
TOOLS_ONLY = {"deliver_text": False, "ask_again": True, "confirm": False}
TOOL_CHOICES = ("auto", "required")
TIMEOUT_MS = 100
MAX_TIMEOUT_MS = 600_000
LIMITS: dict[str, int | None] = {
    "tools": 10,
    "properties": 10,
    "enum": 10,
    "description": 200,
    "arguments": None,
    "result": None,
    "rounds": None,
}
MAX_LIMIT = 1_000_000


class VariableReader:
    """Reads the variables of a module, and reports each that is wrong."""

    def __init__(self, module: types.ModuleType, lines: SourceLines, problems: Problems, warnings: list[str]) -> None:
        self._names = vars(module)
        self._lines, self._problems, self._warnings = lines, problems, warnings

    def read(self) -> dict[str, Any]:
        """The manifest's entries for all variables but TOOLS."""
        self._reply_rules = self._reply()
        return {
            "name": self._name(),
            "voice": self._json(
                "VOICE_SOURCE", dict, 'write VOICE_SOURCE = {"source_type": "file", …}, or leave it out'
            ),
            "instructions": self._instructions(),
            "metadata": self._json("METADATA", dict, 'write METADATA = {"comment": "…"}, or leave it out'),
            "model": self._text("MODEL", 'write MODEL = "name-of-a-model", or leave it out'),
            "limits": self._limits(),
            "reply": self._reply_rules,
            "requires_call": self._tool_choice() == "required",
            "undo": self._undo(),
            "view": self._view(),
        }

    def timeouts(self, tool_names: set[str], names_are_final: bool) -> dict[str, Any]:
        """TOOL_TIMEOUT_MS as a default and exceptions by tool."""
        value = self._names.get("TOOL_TIMEOUT_MS")
        if value is None:
            return {"default_ms": TIMEOUT_MS, "by_tool": {}}
        if not isinstance(value, dict):
            return {"default_ms": self._milliseconds(value), "by_tool": {}}
        for name in value:
            if names_are_final and name not in tool_names:
                what = f"TOOL_TIMEOUT_MS names {name!r:.60}, which is no tool"
                remedy = "use the name of a tool, or remove it" + did_you_mean(name, tool_names)
                self._report("TOOL_TIMEOUT_MS", what, remedy, name)
        return {
            "default_ms": TIMEOUT_MS,
            "by_tool": {str(name): self._milliseconds(one, name) for name, one in value.items()},
        }

    def check_use_of_tools(self, has_tools: bool) -> None:
        """Warns of variables with which a character without tools has nothing to say or do, unless a client sends some."""
        if has_tools:
            return
        remedy = "list some in TOOLS, or leave it out"
        if self._names.get("TOOL_CHOICE") == "required":
            self._warnings.append(f"TOOL_CHOICE is 'required', and there are no tools to call; {remedy}")
        if not self._reply_rules["deliver_text"]:
            self._warnings.append(f"REPLY delivers no text, and there are no tools to act with; {remedy}")

    def _milliseconds(self, value: Any, *path: str | int) -> int | float:
        if type(value) in (int, float) and math.isfinite(value) and 0 < value <= MAX_TIMEOUT_MS:
            timeout: int | float = value
            return timeout
        allowed = f"a number above 0 and up to {MAX_TIMEOUT_MS}, or a dict of such by tool"
        what = f"TOOL_TIMEOUT_MS is {value!r:.60}; it must be {allowed}"
        self._report("TOOL_TIMEOUT_MS", what, "write TOOL_TIMEOUT_MS = 250, in milliseconds", *path)
        return TIMEOUT_MS

    def _name(self) -> str:
        value = self._required("CHARACTER_NAME", 'write CHARACTER_NAME = "Narrator"')
        if value is not None and (not isinstance(value, str) or not value.strip()):
            what = f"CHARACTER_NAME is {_shown(value)}; it must be text that is not empty"
            self._report("CHARACTER_NAME", what, 'write CHARACTER_NAME = "Narrator"')
        elif value is None and "CHARACTER_NAME" in self._names:
            self._report(
                "CHARACTER_NAME", "CHARACTER_NAME is None; it must be text", 'write CHARACTER_NAME = "Narrator"'
            )
        return value if isinstance(value, str) else ""

    def _instructions(self) -> Any:
        value = self._required("INSTRUCTIONS", 'write INSTRUCTIONS = {"instruction_prompt": "…", "language": "en"}')
        if "INSTRUCTIONS" in self._names and not isinstance(value, dict):
            what = f"INSTRUCTIONS is {_shown(value)}; it must be a dict"
            self._report("INSTRUCTIONS", what, 'write INSTRUCTIONS = {"instruction_prompt": "…"}')
        if not isinstance(value, dict):
            return {}
        language = value.get("language")
        if language is not None and language not in LANGUAGES:
            known = ", ".join(LANGUAGES)
            self._warnings.append(f"the language {language!r:.40} is not known; known are {known}")
        return _printable(value)

    def _limits(self) -> dict[str, int | None]:
        value = self._names.get("LIMITS")
        if value is None:
            return dict(LIMITS)
        if not isinstance(value, dict):
            self._report("LIMITS", f"LIMITS is {_shown(value)}; it must be a dict", 'write LIMITS = {"tools": 20}')
            return dict(LIMITS)
        limits = dict(LIMITS)
        for key, limit in value.items():
            if key not in LIMITS:
                self._report("LIMITS", f"LIMITS has the unknown key {key!r:.60}", _known(key, LIMITS), key)
            elif type(limit) is not int or not 0 < limit <= MAX_LIMIT:
                what = f"LIMITS[{key!r}] is {limit!r:.60}; it must be a whole number from 1 to {MAX_LIMIT}"
                self._report("LIMITS", what, f'write LIMITS = {{"{key}": 20}}', key)
            else:
                limits[key] = limit
        return limits

    def _reply(self) -> dict[str, bool]:
        value = self._names.get("REPLY")
        if value is None:
            return dict(REPLY)
        if value == "tools_only":
            return dict(TOOLS_ONLY)
        if not isinstance(value, dict):
            what = f"REPLY is {value!r:.60}; it must be 'tools_only' or a dict"
            self._report("REPLY", what, 'write REPLY = "tools_only", or leave it out for a character that talks')
            return dict(REPLY)
        reply = dict(REPLY)
        for key, choice in value.items():
            if key not in REPLY:
                self._report("REPLY", f"REPLY has the unknown key {key!r:.60}", _known(key, REPLY), key)
            elif not isinstance(choice, bool):
                what = f"REPLY[{key!r}] is {_shown(choice)}; it must be True or False"
                self._report("REPLY", what, f'write REPLY = {{"{key}": {not REPLY[key]}}}', key)
            else:
                reply[key] = choice
        return reply

    def _tool_choice(self) -> Any:
        value = self._names.get("TOOL_CHOICE", "auto")
        if value not in TOOL_CHOICES:
            what = f"TOOL_CHOICE is {value!r:.60}; it may be {' or '.join(map(repr, TOOL_CHOICES))}"
            self._report("TOOL_CHOICE", what, 'write TOOL_CHOICE = "required", or leave it out')
        return value

    def _undo(self) -> bool:
        value = self._names.get("UNDO", False)
        if not isinstance(value, bool):
            self._report("UNDO", f"UNDO is {_shown(value)}; it must be True or False", "write UNDO = True")
        return value is True

    def _text(self, name: str, remedy: str) -> str | None:
        value = self._names.get(name)
        if value is not None and (not isinstance(value, str) or not value.strip()):
            self._report(name, f"{name} is {_shown(value)}; it must be text that is not empty", remedy)
            return None
        text: str | None = value
        return text

    def _view(self) -> Any:
        view = self._json("VIEW", dict, 'write VIEW = {"title": "…", "parts": […]}, or leave it out')
        for path, what, remedy in faults_of_view(view) if view is not None else ():
            self._report("VIEW", what, remedy, *path)
        return view

    def _json(self, name: str, kind: type, remedy: str) -> Any:
        value = self._names.get(name)
        if value is None:
            return None
        if not isinstance(value, kind):
            self._report(name, f"{name} is {_shown(value)}; it must be a {kind.__name__}", remedy)
            return None
        try:
            require_json(value, name)
        except NotJson as error:
            what = f"{name} cannot be written as JSON: {error.path} is {error.found}"
            self._report(name, what, error.remedy)
            return None
        return value

    def _required(self, name: str, remedy: str) -> Any:
        if name not in self._names:
            self._problems.add("missing_attribute", None, f"{name} is missing", remedy)
        return self._names.get(name)

    def _report(self, name: str, what: str, remedy: str, *path: str | int) -> None:
        self._problems.add("invalid_value", self._lines.line(name, *path), what, remedy)


def _known(key: Any, keys: Iterable[str]) -> str:
    return "known are " + ", ".join(keys) + did_you_mean(key, keys)


def _shown(value: Any) -> str:
    """Empty text as it is, other values by their type."""
    return f"{value!r}" if isinstance(value, str) and not value.strip() else type(value).__name__


def _printable(value: Any) -> Any:
    """Instructions as JSON. What JSON cannot represent becomes text, since only the character itself uses it."""
    if isinstance(value, dict):
        return {str(key): _printable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_printable(item) for item in value]
    try:
        encode(value).encode("utf-8")
        return value
    except (TypeError, ValueError):
        return ascii(value)
