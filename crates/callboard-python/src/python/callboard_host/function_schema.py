"""The schema of a plain function: types from its hints, descriptions from its docstring."""

from __future__ import annotations

import enum
import inspect
import re
import types
import typing
from typing import Any

from callboard_host.state import NotJson, require_json

if typing.TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Schema = dict[str, Any]
    Convert = Callable[[Any], Any]
    Function = Callable[..., Any]

_SIMPLE: dict[Any, str] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    list: "array",
    dict: "object",
}
_UNIONS = (typing.Union, getattr(types, "UnionType", typing.Union))
_SECTION = re.compile(r"^(Args|Arguments|Parameters|Returns|Return|Raises|Yields|Examples?|Notes?)\s*:\s*$")
_GOOGLE = re.compile(r"^\s+\*{0,2}(\w+)\s*(?:\([^)]*\))?\s*:\s*(.*)$")
_SPHINX = re.compile(r"^\s*:param\s+(?:[^:]*\s)?(\w+)\s*:\s*(.*)$")


class NoSchema(Exception):
    """A hint or parameter that has no JSON Schema."""

    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(what)
        self.what, self.remedy = what, remedy


def takes_instance(function: Function) -> bool:
    """Whether the first parameter is `self`: true for methods, and for functions that need the instance."""
    return next(iter(inspect.signature(function).parameters), None) == "self"


def parameters_of(function: Function) -> tuple[Schema, dict[str, Convert]]:
    """A function's parameters as an object schema, and conversions from JSON values to the hinted types."""
    name = function.__name__
    hints = _hints_of(function)
    described = _parameter_descriptions(function)
    properties: dict[str, Schema] = {}
    required: list[str] = []
    conversions: dict[str, Convert] = {}
    for parameter in _plain_parameters(function):
        place = f"parameter `{parameter.name}` of {name}()"
        if parameter.name not in hints:
            raise NoSchema(place + " has no type hint", f"write `{parameter.name}: str`, or the type it has")
        schema, convert = _schema_of(hints[parameter.name], place, parameter.default is None)
        if parameter.name in described:
            schema.setdefault("description", described[parameter.name])
        _add_default(parameter, schema, required)
        properties[parameter.name] = schema
        if convert is not None:
            conversions[parameter.name] = convert
    return {"type": "object", "properties": properties, "required": required}, conversions


def description_of(function: Function) -> str:
    """The first paragraph of the docstring, on one line."""
    text = inspect.getdoc(function) or ""
    lines = []
    for line in text.strip().splitlines():
        if not line.strip() or _SECTION.match(line) or _SPHINX.match(line):
            break
        lines.append(line.strip())
    return " ".join(lines)


def _hints_of(function: Function) -> dict[str, Any]:
    try:
        return typing.get_type_hints(function, include_extras=True)
    except Exception as error:
        what = f"the type hints of {function.__name__}() cannot be read: {type(error).__name__}: {error}"
        raise NoSchema(what, "use names that the file defines or imports") from None


def _plain_parameters(function: Function) -> Iterator[inspect.Parameter]:
    """The parameters that a model sets: all but `self`."""
    for position, parameter in enumerate(inspect.signature(function).parameters.values()):
        if position == 0 and parameter.name == "self":
            continue
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            what = f"parameter `{parameter.name}` of {function.__name__}() cannot be given by name"
            raise NoSchema(what, "a tool's parameters are plain ones: no *args, no **kwargs, no `/`")
        yield parameter


def _add_default(parameter: inspect.Parameter, schema: Schema, required: list[str]) -> None:
    default = parameter.default
    if default is parameter.empty:
        required.append(parameter.name)
        return
    default = default.value if isinstance(default, enum.Enum) else default
    try:
        require_json(default, parameter.name)
    except NotJson:
        return
    if default is not None:
        schema["default"] = default


