"""A case of the fault matrix: one client with one fault, what its model has to do there, and how the result is judged.

Only effects count: what the tool did, and what the client said in the end. Every tool gives a receipt, a number that is in
neither the prompt nor the call; the final answer contains the receipts, so it shows that the results reached the model.
"""
import json
from dataclasses import dataclass, field
from pathlib import Path

from faults import Fault

WORKS = "works"
NOT_MET = "–"

TEXTS = ('He said "to be",\tor not –\nthat\'s C:\\stage\\{1}, 100 %', "Exit, pursued by a bear.\n[Curtain] {\"act\": 2}")
NUMBERS = (21, 34)


@dataclass(frozen=True)
class Case:
    """`url` is the base URL of the fault's server, or of Callboard; the model's name there is the fault's."""
    client: str
    fault: Fault
    url: str

    @property
    def name(self):
        return f"{self.client}.{self.fault.name}"

    @property
    def model(self):
        return self.fault.name

    def numbers(self):
        return NUMBERS if self.fault.two else NUMBERS[:1]

    def prompt(self, calls):
        task = json.dumps({"name": self.name, "calls": calls}, ensure_ascii=False)
        return f"Make these calls together, then tell me their receipts.\n<task>{task}</task>"

    def answered(self, text):
        return all(f"receipt-{2 * number}" in (text or "") for number in self.numbers())


@dataclass
class Ending:
    """How a client ended: `text` is its last answer, `error` what it failed with in the end, if it did; `did` is what its tool
    did, and `wanted` what it should have done."""
    did: list = field(default_factory=list)
    wanted: list = field(default_factory=list)
    text: str = ""
    error: str = ""
    hangs: bool = False

    def outcome(self, case: Case) -> str:
        """One of the words of the table in docs/faults.md."""
        if self.hangs:
            return "hangs"
        if self.did and self.did != self.wanted:
            return "wrong call"
        if self.error:
            return "error"
        if self.did and case.answered(self.text):
            return WORKS
        return "no answer" if self.did else "no call"


# ---------------------------------------------------------------------------------------------------------------------
# Agents: their tool is a shell that writes files

def shell_command(name: str, number: int) -> str:
    """Appends, so that a command that runs twice leaves another file."""
    text = TEXTS[NUMBERS.index(number)]
    return f"cat >> {name} <<'END'\n{text}\nEND\necho receipt-$(({number} * 2))"


class Files:
    """The files of a case, in the folder in which the agent works; every run sends the same bytes, wherever that is."""

    def __init__(self, case: Case, folder: Path):
        self.paths = {number: folder / f"{case.name}.{number}.txt" for number in case.numbers()}

    def commands(self):
        return [shell_command(path.name, number) for number, path in self.paths.items()]

    def wanted(self):
        return [TEXTS[NUMBERS.index(number)] + "\n" for number in self.paths]

    def written(self):
        return [path.read_text(encoding="utf-8", errors="replace") for path in self.paths.values() if path.exists()]


# ---------------------------------------------------------------------------------------------------------------------
# SDKs: their tool is a function with an argument of each kind

TOOL = "write_note"


def note(number: int) -> dict:
    return {"title": f"Note {number}", "number": number, "urgent": True, "tags": ["stage"],
            "text": TEXTS[NUMBERS.index(number)]}


def notes(case: Case) -> list[dict]:
    return [note(number) for number in case.numbers()]


def note_calls(case: Case) -> list[dict]:
    return [{"name": TOOL, "arguments": arguments} for arguments in notes(case)]
