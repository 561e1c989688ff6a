"""Runs a piece of work in a forked process, which is ended with all that it left behind."""

from __future__ import annotations

import json
import os
import select
import time
from typing import TYPE_CHECKING, Any, NoReturn

from callboard_host.descendants import children, end_processes, kill, reap
from callboard_host.process_setup import exit_with_parent, flush_streams

if TYPE_CHECKING:
    from collections.abc import Callable

_END = b"\n"


def run_in_fork(work: Callable[[], Any], seconds: float) -> Any:
    """What `work` returns, through JSON. None if it takes longer, or its process ends without a result.

    What it prints is dropped.
    """
    flush_streams()
    before = set(children())
    reader, writer = os.pipe()
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        _run(work, parent, writer)
    os.close(writer)
    try:
        line = _read_line(reader, time.monotonic() + seconds)
    finally:
        os.close(reader)
        kill(pid)
        reap(pid)
        end_processes(lambda: [child for child in children() if child not in before])
    return json.loads(line) if line.endswith(_END) else None


def _run(work: Callable[[], Any], parent: int, writer: int) -> NoReturn:
    try:
        exit_with_parent(parent)
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        result = json.dumps(work()).encode() + _END
        if os.getppid() == parent:
            _write_all(writer, result)
    finally:
        os._exit(0)


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


def _read_line(descriptor: int, deadline: float) -> bytes:
    """What arrives up to the end of a line: a process that outlives the writer may keep the pipe open."""
    line = b""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN | select.POLLHUP)
    while not line.endswith(_END):
        left = deadline - time.monotonic()
        if left <= 0 or not poll.poll(left * 1000):
            break
        chunk = os.read(descriptor, 65536)
        if not chunk:
            break
        line += chunk
    return line
