"""Calls of the kernel that Python's standard library lacks, by way of ctypes. A result of -1 is a refusal."""

from __future__ import annotations

import os
from typing import Any

try:
    import ctypes

    _library: Any = ctypes.CDLL(None, use_errno=True)
    _prctl, _syscall, _waitpid = _library.prctl, _library.syscall, _library.waitpid
except (ImportError, OSError, AttributeError):
    # Every call is refused: orphaned processes end when their channels close, and there is no sandbox.
    _prctl = _syscall = _waitpid = None


def prctl(option: int, *arguments: Any) -> int:
    return -1 if _prctl is None else int(_prctl(option, *_wide(*arguments, 0, 0, 0, 0)[:4]))


def syscall(number: int, *arguments: Any) -> int:
    """Arguments are whole numbers, or bytes and memory to which a pointer is passed."""
    return -1 if _syscall is None else int(_syscall(*_wide(number, *arguments)))


def reap_any(flags: int) -> int:
    """Reaps a child that has ended: its pid, 0 if all run, -1 if there is none. An exception would cost two microseconds."""
    if _waitpid is not None:
        return int(_waitpid(-1, None, flags))
    try:
        return os.waitpid(-1, flags)[0]
    except ChildProcessError:
        return -1


def _wide(*arguments: Any) -> list[Any]:
    return [ctypes.c_long(value) if isinstance(value, int) else value for value in arguments]


def memory(data: bytes) -> Any:
    """Memory that a call may write to."""
    return ctypes.create_string_buffer(data, len(data)) if _prctl is not None else data


def address(of: Any) -> int:
    return ctypes.addressof(of)


def last_error() -> int:
    return ctypes.get_errno() if _prctl is not None else 0


def require(result: int, what: str) -> int:
    """The result, unless it is a refusal."""
    if result < 0:
        error = last_error()
        raise OSError(error, f"{what}: {os.strerror(error) if error else 'this Python has no ctypes'}")
    return result
