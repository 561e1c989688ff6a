"""Loads one character file: runs it, checks it, tries it out once, and makes its manifest."""

import ast
import importlib.util
import inspect
import sys
import types

from callboard_host.attributes import Attributes
from callboard_host.calling import settle
from callboard_host.problems import Places, Problems, line_in, message_of, name_and_message
from callboard_host.state import Keeper, NotPlain
from callboard_host.tools import Toolbox

MODULE = "callboard_character"


class Refused(Exception):
    """The file is no character. `problems` says why."""

    def __init__(self, problems):
        super().__init__("%d problems" % len(problems))
        self.problems = problems


class Character:
    """A character that was checked: what workers need to perform it."""

    def __init__(self, generator, keeper, toolbox, tools, timeouts):
        self.generator, self.keeper = generator, keeper
        self._toolbox, self._timeouts = toolbox, timeouts
        self.tools = {tool.name: tool for tool in tools}

    def adopt(self, entries, report):
        """Checks tools that get_tools() returned, and makes them ready to run."""
        tools = self._toolbox.check(entries, report, lambda warning: None)
        self.set_timeouts(tools)
        self.tools.update({tool.name: tool for tool in tools if tool.run is not None})
        return tools

    def set_timeouts(self, tools):
        for tool in tools:
            tool.timeout_ms = self._timeouts["by_tool"].get(tool.name, self._timeouts["default_ms"])


def read_source(path):
    """The text of a file, decoded as Python does."""
    try:
        with open(path, "rb") as file:
            return importlib.util.decode_source(file.read())
    except (OSError, SyntaxError, UnicodeDecodeError) as error:
        problems = Problems()
        problems.add(
            "import_error",
            None,
            "the file cannot be read: %s" % name_and_message(error),
            "save it as UTF-8 text that Callboard may read",
        )
        raise Refused(problems.found) from None


def load(path, folder, source):
    """A character and its manifest, or Refused with all that is wrong."""
    problems, warnings = Problems(), []
    module, places = _run_file(path, folder, source, problems)
    attributes = Attributes(module, places, problems, warnings)
    manifest = attributes.read()
    generator = _generator_of(module, places, problems)
    toolbox = Toolbox(module, generator, manifest["limits"])
    tools = toolbox.check(vars(module).get("TOOLS"), _reporter(problems, places, "TOOLS"), warnings.append)
    timeouts = attributes.timeouts({tool.name for tool in tools}, not hasattr(generator, "get_tools"))
    if problems.found:
        raise Refused(problems.found)
    character = Character(generator, Keeper(generator, vars(module)["INSTRUCTIONS"]), toolbox, tools, timeouts)
    character.set_timeouts(tools)
    _rehearse(character, path, places, problems)
    if problems.found:
        raise Refused(problems.found)
    manifest.update(
        tools=[tool.manifest() for tool in tools],
        timeouts=timeouts,
        keeps_state=_writes_to_self(source),
        has_turn_context=hasattr(generator, "make_turn_context"),
        has_get_tools=hasattr(generator, "get_tools"),
        has_get_names=hasattr(generator, "get_names"),
        warnings=warnings,
    )
    return character, manifest


def _run_file(path, folder, source, problems):
    """Runs the file as a module of its own, with its folder's modules in reach."""
    module = types.ModuleType(MODULE)
    module.__file__ = path
    sys.modules[MODULE] = module
    sys.path.insert(_before_installed_packages(), folder)
    try:
        tree = ast.parse(source, path)
        exec(compile(tree, path, "exec", dont_inherit=True), module.__dict__)
    except SyntaxError as error:
        _report_syntax_error(error, path, problems)
    except SystemExit as error:
        what = "the file calls sys.exit(%s) when it is imported" % message_of(error)
        problems.add("import_error", line_in(error, path), what, "remove the call: a character only defines things")
    except BaseException as error:
        what = "importing the file raises %s" % name_and_message(error)
        problems.add("import_error", line_in(error, path), what, _import_remedy(error))
    if problems.found:
        raise Refused(problems.found)
    return module, Places(tree)


