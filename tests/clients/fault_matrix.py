#!/usr/bin/env python3
"""The fault matrix: every client with every fault of faults.py, alone or through Callboard, and the page docs/faults.md.

    fault_matrix.py alone|through CALLBOARD PACKAGES [NAME...]        NAMEs of faults or clients, all of them unless named

PACKAGES is the folder whose node_modules has the clients. Through Callboard every case must work; alone the outcomes must be
those that the page records. UPDATE=1 writes the page.
"""
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path

import fault_agents
import fault_page
import fault_python
from checks import Suite
from client_process import Server, end_all_on_sigterm
from fault_cases import NOT_MET, TOOL, WORKS, Case, Ending, note_calls, notes
from fault_page import CLIENTS
from faults import FAULTS

HALF, CALLBOARD, PACKAGES = sys.argv[1:4]
CHOSEN = sys.argv[4:]
SECONDS = {"alone": fault_page.SECONDS_ALONE, "through": 90}[HALF]
FEWEST_FAULTS = 20
HERE = Path(__file__).resolve().parent
suite = Suite(f"faults, {HALF}")


# ---------------------------------------------------------------------------------------------------------------------
# The clients

def binary(pattern):
    [found] = (Path(PACKAGES) / "node_modules").glob(pattern)
    return str(found)


def agent(run, pattern):
    def cases_of(cases):
        with tempfile.TemporaryDirectory(prefix="callboard-faults-") as folder:
            return run(fault_agents.Agent(binary(pattern), Path(folder), SECONDS), cases)
    return cases_of


def node(stream):
    def cases_of(cases):
        wanted = [{"name": case.name, "url": case.url, "model": case.model, "prompt": case.prompt(note_calls(case)),
                   "stream": stream, "tool": TOOL} for case in cases]
        done = subprocess.run([binary("node-*/bin/node"), HERE / "fault_node.mjs", PACKAGES, str(SECONDS)], text=True,
                              input=json.dumps(wanted), stdout=subprocess.PIPE, check=True)
        endings = {ending.pop("name"): ending for ending in map(json.loads, done.stdout.splitlines())}
        return {case: Ending(wanted=notes(case), **endings[case.name]) for case in cases}
    return cases_of


RUNS: dict[str, Callable[[list[Case]], dict[Case, Ending]]] = {
    "cline": agent(fault_agents.cline, ".bin/cline"),
    "opencode": agent(fault_agents.opencode, "opencode-*/bin/opencode"),
    "codex": agent(fault_agents.codex, ".bin/codex"),
    "python-whole": lambda cases: fault_python.whole(cases, SECONDS),
    "python-streamed": lambda cases: fault_python.streamed(cases, SECONDS),
    "node-whole": node(False),
    "node-streamed": node(True),
}


# ---------------------------------------------------------------------------------------------------------------------
# The servers

def callboard(folder, model_url):
    """Callboard with a model server for each fault, so that what it learns of one is not known of another."""
    servers = [f'[[upstream]]\nurl = "{model_url}/{fault.name}/v1"\nmodels = ["{fault.name}"]\n' for fault in FAULTS]
    Path(folder, "callboard.toml").write_text("\n".join(servers), encoding="utf-8")
    command = [CALLBOARD, "serve", "--listen", "127.0.0.1:0", "--store", "sqlite::memory:", "--characters", folder]
    return Server(command, cwd=folder, env={"PATH": os.environ["PATH"], "HOME": folder})


def play(url_of):
    """The outcome of every case, and how it came about, by (client, fault)."""
    seen = {}
    for client in CLIENTS:
        faults = [fault for fault in FAULTS if is_chosen(client, fault)]
        began = time.monotonic()
        endings = RUNS[client]([Case(client, fault, url_of(fault)) for fault in faults]) if faults else {}
        print(f"       {client}: {len(endings)} faults in {time.monotonic() - began:.1f} s", flush=True)
        seen.update({(client, case.fault.name): (ending.outcome(case), ending) for case, ending in endings.items()})
    return seen


def is_chosen(client, fault):
    clients, names = set(CHOSEN) & set(CLIENTS), set(CHOSEN) - set(CLIENTS)
    return client in (clients or CLIENTS) and fault.name in (names or {fault.name})


def played():
    """What was seen, and the set of cases in which the fault showed."""
    with tempfile.TemporaryDirectory(prefix="callboard-faults-") as folder, \
            Server([sys.executable, HERE / "fault_server.py"]) as model:
        if HALF == "alone":
            seen = play(lambda fault: f"{model.url}/{fault.name}/v1")
        else:
            with callboard(folder, model.url) as gateway:
                seen = play(lambda fault: f"{gateway.url}/v1")
        with urllib.request.urlopen(f"{model.url}/met") as reply:
            return seen, {tuple(name.split(".")) for name in json.load(reply)}


# ---------------------------------------------------------------------------------------------------------------------
# The checks

def check_case(key, outcome, ending, wanted):
    @suite.check(f"{key[0]}: {key[1]}")
    def _():
        assert outcome == wanted, f"{outcome}, not {wanted or 'on the page'}: {ending}"
        return outcome


def check_page(record, may_write):
    @suite.check("docs/faults.md is up to date")
    def _():
        gaps = [f"{client}.{fault.name}" for client in CLIENTS for fault in FAULTS if (client, fault.name) not in record]
        assert not gaps, f"not recorded yet; UPDATE=1 before the suite faults-alone records them: {gaps}"
        page = fault_page.page(record)
        if may_write and os.environ.get("UPDATE"):
            fault_page.PAGE.write_text(page, encoding="utf-8")
        assert fault_page.PAGE.read_text(encoding="utf-8") == page, "it is not; UPDATE=1 writes it when all cases work"


def check_faults_met(met):
    for client in CLIENTS:
        @suite.check(f"{client}: at least {FEWEST_FAULTS} faults show")
        def _(client=client):
            count = sum(key[0] == client for key in met)
            assert count >= FEWEST_FAULTS, f"{count} faults"
            return f"{count} faults"


def main():
    end_all_on_sigterm()
    record = fault_page.read_record()
    seen, met = played()
    outcomes = {key: outcome if HALF == "through" or key in met else NOT_MET for key, (outcome, _) in seen.items()}
    if HALF == "alone" and os.environ.get("UPDATE"):
        record.update(outcomes)
    wanted = dict.fromkeys(seen, WORKS) if HALF == "through" else record
    for key, (_, ending) in seen.items():
        check_case(key, outcomes[key], ending, wanted.get(key))
    if not CHOSEN:
        check_faults_met(met)
    check_page(record, all(outcome == wanted[key] for key, outcome in outcomes.items()))
    return 1 if suite.run() else 0


if __name__ == "__main__":
    sys.exit(main())
