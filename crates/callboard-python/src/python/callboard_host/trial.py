"""Starts one conversation and one turn on trial, to find what fails now rather than with a user."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from callboard_host.awaiting import resolve
from callboard_host.fork_runner import run_in_fork
from callboard_host.problems import describe_exception, line_in
from callboard_host.state import NotJson, require_json

if TYPE_CHECKING:
    from collections.abc import Callable

    from callboard_host.loading import Character
    from callboard_host.problems import Problems, SourceLines
    from callboard_host.tool_checks import Tool

# What waits longer, for a service that is away perhaps, is not held against the file.
TURN_SECONDS = 2.0
# Optional methods that every turn runs. A file without them needs no process of its own for its trial.
_EVERY_TURN = ("make_turn_context", "get_names")


class Trial:
    """The trial of one file."""

    def __init__(self, character: Character, path: str, lines: SourceLines, problems: Problems) -> None:
        self._character, self._path, self._lines, self._problems = character, path, lines, problems
        self._generator = character.states.generator
        # What is being run.
        self._method = "__init__"

    def run(self, warn: Callable[[str], None]) -> list[Tool] | None:
        """Makes an instance, its prompt, its tools and what a turn needs. Returns the tools, where it has get_tools()."""
        try:
            return self._converse(warn)
        except _WrongConstructor as error:
            self._report(str(error), "write `def __init__(self, instructions):`")
        except NotJson as error:
            self._report(f"{error.path} is {error.found}, and so cannot be kept", error.remedy)
        except BaseException as error:
            self._report_exception("it is run once for every conversation", error)
        return None

    def _converse(self, warn: Callable[[str], None]) -> list[Tool] | None:
        _check_constructor(self._generator)
        states = self._character.states
        instance = states.restore(None)
        self._method = "make_system_prompt"
        if not self._is_text(resolve(instance.make_system_prompt())):
            return None
        state = states.capture(instance)
        tools = self._get_tools(instance, warn) if hasattr(self._generator, "get_tools") else None
        if not self._problems.found and any(hasattr(self._generator, name) for name in _EVERY_TURN):
            self._problems.found.extend(run_in_fork(lambda: self._try_turn(state), TURN_SECONDS) or [])
        return tools

    def _get_tools(self, instance: Any, warn: Callable[[str], None]) -> list[Tool]:
        self._method = "get_tools"
        line = self._lines.line("PromptGenerator", "get_tools")
        tools = self._character.add_tools(
            resolve(instance.get_tools()),
            lambda _path, kind, what, remedy: self._problems.add(kind, line, "get_tools(): " + what, remedy),
            warn,
        )
        for tool in tools:
            tool.line = line
        return tools

    def _try_turn(self, state: dict[str, Any]) -> list[dict[str, Any]]:
        """The problems of what is run at every turn."""
        try:
            instance = self._character.states.restore(state)
            if hasattr(self._generator, "make_turn_context"):
                self._method = "make_turn_context"
                self._is_text(resolve(instance.make_turn_context()))
            if hasattr(self._generator, "get_names"):
                self._method = "get_names"
                self._check_names(resolve(instance.get_names()))
        except BaseException as error:
            self._report_exception("it is run at every turn", error)
        return self._problems.found

    def _is_text(self, value: Any) -> bool:
        if not isinstance(value, str):
            what = f"{self._method}() returns {type(value).__name__}; it must return text"
            self._report(what, "end it with `return` and the text")
        return isinstance(value, str)

    def _check_names(self, names: Any) -> None:
        remedy = 'return lists of names, such as {"units": ["Carnifex"]}'
        if not isinstance(names, dict):
            return self._report(f"get_names() returns {type(names).__name__}; it must return a dict", remedy)
        try:
            require_json(names, "get_names()")
        except NotJson as error:
            self._report(f"{error.path} is {error.found}", error.remedy)

    def _report_exception(self, why: str, error: BaseException) -> None:
        self._report(f"{self._method}() raises {describe_exception(error)}", f"correct it: {why}", error)

    def _report(self, what: str, remedy: str, error: BaseException | None = None) -> None:
        line = (line_in(error, self._path) if error else None) or self._lines.line("PromptGenerator", self._method)
        self._problems.add("invalid_value", line, what, remedy)


class _WrongConstructor(Exception):
    """The constructor cannot be called with the instructions alone."""


def _check_constructor(generator: Any) -> None:
    try:
        inspect.signature(generator).bind({})
    except ValueError:
        return
    except TypeError as error:
        raise _WrongConstructor(f"PromptGenerator cannot be made from the instructions alone: {error}") from None
