"""The sandbox of a character: what it gives up before its file is imported."""

from __future__ import annotations

import os
import sys
from typing import Any

from callboard_host import landlock, seccomp
from callboard_host.capabilities import ALL, drop_capabilities
from callboard_host.kernel import prctl, require

_PR_SET_NO_NEW_PRIVS = 38

# What the interpreter needs beside its own files. Nothing in /proc tells more than any user of the machine may know,
# since a sandboxed process may not look into others.
_READABLE = (
    "/lib /lib64 /usr/lib /usr/lib64 /usr/share/zoneinfo /etc/localtime /etc/ld.so.cache /proc /dev/urandom /dev/random "
    "/dev/zero"
).split()


def offered() -> dict[str, Any]:
    """What the kernel offers."""
    return {"landlock": landlock.version(), "seccomp": seccomp.is_available()}


def enter(folder: str) -> None:
    """Leaves this process and all below it what a character in this folder needs. Raises OSError if it cannot."""
    readable = {folder, sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix, *sys.path}
    rules = [(path, landlock.READ) for path in (*_READABLE, *map(os.path.abspath, filter(None, readable)))]
    rules.append((os.devnull, landlock.WRITE_FILE))
    drop_capabilities(ALL)
    require(prctl(_PR_SET_NO_NEW_PRIVS, 1), "no new privileges")
    landlock.restrict(rules)
    seccomp.refuse_calls()
