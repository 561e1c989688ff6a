"""Loads a character file: runs it, checks it, starts one conversation on trial, and makes its manifest."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import sys
import types
from typing import TYPE_CHECKING, Any

from callboard_host.implementations import Implementations
from callboard_host.own_modules import CHARACTER_MODULE
from callboard_host.problems import Problems, SourceLines, describe_exception, describe_message, line_in
from callboard_host.self_writes import writes_to_self
from callboard_host.state import StateCodec
from callboard_host.tool_checks import Tool, ToolChecker
from callboard_host.trial import Trial
from callboard_host.variables import VariableReader

if TYPE_CHECKING:
    from collections.abc import Callable

    from callboard_host.leftovers import Leftovers
    from callboard_host.problems import ReportAt


class InvalidFile(Exception):
    """The file is not a valid character."""

    def __init__(self, problems: Problems) -> None:
        super().__init__(f"{len(problems.found)} problems")
        self.problems = problems.found


class Character:
    """A checked character: what workers need to run it."""

    leftovers: Leftovers
    # Where its files are.
    folder: str

    def __init__(self, states: StateCodec, checker: ToolChecker, tools: list[Tool], timeouts: dict[str, Any]) -> None:
        self.states = states
        self._checker, self._timeouts = checker, timeouts
        self.tools = {tool.name: tool for tool in tools}
        self._set_timeouts(tools)

    def add_tools(self, entries: Any, report: ReportAt, warn: Callable[[str], None]) -> list[Tool]:
        """Checks the tools that get_tools() returned, and makes them callable."""
        tools = self._checker.check(entries, report, warn)
        self._set_timeouts(tools)
        self.tools.update({tool.name: tool for tool in tools if tool.is_valid})
        return tools

    def _set_timeouts(self, tools: list[Tool]) -> None:
        for tool in tools:
            tool.timeout_ms = self._timeouts["by_tool"].get(tool.name, self._timeouts["default_ms"])


def read_source(path: str) -> str:
    """The text of a file, decoded as Python does."""
    try:
        with open(path, "rb") as file:
            return importlib.util.decode_source(file.read())
    except (OSError, SyntaxError, UnicodeDecodeError) as error:
        problems = Problems()
        problems.add(
            "import_error",
            None,
            f"the file cannot be read: {describe_exception(error)}",
            "save it as UTF-8 text that Callboard may read",
        )
        raise InvalidFile(problems) from None


def load(path: str, folder: str, source: str) -> tuple[Character, dict[str, Any]]:
    """A character and its manifest. Raises InvalidFile with all problems."""
    problems = Problems()
    warnings: list[str] = []
    lines = SourceLines(lambda: ast.parse(source, path))
    module, code = _run_file(path, folder, source, problems)
    variables = VariableReader(module, lines, problems, warnings)
    manifest = variables.read()
    generator = _find_generator(module, lines, problems)

    def make_states() -> StateCodec:
        return StateCodec(generator, vars(module)["INSTRUCTIONS"])

    implementations = Implementations(module, generator, folder, lambda: make_states().restore(None))
    checker = ToolChecker(implementations, manifest["limits"])
    tools = _check_tools(checker, module, (path, lines), problems, warnings)
    timeouts = variables.timeouts({tool.name for tool in tools}, not hasattr(generator, "get_tools"))
    variables.check_use_of_tools(bool(tools) or hasattr(generator, "get_tools"))
    if problems.found:
        raise InvalidFile(problems)
    character = Character(make_states(), checker, tools, timeouts)
    character.folder = folder
    offered = Trial(character, path, lines, problems).run(warnings.append)
    if problems.found:
        raise InvalidFile(problems)
    manifest.update(
        tools=[tool.manifest() for tool in (tools if offered is None else offered)],
        timeouts=timeouts,
        keeps_state=writes_to_self(code, lambda: ast.parse(source, path)),
        has_turn_context=hasattr(generator, "make_turn_context"),
        has_get_tools=hasattr(generator, "get_tools"),
        has_get_names=hasattr(generator, "get_names"),
        warnings=warnings,
    )
    return character, manifest


def _check_tools(
    checker: ToolChecker,
    module: types.ModuleType,
    place: tuple[str, SourceLines],
    problems: Problems,
    warnings: list[str],
) -> list[Tool]:
    """The tools of TOOLS, each with its line."""
    path, lines = place
    entries: Any = vars(module).get("TOOLS")
    tools = checker.check(
        entries,
        lambda at, kind, what, remedy: problems.add(kind, lines.line("TOOLS", *at), what, remedy),
        warnings.append,
    )
    for index, (entry, tool) in enumerate(zip(entries if tools else (), tools)):
        code = getattr(entry, "__code__", None)
        if code is not None and code.co_filename == path:
            tool.line = code.co_firstlineno
        else:
            tool.line = lines.line("TOOLS", index, "function", "parameters")
    return tools


def _run_file(path: str, folder: str, source: str, problems: Problems) -> tuple[types.ModuleType, types.CodeType]:
    """Runs the file as a module that can import the modules of its folder. Returns it with its code."""
    module = types.ModuleType(CHARACTER_MODULE)
    module.__file__ = path
    sys.modules[CHARACTER_MODULE] = module
    sys.path.insert(_before_installed_packages(), folder)
    try:
        code = compile(source, path, "exec", dont_inherit=True)
        exec(code, module.__dict__)
    except SyntaxError as error:
        _report_syntax_error(error, path, problems)
    except SystemExit as error:
        what = f"the file calls sys.exit({describe_message(error)}) when it is imported"
        problems.add("import_error", line_in(error, path), what, "remove the call: a character only defines things")
    except BaseException as error:
        what = f"importing the file raises {describe_exception(error)}"
        problems.add("import_error", line_in(error, path), what, _import_remedy(error))
    if problems.found:
        raise InvalidFile(problems)
    return module, code


def _before_installed_packages() -> int:
    """Own modules precede installed ones, but never hide a module of the standard library."""
    for index, entry in enumerate(sys.path):
        if "site-packages" in entry or "dist-packages" in entry:
            return index
    return len(sys.path)


def _report_syntax_error(error: SyntaxError, path: str, problems: Problems) -> None:
    if error.filename == path:
        problems.add(
            "import_error", error.lineno, f"syntax error: {error.msg}", "correct the line, or the one before it"
        )
    else:
        what = f"syntax error in {error.filename} line {error.lineno}: {error.msg}"
        problems.add("import_error", line_in(error, path), what, "correct that file")


def _import_remedy(error: BaseException) -> str:
    if isinstance(error, ModuleNotFoundError):
        return f"install it for the interpreter in use ({sys.executable}), or put it beside the character"
    if isinstance(error, MemoryError):
        return "build less at import, or raise the memory limit"
    return "correct the line; what may fail belongs into a tool, not into the import"


def _find_generator(module: types.ModuleType, lines: SourceLines, problems: Problems) -> Any:
    generator = vars(module).get("PromptGenerator")
    remedy = "write `class PromptGenerator:` with __init__(self, instructions) and make_system_prompt(self)"
    if generator is None:
        problems.add("missing_attribute", None, "PromptGenerator is missing", remedy)
    elif not inspect.isclass(generator):
        what = f"PromptGenerator is a {type(generator).__name__}; it must be a class"
        problems.add("invalid_value", lines.line("PromptGenerator"), what, remedy)
    elif not callable(getattr(generator, "make_system_prompt", None)):
        line = lines.line("PromptGenerator")
        problems.add(
            "missing_attribute",
            line,
            "PromptGenerator has no make_system_prompt",
            "write `def make_system_prompt(self) -> str:`",
        )
    else:
        for name in ("handle_tool_call", "get_tools", "make_turn_context", "get_names"):
            if not callable(getattr(generator, name, len)):
                what = f"PromptGenerator.{name} is not a method"
                problems.add(
                    "invalid_value", lines.line("PromptGenerator", name), what, f"write `def {name}(self, …):`"
                )
    return generator
