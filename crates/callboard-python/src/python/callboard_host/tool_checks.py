"""The tools of a character: checks each entry of TOOLS, and has found what implements it."""

from __future__ import annotations

import inspect
import re
import types
from typing import TYPE_CHECKING, Any

from callboard_host.function_schema import NoSchema, description_of, parameters_of, takes_instance
from callboard_host.implementations import function_runner
from callboard_host.schema_check import NO_PARAMETERS, check_parameters, filler_of
from callboard_host.state import copier

if TYPE_CHECKING:
    from collections.abc import Callable

    from callboard_host.implementations import Implementations, Run
    from callboard_host.problems import Path, Report, ReportAt
    from callboard_host.schema_check import Limits, Schema

    # Receives what is wrong, and the remedy.
    ReportInvalid = Callable[[str, str], None]

NAME = re.compile(r"^[a-zA-Z][a-zA-Z0-9_]*$")
MAX_NAME = 50
RESERVED = ("make_system_prompt", "make_turn_context", "handle_tool_call", "get_tools", "get_names")
_FUNCTION_KEYS = ("name", "description", "parameters", "strict")
_SHAPE = '{"type": "function", "function": {"name": …, "description": …, "parameters": {…}}}'


class Tool:
    """A checked tool; an invalid one has no `run`. `timeout_ms` and `line` are set by the loader."""

    def __init__(self, name: str, description: str, parameters: Schema, run: Run | None) -> None:
        self.name, self.description, self.parameters = name, description, parameters
        self.is_valid = run is not None
        self.run = run or _not_implemented
        self.timeout_ms: int | float | None = None
        self.line: int | None = None

    def manifest(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "description": self.description,
            "parameters": self.parameters,
            "timeout_ms": self.timeout_ms,
            "line": self.line,
        }


