"""What is wrong with a character file: each problem with its kind, line, what is wrong and what to write instead."""

from __future__ import annotations

import ast
import difflib
import functools
import os
import traceback
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    # Where a value is inside a variable: keys and indexes.
    Path = tuple[str | int, ...]
    # Receives the kind of a problem, what is wrong, and the remedy.
    Report = Callable[[str, str, str], None]
    # The same, with the path first.
    ReportAt = Callable[[Path, str, str, str], None]

MAX_MESSAGE = 2000
MAX_TRACEBACK = 8000
MAX_FRAMES = 20
HOST_FILES = "<callboard>"


class Problems:
    """The problems found so far."""

    def __init__(self) -> None:
        self.found: list[dict[str, Any]] = []

    def add(self, kind: str, line: int | None, what: str, remedy: str) -> None:
        self.found.append({"kind": kind, "line": line, "what": shorten(what, MAX_MESSAGE), "remedy": remedy})


def shorten(text: str, limit: int) -> str:
    """The text, or its start and how much is missing."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]}… ({len(text) - limit} more characters)"


def did_you_mean(name: Any, known: Iterable[str]) -> str:
    """The known name that was most likely meant, as the end of a remedy."""
    near = difflib.get_close_matches(str(name)[:80], [one for one in known if one != name], 1, 0.75)
    return f"; did you mean `{near[0]}`?" if near else ""


def describe_message(error: BaseException) -> str:
    """An exception's message, even if its class cannot produce one."""
    try:
        return shorten(str(error), MAX_MESSAGE)
    except BaseException as second:
        return f"(its message cannot be read: {type(second).__name__})"


def describe_exception(error: BaseException) -> str:
    """An exception's class and message."""
    message = describe_message(error)
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


def describe_traceback(error: BaseException) -> str:
    """An exception's traceback, without the host's own frames."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if HOST_FILES not in frame.filename]
    lines = traceback.format_list(frames[-MAX_FRAMES:])
    return shorten("".join(lines) + describe_exception(error), MAX_TRACEBACK)


def describe_place(error: BaseException, folder: str) -> dict[str, Any] | None:
    """The innermost place of an exception in the files of a folder: the author's own code."""
    own = os.path.join(folder, "")
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.startswith(own)]
    if not frames:
        return None
    innermost = frames[-1]
    return {"file": innermost.filename[len(own) :], "line": innermost.lineno, "function": innermost.name}


def line_in(error: BaseException, path: str) -> int | None:
    """The innermost line of a file in an exception's traceback."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    return lines[-1] if lines else None


class SourceLines:
    """The lines at which a file defines its names and their values, as far as its syntax tree shows.

    The file is only parsed where a line is asked for, since most files have no problems.
    """

    def __init__(self, parse: Callable[[], ast.Module]) -> None:
        self._parse = parse

    @functools.cached_property
    def _definitions(self) -> dict[str, tuple[int, ast.AST | None]]:
        definitions: dict[str, tuple[int, ast.AST | None]] = {}
        for statement in _statements(self._parse().body):
            for name, node in _names_bound_by(statement):
                definitions[name] = (statement.lineno, node)
        return definitions

    def line(self, name: str, *path: str | int) -> int | None:
        """The line of a module's name, or the nearest known line to a path inside its value."""
        if name not in self._definitions:
            return None
        line, node = self._definitions[name]
        for step in path:
            child = _step_into(self._resolve(node), step)
            if child is None:
                return line
            line, node = child
        node = self._resolve(node)
        return node.lineno if path and isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) else line

    def _resolve(self, node: ast.AST | None) -> ast.AST | None:
        """Replaces a name by what the module binds it to."""
        seen: set[str] = set()
        while isinstance(node, ast.Name) and node.id in self._definitions and node.id not in seen:
            seen.add(node.id)
            node = self._definitions[node.id][1]
        return node


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that run at import, including those inside `if`, `try` and `with`."""
    for statement in body:
        yield statement
        for block in ("body", "orelse", "finalbody"):
            if not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                yield from _statements(getattr(statement, block, []))


def _names_bound_by(statement: ast.stmt) -> Iterator[tuple[str, ast.expr | ast.stmt | None]]:
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield statement.name, statement
    elif isinstance(statement, ast.Assign):
        for target in statement.targets:
            if isinstance(target, ast.Name):
                yield target.id, statement.value
    elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        yield statement.target.id, statement.value
    elif isinstance(statement, (ast.Import, ast.ImportFrom)):
        for alias in statement.names:
            yield (alias.asname or alias.name).split(".")[0], None


def _step_into(node: ast.AST | None, step: str | int) -> tuple[int, ast.AST | None] | None:
    """The line and node one step inside a literal or a class."""
    if isinstance(node, (ast.List, ast.Tuple)) and isinstance(step, int) and step < len(node.elts):
        return node.elts[step].lineno, node.elts[step]
    if isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values):
            if isinstance(key, ast.Constant) and key.value == step:
                return key.lineno, value
    if isinstance(node, ast.ClassDef):
        for name, member in (pair for statement in node.body for pair in _names_bound_by(statement)):
            if name == step:
                return (member or node).lineno, member
    return None
