"""A process that forks others on request and reaps them: the root process forks zygotes, a zygote forks workers."""

from __future__ import annotations

import os
import select
import signal
import traceback
from typing import TYPE_CHECKING, NoReturn

from callboard_host.channel import Channel, Closed
from callboard_host.process_setup import children, flush_streams, kill

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class ForkServer:
    """Serves fork requests. `child_main(descriptors)` is what a child runs."""

    def __init__(self, channel: Channel, descriptors_per_fork: int, child_main: Callable[[list[int]], None]) -> None:
        self._channel, self._descriptors_per_fork, self._child_main = channel, descriptors_per_fork, child_main
        self._forked: set[int] = set()
        # What the character's file forked at import is left alone.
        self._spared = set(children())
        self._wakeup_reader, self._wakeup_writer = os.pipe()

    def serve(self) -> None:
        """Forks and reaps until Callboard closes the channel."""
        os.set_blocking(self._wakeup_reader, False)
        os.set_blocking(self._wakeup_writer, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._wakeup_writer, warn_on_full_buffer=False)
        poll = select.poll()
        poll.register(self._channel, select.POLLIN)
        poll.register(self._wakeup_reader, select.POLLIN)
        try:
            while True:
                for descriptor, _ in poll.poll():
                    if descriptor == self._wakeup_reader:
                        self._reap()
                    else:
                        self._serve_requests()
        except (Closed, OSError):
            self._exit()

    def _serve_requests(self) -> None:
        self._channel.fill()
        while self._channel.next_frame() is not None:
            self._fork(self._channel.take_descriptors(self._descriptors_per_fork))

    def _fork(self, descriptors: list[int]) -> None:
        flush_streams()
        try:
            pid = os.fork()
        except OSError as error:
            self._channel.send({"fork_failed": {"error": str(error)}})
        else:
            if pid == 0:
                self._run_child(descriptors)
            self._forked.add(pid)
        for descriptor in descriptors:
            os.close(descriptor)

    def _run_child(self, descriptors: list[int]) -> NoReturn:
        try:
            os.close(self._wakeup_reader)
            os.close(self._wakeup_writer)
            self._channel.close()
            self._child_main(descriptors)
            status = 0
        except Closed:
            status = 0
        except BaseException:
            traceback.print_exc()
            status = 1
        flush_streams()
        os._exit(status)

    def _reap(self) -> None:
        """Reports children that ended, and kills what they left behind."""
        try:
            while os.read(self._wakeup_reader, 4096):
                pass
        except BlockingIOError:
            pass
        for pid, status in self._ended():
            if pid in self._forked:
                self._forked.discard(pid)
                self._channel.send({"exited": {"pid": pid, "status": status}})
        for pid in children():
            if pid not in self._forked and pid not in self._spared:
                kill(pid)

    def _ended(self) -> Iterator[tuple[int, int]]:
        """Children that ended, with their status. Kills each group first: its number is taken until then."""
        while True:
            try:
                ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            except ChildProcessError:
                return
            if ended is None:
                return
            kill(ended.si_pid, whole_group=True)
            yield ended.si_pid, os.waitstatus_to_exitcode(os.waitpid(ended.si_pid, 0)[1])

    def _exit(self) -> NoReturn:
        for pid in self._forked:
            kill(pid, whole_group=True)
        for pid in children():
            kill(pid)
        os._exit(0)
