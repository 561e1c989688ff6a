"""What implements a tool that has a schema: handle_tool_call, a method of its name, or a function of the file."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from callboard_host.function_schema import takes_instance
from callboard_host.handler_probe import IMPLEMENTED, REFUSED, UNCLEAR, HandlerProbe
from callboard_host.problems import did_you_mean

if TYPE_CHECKING:
    import types
    from collections.abc import Callable

    from callboard_host.function_schema import Convert, Function
    from callboard_host.problems import Report
    from callboard_host.schema_check import Schema

    # Runs a tool on an instance with arguments.
    Run = Callable[[Any, dict[str, Any]], Any]


class Implementations:
    """Finds what implements tools, in a character's class and module."""

    def __init__(self, module: types.ModuleType, generator: Any, folder: str, make_instance: Callable[[], Any]) -> None:
        self._module, self._generator = module, generator
        handler = getattr(generator, "handle_tool_call", None)
        self._handled = _string_constants(handler)
        has_handler = inspect.isclass(generator) and callable(handler)
        self._probe = HandlerProbe(make_instance, generator, folder) if has_handler else None

    def prepare(self, names: list[str]) -> None:
        """Asks the handler about all tools at once of which its own code does not show that it implements them."""
        if self._probe is not None:
            unseen = [name for name in names if name not in self._handled]
            self._probe.ask(unseen, knows_others=len(unseen) < len(names))

    def find(self, name: str, parameters: Schema | None, report: Report, warn: Callable[[str], None]) -> Run | None:
        """What runs a tool: the handler where it knows the name, else a method, else a function of the module.

        Without `parameters`, what a function takes is not checked.
        """
        if not inspect.isclass(self._generator):
            return None
        verdict, manner = self._verdict(name)
        direct = None if verdict == IMPLEMENTED else self._direct(name)
        misfit = _misfit(direct, parameters) if direct and parameters is not None else None
        if direct and not (misfit and verdict == UNCLEAR):
            if misfit:
                remedy = "give it one parameter for each property, with a default for those that are not required"
                report("invalid_schema", misfit, remedy)
            return direct.run
        if verdict == REFUSED:
            self._report_missing(name, manner, report)
            return None
        if verdict == UNCLEAR:
            warn(f"whether handle_tool_call implements tool `{name}` cannot be seen: {manner}; try it once")
        return lambda instance, arguments: instance.handle_tool_call(name, arguments)

    def _verdict(self, name: str) -> tuple[str, str]:
        if name in self._handled:
            return IMPLEMENTED, ""
        return self._probe.verdict(name) if self._probe else (REFUSED, "")

    def _direct(self, name: str) -> _Direct | None:
        """A method of the class, or a function of the module, that has the tool's name."""
        method = inspect.getattr_static(self._generator, name, None)
        if isinstance(method, (staticmethod, classmethod)) or inspect.isroutine(method):

            def run_method(instance: Any, arguments: dict[str, Any]) -> Any:
                return getattr(instance, name)(**arguments)

            return _Direct(getattr(self._generator, name), inspect.isfunction(method), run_method)
        function: Any = vars(self._module).get(name)
        if not _is_function(function):
            return None
        wants_instance = takes_instance(function)
        return _Direct(function, wants_instance, function_runner(function, wants_instance, {}))

    def _report_missing(self, name: str, manner: str, report: Report) -> None:
        what = f"tool `{name}` has no implementation"
        if manner:
            what += f": handle_tool_call {manner}, as for any name that it does not know"
        remedy = f"write `def {name}(self, …)` in PromptGenerator, or a branch for {name!r} in its handle_tool_call"
        known = [*self._handled, *dir(self._generator), *vars(self._module)]
        report("missing_handler", what, remedy + did_you_mean(name, known))


class _Direct:
    """A function that is called with a tool's arguments by name."""

    def __init__(self, function: Function, skips_first: bool, run: Run) -> None:
        self.function, self.skips_first, self.run = function, skips_first, run


def _is_function(value: Any) -> bool:
    """Whether a value can implement a tool: not a class or a built-in."""
    return callable(value) and not inspect.isclass(value) and not inspect.isbuiltin(value) and _has_signature(value)


def _has_signature(function: Function) -> bool:
    try:
        return inspect.signature(function) is not None
    except (TypeError, ValueError):
        return False


def _misfit(direct: _Direct, parameters: Schema) -> str | None:
    """Why a function does not take a schema's properties by name, with and without the optional ones."""
    properties, required = parameters.get("properties", {}), parameters.get("required", [])
    always = [name for name, schema in properties.items() if name in required or "default" in schema]
    signature = inspect.signature(direct.function)
    for given in (properties, always):
        try:
            signature.bind(*[None] * direct.skips_first, **dict.fromkeys(given))
        except TypeError as error:
            name = getattr(direct.function, "__name__", "the function")
            return f"{name}() does not fit its tool's parameters: {error}"
    return None


def function_runner(function: Function, wants_instance: bool, conversions: dict[str, Convert]) -> Run:
    """What calls a function with arguments by name, converted to the types of its hints."""

    def run(instance: Any, arguments: dict[str, Any]) -> Any:
        for name, convert in conversions.items():
            if name in arguments:
                arguments[name] = convert(arguments[name])
        return function(instance, **arguments) if wants_instance else function(**arguments)

    return run


def _string_constants(function: Any) -> set[str]:
    """The string constants in a function's code, including nested functions."""
    code = getattr(inspect.unwrap(function), "__code__", None) if callable(function) else None
    strings: set[str] = set()
    waiting: list[Any] = [code]
    while waiting:
        constant = waiting.pop()
        if isinstance(constant, str):
            strings.add(constant)
        elif isinstance(constant, (tuple, frozenset)):
            waiting.extend(constant)
        elif inspect.iscode(constant):
            waiting.extend(constant.co_consts)
    return strings
