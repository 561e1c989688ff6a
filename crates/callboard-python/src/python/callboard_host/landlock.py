"""Landlock: a process gives up access to files, network and other processes, for itself and all that it starts."""

from __future__ import annotations

import os
import stat
import struct
from typing import TYPE_CHECKING

from callboard_host.kernel import require, syscall

if TYPE_CHECKING:
    from collections.abc import Iterable

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION_FLAG = 1
_PATH_BENEATH = 1

_WRITE_FILE, _READ_FILE, _READ_DIR, _TRUNCATE = 1 << 1, 1 << 2, 1 << 3, 1 << 14
READ = _READ_FILE | _READ_DIR
WRITE_FILE = _READ_FILE | _WRITE_FILE | _TRUNCATE

# By the version of the interface that introduced them.
_FILE_RIGHTS = {1: (1 << 13) - 1, 2: 1 << 13, 3: _TRUNCATE, 5: 1 << 15}
NETWORK_VERSION, _TCP = 4, 0b11
SIGNALS_VERSION, _ABSTRACT_SOCKETS, _SIGNALS = 6, 1, 2


# Rights to files, network and other processes; a rule's rights and the descriptor of its path.
_RULESET, _PATH_RULE = struct.Struct("<3Q"), struct.Struct("<Qi")


def version() -> int:
    """The version of the interface; 0 where the kernel has none, or has it switched off."""
    return max(0, syscall(_CREATE_RULESET, None, 0, _VERSION_FLAG))


def restrict(rules: Iterable[tuple[str, int]]) -> None:
    """Gives up all access but the rights to these paths. Paths that do not exist are left out."""
    offered = version()
    files = sum(rights for since, rights in _FILE_RIGHTS.items() if since <= offered)
    network = _TCP if offered >= NETWORK_VERSION else 0
    scoped = _ABSTRACT_SOCKETS | _SIGNALS if offered >= SIGNALS_VERSION else 0
    size = 8 if not network else 16 if not scoped else 24
    ruleset = require(syscall(_CREATE_RULESET, _RULESET.pack(files, network, scoped), size, 0), "Landlock")
    for path, rights in rules:
        _allow(ruleset, path, rights & files)
    require(syscall(_RESTRICT_SELF, ruleset, 0), "Landlock")
    os.close(ruleset)


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
        rights &= WRITE_FILE
    rule = _PATH_RULE.pack(rights, descriptor)
    require(syscall(_ADD_RULE, ruleset, _PATH_BENEATH, rule, 0), f"Landlock, {path}")
    os.close(descriptor)
