"""A Callboard under test, with a clock of its own, and the settings that make failures quick."""

import os
import threading
from pathlib import Path
from typing import Optional

from http_client import get, send
from programs import ModelServer, Program

WORKERS = 2
LIBRARIES = ("/usr/lib/*/faketime/libfaketimeMT.so.1", "/usr/lib64/faketime/libfaketimeMT.so.1")
DAY = 86400

SETTINGS = f"""
store_connections = 8

[limits]
reply_bytes = "1 MiB"

[timeouts]
connect_seconds = 2
first_byte_seconds = 4
idle_seconds = 3
keep_alive_seconds = 1
client_seconds = 5
drain_seconds = 5

[stage]
model = "soak"
turn_seconds = 20
result_characters = 10000

[python]
workers = {WORKERS}
"""


def settings(upstreams: list[ModelServer]) -> str:
    urls = [f'\n[[upstream]]\nurl = "http://{upstream.address}/v1"\n' for upstream in upstreams]
    return SETTINGS + "".join(urls)


def faketime() -> Optional[str]:
    """The library that fakes the clock, if it is installed."""
    found = [str(path) for pattern in LIBRARIES for path in Path("/").glob(pattern[1:])]
    return found[0] if found else None


class Callboard(Program):
    def __init__(self, number: int, program: str, scratch: Path, store: str):
        self.clock = scratch / f"clock-{number}"
        self.completed, self.lock = 0, threading.Lock()
        self.set_clock(0)
        folder = scratch / "empty"
        folder.mkdir(exist_ok=True)
        command = [program, "serve", "--listen", "127.0.0.1:0", "--config", str(scratch / "callboard.toml"),
                   "--characters", str(scratch / "characters"), "--store", store]
        environment = {"PATH": os.environ["PATH"], "HOME": str(folder)}
        super().__init__(f"callboard-{number}", command, scratch / f"callboard-{number}.log", environment, folder)

    def fake_clock(self, library: Optional[str]) -> None:
        """From its next start on. Only the time of day is faked: timeouts run as ever."""
        if library:
            self.environment.update({"LD_PRELOAD": library, "FAKETIME_TIMESTAMP_FILE": str(self.clock),
                                     "FAKETIME_DONT_FAKE_MONOTONIC": "1", "FAKETIME_CACHE_DURATION": "1"})

    def set_clock(self, seconds: int) -> None:
        self.clock.write_text(f"{seconds:+d}")

    def listens(self, address: str) -> None:
        with self.lock:
            super().listens(address)
            self.completed = 0

    def count_completed(self, address: str) -> None:
        """Counts a turn that a client has received from this address; another one belongs to an earlier process."""
        with self.lock:
            self.completed += address == self.address

    def is_ready(self) -> bool:
        try:
            return get(self.address, "/ready") == {"status": "ready", "store": "ok"}
        except (LookupError, OSError):
            return False

    def in_flight(self) -> float:
        """As /metrics says."""
        return next(value for name, value in self.metrics().items() if name == "callboard_in_flight")

    def is_idle(self) -> bool:
        return self.in_flight() == 0

    def metrics(self) -> dict[str, float]:
        lines = send(self.address, "GET", "/metrics").body.decode().splitlines()
        samples = [line.rpartition(" ") for line in lines if line and not line.startswith("#")]
        return {name: float(value) for name, _, value in samples}
