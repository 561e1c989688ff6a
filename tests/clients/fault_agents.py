"""The agents of the fault matrix. Each has a tool that is a shell; what it was told to do there is seen in files."""
import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from cline_cli import Cline
from codex_cli import Codex
from fault_cases import Case, Ending, Files
from opencode_server import OpenCode

AT_ONCE = 4


@dataclass(frozen=True)
class Agent:
    """Where an agent's program is, an empty folder for its files, and how long a case may take."""
    program: str
    folder: Path
    seconds: float


def in_parallel(run, cases, at_once=AT_ONCE):
    with ThreadPoolExecutor(at_once) as pool:
        return dict(zip(cases, pool.map(run, cases)))


def ended(files: Files, text: str, error: str = "", hangs: bool = False) -> Ending:
    return Ending(files.written(), files.wanted(), text, error, hangs)


# ---------------------------------------------------------------------------------------------------------------------

def cline(agent: Agent, cases: list[Case]) -> dict[Case, Ending]:
    settings = cline_settings(agent)
    return in_parallel(lambda case: cline_case(agent, case, settings), cases)


def cline_settings(agent):
    """The settings that Cline writes, which are the same for all cases but for URL and model."""
    home = agent.folder / "settings"
    home.mkdir()
    Cline(agent.program, home, agent.folder).use(agent.seconds, "http://URL/v1", "MODEL")
    return (home / "data/settings/providers.json").read_text(encoding="utf-8")


def cline_case(agent, case, settings):
    home = agent.folder / case.name
    target = home / "data/settings/providers.json"
    target.parent.mkdir(parents=True)
    target.write_text(settings.replace("http://URL/v1", case.url).replace("MODEL", case.model), encoding="utf-8")
    workspace = home / "workspace"
    workspace.mkdir()
    files = Files(case, workspace)
    calls = [{"name": "run_commands", "arguments": {"commands": [command]}} for command in files.commands()]
    done, events = Cline(agent.program, home, workspace).ask(agent.seconds, case.model, case.prompt(calls))
    [result] = [event for event in events if event["type"] == "run_result"] or [{"finishReason": "error", "text": done.stderr}]
    error = "" if result["finishReason"] == "completed" else f"{result['finishReason']}: {result['text']}"
    return ended(files, result["text"], error, done.status is None)


# ---------------------------------------------------------------------------------------------------------------------

def codex(agent: Agent, cases: list[Case]) -> dict[Case, Ending]:
    return in_parallel(lambda case: codex_case(agent, case), cases)


def codex_case(agent, case):
    home, workspace = agent.folder / case.name, agent.folder / case.name / "workspace"
    workspace.mkdir(parents=True)
    files = Files(case, workspace)
    calls = [{"name": "exec_command", "arguments": {"cmd": command, "login": False, "yield_time_ms": 30000}}
             for command in files.commands()]
    program = Codex(agent.program, home, workspace)
    program.use(case.url, case.model)
    done, events = program.ask(agent.seconds, case.prompt(calls))
    items = [event["item"] for event in events if event["type"] == "item.completed"]
    said = [item["text"] for item in items if item["type"] == "agent_message"]
    last = events[-1] if events else {"type": "nothing", "stderr": done.stderr}
    error = "" if last["type"] == "turn.completed" else json.dumps(last)
    return ended(files, said[-1] if said else "", error, done.status is None)


# ---------------------------------------------------------------------------------------------------------------------

def opencode(agent: Agent, cases: list[Case]) -> dict[Case, Ending]:
    home, workspace = agent.folder / "home", agent.folder / "workspace"
    home.mkdir()
    workspace.mkdir()
    with OpenCode(agent.program, home, workspace, {case.model: case.url for case in cases}) as server:
        return in_parallel(lambda case: opencode_case(agent, server, case), cases, 2 * AT_ONCE)


def opencode_case(agent, server, case):
    files = Files(case, server.workspace)
    calls = [{"name": "bash", "arguments": {"command": command, "timeout": 20000}} for command in files.commands()]
    try:
        message = server.ask(agent.seconds, case.model, case.prompt(calls))
    except TimeoutError:
        return ended(files, "", hangs=True)
    except OSError as error:
        return ended(files, "", str(error))
    text = "".join(part["text"] for part in message["parts"] if part["type"] == "text")
    return ended(files, text, json.dumps(message["info"].get("error", "")).strip('"'))
