"""Named checks for the Python suites: each one is run, printed and counted, independent of the others."""
import time
import traceback
from collections.abc import Callable
from typing import Any


class Suite:
    """The checks of one client, in order of definition."""

    def __init__(self, client: str):
        self.client = client
        self.checks = []

    def check(self, name: str) -> Callable:
        def add(function):
            self.checks.append((name, function))
            return function
        return add

    def run(self) -> int:
        """Runs every check and returns how many failed; the last line printed is `N passed, M failed`."""
        failed = 0
        for name, function in self.checks:
            began = time.monotonic()
            try:
                remark = function()
            except Exception as error:
                failed += 1
                print(f"FAILED {self.client}: {name}: {in_one_line(error)}")
                traceback.print_exc(limit=-4)
                continue
            seconds = time.monotonic() - began
            print(f"ok     {self.client}: {name} ({seconds:.2f} s){f' [{remark}]' if remark else ''}", flush=True)
        print(f"{len(self.checks) - failed} passed, {failed} failed", flush=True)
        return failed


def in_one_line(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:300]


def equal(seen: Any, wanted: Any) -> None:
    assert seen == wanted, f"saw {seen!r}, wanted {wanted!r}"
