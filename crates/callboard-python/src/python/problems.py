"""What is wrong with a character file: each problem with its kind, line, what is wrong and what to write instead."""

import ast
import traceback

MESSAGE_AT_MOST = 2000
TRACEBACK_AT_MOST = 8000
FRAMES_AT_MOST = 20
HOST_FILES = "<callboard>"


class Problems:
    """The problems found so far."""

    def __init__(self):
        self.found = []

    def add(self, kind, line, what, remedy):
        self.found.append({"kind": kind, "line": line, "what": cut(what, MESSAGE_AT_MOST), "remedy": remedy})


def cut(text, at_most):
    """The text, or its beginning and how much is missing."""
    if len(text) <= at_most:
        return text
    return "%s… (%d more characters)" % (text[:at_most], len(text) - at_most)


def message_of(error):
    """An exception's message, whatever its class does when asked."""
    try:
        return cut(str(error), MESSAGE_AT_MOST)
    except BaseException as second:
        return "(its message cannot be read: %s)" % type(second).__name__


def name_and_message(error):
    message = message_of(error)
    return "%s: %s" % (type(error).__name__, message) if message else type(error).__name__


def traceback_of(error):
    """Where an exception came from, without the host's own frames."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if HOST_FILES not in frame.filename]
    lines = traceback.format_list(frames[-FRAMES_AT_MOST:])
    return cut("".join(lines) + name_and_message(error), TRACEBACK_AT_MOST)


def line_in(error, path):
    """The innermost line of a file that an exception passed through."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    return lines[-1] if lines else None


class Places:
    """Where things are written in a file, as far as its text shows."""

    def __init__(self, tree):
        self._named = {}
        for statement in _statements(tree.body):
            for name, node in _names_bound_by(statement):
                self._named[name] = (statement.lineno, node)

    def line(self, name, *path):
        """The line of a name of the module, or of what the path leads to inside its value, as near as can be told."""
        if name not in self._named:
            return None
        line, node = self._named[name]
        for step in path:
            node = self._follow(node)
            child = _step_into(node, step)
            if child is None:
                return line
            line, node = child
        node = self._follow(node)
        return node.lineno if path and isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) else line

    def _follow(self, node):
        seen = set()
        while isinstance(node, ast.Name) and node.id in self._named and node.id not in seen:
            seen.add(node.id)
            node = self._named[node.id][1]
        return node


def _statements(body):
    """The statements that run at import, also those inside `if`, `try` and `with`."""
    for statement in body:
        yield statement
        for block in ("body", "orelse", "finalbody"):
            if not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                yield from _statements(getattr(statement, block, []))


def _names_bound_by(statement):
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


def _step_into(node, step):
    """The line and node one step inside a literal or a class, or None."""
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
