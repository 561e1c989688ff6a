"""What a call leaves in the interpreter, where the next conversation would find it: names, modules, variables, timers.

A worker that was changed is replaced by a fresh fork. What is inside objects of other kinds than these is not seen, nor
is a name of an imported module that gets another value.
"""

from __future__ import annotations

import builtins
import os
import signal
import sys
import types
from typing import Any

# Of larger tables only the sizes are compared: reading them at every call costs time, and copies shared memory.
_MAX_COMPARED = 2_000
_MAX_DEPTH = 20
# Where a module keeps which warnings it has shown.
_WARNINGS = "__warningregistry__"
_CONTAINERS = (dict, list, set, tuple, types.MappingProxyType)


class Leftovers:
    """Remembers the interpreter as it was when the file had been loaded."""

    def __init__(self, folder: str) -> None:
        self._folder = os.path.join(folder, "")
        self._builtins = dict(vars(builtins))
        self._environment: Any = vars(os.environ)["_data"]
        self._variables = dict(self._environment)
        self._current_folder = _current_folder()
        self._remember_modules()
        own = [module for module in self._modules.values() if self._is_own(module)]
        copies = _Copies(own)
        self._compared = copies.live, copies.copies, copies.names

    def find(self) -> str | None:
        """What the last call has changed."""
        if vars(builtins) != self._builtins:
            return "builtins were changed"
        if self._environment != self._variables or _current_folder() != self._current_folder:
            return "the environment was changed"
        if signal.getitimer(signal.ITIMER_REAL)[0]:
            return "a timer was left running"
        if sys.modules != self._modules or sum(map(len, self._namespaces)) != self._total_size:
            return self._examine_modules()
        return self._find_changed_variable()

    def _find_changed_variable(self) -> str | None:
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
        self._namespaces = [vars(module) for module in self._modules.values() if isinstance(module, types.ModuleType)]
        self._sizes = list(map(len, self._namespaces))
        self._total_size = sum(self._sizes)

    def _is_installed(self, module: Any) -> bool:
        spec = getattr(module, "__spec__", None)
        return spec is not None and spec.loader is not None and not self._is_own(module)

    def _is_own(self, module: Any) -> bool:
        return str(getattr(module, "__file__", None)).startswith(self._folder)


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
        for module in modules:
            vars(module).setdefault(_WARNINGS, {})
            self._add(vars(module), module.__name__)
            for name, value in list(vars(module).items()):
                self._add_parts(value, f"{module.__name__}.{name}")

    def _add_parts(self, value: Any, name: str) -> None:
        if isinstance(value, types.FunctionType):
            for part in (value.__dict__, value.__defaults__, value.__kwdefaults__):
                self._add(part, name)
        elif isinstance(value, type):
            self._add(vars(value), name)
            for part in list(vars(value).values()):
                if isinstance(part, types.FunctionType):
                    self._add_parts(part, f"{name}.{part.__name__}")
        elif isinstance(getattr(value, "__dict__", None), dict) and not isinstance(value, types.ModuleType):
            self._add(vars(value), name)

    def _add(self, live: Any, name: str) -> None:
        if live is not None:
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
