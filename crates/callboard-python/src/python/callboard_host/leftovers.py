"""What a call leaves in the interpreter, where the next conversation would find it: names, modules, variables, timers.

A worker that was changed is replaced by a fresh fork. What is inside objects of other kinds than these is not seen, nor
is a name of an imported module that gets another value.
"""

from __future__ import annotations

import builtins
import os
import re
import signal
import sys
import types
from collections import Counter
from typing import TYPE_CHECKING, Any

from callboard_host.imports import imported_now, imported_since, modules_named_by
from callboard_host.own_modules import CHARACTER_MODULE, is_below, own_modules, text_of
from callboard_host.references import CONTAINERS, is_held_alone

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

# Of larger tables only the sizes are compared: reading them at every call costs time, and copies shared memory.
_MAX_COMPARED = 2_000
_MAX_DEPTH = 20
# Only code with one of these words can change what it does not name. Reading all names and modules would cost other
# characters more than their calls.
_REACHING_ALL = frozenset(
    "builtins ctypes compile eval exec gc getattr globals import_module importlib inspect pickle runpy setattr sys vars "
    "__builtins__ __dict__ __globals__ __import__".split()
)
# Without these words, and without installed modules, code cannot change what they are about.
_REACHING_ENVIRONMENT = "chdir environ environb fchdir putenv unsetenv".split()
_REACHING_TIMERS = "alarm setitimer".split()
_WORD = re.compile(r"\w+")

# Where a module keeps which warnings it has shown.
_WARNINGS = "__warningregistry__"


class Leftovers:
    """Remembers the interpreter as it was when the file had been loaded."""

    def __init__(self, folder: str, source: str) -> None:
        self._folder = os.path.join(folder, "")
        own = own_modules(folder)
        self._words = Counter(_WORD.findall(source))
        for module in own:
            if module.__name__ != CHARACTER_MODULE:
                self._words.update(_words_of(module))
        self._reaches_all = self._has_any(_REACHING_ALL)
        self._builtins = dict(vars(builtins)) if self._reaches_all else {}
        self._builtin_count = len(vars(builtins))
        self._timers_reached = self._environment_reached = False
        self._environment: Any = vars(os.environ)["_data"]
        self._variables = dict(self._environment)
        self._current_folder = _current_folder()
        self._remember_modules()
        copies = _Copies(own, {} if self._reaches_all else self._words)
        self._compared = copies.live, copies.copies, copies.names
        self._function_attributes = copies.function_attributes
        self._attribute_count = sum(map(len, self._function_attributes))

    def find(self) -> str | None:
        """What the last call has changed."""
        if self._builtins_changed():
            return "builtins were changed"
        if self._environment_reached and self._environment_changed():
            return "the environment was changed"
        if self._timers_reached and signal.getitimer(signal.ITIMER_REAL)[0]:
            return "a timer was left running"
        if self._modules_changed():
            return self._examine_modules()
        return self._find_changed_variable()

    def _has_any(self, words: Iterable[str]) -> bool:
        return any(word in self._words for word in words)

    def _environment_changed(self) -> bool:
        return bool(self._environment != self._variables) or _current_folder() != self._current_folder

    def _builtins_changed(self) -> bool:
        now = vars(builtins)
        return now != self._builtins if self._reaches_all else len(now) != self._builtin_count

    def _modules_changed(self) -> bool:
        if self._reaches_all and sys.modules != self._modules or len(sys.modules) != self._module_count:
            return True
        return sum(map(len, self._namespaces)) != self._total_size

    def _find_changed_variable(self) -> str | None:
        if sum(map(len, self._function_attributes)) != self._attribute_count:
            return "a function's attributes were changed"
        live, copies, names = self._compared
        try:
            if live == copies:
                return None
            return next(name for one, copy, name in zip(live, copies, names) if one != copy) + " was changed"
        except Exception:
            return "a variable was changed to what cannot be compared"

    def _examine_modules(self) -> str | None:
        """Imports of installed modules do no harm, and are kept. Anything else that is new does."""
        for name, module in self._modules.items():
            if sys.modules.get(name) is not module:
                return f"the module {name} was replaced"
        added = {name: module for name, module in sys.modules.items() if name not in self._modules}
        for name, module in added.items():
            if not self._is_installed(module):
                return f"the module {name} was added"
        for namespace, size in zip(self._namespaces, self._sizes):
            if len(namespace) != size and not _has_only_gained(namespace, size, added):
                return f"the module {namespace.get('__name__')} was changed"
        self._remember_modules()
        return self._find_changed_variable()

    def _remember_modules(self) -> None:
        others = any(not is_below(module, self._folder) for module in imported_since().values())
        self._environment_reached = self._reaches_all or others or self._has_any(_REACHING_ENVIRONMENT)
        self._timers_reached = self._reaches_all or others or self._has_any(_REACHING_TIMERS)
        self._module_count = len(sys.modules)
        self._modules = dict(sys.modules) if self._reaches_all else imported_now()
        reached = self._modules.values() if self._reaches_all else modules_named_by(self._words)
        self._namespaces = [vars(module) for module in reached if isinstance(module, types.ModuleType)]
        self._sizes = list(map(len, self._namespaces))
        self._total_size = sum(self._sizes)

    def _is_installed(self, module: Any) -> bool:
        spec = getattr(module, "__spec__", None)
        return spec is not None and spec.loader is not None and not is_below(module, self._folder)


