"""The tools of a character: each entry of TOOLS checked, and joined with what runs it."""

import inspect
import re

from callboard_host.schema import NO_PARAMETERS, apply_defaults, check_parameters, has_defaults
from callboard_host.signatures import NoSchema, description_of, parameters_of, takes_instance

NAME = re.compile(r"^[a-zA-Z][a-zA-Z0-9_]*$")
NAME_AT_MOST = 50
RESERVED = ("make_system_prompt", "make_turn_context", "handle_tool_call", "get_tools", "get_names")
_FUNCTION_KEYS = ("name", "description", "parameters", "strict")
_SHAPE = '{"type": "function", "function": {"name": …, "description": …, "parameters": {…}}}'


class Tool:
    """A tool that was checked. `run(instance, arguments)` runs it; `timeout_ms` is set by the loader."""

    def __init__(self, name, description, parameters, run):
        self.name, self.description, self.parameters, self.run = name, description, parameters, run
        self.timeout_ms = None

    def manifest(self):
        return {
            "name": self.name,
            "description": self.description,
            "parameters": self.parameters,
            "timeout_ms": self.timeout_ms,
        }


class Toolbox:
    """Checks lists of tools against one character: its limits, its class and its module."""

    def __init__(self, module, generator, limits):
        self._module, self._generator, self._limits = module, generator, limits
        self._handled = _texts_in(getattr(generator, "handle_tool_call", None))

    def check(self, entries, report, warn):
        """The tools of a list. report(path, kind, what, remedy) is called for each problem."""
        if entries is None:
            return []
        if not isinstance(entries, list):
            found = type(entries).__name__
            report((), "invalid_schema", "TOOLS is a %s; it must be a list or None" % found, "write TOOLS = [ … ]")
            return []
        if len(entries) > self._limits["tools"]:
            what = "%d tools, at most %d are allowed" % (len(entries), self._limits["tools"])
            report(
                (), "invalid_schema", what, 'offer fewer, or raise the limit with LIMITS = {"tools": %d}' % len(entries)
            )
        tools, names = [], set()
        for index, entry in enumerate(entries):
            tool = self._check_entry(entry, index, report, warn)
            if tool is None:
                continue
            if tool.name in names:
                what = "two tools are named %r" % tool.name
                report((index, "function", "name"), "duplicate_name", what, "give each tool a name of its own")
            names.add(tool.name)
            tools.append(tool)
        return tools

    def _check_entry(self, entry, index, report, warn):
        if inspect.isfunction(entry):
            return self._check_function(entry, lambda kind, what, remedy: report((index,), kind, what, remedy))
        function = entry.get("function") if isinstance(entry, dict) else None
        if not isinstance(function, dict):
            what = 'tool %d is no function and no dict with "type" and "function"' % (index + 1)
            return report((index,), "invalid_schema", what, "write a function's name, or " + _SHAPE)
        if entry.get("type", "function") != "function":
            what = "tool %d has the type %r" % (index + 1, entry["type"])
            report((index, "type"), "invalid_schema", what, 'write "type": "function", the only type there is')
        place = (index, "function")
        name = function.get("name")
        if not self._check_name(name, lambda *problem: report(place + ("name",), "invalid_schema", *problem)):
            return None
        for key in function:
            if key not in _FUNCTION_KEYS:
                warn("tool `%s` has the unknown key %r; known are %s" % (name, key, ", ".join(_FUNCTION_KEYS)))
        self._check_description(
            name,
            function.get("description"),
            lambda *problem: report(place + ("description",), "invalid_schema", *problem),
        )
        return self._check_schema_tool(name, function, place, report)

    def _check_function(self, function, report):
        name, description = function.__name__, description_of(function)

        def schema_problem(what, remedy):
            return report("invalid_schema", what, remedy)

        if not self._check_name(name, schema_problem):
            return None
        if not description:
            report(
                "invalid_schema",
                "tool `%s` has no docstring" % name,
                "say in its first line what it is for: models choose by that",
            )
        else:
            self._check_description(name, description, schema_problem)
        try:
            parameters, conversions = parameters_of(function)
        except NoSchema as error:
            return report("invalid_schema", error.what, error.remedy)
        check_parameters(
            parameters, self._limits, lambda _path, what, remedy: schema_problem("tool `%s`: %s" % (name, what), remedy)
        )
        return Tool(name, description, parameters, _runner(function, takes_instance(function), conversions))

    def _check_name(self, name, report):
        if not isinstance(name, str) or not NAME.match(name) or len(name) > NAME_AT_MOST:
            what = "%.80r is no name for a tool" % (name,)
            return report(
                what, "start with a letter, go on with letters, digits and _, at most %d characters" % NAME_AT_MOST
            )
        if name in RESERVED:
            return report("the name `%s` belongs to PromptGenerator itself" % name, "name the tool after what it does")
        return True

    def _check_description(self, name, description, report):
        at_most = self._limits["description"]
        if not isinstance(description, str) or not description.strip():
            report("tool `%s` has no description" % name, 'write "description": what the tool is for, in a sentence')
        elif len(description) > at_most:
            what = "the description of tool `%s` has %d characters, at most %d are allowed" % (
                name,
                len(description),
                at_most,
            )
            report(what, 'shorten it, or raise the limit with LIMITS = {"description": %d}' % len(description))

    def _check_schema_tool(self, name, function, place, report):
        parameters, problems = function.get("parameters"), []

        def report_schema(path, what, remedy):
            problems.append(what)
            report(place + ("parameters",) + path, "invalid_schema", "tool `%s`: %s" % (name, what), remedy)

        if parameters is None:
            parameters = dict(NO_PARAMETERS)
        else:
            check_parameters(parameters, self._limits, report_schema)
        run = self._implementation(name, parameters, bool(problems), lambda *problem: report(place, *problem))
        if problems or run is None:
            return Tool(name, "", NO_PARAMETERS, None)
        return Tool(name, function.get("description"), parameters, _with_defaults(parameters, run))

    def _implementation(self, name, parameters, broken, report):
        """What runs a tool: a branch of handle_tool_call, a method, or a function of the module, in this order."""
        if not inspect.isclass(self._generator):
            return None
        if name in self._handled:
            return lambda instance, arguments: instance.handle_tool_call(name, arguments)
        method = inspect.getattr_static(self._generator, name, None)
        if isinstance(method, (staticmethod, classmethod)) or inspect.isroutine(method):
            if not broken:
                _check_call(getattr(self._generator, name), inspect.isfunction(method), parameters, report)
            return lambda instance, arguments: getattr(instance, name)(**arguments)
        function = vars(self._module).get(name)
        if _is_function(function):
            wants_instance = takes_instance(function)
            if not broken:
                _check_call(function, wants_instance, parameters, report)
            return _runner(function, wants_instance, {})
        remedy = "write `def %s(self, …)` in PromptGenerator, or a branch for %r in its handle_tool_call" % (name, name)
        return report("missing_handler", "tool `%s` has no implementation" % name, remedy)


