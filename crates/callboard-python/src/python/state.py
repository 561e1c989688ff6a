"""The state of one conversation: what a character keeps on `self`, taken from it and put back as plain JSON."""

import copy
import datetime
import enum
import marshal
import math

DEPTH_AT_MOST = 100

# Where a state says which attributes of the constructor the character has deleted. No attribute is kept under this name.
_DELETED = "_deleted"

_PLAIN = frozenset((str, int, bool, type(None)))


class NotPlain(Exception):
    """A value that JSON cannot hold. `path` says where it is, `found` what it is, `remedy` what to keep instead."""

    def __init__(self, path, found, remedy):
        super().__init__("%s is %s; %s" % (path, found, remedy))
        self.path, self.found, self.remedy = path, found, remedy


def copier(value):
    """A function that makes fresh copies of a value: quickly where it is made of Python's own types."""
    try:
        packed = marshal.dumps(value)
    except ValueError:
        pristine = copy.deepcopy(value)
        return lambda: copy.deepcopy(pristine)
    return lambda: marshal.loads(packed)


class Keeper:
    """Makes instances of a PromptGenerator that hold a given state, and reads the state back."""

    def __init__(self, generator, instructions):
        self._generator = generator
        self._copy = copier(instructions)
        self._pristine = self._copy()
        self._constructed = ()

    def make(self, state):
        """An instance as its constructor leaves it, or, where a state is given, with that state on top: what a newer
        constructor adds is there, and what the character deleted is not."""
        instance = self._generator(self._copy())
        attributes = getattr(instance, "__dict__", None)
        if attributes is None:
            return instance
        self._constructed = [name for name in attributes if name[0] != "_"]
        for name, value in (state or {}).items():
            if name != _DELETED:
                attributes[name] = value
        for name in (state or {}).get(_DELETED, ()):
            attributes.pop(name, None)
        return instance

    def collect(self, instance):
        """The public attributes of the last instance made that differ from INSTRUCTIONS, and which of the constructor's
        are gone. Raises NotPlain where JSON cannot hold one."""
        state = {}
        attributes = getattr(instance, "__dict__", {})
        for name, value in attributes.items():
            if name[0] == "_" or type(value) is dict and self._is_instructions(value):
                continue
            if type(value) not in _PLAIN:
                require_plain(value, "self." + name)
            state[name] = value
        deleted = sorted(name for name in self._constructed if name not in attributes)
        if deleted:
            state[_DELETED] = deleted
        return state

    def _is_instructions(self, value):
        return type(value) is dict and value == self._pristine


def require_plain(value, path, depth=0):
    """Raises NotPlain unless the value is made of dict, list, str, int, float, bool and None alone."""
    kind = type(value)
    if kind in _PLAIN:
        return
    if kind is float:
        if not math.isfinite(value):
            raise NotPlain(path, repr(value), "keep None or a finite number instead")
    elif depth == DEPTH_AT_MOST:
        raise NotPlain(path, "nested deeper than %d levels" % DEPTH_AT_MOST, "keep it flatter, and without loops")
    elif kind is list:
        for index, item in enumerate(value):
            if type(item) not in _PLAIN:
                require_plain(item, "%s[%d]" % (path, index), depth + 1)
    elif kind is dict:
        for key, item in value.items():
            if type(key) is not str:
                raise NotPlain(path, "a dict with the key %.60r" % (key,), "use text as keys, such as str(key)")
            if type(item) not in _PLAIN:
                require_plain(item, "%s[%r]" % (path, key), depth + 1)
    else:
        raise NotPlain(path, _an(kind.__name__), _remedy(value))


def require_text(value, path):
    """Raises NotPlain at the first text that UTF-8 cannot hold."""
    if isinstance(value, str):
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            raise NotPlain(path, "text with half of a surrogate pair", "keep whole characters only") from None
    elif isinstance(value, list):
        for index, item in enumerate(value):
            require_text(item, "%s[%d]" % (path, index))
    elif isinstance(value, dict):
        for key, item in value.items():
            require_text(key, path)
            require_text(item, "%s[%r]" % (path, key))


def _an(name):
    return ("an " if name[:1] in "aeiouAEIOU" else "a ") + name


def _remedy(value):
    """What to keep instead of a value that is not plain."""
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
        return (
            "keep the plain %s" % next(plain for plain in (str, int, float, list) if isinstance(value, plain)).__name__
        )
    return "keep its values as dict, list, str, int, float, bool or None, or give the attribute a leading underscore"