def _words_of(module: Any) -> Iterable[str]:
    """The words of a module's text; without it, those that reach all."""
    try:
        return _WORD.findall(text_of(module))
    except Exception:
        return _REACHING_ALL


def _has_only_gained(namespace: dict[str, Any], size: int, modules: dict[str, Any]) -> bool:
    """Whether a package has nothing new but modules of its own that were imported."""
    package = str(namespace.get("__name__")) + "."
    new = [(name, value) for name, value in list(namespace.items())[size:] if name != _WARNINGS]
    return len(namespace) > size and all(modules.get(package + name) is value for name, value in new)


def _current_folder() -> str:
    try:
        return os.getcwd()
    except OSError:
        return ""


class _Copies:
    """Copies of what modules contain, up to a number of values."""

    def __init__(self, modules: list[Any], mentions: dict[str, int]) -> None:
        self._mentions = mentions
        self._left = _MAX_COMPARED
        self.live: list[Any] = []
        self.copies: list[Any] = []
        self.names: list[str] = []
        self.function_attributes: list[dict[str, Any]] = []
        own = {module.__name__ for module in modules}
        for module in modules:
            vars(module).setdefault(_WARNINGS, {})
            self._add(vars(module), module.__name__, self._copy_namespace)
            for name, value in list(vars(module).items()):
                if name[:2] != "__" and getattr(value, "__module__", None) in own:
                    self._add_parts(value, f"{module.__name__}.{name}")

    def _add_parts(self, value: Any, name: str) -> None:
        if isinstance(value, types.FunctionType):
            self.function_attributes.append(value.__dict__)
            for defaults in (value.__defaults__ or (), (value.__kwdefaults__ or {}).values()):
                for default in defaults:
                    if type(default) in CONTAINERS:
                        self._add(default, name)
        elif isinstance(value, type):
            self._add(vars(value), name)
            for part in list(vars(value).values()):
                if isinstance(part, types.FunctionType):
                    self._add_parts(part, f"{name}.{part.__name__}")
        elif isinstance(getattr(value, "__dict__", None), dict):
            self._add(vars(value), name)

    def _add(self, live: Any, name: str, copy: Callable[[Any], Any] | None = None) -> None:
        self.live.append(live)
        self.copies.append(copy(live) if copy else self._copy(live, 0))
        self.names.append(name)

    def _copy_namespace(self, namespace: dict[str, Any]) -> Any:
        """A module's variables. What is inside one that no other code mentions cannot change, so it is not copied; the
        builtins are compared for themselves.
        """
        constants = {name: namespace[name] for name in namespace if self._is_constant(namespace, name)}
        others = {name: value for name, value in namespace.items() if name not in constants}
        return {**constants, **self._copy(others, 0)}

    def _is_constant(self, namespace: dict[str, Any], name: str) -> bool:
        if name == "__builtins__":
            return True
        is_container = type(namespace[name]) in CONTAINERS
        return is_container and self._mentions.get(name) == 1 and is_held_alone(namespace, name)

    def _copy(self, value: Any, depth: int) -> Any:
        if type(value) not in CONTAINERS:
            return value
        self._left -= len(value)
        if self._left < 0 or depth > _MAX_DEPTH:
            return _Size(len(value))
        if isinstance(value, (list, tuple, set)):
            return type(value)(self._copy(item, depth + 1) for item in value)
        return {key: _ANYTHING if key == _WARNINGS else self._copy(item, depth + 1) for key, item in value.items()}


class _Anything:
    """Equals everything."""

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None  # type: ignore[assignment]


_ANYTHING = _Anything()


class _Size:
    """Equals what is of this size."""

    def __init__(self, size: int) -> None:
        self._size = size

    def __eq__(self, other: object) -> bool:
        return len(other) == self._size  # type: ignore[arg-type]

    __hash__ = None  # type: ignore[assignment]
