"""The state of a conversation: the attributes that a character sets on `self`, captured and restored as plain JSON."""

from __future__ import annotations

import copy
import datetime
import enum
import marshal
import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_DEPTH = 100

# The key of a state that lists the deleted attributes of the constructor. No attribute is stored under this name.
_DELETED = "_deleted"

_SCALARS = frozenset((str, int, bool, type(None)))


class NotJson(Exception):
    """A value that JSON cannot represent: where it is, what it is, and what to store instead."""

    def __init__(self, path: str, found: str, remedy: str) -> None:
        super().__init__(f"{path} is {found}; {remedy}")
        self.path, self.found, self.remedy = path, found, remedy


def copier(value: Any) -> Callable[[], Any]:
    """A function that makes copies of a value, fast where it consists of built-in types."""
    if type(value) in _SCALARS:
        return lambda: value
    try:
        packed = marshal.dumps(value)
    except ValueError:
        pristine = copy.deepcopy(value)
        return lambda: copy.deepcopy(pristine)
    return lambda: marshal.loads(packed)


class StateCodec:
    """Makes instances of a PromptGenerator from states, and states from instances."""

    def __init__(self, generator: Any, instructions: dict[Any, Any]) -> None:
        self.generator = generator
        self._copy_instructions = copier(instructions)
        self._instructions = self._copy_instructions()
        self._constructed: list[str] = []

    def restore(self, state: dict[str, Any] | None) -> Any:
        """A new instance with the state on top of what the constructor sets, and without deleted attributes."""
        instance = self.generator(self._copy_instructions())
        attributes = getattr(instance, "__dict__", None)
        if attributes is None:
            return instance
        self._constructed = list(attributes)
        if state:
            deleted = state.pop(_DELETED, ())
            attributes.update(state)
            for name in deleted:
                attributes.pop(name, None)
        return instance

    def capture(self, instance: Any) -> dict[str, Any]:
        """The state of the last restored instance: its public attributes, except unchanged INSTRUCTIONS.

        Raises NotJson where JSON cannot represent one.
        """
        state: dict[str, Any] = {}
        attributes = getattr(instance, "__dict__", {})
        for name, value in attributes.items():
            if name[0] == "_" or type(value) is dict and value == self._instructions:
                continue
            if type(value) not in _SCALARS:
                require_json(value, "self." + name)
            state[name] = value
        for name in self._constructed:
            if name not in attributes and name[0] != "_":
                state.setdefault(_DELETED, []).append(name)
        if _DELETED in state:
            state[_DELETED].sort()
        return state


def require_json(value: Any, path: str, depth: int = 0) -> None:
    """Raises NotJson unless the value consists of dict, list, str, int, float, bool and None alone."""
    kind = type(value)
    if kind in _SCALARS:
        return
    if kind is float:
        if not math.isfinite(value):
            raise NotJson(path, repr(value), "keep None or a finite number instead")
    elif depth == MAX_DEPTH:
        raise NotJson(path, f"nested deeper than {MAX_DEPTH} levels", "keep it flatter, and without loops")
    elif kind is list:
        for index, item in enumerate(value):
            if type(item) not in _SCALARS:
                require_json(item, f"{path}[{index}]", depth + 1)
    elif kind is dict:
        for key, item in value.items():
            if type(key) is not str:
                raise NotJson(path, f"a dict with the key {key!r:.60}", "use text as keys, such as str(key)")
            if type(item) not in _SCALARS:
                require_json(item, f"{path}[{key!r}]", depth + 1)
    else:
        raise NotJson(path, _with_article(kind.__name__), _remedy(value))


def require_utf8(value: Any, path: str) -> None:
    """Raises NotJson at the first text that UTF-8 cannot encode."""
    if isinstance(value, str):
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            raise NotJson(path, "text with half of a surrogate pair", "keep whole characters only") from None
    elif isinstance(value, list):
        for index, item in enumerate(value):
            require_utf8(item, f"{path}[{index}]")
    elif isinstance(value, dict):
        for key, item in value.items():
            require_utf8(key, path)
            require_utf8(item, f"{path}[{key!r}]")


def _with_article(name: str) -> str:
    return ("an " if name[:1] in "aeiouAEIOU" else "a ") + name


def _remedy(value: Any) -> str:
    """What to store instead of a value that JSON cannot represent."""
    if isinstance(value, enum.Enum):
        return "keep its .value"
    if isinstance(value, tuple):
        return "keep a list: list(...)"
    if isinstance(value, (set, frozenset)):
        return "keep a list: sorted(...)"
    if isinstance(value, dict):
        return "keep a plain dict: dict(...)"
    if isinstance(value, (bytes, bytearray)):
        return "keep text: .decode()"
    if isinstance(value, (datetime.date, datetime.time)):
        return "keep text: .isoformat()"
    if isinstance(value, (str, int, float, list)):
        return f"keep the plain {next(plain for plain in (str, int, float, list) if isinstance(value, plain)).__name__}"
    return "keep its values as dict, list, str, int, float, bool or None, or give the attribute a leading underscore"
