"""What has been imported, as seen without looking at the modules of the host.

A forked process that so much as refers to an object gets a copy of its page. The host's modules are many, so they are listed
once, in the root process; a zygote looks only at what was imported after that.
"""

from __future__ import annotations

import sys
from collections import ChainMap
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

_of_host: dict[str, Any] = {}
# Their names by the first part of each.
_names: dict[str, list[str]] = {}


def list_host_modules() -> None:
    """Called once, before the first fork."""
    _of_host.update(sys.modules)
    for name in _of_host:
        _names.setdefault(name.partition(".")[0], []).append(name)


def imported_since() -> dict[str, Any]:
    """The modules that are not the host's, newest first."""
    since: dict[str, Any] = {}
    last = next(reversed(_of_host), None)
    for name, module in reversed(sys.modules.items()):
        if name == last:
            break
        since[name] = module
    return since


def imported_now() -> Mapping[str, Any]:
    """All imported modules, as they are now."""
    since = imported_since()
    count = len(_of_host) + sum(name not in _of_host for name in since)
    return ChainMap(since, _of_host) if count == len(sys.modules) else dict(sys.modules)


def modules_named_by(words: Collection[str]) -> Iterator[Any]:
    """The modules whose names, part by part, are among these words."""
    since = imported_since()
    of_host = (name for word in words for name in _names.get(word, ()) if name not in since)
    for name in (*since, *of_host):
        if all(part in words for part in name.split(".")) and name in sys.modules:
            yield sys.modules[name]