def _is_function(value):
    """Whether a value of the module is meant as a function: not a class, a module or something built in."""
    return callable(value) and not inspect.isclass(value) and not inspect.isbuiltin(value) and _has_signature(value)


def _has_signature(function):
    try:
        return inspect.signature(function) is not None
    except (TypeError, ValueError):
        return False


def _check_call(function, skips_first, parameters, report):
    """Whether a function takes a schema's properties by name, also when the optional ones are left out."""
    properties, required = parameters.get("properties", {}), parameters.get("required", [])
    always = [name for name, schema in properties.items() if name in required or "default" in schema]
    signature = inspect.signature(function)
    name = getattr(function, "__name__", "the function")
    for given in (properties, always):
        try:
            signature.bind(*[None] * skips_first, **dict.fromkeys(given))
        except TypeError as error:
            what = "%s() does not fit its tool's parameters: %s" % (name, error)
            remedy = "give it one parameter for each property, with a default for those that are not required"
            return report("invalid_schema", what, remedy)


def _runner(function, wants_instance, conversions):
    def run(instance, arguments):
        for name, convert in conversions.items():
            if name in arguments:
                arguments[name] = convert(arguments[name])
        return function(instance, **arguments) if wants_instance else function(**arguments)

    return run


def _with_defaults(parameters, run):
    if not has_defaults(parameters):
        return run

    def run_with_defaults(instance, arguments):
        apply_defaults(parameters, arguments)
        return run(instance, arguments)

    return run_with_defaults


def _texts_in(function):
    """Every text that stands in a function's code, also in what is defined inside it."""
    code = getattr(inspect.unwrap(function), "__code__", None) if callable(function) else None
    texts, waiting = set(), [code]
    while waiting:
        constant = waiting.pop()
        if isinstance(constant, str):
            texts.add(constant)
        elif isinstance(constant, (tuple, frozenset)):
            waiting.extend(constant)
        elif inspect.iscode(constant):
            waiting.extend(constant.co_consts)
    return texts
