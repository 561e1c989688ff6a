"""The state of a battle and what all tools need of it: the clock, the events, and who is meant by a name.

The public attributes are the state of one conversation, plain JSON: `armies` say what stands on the
table at the start, `units` what is left of it, `events` what happened, in which round, turn and phase.
The tools themselves are in the character's file.
"""

import copy

from _grimlog_armies import SIDES, armies, attachments, muster
from _grimlog_names import entry, find, secondary_entries, stratagem_entries, unit_entry, words
from _grimlog_rules import Refused, finding, gravest

ARMIES = armies()
RECENT_EVENTS = 8
EVENT_TEXT = 160


class Game:
    def __init__(self):
        self.round, self.phase, self.turn, self.first_turn = 1, "Command", "player", "player"
        self.cp, self.vp = dict.fromkeys(SIDES, 0), dict.fromkeys(SIDES, 0)
        self.extra_cp = dict.fromkeys(SIDES, False)
        self.objectives, self.holding_units = {}, {}
        self.secondaries = {side: [] for side in SIDES}
        self.armies = copy.deepcopy({side: ARMIES[side] for side in SIDES})
        self.attached = attachments(self.armies)
        self.units, self.events = {}, {}
        self._muster()

    def _take_army(self, side, army):
        """Another army for a side, whole and ready."""
        self.armies[side], self.units[side] = copy.deepcopy(army), {}
        self.attached = attachments(self.armies)
        self._muster()

    def _muster(self):
        """Units follow the armies: one that is new is built, one that is gone is dropped, others stay as they are."""
        self.units = {side: muster(self.armies[side], self.units.get(side)) for side in SIDES}

    # The clock and the events

    def _go_to(self, new_round, phase, turn, kind, findings):
        """A step of the game's clock. Extra command points count anew in each turn."""
        starts_turn = turn != self.turn or new_round != self.round or (self.phase, phase) == ("Fight", "Command")
        before = {"round": self.round, "phase": self.phase, "turn": self.turn}
        self.round, self.phase, self.turn = new_round, phase, turn
        if starts_turn:
            self.extra_cp = dict.fromkeys(SIDES, False)
        self._record(kind, f"Round {new_round}, {turn}'s turn, {phase} phase", findings, before=before, starts_turn=starts_turn)

    def _record(self, kind, text, findings, **data):
        """Events are kept by number in a dict, so that one can be taken back without moving the others."""
        number = max((int(key) for key in self.events), default=0) + 1
        text = text if len(text) <= EVENT_TEXT else text[: EVENT_TEXT - 1] + "…"
        event = {"kind": kind, "round": self.round, "turn": self.turn, "phase": self.phase, "text": text, "data": data}
        if findings:
            event["finding"] = gravest(findings)
        self.events[f"{number:04}"] = event

    def _events(self):
        return [self.events[key] for key in sorted(self.events, key=int)]

    def _has_begun(self):
        """Whether anything of the game has been recorded, beyond who plays with what."""
        return any(event["kind"] != "army" for event in self.events.values())

    def _open_findings(self) -> dict[str, str]:
        """The rules that were broken and may still be overridden, each with the number of its newest event."""
        numbered = [(number, self.events[number]) for number in sorted(self.events, key=int)]
        wanting = [(number, one) for number, one in numbered if one.get("finding", {}).get("requiresOverride")]
        return {one["finding"]["rule"]: number for number, one in wanting if "override" not in one}

    def uses_this_turn(self, stratagem: str, side: str) -> list[str]:
        """The phases of the current turn in which a side used a stratagem."""
        phases = []
        for event in reversed(self._events()):
            if event["data"].get("starts_turn"):
                break
            if (
                event["kind"] == "stratagem"
                and event["data"]["side"] == side
                and words(event["data"]["name"]) == words(stratagem)
            ):
                phases.append(event["phase"])
        return phases

    def _require_points(self, side, cost):
        have = self.cp[side]
        if cost > have:
            raise Refused(
                "cp_validation", f"{side} has {have} CP and cannot spend {cost}; nothing changed.", player=side, newCP=have
            )

    # Names

    def get_names(self) -> dict:
        """Names by list. A destroyed unit is found by its name only, so its nicknames go to those that still stand."""
        self._muster()
        both = self._unit_entries(*SIDES)
        return {
            "units": both,
            "units/player": self._unit_entries("player"),
            "units/opponent": self._unit_entries("opponent"),
            "units/contested": both,
            "units/none": both,
            "stratagems": stratagem_entries(),
            "secondaries": self._secondary_entries(),
            "secondaries/player": [entry(name) for name in self.secondaries["player"]],
            "secondaries/opponent": [entry(name) for name in self.secondaries["opponent"]],
        }

    def _unit_entries(self, *sides):
        names = dict.fromkeys(name for side in sides for name in self.units[side])
        return [unit_entry(name) if self._stands(name, sides) else entry(name) for name in names]

    def _secondary_entries(self):
        return secondary_entries(*(name for side in SIDES for name in self.secondaries[side]))

    def _stands(self, name, sides):
        return any(not self.units[side][name]["destroyed"] for side in sides if name in self.units[side])

    def _unit(self, said, *sides):
        """The unit that is meant. Unknown and ambiguous ones are refused, with candidates."""
        entries = self._unit_entries(*sides)
        standing = [one for one in entries if self._stands(one["name"], sides)]
        found = self._find_unit(said, entries, standing)
        if found.name is None:
            candidates = found.candidates or [one["name"] for one in standing]
            rule, problem = "unit_not_found", "is no unit here"
            if found.candidates:
                rule, problem = "unit_ambiguous", "could be several units"
            suggestion = f"Name one of: {', '.join(candidates[:6])}."
            raise Refused(rule, f"'{said[:60]}' {problem}; nothing changed.", suggestion, candidates=candidates[:10])
        return found

    def _find_unit(self, said, entries, standing):
        """Standing units come first, but a destroyed one that is named in full is meant and no other."""
        in_full = find(said, entries)
        if in_full.name and in_full.method in ("exact", "words"):
            return in_full
        among_standing = find(said, standing)
        return in_full if among_standing.method == "unknown" else among_standing

    def _standing_unit(self, said, side):
        found = self._unit(said, side)
        if not self._stands(found.name, [side]):
            raise Refused(
                "already_destroyed", f"{found.name} ({side}) is destroyed already; nothing changed.", unitName=found.name
            )
        return found

    def _acting_unit(self, said, side):
        """A unit's name, with a warning where it should not be able to act any more; a side that is none means both."""
        sides = [side] if side in SIDES else SIDES
        name = self._unit(said, *sides).name
        if self._stands(name, sides):
            return name, []
        return name, [finding("warning", "unit_destroyed", f"{name} is destroyed.", "Take the destruction back.", override=True)]

    def _known_unit_or_as_said(self, said):
        """For what may also be no unit at all, such as the ruins that a unit moves against."""
        return said and (find(said, self._unit_entries(*SIDES)).name or " ".join(said.split()))

    # In words

    def make_turn_context(self) -> str:
        self._muster()
        lines = [
            "The game now:",
            f"round: {self.round}",
            f"phase: {self.phase}",
            f"player_turn: {self.turn}",
            f"goes first: {self.first_turn}",
        ]
        lines += [
            f"{side}: {self.cp[side]} CP, {self.vp[side]} VP, secondaries: {listed(self.secondaries[side])}" for side in SIDES
        ]
        lines.append("objectives: " + listed(self._objective_texts()))
        for side in SIDES:
            lines += [f"{side}'s units:", *(f"- {self._unit_text(name, unit)}" for name, unit in self.units[side].items())]
        recent = [event["text"] for event in self._events()[-RECENT_EVENTS:]]
        return "\n".join(lines + ["latest events, newest last:", *(f"- {text}" for text in recent or ["none yet"])])

    def _objective_texts(self):
        held = [(number, holder, self.holding_units.get(number)) for number, holder in sorted(self.objectives.items())]
        return [f"{number} {holder}{f' ({unit})' if unit else ''}" for number, holder, unit in held]

    def _unit_text(self, name, unit):
        if unit["destroyed"]:
            return f"{name}: destroyed"
        roles = ", ".join(f"{count} {role}" for role, count in unit["roles"].items() if len(unit["roles"]) > 1)
        marks = ["battle-shocked"] * unit["battle_shocked"] + unit["effects"]
        marks += [f"attached to {self.attached[name]}"] if name in self.attached else []
        notes = "".join(f"; {note}" for note in [roles, *marks] if note)
        models = f"{unit['models']}/{unit['starting_models']} models"
        return f"{name}: {models}, {unit['wounds']}/{unit['starting_wounds']} wounds{notes}"


def listed(texts) -> str:
    return ", ".join(texts) or "none"


def counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