def _writes_to_self(source):
    """Whether any method but the constructor sets a public attribute of `self`: its calls then have to run in order."""
    for function in ast.walk(ast.parse(source)):
        if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) or function.name == "__init__":
            continue
        for node in ast.walk(function):
            own = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
            if own and isinstance(node.ctx, (ast.Store, ast.Del)) and not node.attr.startswith("_"):
                return True
    return False


def _before_installed_packages():
    """Own modules come before installed ones, but never hide a module of Python itself."""
    for index, entry in enumerate(sys.path):
        if "site-packages" in entry or "dist-packages" in entry:
            return index
    return len(sys.path)


def _report_syntax_error(error, path, problems):
    if error.filename == path:
        problems.add(
            "import_error", error.lineno, "syntax error: %s" % error.msg, "correct the line, or the one before it"
        )
    else:
        what = "syntax error in %s line %s: %s" % (error.filename, error.lineno, error.msg)
        problems.add("import_error", line_in(error, path), what, "correct that file")


def _import_remedy(error):
    if isinstance(error, ModuleNotFoundError):
        return "install it for the interpreter in use (%s), or put it beside the character" % sys.executable
    if isinstance(error, MemoryError):
        return "build less at import, or raise the memory limit"
    return "correct the line; what may fail belongs into a tool, not into the import"


def _generator_of(module, places, problems):
    generator = vars(module).get("PromptGenerator")
    remedy = "write `class PromptGenerator:` with __init__(self, instructions) and make_system_prompt(self)"
    if generator is None:
        problems.add("missing_attribute", None, "PromptGenerator is missing", remedy)
    elif not inspect.isclass(generator):
        what = "PromptGenerator is a %s; it must be a class" % type(generator).__name__
        problems.add("invalid_value", places.line("PromptGenerator"), what, remedy)
    elif not callable(getattr(generator, "make_system_prompt", None)):
        line = places.line("PromptGenerator")
        problems.add(
            "missing_attribute",
            line,
            "PromptGenerator has no make_system_prompt",
            "write `def make_system_prompt(self) -> str:`",
        )
    else:
        for name in ("handle_tool_call", "get_tools", "make_turn_context", "get_names"):
            if not callable(getattr(generator, name, len)):
                what = "PromptGenerator.%s is not a method" % name
                problems.add(
                    "invalid_value", places.line("PromptGenerator", name), what, "write `def %s(self, …):`" % name
                )
    return generator


def _reporter(problems, places, *root):
    return lambda path, kind, what, remedy: problems.add(kind, places.line(*root, *path), what, remedy)


def _rehearse(character, path, places, problems):
    """Makes one instance and one system prompt, so that what cannot work is found now."""
    place = ["PromptGenerator", "__init__"]

    def report(what, remedy, error=None):
        line = (line_in(error, path) if error else None) or places.line(*place)
        problems.add("invalid_value", line, what, remedy)

    try:
        _check_constructor(character.generator)
        instance = character.keeper.make(None)
        place[1] = "make_system_prompt"
        prompt = settle(instance.make_system_prompt())
        if not isinstance(prompt, str):
            return report(
                "make_system_prompt() returns %s; it must return text" % type(prompt).__name__,
                "end it with `return` and the text",
            )
        character.keeper.collect(instance)
        if hasattr(character.generator, "get_tools"):
            place[1] = "get_tools"
            entries = settle(instance.get_tools())
            character.adopt(
                entries,
                lambda _path, kind, what, remedy: problems.add(
                    kind, places.line(*place), "get_tools(): " + what, remedy
                ),
            )
    except _WrongConstructor as error:
        report(str(error), "write `def __init__(self, instructions):`")
    except NotPlain as error:
        report("%s is %s, and so cannot be kept" % (error.path, error.found), error.remedy)
    except BaseException as error:
        report(
            "%s() raises %s" % (place[1], name_and_message(error)),
            "correct it: it is run once for every conversation",
            error,
        )


class _WrongConstructor(Exception):
    """The constructor cannot be called with the instructions alone."""


def _check_constructor(generator):
    try:
        inspect.signature(generator).bind({})
    except ValueError:
        return
    except TypeError as error:
        raise _WrongConstructor("PromptGenerator cannot be made from the instructions alone: %s" % error) from None
