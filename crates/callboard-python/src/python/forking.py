"""A process that forks others on request and buries them: the root forks dressers, a dresser forks workers."""

import json
import os
import select
import signal
import traceback

from callboard_host.processes import children, flush_streams, kill
from callboard_host.wire import Closed


class Forker:
    """Serves fork orders. `become(order, descriptors)` is what a child does; it never returns."""

    def __init__(self, channel, descriptors_per_fork, become):
        self._channel, self._per_fork, self._become = channel, descriptors_per_fork, become
        self._family = set()
        self._spared = set(children())
        self._wake, self._woken = os.pipe()

    def serve(self):
        """Forks and buries until Callboard closes the channel."""
        os.set_blocking(self._wake, False)
        os.set_blocking(self._woken, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._woken, warn_on_full_buffer=False)
        poll = select.poll()
        poll.register(self._channel, select.POLLIN)
        poll.register(self._wake, select.POLLIN)
        try:
            while True:
                for descriptor, _ in poll.poll():
                    if descriptor == self._wake:
                        self._bury()
                    else:
                        self._obey()
        except (Closed, OSError):
            self._leave()

    def _obey(self):
        self._channel.fill()
        frame = self._channel.next_frame()
        while frame is not None:
            order = json.loads(frame)
            self._fork(order, self._channel.take_descriptors(self._per_fork))
            frame = self._channel.next_frame()

    def _fork(self, order, descriptors):
        flush_streams()
        try:
            pid = os.fork()
        except OSError as error:
            self._channel.send({"not_forked": {"number": order["number"], "why": str(error)}})
            pid = None
        if pid == 0:
            self._live(order, descriptors)
        for descriptor in descriptors:
            os.close(descriptor)
        if pid is not None:
            self._family.add(pid)

    def _live(self, order, descriptors):
        """The life of a child, which ends here whatever happens."""
        try:
            os.close(self._wake)
            os.close(self._woken)
            self._channel.close()
            self._become(order, descriptors)
            status = 0
        except Closed:
            status = 0
        except BaseException:
            traceback.print_exc()
            status = 1
        flush_streams()
        os._exit(status)

    def _bury(self):
        """Takes note of children that ended, with all they left behind."""
        try:
            while os.read(self._wake, 4096):
                pass
        except BlockingIOError:
            pass
        for pid, status in self._ended():
            if pid in self._family:
                self._family.discard(pid)
                self._channel.send({"exited": {"pid": pid, "status": status}})
        for stranger in children():
            if stranger not in self._family and stranger not in self._spared:
                kill(stranger)

    def _ended(self):
        """Children that ended. Their groups go first: while a child is unburied, nobody else has its number."""
        while True:
            try:
                seen = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            except ChildProcessError:
                return
            if seen is None:
                return
            kill(seen.si_pid, whole_group=True)
            yield seen.si_pid, os.waitstatus_to_exitcode(os.waitpid(seen.si_pid, 0)[1])

    def _leave(self):
        for pid in self._family:
            kill(pid, whole_group=True)
        for stranger in children():
            kill(stranger)
        os._exit(0)
