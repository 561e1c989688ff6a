"""Mixed load while everything fails; README.md says what is done and what is checked.

    soak.py CALLBOARD [--minutes N] [--store sqlite|postgres] [--seed S]
"""

import argparse
import ctypes
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import Optional

import checks
from actors import CONTRACT, FORM, READ, STATE, UNDO, Actor, make_actors
from callboard import DAY, faketime
from chaos import EXIT, Chaos
from figures import Figures, settled_figures
from http_client import send
from report import Report
from stage import Stage

PR_SET_CHILD_SUBREAPER = 36
LONGEST = 600  # seconds for all but the load
WARM_UP, CHAOS, RESTARTS = 0.25, 0.4, 0.35


def adopt_orphans() -> None:
    """Processes that lose their parent become children of this one, so that none escapes the check."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("callboard")
    parser.add_argument("--minutes", type=float, default=3)
    parser.add_argument("--store", choices=["sqlite", "postgres"], default="sqlite")
    parser.add_argument("--seed", default=str(random.randrange(1_000_000)))
    return parser.parse_args()


def fakes_the_clock(stage: Stage) -> Optional[str]:
    """The library that fakes the clock, if Callboard follows it; otherwise Callboard runs without."""
    library = faketime()
    if not library:
        print("left out: clock jumps: the package faketime is not installed")
        return None
    [first, *_] = stage.callboards
    first.fake_clock(library)
    first.set_clock(DAY)
    first.start()
    created = send(first.address, "POST", "/v1/conversations", {}).json()["created_at"]
    first.kill()
    first.set_clock(0)
    if abs(created - time.time() - DAY) > 600:
        print(f"left out: clock jumps: with faketime, Callboard says {created}")
        for name in ("LD_PRELOAD", "FAKETIME_TIMESTAMP_FILE"):
            first.environment.pop(name, None)
        return None
    for callboard in stage.callboards:
        callboard.fake_clock(library)
    return library


def run_chaos(stage: Stage, chaos: Chaos, seconds: float, faults: dict) -> None:
    """Load and faults together, then no load, until no request is in flight."""
    stage.gate.open()
    chaos.run_for(seconds, faults)
    stage.quiet()


def run_phases(stage: Stage, chaos: Chaos, seconds: float) -> None:
    print("warm-up")
    run_chaos(stage, chaos, WARM_UP * seconds, chaos.faults)
    before = [settled_figures(callboard.pid) for callboard in stage.callboards]
    metrics = [callboard.metrics() for callboard in stage.callboards]
    print("faults")
    run_chaos(stage, chaos, CHAOS * seconds, chaos.faults)
    checks.check_growth(stage, before, "memory, threads, files and processes are as before")
    check_metrics(stage, metrics)
    print("faults and restarts of Callboard")
    run_chaos(stage, chaos, RESTARTS * seconds, chaos.restarts)
    check_after_restarts(stage, before)


def check_metrics(stage: Stage, before: list[dict[str, float]]) -> None:
    for callboard, metrics in zip(stage.callboards, before):
        for complaint in checks.complaints_about_falling(callboard, metrics):
            stage.report.complain("metrics are consistent", complaint)
        for complaint in checks.complaints_about_metrics(callboard):
            stage.report.complain("metrics are consistent", complaint)


def check_after_restarts(stage: Stage, before: list[Figures]) -> None:
    checks.check_growth(stage, before, "memory, threads, files and processes are as before, after restarts")
    check_metrics(stage, [{} for _ in before])


def check_end(stage: Stage, chaos: Chaos, actors: list[Actor]) -> None:
    checks.check_histories(actors)
    checks.check_store(stage, actors)
    checks.check_traces(stage)
    checks.check_zombies(stage)
    stage.wait_until_ready()
    for callboard in stage.callboards:
        chaos.drain(callboard)
    checks.check_orphans(stage)
    checks.check_log(stage)
    for name in (STATE, READ, UNDO, CONTRACT, FORM, "metrics are consistent",
                 "no request stays in flight", "/ready is ok with the store", EXIT, "no process outlives its Callboard"):
        stage.report.check(name)


def play(stage: Stage, seconds: float) -> None:
    stage.start_model_servers()
    clock = fakes_the_clock(stage)
    for reason in stage.store.skipped:
        print(f"left out: {reason}")
    stage.start_callboards()
    chaos, actors = Chaos(stage, clock), make_actors(stage)
    for actor in actors:
        actor.start()
    run_phases(stage, chaos, seconds)
    stage.gate.end()
    for actor in actors:
        actor.join()
    check_end(stage, chaos, actors)


def main() -> None:
    options = read_options()
    print(f"store {options.store}, {options.minutes:g} minutes, seed {options.seed}")
    adopt_orphans()
    scratch = Path(tempfile.mkdtemp(prefix="soak-"))
    scratch.chmod(0o755)  # PostgreSQL is run by an ordinary user
    report = Report()
    try:
        play_on_a_stage(options, scratch, report)
    except Exception:
        report.complain("the run reaches its end", traceback.format_exc()[-1400:])
    code = report.finish()
    remove(scratch, failed=code != 0)
    sys.exit(code)


def play_on_a_stage(options: argparse.Namespace, scratch: Path, report: Report) -> None:
    signal.signal(signal.SIGALRM, out_of_time)
    signal.alarm(int(options.minutes * 60) + LONGEST)
    stage = Stage(options.callboard, scratch, options.store, options.seed, report)
    try:
        play(stage, options.minutes * 60)
    finally:
        signal.alarm(0)
        stage.gate.end()
        stage.stop()


def out_of_time(*_: object) -> None:
    raise TimeoutError("the checks at the end do not come to an end")


def remove(scratch: Path, failed: bool) -> None:
    """The logs of a run that failed are kept."""
    if failed:
        print(f"logs are in {scratch}", file=sys.stderr)
    else:
        shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    main()
