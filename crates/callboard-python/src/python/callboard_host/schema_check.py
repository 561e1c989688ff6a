"""The JSON Schema of a tool's parameters: what it may contain, and its defaults."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from callboard_host.state import NotJson, copier, require_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from callboard_host.problems import Path

    Schema = dict[str, Any]
    Limits = dict[str, Any]
    Fill = Callable[[Any], None]
    # Receives the path of a problem, what is wrong, and the remedy.
    ReportSchema = Callable[[Path, str, str], None]

TYPES = ("string", "number", "integer", "boolean", "array", "object", "null")
MAX_DEPTH = 16

_TYPE_NAMES = ", ".join(TYPES)
_TYPED_OTHERWISE = ("enum", "const", "anyOf", "oneOf", "allOf")
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_LISTS_OF_SCHEMAS = ("anyOf", "oneOf", "allOf", "prefixItems")
_SCHEMAS = ("items", "additionalProperties", "not", "contains", "propertyNames", "if", "then", "else")

NO_PARAMETERS: dict[str, Any] = {"type": "object", "properties": {}}


def check_parameters(parameters: Any, limits: Limits, report: ReportSchema) -> None:
    """Checks a tool's `parameters`, and reports each problem."""
    if not isinstance(parameters, dict):
        found = type(parameters).__name__
        return report(
            (), f"`parameters` is {found}, not an object schema", 'write {"type": "object", "properties": {…}}'
        )
    try:
        require_json(parameters, "parameters")
    except NotJson as error:
        return report((), f"`parameters` cannot be written as JSON: {error.path} is {error.found}", error.remedy)
    if parameters.get("type") != "object":
        what = f"the top-level type of `parameters` is {parameters.get('type')!r}"
        report(("type",), what, 'write "type": "object" and list the arguments under "properties"')
    _check_schema(parameters, (), limits, report)


def _check_schema(schema: Schema, path: Path, limits: Limits, report: ReportSchema) -> None:
    where = _describe(path)
    if len(path) > MAX_DEPTH:
        return report(path, f"{where} is nested deeper than {MAX_DEPTH} levels", "make the schema flatter")
    for key in _REFERENCES:
        if key in schema:
            report(path + (key,), f"{where} uses `{key}`", "write the definition out in its place, without recursion")
    for key in ("definitions", "$defs"):
        if key in schema:
            report(path + (key,), f"{where} uses `{key}`", "write the definitions out where they are used")
    _check_type(schema, path, report)
    _check_enum(schema, path, limits, report)
    _check_object(schema, path, limits, report)
    for child_path, child in _children(schema, path, report):
        _check_schema(child, child_path, limits, report)


def _check_type(schema: Schema, path: Path, report: ReportSchema) -> None:
    where, kind = _describe(path), schema.get("type")
    kinds = kind if isinstance(kind, list) else [kind]
    if kind is None:
        if path and not any(key in schema for key in _TYPED_OTHERWISE + _REFERENCES):
            report(path, f"{where} has no type", f'add "type": one of {_TYPE_NAMES}')
    elif not kinds or any(not isinstance(one, str) or one not in TYPES for one in kinds):
        report(path + ("type",), f"{where} has the unknown type {kind!r}", f"use one of {_TYPE_NAMES}")


def _check_enum(schema: Schema, path: Path, limits: Limits, report: ReportSchema) -> None:
    if "enum" not in schema:
        return
    where, values = _describe(path), schema["enum"]
    if not isinstance(values, list) or not values:
        report(path + ("enum",), f"the enum of {where} is not a list of values", 'write "enum": ["one", "two"]')
    elif len(values) > limits["enum"]:
        what = f"the enum of {where} has {len(values)} values, at most {limits['enum']} are allowed"
        report(path + ("enum",), what, f'offer fewer, or raise the limit with LIMITS = {{"enum": {len(values)}}}')


def _check_object(schema: Schema, path: Path, limits: Limits, report: ReportSchema) -> None:
    where, properties = _describe(path), schema.get("properties", {})
    if not isinstance(properties, dict):
        return report(path + ("properties",), f"the properties of {where} are not a dict", 'write "properties": {…}')
    if len(properties) > limits["properties"]:
        what = f"{where} has {len(properties)} properties, at most {limits['properties']} are allowed"
        remedy = f'use fewer, or raise the limit with LIMITS = {{"properties": {len(properties)}}}'
        report(path + ("properties",), what, remedy)
    required = schema.get("required", [])
    if not isinstance(required, list) or any(not isinstance(name, str) for name in required):
        return report(
            path + ("required",), f"`required` of {where} is not a list of names", 'write "required": ["name"]'
        )
    for name in required:
        if name not in properties:
            what = f"`required` of {where} names {name!r}, which is not among its properties"
            report(path + ("required",), what, f"declare {name!r} under properties, or remove it from required")


def _children(schema: Schema, path: Path, report: ReportSchema) -> Iterator[tuple[Path, Schema]]:
    """The schemas inside a schema, each with its path."""
    properties = schema.get("properties")
    for name, child in properties.items() if isinstance(properties, dict) else ():
        yield from _child(child, path + ("properties", name), report)
    for key in _SCHEMAS:
        if key in schema and not isinstance(schema[key], bool):
            yield from _child(schema[key], path + (key,), report)
    for key in _LISTS_OF_SCHEMAS:
        for index, child in enumerate(schema[key] if isinstance(schema.get(key), list) else ()):
            yield from _child(child, path + (key, index), report)


def _child(child: Any, path: Path, report: ReportSchema) -> Iterator[tuple[Path, Schema]]:
    if isinstance(child, dict):
        yield path, child
    else:
        report(path, f"{_describe(path)} is {type(child).__name__}, not a schema", 'write {"type": …}')


def _describe(path: Path) -> str:
    """A path as text: `sides`, or `targets[].name`."""
    text = ""
    for step in path:
        if step == "items":
            text += "[]"
        elif step != "properties":
            text += f".{step}" if text else str(step)
    return f"parameter `{text}`" if text else "`parameters`"


def filler_of(schema: Schema) -> Fill | None:
    """A function that adds a schema's defaults for properties that a value lacks; `None` where it has none."""
    properties = schema.get("properties", {})
    defaults = [(name, copier(child["default"])) for name, child in properties.items() if "default" in child]
    inner = [(name, fill) for name, child in properties.items() for fill in [filler_of(child)] if fill]
    items = filler_of(schema["items"]) if isinstance(schema.get("items"), dict) else None
    if not (defaults or inner or items):
        return None

    def fill(value: Any) -> None:
        if isinstance(value, dict):
            for name, fill_inner in inner:
                if name in value:
                    fill_inner(value[name])
            for name, make in defaults:
                if name not in value:
                    value[name] = make()
        elif isinstance(value, list) and items:
            for item in value:
                items(item)

    return fill
