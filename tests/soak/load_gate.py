"""Lets requests through at a bounded rate, and holds them back while figures are taken."""

import threading
import time
from contextlib import contextmanager


class LoadGate:
    def __init__(self, rate: float):
        self.condition = threading.Condition()
        self.interval, self.due = 1 / rate, time.monotonic()
        self.active, self.is_open, self.ended = 0, False, False

    @contextmanager
    def request(self):
        """Waits for its turn; false if the run has ended."""
        with self.condition:
            self.condition.wait_for(lambda: self.is_open or self.ended)
            self.due = max(self.due + self.interval, time.monotonic())
            wait, self.active = self.due - time.monotonic(), self.active + 1
        try:
            time.sleep(max(wait, 0))
            yield not self.ended
        finally:
            with self.condition:
                self.active -= 1
                self.condition.notify_all()

    def open(self) -> None:
        with self.condition:
            self.is_open = True
            self.condition.notify_all()

    def close(self) -> None:
        """Returns when no request is active."""
        with self.condition:
            self.is_open = False
            self.condition.wait_for(lambda: self.active == 0)

    def end(self) -> None:
        with self.condition:
            self.ended = True
            self.condition.notify_all()