class ToolChecker:
    """Checks lists of tools against the limits of a character, and against what implements them."""

    def __init__(self, implementations: Implementations, limits: Limits) -> None:
        self._implementations, self._limits = implementations, limits

    def check(self, entries: Any, report: ReportAt, warn: Callable[[str], None]) -> list[Tool]:
        """The valid tools of a list. Reports each problem."""
        if entries is None:
            return []
        if not isinstance(entries, list):
            found = type(entries).__name__
            report((), "invalid_schema", f"TOOLS is a {found}; it must be a list or None", "write TOOLS = [ … ]")
            return []
        if len(entries) > self._limits["tools"]:
            what = f"{len(entries)} tools, at most {self._limits['tools']} are allowed"
            report(
                (), "invalid_schema", what, f'offer fewer, or raise the limit with LIMITS = {{"tools": {len(entries)}}}'
            )
        self._implementations.prepare([name for name in map(_name_of, entries) if name])
        tools: list[Tool] = []
        names: set[str] = set()
        for index, entry in enumerate(entries):
            tool = self._check_entry(entry, index, report, warn)
            if tool is None:
                continue
            if tool.name in names:
                what = f"two tools are named {tool.name!r}"
                report((index, "function", "name"), "duplicate_name", what, "give each tool a name of its own")
            names.add(tool.name)
            tools.append(tool)
        return tools

    def _check_entry(self, entry: Any, index: int, report: ReportAt, warn: Callable[[str], None]) -> Tool | None:
        if inspect.isfunction(entry):
            return self._check_function(entry, lambda kind, what, remedy: report((index,), kind, what, remedy))
        function = entry.get("function") if isinstance(entry, dict) else None
        if not isinstance(function, dict):
            what = f'tool {index + 1} is no function and no dict with "type" and "function"'
            report((index,), "invalid_schema", what, "write a function's name, or " + _SHAPE)
            return None
        if entry.get("type", "function") != "function":
            what = f"tool {index + 1} has the type {entry['type']!r}"
            report((index, "type"), "invalid_schema", what, 'write "type": "function", the only type there is')
        place: Path = (index, "function")
        name: Any = function.get("name")
        if not self._check_name(name, lambda *problem: report((*place, "name"), "invalid_schema", *problem)):
            return None
        for key in function:
            if key not in _FUNCTION_KEYS:
                warn(f"tool `{name}` has the unknown key {key!r}; known are {', '.join(_FUNCTION_KEYS)}")
        self._check_description(
            name,
            function.get("description"),
            lambda *problem: report((*place, "description"), "invalid_schema", *problem),
        )
        return self._check_schema_tool(function, place, report, warn)

    def _check_function(self, function: types.FunctionType, report: Report) -> Tool | None:
        name, description = function.__name__, description_of(function)

        def report_invalid(what: str, remedy: str) -> None:
            report("invalid_schema", what, remedy)

        if not self._check_name(name, report_invalid):
            return None
        if not description:
            remedy = "say in its first line what it is for: models choose by that"
            report_invalid(f"tool `{name}` has no docstring", remedy)
        else:
            self._check_description(name, description, report_invalid)
        try:
            parameters, conversions = parameters_of(function)
        except NoSchema as error:
            report_invalid(error.what, error.remedy)
            return None
        check_parameters(
            parameters, self._limits, lambda _path, what, remedy: report_invalid(f"tool `{name}`: {what}", remedy)
        )
        return Tool(name, description, parameters, function_runner(function, takes_instance(function), conversions))

    def _check_name(self, name: Any, report: ReportInvalid) -> bool:
        if not isinstance(name, str) or not NAME.match(name) or len(name) > MAX_NAME:
            what = f"{name!r:.80} is no name for a tool"
            report(what, f"start with a letter, go on with letters, digits and _, at most {MAX_NAME} characters")
            return False
        if name in RESERVED:
            report(f"the name `{name}` belongs to PromptGenerator itself", "name the tool after what it does")
            return False
        return True

    def _check_description(self, name: str, description: Any, report: ReportInvalid) -> None:
        limit = self._limits["description"]
        if not isinstance(description, str) or not description.strip():
            report(f"tool `{name}` has no description", 'write "description": what the tool is for, in a sentence')
        elif len(description) > limit:
            what = f"the description of tool `{name}` has {len(description)} characters, at most {limit} are allowed"
            report(what, f'shorten it, or raise the limit with LIMITS = {{"description": {len(description)}}}')

    def _check_schema_tool(
        self, function: dict[str, Any], place: Path, report: ReportAt, warn: Callable[[str], None]
    ) -> Tool:
        name, parameters = function["name"], function.get("parameters")
        problems: list[str] = []

        def report_schema(path: Path, what: str, remedy: str) -> None:
            problems.append(what)
            report((*place, "parameters", *path), "invalid_schema", f"tool `{name}`: {what}", remedy)

        if parameters is None:
            parameters = dict(NO_PARAMETERS)
        else:
            check_parameters(parameters, self._limits, report_schema)
        checked = None if problems else parameters
        run = self._implementations.find(name, checked, lambda *problem: report(place, *problem), warn)
        if problems or run is None:
            return Tool(name, "", NO_PARAMETERS, None)
        # A copy, so that the file's own is not referred to from here.
        parameters = copier(parameters)()
        return Tool(name, function.get("description", ""), parameters, _with_defaults(parameters, run))


def _name_of(entry: Any) -> str | None:
    """The name of an entry with a schema, if it has one."""
    function = entry.get("function") if isinstance(entry, dict) else None
    name = function.get("name") if isinstance(function, dict) else None
    return name if isinstance(name, str) else None


def _not_implemented(_instance: Any, _arguments: dict[str, Any]) -> Any:
    raise NotImplementedError


def _with_defaults(parameters: Schema, run: Run) -> Run:
    fill = filler_of(parameters)
    if fill is None:
        return run

    def run_with_defaults(instance: Any, arguments: dict[str, Any]) -> Any:
        fill(arguments)
        return run(instance, arguments)

    return run_with_defaults
