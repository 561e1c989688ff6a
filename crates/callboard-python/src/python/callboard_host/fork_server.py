"""A process that forks others on request and reaps them: the root process forks zygotes, a zygote forks workers."""

from __future__ import annotations

import os
import select
import signal
import traceback
from typing import TYPE_CHECKING, NoReturn

from callboard_host.channel import Channel, Closed, decode
from callboard_host.descendants import children, end_processes, kill
from callboard_host.process_setup import flush_streams, signal_with_parent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class ForkServer:
    """Serves the requests of Callboard. `child_main(descriptors)` is what a child runs."""

    def __init__(
        self, channel: Channel, parent: int, descriptors_per_fork: int, child_main: Callable[[list[int]], None]
    ) -> None:
        self._channel, self._parent = channel, parent
        self._descriptors_per_fork, self._child_main = descriptors_per_fork, child_main
        self._forked: set[int] = set()
        # What the character's file forked at import is left alone.
        self._spared = set(children())
        self._wakeup_reader, self._wakeup_writer = os.pipe()

    def serve(self) -> None:
        """Forks and reaps until Callboard closes the channel, or the parent ends."""
        self._watch_signals()
        poll = select.poll()
        poll.register(self._channel, select.POLLIN)
        poll.register(self._wakeup_reader, select.POLLIN)
        try:
            while os.getppid() == self._parent:
                for descriptor, _ in poll.poll():
                    if descriptor == self._wakeup_reader:
                        self._reap()
                    else:
                        self._serve_requests()
        except (Closed, OSError):
            pass
        self._exit()

    def _watch_signals(self) -> None:
        """Has the end of a child or of the parent wake the poll.

        The parent's end does not kill this process: then nobody would end the processes below. SIGCONT wakes it even
        if it was stopped.
        """
        os.set_blocking(self._wakeup_reader, False)
        os.set_blocking(self._wakeup_writer, False)
        for number in (signal.SIGCHLD, signal.SIGCONT):
            signal.signal(number, lambda *_: None)
        signal.set_wakeup_fd(self._wakeup_writer, warn_on_full_buffer=False)
        signal_with_parent(signal.SIGCONT)

    def _serve_requests(self) -> None:
        self._channel.fill()
        frame = self._channel.next_frame()
        while frame is not None:
            if decode(frame) == "fork":
                self._fork(self._channel.take_descriptors(self._descriptors_per_fork))
            else:
                self._reap()
                self._channel.send({"swept": {}})
            frame = self._channel.next_frame()

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
        """Ends what ended children left behind, then reports them: nothing lives on after the report."""
        try:
            while os.read(self._wakeup_reader, 4096):
                pass
        except BlockingIOError:
            pass
        ended = list(self._ended())
        end_processes(self._strays)
        for pid, status in ended:
            if pid in self._forked:
                self._forked.discard(pid)
                self._channel.send({"exited": {"pid": pid, "status": status}})

    def _strays(self) -> list[int]:
        return [pid for pid in children() if pid not in self._forked and pid not in self._spared]

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
        end_processes(children)
        os._exit(0)
