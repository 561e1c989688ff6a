"""Damage to the models of a unit. Pure: takes a unit as it is, gives what is left of it.

Wounded models go first, then by role, leaders last. Wounds run on from a model that died to the
next one; lost models are taken away whole, and never hurt a survivor.
"""

from collections import namedtuple

from _grimlog_armies import tally

LAST = {"regular": 0, "special_weapon": 1, "heavy_weapon": 2, "sergeant": 3, "leader": 3}

# unit: the unit afterwards · killed: models that died · surplus: wounds that met no model · steps: what happened to each model
Outcome = namedtuple("Outcome", "unit killed surplus steps")


def damage(unit: dict, models=0, wounds=0, role=None) -> Outcome:
    """First takes the models away, then deals the wounds; both only to a role, where one is given."""
    living = [dict(model) for model in unit["living"]]
    steps = []
    for model in _in_order(living, role)[:models]:
        steps.append(f"{model['role']} removed")
        model["current"] = 0
    left = wounds
    for model in _in_order(living, role):
        taken = min(model["current"], left)
        if taken:
            steps.append(f"{model['role']} {model['current']}->{model['current'] - taken}")
        model["current"] -= taken
        left -= taken
    survivors = [model for model in living if model["current"] > 0]
    return Outcome({**unit, **tally(survivors), "living": survivors}, len(living) - len(survivors), left, steps)


def destroyed(unit: dict) -> dict:
    """The unit without any model."""
    return {**unit, **tally([]), "living": []}


def of_role(unit: dict, role) -> int:
    """How many living models damage can go to."""
    return unit["models"] if role is None else unit["roles"].get(role, 0)


def at_half_strength(unit: dict) -> bool:
    """At most half of the models it began with, rounded down, are left."""
    return unit["models"] <= unit["starting_models"] // 2


def _in_order(living, role):
    """The models still standing, the next one to be hurt first."""
    standing = [model for model in living if model["current"] > 0 and role in (None, model["role"])]
    return sorted(standing, key=lambda model: (model["current"] == model["max"], LAST[model["role"]], model["current"]))
