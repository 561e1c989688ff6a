"""All that a run consists of: the store, the model servers, Callboard, the gate for the load, and the report."""

import random
import shutil
from pathlib import Path
from typing import Union

from callboard import Callboard, settings
from figures import wait_until
from load_gate import LoadGate
from programs import ModelServer
from report import Report
from stores import ROOT, Postgres, Sqlite

RATE = 30


class Stage:
    def __init__(self, program: str, scratch: Path, kind: str, seed: str, report: Report):
        self.seed, self.scratch = seed, scratch
        self.report, self.gate = report, LoadGate(RATE)
        shutil.copytree(ROOT / "characters", scratch / "characters")
        shutil.copytree(Path(__file__).with_name("characters"), scratch / "characters", dirs_exist_ok=True)
        self.store: Union[Postgres, Sqlite] = Postgres(scratch) if kind == "postgres" else Sqlite(scratch)
        self.upstreams = [ModelServer("steady-one", ["soak", "steady"], scratch),
                          ModelServer("steady-two", ["soak", "steady"], scratch),
                          ModelServer("misbehaving", ["soak", "rogue"], scratch, seed)]
        self.callboards = [Callboard(number, program, scratch, self.store.url) for number in range(self.store.instances)]

    def start_model_servers(self) -> None:
        for upstream in self.upstreams:
            upstream.start()
        (self.scratch / "callboard.toml").write_text(settings(self.upstreams))

    def start_callboards(self) -> None:
        for callboard in self.callboards:
            callboard.start()
        self.wait_until_ready()

    def wait_until_ready(self) -> None:
        for callboard in self.callboards:
            if not wait_until(callboard.is_ready):
                self.report.complain("/ready is ok with the store", f"{callboard.name} is not ready after a minute")

    def quiet(self) -> None:
        """Holds the load, and waits until no request is in flight."""
        self.gate.close()
        self.wait_until_ready()
        for callboard in self.callboards:
            if not wait_until(callboard.is_idle):
                self.report.complain("no request stays in flight", f"{callboard.name}: {callboard.in_flight()} in flight")

    def count_completed(self, address: str) -> None:
        for callboard in self.callboards:
            callboard.count_completed(address)

    def pick(self, chance: random.Random) -> Callboard:
        return chance.choice(self.callboards)

    def stop(self) -> None:
        for program in [*self.callboards, *self.upstreams]:
            if program.is_running():
                program.kill()
        self.store.stop()
