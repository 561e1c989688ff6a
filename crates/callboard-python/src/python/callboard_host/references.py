"""Whether a variable alone refers to its value. Then only code that names the variable can change what is inside.

Python counts references; how many it counts for the function that asks differs by version, so that is measured first.
"""

from __future__ import annotations

import sys
import types
from typing import Any

CONTAINERS = (dict, list, set, tuple, types.MappingProxyType)
_MAX_DEPTH = 20


def is_held_alone(namespace: dict[str, Any], name: str) -> bool:
    """Whether nothing but this variable refers to its container, and nothing from outside to a container within."""
    return _references(namespace, name) <= _OF_VARIABLE and _are_held_alone(namespace[name], 0)


def _references(namespace: dict[str, Any], name: str) -> int:
    value = namespace[name]
    return sys.getrefcount(value)


def _are_held_alone(container: Any, depth: int) -> bool:
    if depth > _MAX_DEPTH or type(container) is types.MappingProxyType:
        return False
    return all(
        count <= _OF_ITEM and _are_held_alone(item, depth + 1)
        for item, count in _counted(container)
        if type(item) in CONTAINERS
    )


def _counted(container: Any) -> list[tuple[Any, int]]:
    """The items of a container, each with the number of references to it."""
    return [(item, sys.getrefcount(item)) for item in (container.values() if type(container) is dict else container)]


_OF_VARIABLE = _references({"name": [[]]}, "name")
_OF_ITEM = _counted([[]])[0][1]
