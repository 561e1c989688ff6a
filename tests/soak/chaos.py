"""What goes wrong, one thing after another, in an order that the seed decides."""

import random
import signal
import time
from collections.abc import Callable
from functools import partial
from typing import Optional

from callboard import DAY
from figures import descendants, is_running, status, wait_until
from stage import Stage
from stores import kill

BROKEN_FILE = "this is no Python\n"
EXIT = "SIGTERM drains: exit code 0, and no process is left"


class Chaos:
    def __init__(self, stage: Stage, clock: Optional[str]):
        self.stage, self.chance = stage, random.Random(f"{stage.seed} chaos")
        self.faults: dict[str, Callable[[], None]] = {
            "kill a worker": self.kill_worker,
            "kill all workers": self.kill_all_workers,
            "kill and restart a model server": self.restart_model_server,
            "suspend a model server": self.suspend_model_server,
            "break a character's file": self.break_a_character,
        }
        if clock:
            self.faults["set the clock"] = self.set_clock
        of_store = {fault.__name__.replace("_", " "): partial(fault, self.chance) for fault in stage.store.faults}
        self.faults.update(of_store)
        self.restarts = {"kill a worker": self.kill_worker, "kill and restart a model server": self.restart_model_server,
                         "kill and restart Callboard": self.kill_callboard,
                         "drain and restart Callboard": self.drain_callboard, **of_store}

    def run_for(self, seconds: float, faults: dict[str, Callable[[], None]]) -> None:
        """Every fault once, in a random order, then again, until the time is over."""
        deadline, due = time.monotonic() + seconds, []
        while time.monotonic() < deadline:
            time.sleep(self.chance.uniform(0.3, 2))
            due = due or self.chance.sample(sorted(faults), len(faults))
            name = due.pop()
            self.stage.report.count("faults", name)
            faults[name]()

    def worker(self) -> Optional[int]:
        found = descendants(self.stage.pick(self.chance).pid)
        return self.chance.choice(found) if found else None

    def kill_worker(self) -> None:
        if pid := self.worker():
            kill(pid, signal.SIGKILL)

    def kill_all_workers(self) -> None:
        for pid in descendants(self.stage.pick(self.chance).pid)[1:]:
            kill(pid, signal.SIGKILL)

    def restart_model_server(self) -> None:
        server = self.chance.choice(self.stage.upstreams)
        server.kill()
        time.sleep(self.chance.uniform(0, 3))
        server.start()

    def suspend_model_server(self) -> None:
        server = self.chance.choice(self.stage.upstreams)
        server.signal(signal.SIGSTOP)
        time.sleep(self.chance.uniform(0.5, 6))
        server.signal(signal.SIGCONT)

    def break_a_character(self) -> None:
        """Its file is wrong for a while: the last good version goes on."""
        file = self.stage.scratch / "characters/saboteur.py"
        source = file.read_text()
        file.write_text(BROKEN_FILE)
        time.sleep(self.chance.uniform(0.5, 2))
        file.write_text(source)

    def set_clock(self) -> None:
        self.stage.pick(self.chance).set_clock(self.chance.choice([-DAY, -3600, -10, 10, 3600, DAY]))

    def kill_callboard(self) -> None:
        callboard = self.stage.pick(self.chance)
        left = descendants(callboard.pid)
        callboard.kill()
        self.expect_gone(callboard.name, left)
        callboard.start()

    def drain_callboard(self) -> None:
        callboard = self.stage.pick(self.chance)
        self.drain(callboard)
        callboard.start()

    def drain(self, callboard) -> None:
        left = descendants(callboard.pid)
        callboard.signal(signal.SIGTERM)
        code = callboard.wait()
        if code != 0:
            self.stage.report.complain(EXIT, f"{callboard.name}: exit code {code}")
        self.expect_gone(callboard.name, left)

    def expect_gone(self, name: str, pids: list[int]) -> None:
        def remaining() -> list[str]:
            return [f"{pid} {status(pid).get('Name')}" for pid in pids if is_running(pid)]

        if not wait_until(lambda: not remaining(), 20):
            self.stage.report.complain("no process outlives its Callboard", f"{name}: {remaining()}")

