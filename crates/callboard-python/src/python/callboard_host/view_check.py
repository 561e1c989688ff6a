"""VIEW: how a page may show a character's state. Parts from top to bottom, described and not drawn; no markup.

A path is a JSON Pointer into the state, such as `/score` for `self.score`; inside a part that has rows or
entries it starts at the row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from callboard_host.problems import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from callboard_host.problems import Path

    # Where it is, what is wrong, and what to write instead.
    Fault = tuple[Path, str, str]
    Check = Callable[[Any, Path], Iterator[Fault]]

MAX_TEXT = 100
MAX_PATH = 500
MAX_ENTRIES = 50


def faults_of_view(view: Any) -> Iterator[Fault]:
    """What is wrong with a view, each with its place inside it."""
    return _VIEW(view, ())


def _text(value: Any, place: Path) -> Iterator[Fault]:
    if not isinstance(value, str) or not value.strip() or len(value) > MAX_TEXT:
        yield place, f"{_named(place)} is {value!r:.60}; it must be text of 1 to {MAX_TEXT} characters", 'write "Score"'


def _path(value: Any, place: Path) -> Iterator[Fault]:
    if not isinstance(value, str) or len(value) > MAX_PATH or not (value == "" or value.startswith("/")):
        what = f"{_named(place)} is {value!r:.60}; it must be a path into the state"
        yield place, what, 'begin it with a slash: "/score" is self.score'


def _list_of(check: Check) -> Check:
    def check_list(value: Any, place: Path) -> Iterator[Fault]:
        if not isinstance(value, list) or not 0 < len(value) <= MAX_ENTRIES:
            what = f"{_named(place)} must be a list of 1 to {MAX_ENTRIES} entries"
            yield place, what, "list what the page shows, from top to bottom"
            return
        for number, entry in enumerate(value):
            yield from check(entry, (*place, number))

    return check_list


def _dict_of(required: dict[str, Check], optional: dict[str, Check]) -> Check:
    known = {**required, **optional}

    def check_dict(value: Any, place: Path) -> Iterator[Fault]:
        if not isinstance(value, dict):
            yield place, f"{_named(place)} is {type(value).__name__}; it must be a dict", f"give it {_quoted(required)}"
            return
        for key, entry in value.items():
            if key in known:
                yield from known[key](entry, (*place, key))
            else:
                what = f"{_named(place)} has the unknown key {key!r:.60}"
                yield (*place, key), what, f"known are {', '.join(known)}{did_you_mean(key, known)}"
        for key in required:
            if key not in value:
                yield place, f"{_named(place)} has no {key!r}", f"give it {_quoted(required)}"

    return check_dict


def _part(value: Any, place: Path) -> Iterator[Fault]:
    shown = value.get("show") if isinstance(value, dict) else None
    if isinstance(shown, str) and shown in _PARTS:
        yield from _PARTS[shown](value, place)
    else:
        kinds = ", ".join(f'"{kind}"' for kind in _PARTS)
        what = f"{_named((*place, 'show'))} is {shown!r:.60}; it must be one of {kinds}"
        at = (*place, "show") if isinstance(value, dict) and "show" in value else place
        yield at, what, 'write {"show": "facts", "items": [{"label": "Score", "path": "/score"}]}'


def _any(_value: Any, _place: Path) -> Iterator[Fault]:
    """For what has been checked already."""
    return iter(())


def _part_of(required: dict[str, Check], **optional: Check) -> Check:
    return _dict_of({"show": _any, **required}, {"title": _text, **optional})


def _named(place: Path) -> str:
    return "VIEW" + "".join(f"[{step!r:.60}]" for step in place)


def _quoted(keys: dict[str, Check]) -> str:
    return " and ".join(f'"{key}"' for key in keys)


# A value with its label; `of` is the most it can be.
_VALUES = _list_of(_dict_of({"label": _text, "path": _path}, {"of": _path}))
_BARS = _list_of(_dict_of({"label": _text, "path": _path, "of": _path}, {}))
_PARTS = {
    "facts": _part_of({"items": _VALUES}),
    "bars": _part_of({"items": _BARS}),
    "steps": _part_of({"path": _path, "of": _list_of(_text)}),
    "table": _part_of({"path": _path}, key=_text, value=_text, columns=_VALUES, struck=_path),
    "list": _part_of({"path": _path}, text=_path),
    "timeline": _part_of({"path": _path, "text": _path}, kind=_path, finding=_path),
}
_VIEW = _dict_of({"parts": _list_of(_part)}, {"title": _text})