def _schema_of(hint: Any, place: str, none_is_default: bool = False) -> tuple[Schema, Convert | None]:
    """The schema of a hint, and the conversion of a JSON value to it, where one is needed."""
    if typing.get_origin(hint) is getattr(typing, "Annotated", object()):
        base, *notes = typing.get_args(hint)
        schema, convert = _schema_of(base, place, none_is_default)
        schema.update([("description", note) for note in notes if isinstance(note, str)])
        return schema, convert
    if isinstance(hint, type) and hint in _SIMPLE:
        return {"type": _SIMPLE[hint]}, float if hint is float else None
    if inspect.isclass(hint) and issubclass(hint, enum.Enum):
        return _values_schema([member.value for member in hint], place), hint
    origin, inside = typing.get_origin(hint), typing.get_args(hint)
    if origin in _SIMPLE and not inside:
        return {"type": _SIMPLE[origin]}, None
    if origin is typing.Literal:
        return _values_schema(list(inside), place), None
    if origin in _UNIONS:
        return _union_schema(inside, place, none_is_default)
    if origin is list:
        items, convert = _schema_of(inside[0], place)
        return {"type": "array", "items": items}, convert and _convert_list(convert)
    if origin is dict and inside[0] is str:
        values, convert = _schema_of(inside[1], place)
        schema = {"type": "object", "additionalProperties": values}
        return schema, convert and _convert_dict(convert)
    name = getattr(hint, "__name__", hint)
    raise NoSchema(
        f"{place} has the type hint {name}, which has no JSON form",
        "use str, int, float, bool, list[…], dict[str, …], Optional[…], Literal[…] or an Enum",
    )


def _values_schema(values: list[Any], place: str) -> Schema:
    kinds = {_SIMPLE.get(type(value)) for value in values}
    if not values or not kinds <= {"string", "integer", "number", "boolean"}:
        raise NoSchema(f"{place} allows values that are neither text, numbers nor booleans", "use such values")
    return {"type": kinds.pop(), "enum": values} if len(kinds) == 1 else {"enum": values}


def _union_schema(inside: tuple[Any, ...], place: str, none_is_default: bool) -> tuple[Schema, Convert | None]:
    """Optional, or several types. `null` is offered only where omitting the argument does not mean the same."""
    some = [_schema_of(hint, place) for hint in inside if hint is not type(None)]
    nullable = len(some) < len(inside) and not none_is_default
    if len(some) > 1:
        if any(convert not in (None, float) for _, convert in some):
            raise NoSchema(f"{place} is a union with an Enum", "use the Enum alone, or Literal[…]")
        return {"anyOf": [schema for schema, _ in some] + [{"type": "null"}] * nullable}, None
    schema, convert = some[0]
    if nullable and "type" in schema and "enum" not in schema:
        schema = {**schema, "type": [schema["type"], "null"]}
    elif nullable:
        schema = {"anyOf": [schema, {"type": "null"}]}
    return schema, convert and _convert_optional(convert)


def _convert_list(convert: Convert) -> Convert:
    return lambda values: [convert(value) for value in values]


def _convert_dict(convert: Convert) -> Convert:
    return lambda given: {key: convert(value) for key, value in given.items()}


def _convert_optional(convert: Convert) -> Convert:
    return lambda value: None if value is None else convert(value)


def _parameter_descriptions(function: Function) -> dict[str, str]:
    """The descriptions of parameters in a docstring: under `Args:`, or as `:param name:`."""
    names = inspect.signature(function).parameters
    described: dict[str, str] = {}
    section: str | None = None
    last: str | None = None
    for line in (inspect.getdoc(function) or "").splitlines():
        heading, sphinx = _SECTION.match(line), _SPHINX.match(line)
        google = _GOOGLE.match(line) if section in ("Args", "Arguments", "Parameters") else None
        if heading:
            section, last = heading.group(1), None
        elif sphinx or google and google.group(1) in names:
            last, text = (sphinx or google).groups()  # type: ignore[union-attr]
            described[last] = text.strip()
        elif last and line.startswith((" ", "\t")) and line.strip():
            described[last] += " " + line.strip()
        else:
            last = None
    return described
