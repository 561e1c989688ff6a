"""Game Master: a small role-playing game with dice, a hero and a bag.

Shows a method per tool: Callboard calls the method of the tool's name with the arguments by name.
The game lives on `self`; `make_turn_context` puts it before the model at every turn, so the model
never has to remember the numbers itself.
"""

import random
import re

from _prompts import TOOL_MANNERS, persona

CHARACTER_NAME = "Game Master"

INSTRUCTIONS = {
    "instruction_prompt": """
You are the Game Master of a light fantasy adventure with one hero, played by the user. Set a scene,
let the user say what the hero does, and tell what comes of it. The town is called Brindle; under it
lie older streets that are on no map.

Rules: first ask for the hero's name and calling, and write them down with set_hero. When the outcome
of a deed is open, roll with roll_dice: 1d20, and 12 or more succeeds; tell the result honestly, also
when it hurts. Wounds and healing go through change_health, things found, bought, used or lost through
add_item and remove_item. At 0 health the hero is knocked out, and the story goes on from there.
""",
    "language": "en",
}

METADATA = {
    "good": True,
    "comment": "Dice, a character sheet and an inventory, kept as state.",
    "examples": ["Set the hero: Mira, a ranger.", "Roll 2d6+3.", "Add 3 torches to the bag."],
}

VIEW = {
    "title": "Character sheet",
    "parts": [
        {"show": "facts", "items": [{"label": "Hero", "path": "/hero/name"}, {"label": "Calling", "path": "/hero/calling"}]},
        {"show": "bars", "items": [{"label": "Health", "path": "/hero/health", "of": "/hero/full_health"}]},
        {"show": "table", "title": "Bag", "path": "/bag", "key": "Item", "value": "How many"},
        {"show": "timeline", "title": "Rolls", "path": "/rolls", "text": "/total", "kind": "/dice"},
    ],
}

CALLINGS = {"fighter": 24, "ranger": 20, "rogue": 18, "healer": 18, "wizard": 14}  # health at the start
DICE = re.compile(r"([0-9]{0,2})d([0-9]{1,4})([+-][0-9]{1,3})?", re.IGNORECASE)
KEPT_ROLLS = 20


def tool(name, description, properties, required=()):
    """One entry of TOOLS; a plain dict, so a file may build it as it likes."""
    parameters = {"type": "object", "properties": properties, "required": list(required)}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


ITEM = {"type": "string", "description": "What it is, in the singular, such as 'torch'", "minLength": 1, "maxLength": 60}
QUANTITY = {"type": "integer", "minimum": 1, "maximum": 99, "default": 1, "description": "How many"}

TOOLS = [
    tool(
        "roll_dice",
        "Roll dice and get the total. Use it whenever chance decides.",
        {
            "dice": {"type": "string", "description": "Number of dice, d, sides, and a bonus: 'd20', '2d6+3', '1d8-1'"},
            "reason": {"type": "string", "default": "", "maxLength": 80, "description": "What the roll is for"},
        },
        required=["dice"],
    ),
    tool(
        "set_hero",
        "Write down the hero's name and calling; this also sets the hero's health to the calling's full health.",
        {
            "name": {"type": "string", "description": "The hero's name", "minLength": 1, "maxLength": 40},
            "calling": {"type": "string", "enum": list(CALLINGS), "description": "What the hero is"},
        },
        required=["name", "calling"],
    ),
    tool(
        "change_health",
        "Wound or heal the hero.",
        {"amount": {"type": "integer", "minimum": -50, "maximum": 50, "description": "Negative wounds, positive heals"}},
        required=["amount"],
    ),
    tool("add_item", "Put something into the hero's bag.", {"item": ITEM, "quantity": QUANTITY}, required=["item"]),
    tool("remove_item", "Take something out of the hero's bag.", {"item": ITEM, "quantity": QUANTITY}, required=["item"]),
]


class PromptGenerator:
    def __init__(self, instructions):
        self.instructions = instructions
        self.hero = {}
        self.bag = {}
        self.rolls = []

    def make_system_prompt(self) -> str:
        return persona(self.instructions, TOOL_MANNERS)

    def make_turn_context(self) -> str:
        return "The game now. " + self.sheet()

    def roll_dice(self, dice, reason=""):
        count, sides, bonus = read_dice(dice)
        rolled = [random.randint(1, sides) for _ in range(count)]
        total = sum(rolled) + bonus
        self.rolls.append({"dice": dice, "rolled": rolled, "total": total, "reason": reason})
        self.rolls = self.rolls[-KEPT_ROLLS:]
        print(f"{dice} -> {total} {rolled} {reason}".rstrip())
        return f"Rolled {dice}: {rolled} with bonus {bonus} makes {total}."

    def set_hero(self, name, calling):
        health = CALLINGS[calling]
        self.hero = {"name": name, "calling": calling, "health": health, "full_health": health}
        return self.sheet()

    def change_health(self, amount):
        if not self.hero:
            raise ValueError("there is no hero yet; call set_hero first")
        health = self.hero["health"] + amount
        self.hero["health"] = max(0, min(health, self.hero["full_health"]))
        return self.sheet()

    def add_item(self, item, quantity=1):
        item = plain(item)
        self.bag[item] = self.bag.get(item, 0) + quantity
        return self.sheet()

    def remove_item(self, item, quantity=1):
        item = plain(item)
        left = self.bag.get(item, 0) - quantity
        if left < 0:
            raise ValueError(f"the bag holds {self.bag.get(item, 0)} of '{item}', not {quantity}")
        self.bag[item] = left
        if left == 0:
            del self.bag[item]
        return self.sheet()

    def sheet(self):
        """The state in one line, for the model."""
        if self.hero:
            hero = f"{self.hero['name']} the {self.hero['calling']}, {self.hero['health']} of {self.hero['full_health']} health"
        else:
            hero = "not made yet"
        bag = ", ".join(f"{count} {item}" for item, count in sorted(self.bag.items())) or "empty"
        last = f" Last roll: {self.rolls[-1]['dice']} gave {self.rolls[-1]['total']}." if self.rolls else ""
        return f"Hero: {hero}. Bag: {bag}.{last}"


def read_dice(dice):
    """'2d6+3' -> (2, 6, 3)."""
    found = DICE.fullmatch(dice.replace(" ", ""))
    if not found:
        raise ValueError(f"'{dice}' are not dice; write for instance '1d20' or '2d6+3'")
    count, sides, bonus = int(found[1] or 1), int(found[2]), int(found[3] or 0)
    if not 1 <= count <= 50 or not 1 <= sides <= 1000:
        raise ValueError("roll 1 to 50 dice with 1 to 1000 sides")
    return count, sides, bonus


def plain(item):
    """Items are kept under one spelling: 'Rusty  Key' and 'rusty key' are the same thing."""
    return " ".join(item.lower().split())
