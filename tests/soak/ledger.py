"""What clients received of one conversation with the counter, to compare with what is stored.

Each turn adds a token of its own. Its outcome decides where the token belongs: a confirmed one must be stored once, a refused one
must not, and for all others either is right.
"""

import re
import threading
from typing import Optional

from plans import ECHO, call, step, written
from wires import Ending, Outcome

BROKEN_ARGUMENTS = "{'token': '%s',}"


def plan(token: str, pause: float, broken: bool = False) -> str:
    """A turn that adds a token, shows all of them and repeats what the tools returned."""
    add = call("add", token=token)
    if broken:
        add["arguments"] = BROKEN_ARGUMENTS % token
    return written([step("One moment. ", [add], pause), step(calls=[call("show")], pause=pause), step(ECHO, pause=pause)])


def only_show() -> str:
    return written([step(calls=[call("show")]), step(ECHO)])


def was_added(outcome: Outcome, token: str) -> bool:
    """Whether the tool ran: its worker may have been killed, of which a completed turn reports an error."""
    return outcome.ending == Ending.COMPLETED and bool(re.search(rf"kept {token}(?!\S)", outcome.text))


def shown(outcome: Outcome) -> Optional[list[str]]:
    """The tokens that the character showed in this turn."""
    found = re.search(r"tokens:((?: \S+)*)", outcome.text)
    return found.group(1).split() if found else None


class Ledger:
    def __init__(self):
        self.lock = threading.Lock()
        self.confirmed: list[str] = []
        self.refused: set[str] = set()
        self.unknown: set[str] = set()

    def begin(self, token: str) -> tuple[list[str], set[str]]:
        """Registers a turn; what is certain before it."""
        with self.lock:
            self.unknown.add(token)
            return list(self.confirmed), set(self.refused)

    def end(self, token: str, outcome: Outcome) -> None:
        with self.lock:
            if was_added(outcome, token):
                self.unknown.discard(token)
                self.confirmed.append(token)
            elif outcome.ending == Ending.COMPLETED or not outcome.may_be_kept():
                self.unknown.discard(token)
                self.refused.add(token)

    def doubt(self, token: str) -> None:
        """A confirmed turn that may have been undone."""
        with self.lock:
            self.confirmed.remove(token)
            self.unknown.add(token)

    def undo(self, tokens: list[str]) -> list[str]:
        """An undo was confirmed, with the tokens that are left. At most the newest confirmed one is gone."""
        with self.lock:
            gone = [token for token in self.confirmed if token not in tokens]
            if gone and gone == self.confirmed[-1:]:
                self.confirmed.pop()
                self.refused.add(gone[0])
                return []
        return [f"an undo of one call removed {gone}"] if gone else []

    def certain(self) -> tuple[list[str], set[str]]:
        with self.lock:
            return list(self.confirmed), set(self.refused)

    def complaints(self, tokens: list[str], certain: tuple[list[str], set[str]], in_order: bool = True) -> list[str]:
        """What is wrong with these tokens, given what was certain when they were requested."""
        confirmed, refused = certain
        with self.lock:
            known = {*self.confirmed, *self.refused, *self.unknown}
        found = [f"{token} was acknowledged and is missing" for token in confirmed if token not in tokens]
        found += [f"{token} is there twice" for token in sorted(set(tokens)) if tokens.count(token) > 1]
        found += [f"{token} was refused and is there" for token in tokens if token in refused]
        found += [f"{token} belongs to another conversation" for token in tokens if token not in known]
        if in_order and not found and [token for token in tokens if token in confirmed] != confirmed:
            found.append(f"in another order: {tokens} instead of {confirmed}")
        return [f"{complaint} (stored: {' '.join(tokens)})" for complaint in found]
