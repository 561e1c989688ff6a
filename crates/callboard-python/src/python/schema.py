"""The parameters of a tool: what their JSON Schema may contain, and the defaults it gives."""

import copy

from callboard_host.state import NotPlain, require_plain

TYPES = ("string", "number", "integer", "boolean", "array", "object", "null")
DEPTH_AT_MOST = 16

_TYPED_OTHERWISE = ("enum", "const", "anyOf", "oneOf", "allOf")
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_LISTS_OF_SCHEMAS = ("anyOf", "oneOf", "allOf", "prefixItems")
_SCHEMAS = ("items", "additionalProperties", "not", "contains", "propertyNames", "if", "then", "else")

NO_PARAMETERS = {"type": "object", "properties": {}}


def check_parameters(parameters, limits, report):
    """Checks a tool's `parameters`; report(path, what, remedy) is called for each problem."""
    if not isinstance(parameters, dict):
        found = type(parameters).__name__
        return report(
            (), "`parameters` is %s, not an object schema" % found, 'write {"type": "object", "properties": {…}}'
        )
    try:
        require_plain(parameters, "parameters")
    except NotPlain as error:
        return report((), "`parameters` cannot be written as JSON: %s is %s" % (error.path, error.found), error.remedy)
    if parameters.get("type") != "object":
        what = "the top-level type of `parameters` is %r" % (parameters.get("type"),)
        report(("type",), what, 'write "type": "object" and list the arguments under "properties"')
    _check_schema(parameters, (), limits, report)


def _check_schema(schema, path, limits, report):
    where = _words(path)
    if len(path) > DEPTH_AT_MOST:
        return report(path, "%s is nested deeper than %d levels" % (where, DEPTH_AT_MOST), "make the schema flatter")
    for key in _REFERENCES:
        if key in schema:
            report(
                path + (key,), "%s uses `%s`" % (where, key), "write the definition out in its place, without recursion"
            )
    for key in ("definitions", "$defs"):
        if key in schema:
            report(path + (key,), "%s uses `%s`" % (where, key), "write the definitions out where they are used")
    _check_type(schema, path, report)
    _check_enum(schema, path, limits, report)
    _check_object(schema, path, limits, report)
    for child_path, child in _children(schema, path, report):
        _check_schema(child, child_path, limits, report)


def _check_type(schema, path, report):
    where, kind = _words(path), schema.get("type")
    kinds = kind if isinstance(kind, list) else [kind]
    if kind is None:
        if path and not any(key in schema for key in _TYPED_OTHERWISE + _REFERENCES):
            report(path, "%s has no type" % where, 'add "type": one of %s' % ", ".join(TYPES))
    elif not kinds or any(not isinstance(one, str) or one not in TYPES for one in kinds):
        report(path + ("type",), "%s has the unknown type %r" % (where, kind), "use one of %s" % ", ".join(TYPES))


def _check_enum(schema, path, limits, report):
    if "enum" not in schema:
        return
    where, values = _words(path), schema["enum"]
    if not isinstance(values, list) or not values:
        report(path + ("enum",), "the enum of %s is not a list of values" % where, 'write "enum": ["one", "two"]')
    elif len(values) > limits["enum"]:
        what = "the enum of %s has %d values, at most %d are allowed" % (where, len(values), limits["enum"])
        report(path + ("enum",), what, 'offer fewer, or raise the limit with LIMITS = {"enum": %d}' % len(values))


def _check_object(schema, path, limits, report):
    where, properties = _words(path), schema.get("properties", {})
    if not isinstance(properties, dict):
        return report(path + ("properties",), "the properties of %s are not a dict" % where, 'write "properties": {…}')
    if len(properties) > limits["properties"]:
        what = "%s has %d properties, at most %d are allowed" % (where, len(properties), limits["properties"])
        remedy = 'use fewer, or raise the limit with LIMITS = {"properties": %d}' % len(properties)
        report(path + ("properties",), what, remedy)
    required = schema.get("required", [])
    if not isinstance(required, list) or any(not isinstance(name, str) for name in required):
        return report(
            path + ("required",), "`required` of %s is not a list of names" % where, 'write "required": ["name"]'
        )
    for name in required:
        if name not in properties:
            what = "`required` of %s names %r, which is not among its properties" % (where, name)
            report(path + ("required",), what, "declare %r under properties, or remove it from required" % name)


def _children(schema, path, report):
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


def _child(child, path, report):
    if isinstance(child, dict):
        yield path, child
    else:
        report(path, "%s is %s, not a schema" % (_words(path), type(child).__name__), 'write {"type": …}')


def _words(path):
    """A path in words: `sides`, or `targets[].name`."""
    text = ""
    for step in path:
        if step == "items":
            text += "[]"
        elif step != "properties":
            text += "%s%s" % ("." if text else "", step)
    return "parameter `%s`" % text if text else "`parameters`"


def has_defaults(schema):
    """Whether a schema gives a default to any property, at any depth."""
    properties = schema.get("properties", {}).values()
    inner = [schema["items"]] if isinstance(schema.get("items"), dict) else []
    return any("default" in child for child in properties) or any(
        has_defaults(child) for child in [*properties, *inner]
    )


def apply_defaults(schema, value):
    """Puts a schema's defaults where the value has nothing."""
    if isinstance(value, dict):
        for name, child in schema.get("properties", {}).items():
            if name not in value and "default" in child:
                value[name] = copy.deepcopy(child["default"])
            elif name in value:
                apply_defaults(child, value[name])
    elif isinstance(value, list) and isinstance(schema.get("items"), dict):
        for item in value:
            apply_defaults(schema["items"], item)
