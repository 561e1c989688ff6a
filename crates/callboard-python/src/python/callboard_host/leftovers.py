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
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

# Of larger tables only the sizes are compared: reading them at every call costs time, and copies shared memory.
_MAX_COMPARED = 2_000
_MAX_DEPTH = 20
# Only code with one of these words can change what it does not name. Reading all names and modules would cost other
# characters more than their calls.
_REACHING_ALL = frozenset(
    "builtins ctypes compile eval exec gc getattr globals import_module importlib inspect pickle runpy setattr sys vars "
    "__builtins__ __dict__ __globals__ __import__".split()
)
_WORD = re.compile(r"\w+")

# Where a module keeps which warnings it has shown.
_WARNINGS = "__warningregistry__"
_CONTAINERS = (dict, list, set, tuple, types.MappingProxyType)


class Leftovers:
    """Remembers the interpreter as it was when the file had been loaded."""

    def __init__(self, folder: str, source: str) -> None:
        self._folder = os.path.join(folder, "")
        own = [module for module in sys.modules.values() if self._is_own(module)]
        self._words = set(_WORD.findall(source)).union(*map(_words_of, own))
        self._reaches_all = not self._words.isdisjoint(_REACHING_ALL)
        self._builtins = dict(vars(builtins))
        self._environment: Any = vars(os.environ)["_data"]
        self._variables = dict(self._environment)
        self._current_folder = _current_folder()
        self._remember_modules()
        copies = _Copies(own)
        self._compared = copies.live, copies.copies, copies.names
        self._function_attributes = copies.function_attributes
        self._attribute_count = sum(map(len, self._function_attributes))

    def find(self) -> str | None:
        """What the last call has changed."""
        if self._builtins_changed():
            return "builtins were changed"
        if self._environment != self._variables or _current_folder() != self._current_folder:
            return "the environment was changed"
        if signal.getitimer(signal.ITIMER_REAL)[0]:
            return "a timer was left running"
        if self._modules_changed():
            return self._examine_modules()
        return self._find_changed_variable()

    def _builtins_changed(self) -> bool:
        now, before = vars(builtins), self._builtins
        return now != before if self._reaches_all else len(now) != len(before)

    def _modules_changed(self) -> bool:
        if self._reaches_all and sys.modules != self._modules or len(sys.modules) != len(self._modules):
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
        self._modules = dict(sys.modules)
        reached = [module for name, module in self._modules.items() if self._reaches_all or self._is_named(name)]
        self._namespaces = [vars(module) for module in reached if isinstance(module, types.ModuleType)]
        self._sizes = list(map(len, self._namespaces))
        self._total_size = sum(self._sizes)

    def _is_named(self, name: str) -> bool:
        return self._words.issuperset(name.split("."))

    def _is_installed(self, module: Any) -> bool:
        spec = getattr(module, "__spec__", None)
        return spec is not None and spec.loader is not None and not self._is_own(module)

    def _is_own(self, module: Any) -> bool:
        return str(getattr(module, "__file__", None)).startswith(self._folder)


def _words_of(module: Any) -> Iterable[str]:
    """The words of a module's source; without it, those that reach all."""
    try:
        with open(module.__file__, encoding="utf-8") as file:
            return _WORD.findall(file.read())
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

    def __init__(self, modules: list[Any]) -> None:
        self._left = _MAX_COMPARED
        self.live: list[Any] = []
        self.copies: list[Any] = []
        self.names: list[str] = []
        self.function_attributes: list[dict[str, Any]] = []
        own = {module.__name__ for module in modules}
        for module in modules:
            vars(module).setdefault(_WARNINGS, {})
            self._add(vars(module), module.__name__)
            for name, value in list(vars(module).items()):
                if name[:2] != "__" and getattr(value, "__module__", None) in own:
                    self._add_parts(value, f"{module.__name__}.{name}")

    def _add_parts(self, value: Any, name: str) -> None:
        if isinstance(value, types.FunctionType):
            self.function_attributes.append(value.__dict__)
            for defaults in (value.__defaults__ or (), (value.__kwdefaults__ or {}).values()):
                for default in defaults:
                    if type(default) in _CONTAINERS:
                        self._add(default, name)
        elif isinstance(value, type):
            self._add(vars(value), name)
            for part in list(vars(value).values()):
                if isinstance(part, types.FunctionType):
                    self._add_parts(part, f"{name}.{part.__name__}")
        elif isinstance(getattr(value, "__dict__", None), dict):
            self._add(vars(value), name)

    def _add(self, live: Any, name: str) -> None:
        self.live.append(live)
        self.copies.append(self._copy(live, 0))
        self.names.append(name)

    def _copy(self, value: Any, depth: int) -> Any:
        if type(value) not in _CONTAINERS:
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
