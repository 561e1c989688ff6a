"""Compares JSON with the types of the official Python SDK, more strictly than the SDK does.

The SDK accepts unknown fields, guesses among alternatives and passes wrong values through. Here every difference is a finding: a
line of text that names the type, not the location, so that the same difference is always the same line.
"""
import types
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import pydantic
from typing_extensions import Literal as ExtensionLiteral
from typing_extensions import TypeAliasType

PLAIN = {str: (str,), bool: (bool,), float: (float, int), int: (int,)}


def findings(value, kind, place=""):
    """All differences between a value and a type."""
    kind = bare(kind)
    if kind in (Any, object):
        return []
    if get_origin(kind) in (Union, types.UnionType):
        return of_union(value, get_args(kind), place)
    if get_origin(kind) in (Literal, ExtensionLiteral):
        return [] if value in get_args(kind) else [f"{place}: is {shown(value)}, which is none of its words"]
    if get_origin(kind) in (list, tuple) or kind is list:
        return of_list(value, get_args(kind), place)
    if get_origin(kind) is dict or kind is dict:
        return of_dict(value, get_args(kind), place)
    if isinstance(kind, type) and issubclass(kind, pydantic.BaseModel):
        return of_model(value, kind, place)
    return of_plain(value, kind, place)


def bare(kind):
    """The type without annotations and aliases."""
    while True:
        if get_origin(kind) is Annotated:
            kind = get_args(kind)[0]
        elif isinstance(kind, TypeAliasType):
            kind = kind.__value__
        else:
            return kind


def of_plain(value, kind, place):
    if kind is type(None):
        return [] if value is None else [f"{place}: is {named(value)} instead of null"]
    wanted = PLAIN.get(kind)
    assert wanted, f"{place}: no rule for {kind!r}"
    right = isinstance(value, wanted) and (kind is bool or not isinstance(value, bool))
    return [] if right else [f"{place}: is {named(value)} instead of {kind.__name__}"]


def of_list(value, inner, place):
    if not isinstance(value, list):
        return [f"{place}: is {named(value)} instead of a list"]
    kind = inner[0] if inner else Any
    return [finding for entry in value for finding in findings(entry, kind, f"{place}[]")]


def of_dict(value, inner, place):
    if not isinstance(value, dict):
        return [f"{place}: is {named(value)} instead of an object"]
    kind = inner[1] if inner else Any
    return [finding for entry in value.values() for finding in findings(entry, kind, f"{place}{{}}")]


def of_model(value, model, place):
    if not isinstance(value, dict):
        return [f"{place or title(model)}: is {named(value)} instead of an object"]
    fields = {field.alias or name: field for name, field in model.model_fields.items()}
    found = [f"{title(model)}.{name}: is not in the type" for name in value if name not in fields]
    for name, field in fields.items():
        if name in value:
            found += findings(value[name], field.annotation, f"{title(model)}.{name}")
        elif field.is_required():
            found.append(f"{title(model)}.{name}: is missing")
    return found


def title(model):
    """The name of a model, with its file if that differs: names such as Logprob occur in many files of the SDK."""
    file = model.__module__.rpartition(".")[2]
    return model.__name__ if file.replace("_", "") == model.__name__.lower() else f"{file}.{model.__name__}"


def of_union(value, members, place):
    """The differences to the matching alternative: the one with the same tags, and of several the nearest."""
    members = list(flattened(members))
    if value is None and type(None) in members:
        return []
    tagged = [member for member in members if has_tags(value, member)]
    candidates = [findings(value, member, place) for member in tagged or members if member is not type(None)]
    return min(candidates, key=len)


def flattened(members):
    for member in map(bare, members):
        if get_origin(member) in (Union, types.UnionType):
            yield from flattened(get_args(member))
        else:
            yield member


def is_model(member: Any) -> bool:
    return isinstance(member, type) and issubclass(member, pydantic.BaseModel)


def has_tags(value: Any, member: Any) -> bool:
    """Whether the value is an object whose single-literal fields equal those of the model."""
    if not isinstance(value, dict) or not is_model(member):
        return False
    for name, field in member.model_fields.items():
        kind = bare(field.annotation)
        if get_origin(kind) in (Literal, ExtensionLiteral) and len(get_args(kind)) == 1:
            absent = get_args(kind)[0] if not field.is_required() else None
            if value.get(field.alias or name, absent) != get_args(kind)[0]:
                return False
    return True


def named(value):
    return {dict: "an object", list: "a list", type(None): "null"}.get(type(value), type(value).__name__)


def shown(value):
    return repr(value) if isinstance(value, (str, int, bool, type(None))) else named(value)
