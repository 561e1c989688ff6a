"""What the battle tracker says by itself: reminders of a phase, and advice from the state of the game.

Advice knows when common stratagems can be used and what they cost, and reads the rest from the
board: weak units, objectives, the score. It is short on purpose, so that it can be heard.
"""

from collections import namedtuple

from _grimlog_armies import SIDES
from _grimlog_damage import at_half_strength
from _grimlog_rules import PHASES

ANY = tuple(PHASES)
Stratagem = namedtuple("Stratagem", "name cost phases turn")  # turn: whose turn it must be for the one who uses it

STRATAGEMS = [
    Stratagem("Command Re-roll", 1, ANY, "any"),
    Stratagem("Insane Bravery", 1, ("Command",), "own"),
    Stratagem("New Orders", 1, ("Command",), "own"),
    Stratagem("Rapid Ingress", 1, ("Movement",), "other"),
    Stratagem("Fire Overwatch", 1, ("Movement", "Charge"), "other"),
    Stratagem("Grenade", 1, ("Shooting",), "own"),
    Stratagem("Go to Ground", 1, ("Shooting",), "other"),
    Stratagem("Smokescreen", 1, ("Shooting",), "other"),
    Stratagem("Tank Shock", 1, ("Charge",), "own"),
    Stratagem("Heroic Intervention", 1, ("Charge",), "other"),
    Stratagem("Counter-offensive", 2, ("Fight",), "any"),
    Stratagem("Epic Challenge", 1, ("Fight",), "any"),
    Stratagem("Armour of Contempt", 1, ("Shooting", "Fight"), "other"),
]

REMINDERS = {
    "Command": ["Both sides gain 1 CP", "Battle-shock tests for units at half strength", "Score primary objectives"],
    "Movement": ["Say who advances or falls back", "Reserves may arrive at the end"],
    "Shooting": ["Units that advanced or fell back may not shoot"],
    "Charge": ["The other side may fire overwatch"],
    "Fight": ["Units that charged fight first", "Pile in before, consolidate after"],
}


def reminders(phase: str, units: dict) -> list[str]:
    """What to think of in a phase; units: those of the side whose turn it is."""
    weak = [name for name, unit in units.items() if not unit["destroyed"] and at_half_strength(unit)]
    tested = [f"At half strength: {', '.join(weak[:5])}"] if weak and phase == "Command" else []
    return REMINDERS[phase] + tested


def opportunities(game) -> list[str]:
    """What the player can use or do now."""
    return _usable(game, "player") + _finishable(game) + _objectives_to_take(game) + _to_score(game)


def threats(game) -> list[str]:
    """What the player should watch for now."""
    return _usable(game, "opponent") + _endangered(game) + _objectives_lost(game) + _behind(game)


def _usable(game, side):
    turn = "own" if game.turn == side else "other"
    fitting = [one for one in STRATAGEMS if game.phase in one.phases and one.turn in ("any", turn) and one.cost <= game.cp[side]]
    return [f"{one.name} ({one.cost} CP)" for one in fitting if game.phase not in game.uses_this_turn(one.name, side)]


def _weak(game, side):
    return [name for name, unit in game.units[side].items() if not unit["destroyed"] and _is_weak(unit)]


def _is_weak(unit):
    """At half strength, or a single model with half of its wounds left."""
    return at_half_strength(unit) or 2 * unit["wounds"] <= unit["starting_wounds"]


def _finishable(game):
    return [f"Finish {name}" for name in _weak(game, "opponent")]


def _endangered(game):
    return [f"{name} is weak" for name in _weak(game, "player")]


def _objectives_to_take(game):
    return [f"Take objective {number}" for number, holder in sorted(game.objectives.items()) if holder != "player"]


def _objectives_lost(game):
    return [
        f"Objective {number}: {holder}"
        for number, holder in sorted(game.objectives.items())
        if holder in ("opponent", "contested")
    ]


def _to_score(game):
    return [f"Score {name}" for name in game.secondaries["player"]]


def _behind(game):
    own, other = (game.vp[side] for side in SIDES)
    return [f"{other - own} VP behind"] if other > own else []
