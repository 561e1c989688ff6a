"""Armies of the battle tracker: names, models and wounds, nothing else.

Two sample armies stand here. A conversation plays others by its metadata or by the tool `set_army`: a
list of units, or the name of a file in the folder `armies` beside the folder of the characters. The files
`player.json` and `opponent.json` there (either or both) are what conversations begin with:

    [{"name": "Terminator Squad", "models": 5, "wounds": 3, "roles": {"sergeant": 1, "regular": 4}}]

`wounds` are those of one model; `roles` may be left out, then every model is a regular one;
`attached_to` names the unit that a character has joined. Units of the same name get numbers.
"""

from __future__ import annotations

import json
from pathlib import Path

SIDES = ("player", "opponent")
ROLES = ("regular", "special_weapon", "heavy_weapon", "sergeant", "leader")
FOLDER = Path(__file__).resolve().parent.parent / "armies"

SAMPLES = {
    "player": [
        {"name": "Terminator Squad", "models": 5, "wounds": 3, "roles": {"sergeant": 1, "heavy_weapon": 1, "regular": 3}},
        {"name": "Intercessor Squad", "models": 10, "wounds": 2},
        {"name": "Captain in Terminator Armour", "models": 1, "wounds": 6},
        {"name": "Hellblaster Squad", "models": 5, "wounds": 2},
        {"name": "Redemptor Dreadnought", "models": 1, "wounds": 12},
    ],
    "opponent": [
        {"name": "Termagants", "models": 10, "wounds": 1},
        {"name": "Hormagaunts", "models": 10, "wounds": 1},
        {"name": "Hive Tyrant", "models": 1, "wounds": 10},
        {"name": "The Swarmlord", "models": 1, "wounds": 10},
        {"name": "Carnifex", "models": 1, "wounds": 8},
        {"name": "Tyrannofex", "models": 1, "wounds": 16},
        {"name": "Genestealers", "models": 10, "wounds": 2},
    ],
}


def armies(folder=FOLDER) -> dict[str, list]:
    """Armies by name: those of files, and for each side without one of its own the sample."""
    return {**SAMPLES, **{path.stem: _from_file(path) for path in sorted(Path(folder).glob("*.json"))}}


def muster(army: list, units=None) -> dict[str, dict]:
    """The units of an army by name; those that are there already stay as they are."""
    units = units or {}
    return {name: units.get(name) or _unit(entry) for name, entry in zip(unit_names(army), army)}


def unit_names(army: list) -> list[str]:
    """The names of an army's units in its order; equal names are numbered, so that each can be named."""
    names = [entry["name"] for entry in army]
    counted = [names[: place + 1].count(name) for place, name in enumerate(names)]
    return [f"{name} {count}" if names.count(name) > 1 else name for name, count in zip(names, counted)]


def attachments(armies_by_side: dict) -> dict[str, str]:
    """Which character has joined which unit, as the armies say it."""
    entries = [entry for army in armies_by_side.values() for entry in army]
    return {entry["name"]: entry["attached_to"] for entry in entries if entry.get("attached_to")}


def tally(living: list) -> dict:
    """What can be counted from the living models: how many, their wounds, how many of each role."""
    roles = [model["role"] for model in living]
    return {
        "models": len(living),
        "wounds": sum(model["current"] for model in living),
        "roles": {role: roles.count(role) for role in ROLES if role in roles},
        "destroyed": not living,
    }


def _unit(entry):
    each = entry["wounds"]
    living = [{"role": role, "current": each, "max": each} for role in _roles(entry)]
    start = {"starting_models": len(living), "starting_wounds": each * len(living), "wounds_each": each}
    return {**tally(living), **start, "living": living, "battle_shocked": False, "effects": []}


def _roles(entry):
    """A role for each model; models that no role is given for are regular ones."""
    given = [role for role in ROLES for _ in range(entry.get("roles", {}).get(role, 0))]
    return ["regular"] * (entry["models"] - len(given)) + given


def army_of(text: str, stored: dict) -> list:
    """The army that is written as JSON, or stored under a name."""
    if not text.lstrip().startswith("["):
        if text not in stored:
            raise ValueError(f"there is no stored army list '{text[:60]}'; stored are {', '.join(stored)}")
        return stored[text]
    try:
        army = json.loads(text)
    except ValueError as error:
        raise ValueError(f"the army is not JSON: {error}") from None
    wrong = fault_of(army)
    if wrong:
        raise ValueError(f"the army, {wrong}")
    return army


def fault_of(army) -> str | None:
    """What is wrong with a list of units, or None."""
    if not isinstance(army, list) or not army:
        return "it must be a list of units"
    wrong = ((number, _wrong(entry)) for number, entry in enumerate(army, 1))
    return next((f"unit {number}: {why}" for number, why in wrong if why), None)


def _from_file(path):
    try:
        army = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path.name} is not JSON: {error}") from None
    wrong = fault_of(army)
    if wrong:
        raise ValueError(f"{path.name}, {wrong}")
    return army


def _wrong(entry):
    """What is wrong with a unit of a file, or None."""
    if not isinstance(entry, dict) or not isinstance(entry.get("name"), str) or not entry["name"].strip():
        return 'write {"name": "…", "models": 5, "wounds": 2}'
    if not _within(entry.get("models"), 1, 50) or not _within(entry.get("wounds"), 1, 100):
        return "models must be a number from 1 to 50, wounds (of one model) from 1 to 100"
    roles = entry.get("roles", {})
    if not isinstance(roles, dict) or not all(role in ROLES and _within(count, 0, 50) for role, count in roles.items()):
        return "roles must hold numbers for " + ", ".join(ROLES)
    if sum(roles.values()) > entry["models"]:
        return "roles name more models than there are"
    return None


def _within(value, lowest, highest):
    return type(value) is int and lowest <= value <= highest
