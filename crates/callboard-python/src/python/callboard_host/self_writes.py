"""Whether a character's methods write to `self`: then its calls must run in order.

The compiled code says so in most cases. Where it does not, the syntax tree does, which costs as much as all of compiling.
"""

from __future__ import annotations

import ast
import opcode
import types
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_LOAD_FAST, _STORE_ATTR, _DELETE_ATTR = (opcode.opmap.get(name) for name in ("LOAD_FAST", "STORE_ATTR", "DELETE_ATTR"))
_WRITES = (_STORE_ATTR, _DELETE_ATTR)
_IS_FUNCTION = 1


def writes_to_self(code: types.CodeType, parse: Callable[[], ast.Module]) -> bool:
    """Whether any method but the constructor sets a public attribute of `self`."""
    may_write = False
    for method in _methods(code, False):
        instructions = method.co_code[::2]
        if any(write is None or write in instructions for write in _WRITES):
            if _plainly_writes(method):
                return True
            may_write = True
    return may_write and _tree_writes(parse())


def _methods(code: types.CodeType, is_in_method: bool) -> Iterator[types.CodeType]:
    """The code of all functions but constructors, and of what is inside them."""
    if code.co_flags & _IS_FUNCTION and code.co_name != "__init__" and code.co_name[0] != "<":
        is_in_method = True
    if is_in_method:
        yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _methods(constant, is_in_method)


def _plainly_writes(code: types.CodeType) -> bool:
    """Whether an instruction that writes a public attribute follows one that loads the variable `self`."""
    steps = list(zip(code.co_code[::2], code.co_code[1::2]))
    if opcode.EXTENDED_ARG in code.co_code[::2]:
        return False
    return any(
        write in _WRITES
        and load == _LOAD_FAST
        and _at(code.co_varnames, variable) == "self"
        and not _at(code.co_names, name).startswith("_")
        for (load, variable), (write, name) in zip(steps, steps[1:])
    )


def _at(names: tuple[str, ...], index: int) -> str:
    """A name, or one that is not looked for."""
    return names[index] if index < len(names) else "_"


def _tree_writes(tree: ast.Module) -> bool:
    waiting: list[tuple[ast.AST, bool]] = [(tree, False)]
    while waiting:
        node, is_in_method = waiting.pop()
        if isinstance(node, ast.Attribute):
            if is_in_method and _is_written(node):
                return True
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            is_in_method = is_in_method or node.name != "__init__"
        waiting.extend((child, is_in_method) for child in ast.iter_child_nodes(node))
    return False


def _is_written(node: ast.Attribute) -> bool:
    """Whether a public attribute of `self` is set or deleted here."""
    is_stored = isinstance(node.ctx, (ast.Store, ast.Del)) and not node.attr.startswith("_")
    return is_stored and isinstance(node.value, ast.Name) and node.value.id == "self"
