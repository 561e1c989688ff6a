"""The 15 tools of the battle tracker as a model sees them, and two that are offered where they apply.

Models choose by the words, so descriptions hold the words that players say; those of an enum's
values stand behind the value, as "value: words, words; value: words". `x-names` lists names that
are resolved before the call; with `x-names-open` a name outside the list is taken as it was said.
"""

from _grimlog_armies import ROLES, SIDES
from _grimlog_rules import LAST_ROUND, PHASES

OWN_OR_OTHER = "player: I, me, my, mine, we, our; opponent: you, your, he, his, she, her, they, their, opponent, enemy"


def text(description: str, longest=500, **more) -> dict:
    return {"type": "string", "maxLength": longest, "description": description, **more}


def name(description: str, names: str, is_open=False) -> dict:
    resolved = {"x-names": names, "x-names-open": True} if is_open else {"x-names": names}
    return {"type": "string", "minLength": 1, "maxLength": 200, "description": description, **resolved}


def number(description: str, lowest: int, highest=None, **more) -> dict:
    bounds = {"minimum": lowest} if highest is None else {"minimum": lowest, "maximum": highest}
    return {"type": "integer", **bounds, "description": description, **more}


def choice(description: str, values, **more) -> dict:
    return {"type": "string", "enum": list(values), "description": description, **more}


def side(description: str) -> dict:
    return choice(f"{description}. {OWN_OR_OTHER}", SIDES)


def effects(description: str) -> dict:
    return {"type": "array", "items": text("An effect, such as cover", 100, minLength=1), "description": description}


def tool(tool_name: str, description: str, properties: dict, required: list[str]) -> dict:
    parameters = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return {"type": "function", "function": {"name": tool_name, "description": description, "parameters": parameters}}


SECONDARY = "A secondary objective, such as Cleanse"

TOOLS = [
    tool(
        "change_phase",
        "Enter a phase (command, movement, shooting, charge, fight): moving to, going into, starting, straight on to. "
        "Also hands over the turn: your turn, my turn, end of turn, I'm done (Command phase).",
        {
            "new_phase": choice(
                "The phase that begins. Command: new turn, end of turn, your turn, my turn; Movement: move, moving; "
                "Shooting: shoot, shooting; Charge: charges, charging; Fight: fights, fighting, melee, combat",
                PHASES,
            ),
            "player_turn": side("Whose turn it is then; the same side as now, unless the turn is handed over"),
        },
        ["new_phase", "player_turn"],
    ),
    tool(
        "advance_battle_round",
        "Start a battle round by its number: round 2, starting round three, next round, on to round 4. "
        "It begins in the Command phase of the side that goes first.",
        {"round_number": number("The round that begins", 1, LAST_ROUND)},
        ["round_number"],
    ),
    tool(
        "log_stratagem_use",
        "A side uses, plays, pops or activates a stratagem for command points (CP), maybe on a unit: "
        "using Transhuman Physiology for 1 CP on my Terminators, Fire Overwatch, Armour of Contempt.",
        {
            "stratagem_name": name("The stratagem, such as Command Re-roll", "stratagems", is_open=True),
            "cp_cost": number("What it costs in command points (CP); 1 where nothing is said", 0, 3, default=1),
            "used_by": side("Who uses it"),
            "target_unit": name("The unit it is used on", "units"),
            "description": text("What it does, where that is said"),
        },
        ["stratagem_name", "cp_cost", "used_by"],
    ),
    tool(
        "update_command_points",
        "Command points (CP) that a side gains, gets, adds, starts with, spends, pays or loses, apart from stratagems and "
        "redraws: I gain 1 CP, opponent spends 2 command points.",
        {
            "player": side("Whose command points"),
            "change": number("Above 0 for gained, below 0 for spent", -20, 20),
            "reason": text("Why, in a few words; as it was said where no reason is given"),
        },
        ["player", "change", "reason"],
    ),
    tool(
        "update_victory_points",
        "A side scores victory points (VP, points): I score 5 VP from primary, scored 4 points for a secondary, "
        "add 5 VP to opponent.",
        {
            "player": side("Who scores"),
            "points": number("How many victory points (VP) are added", 0, 100),
            "source": text(
                "What they are for, such as primary or the name of a secondary; as it was said where nothing is given"
            ),
        },
        ["player", "points", "source"],
    ),
    tool(
        "update_objective_control",
        "Who holds an objective marker now: captured, took, controls, holds, secured, lost objective 3; it is contested; "
        "it belongs to no one. One call for each objective.",
        {
            "objective_number": number("The number of the objective", 1, 6),
            "controlled_by": choice(
                f"Who holds it now. {OWN_OR_OTHER}; contested: disputed, both, tied; none: no one, nobody, neutral, empty",
                [*SIDES, "contested", "none"],
            ),
            "controlling_unit": name("The unit that stands on it: with my Intercessors", "units/{controlled_by}"),
        },
        ["objective_number", "controlled_by"],
    ),
    tool(
        "log_unit_action",
        "A unit acts: deep strikes, arrives, advances, charges a target (made or failed), falls back, makes a heroic "
        "intervention, piles in, consolidates, stays stationary.",
        {
            "unit_name": name("The unit that acts", "units/{owner}"),
            "action_type": choice(
                "What it does. deepstrike: deep strike, deep strikes, arrives, drops in, from reserves; advance: advances, runs; "
                "charge: charges, charged; fall_back: falls back, retreats, disengages; "
                "heroic_intervention: heroically intervenes; pile_in: piles in; consolidate: consolidates; "
                "remains_stationary: stays, stands still, holds position, does not move",
                [
                    "deepstrike",
                    "advance",
                    "charge",
                    "fall_back",
                    "heroic_intervention",
                    "pile_in",
                    "consolidate",
                    "remains_stationary",
                ],
            ),
            "owner": side("Whose unit it is"),
            "target": name("The unit it acts against, such as the one it charges", "units", is_open=True),
            "success": {
                "type": "boolean",
                "description": "true: made it, succeeded; false: failed, missed, too short. Left out where nothing is said",
            },
            "details": text("What else was said, such as the distance"),
        },
        ["unit_name", "action_type", "owner"],
    ),
    tool(
        "log_combat_result",
        "A unit attacks another: shoots, fires at, fights, attacks, hits, killed 3 of them. Names attacker and defender. "
        "Only a log: lost models and wounds also need update_unit_health.",
        {
            "attacking_unit": name("The unit that attacks, shoots, fights or kills", "units/{attacking_player}"),
            "attacking_player": side("Whose unit attacks"),
            "defending_unit": name("The unit that is attacked", "units/{defending_player}"),
            "defending_player": side("Whose unit is attacked; the other side"),
            "phase": choice("Shooting: shoot, shoots, fires; Fight: fights, melee, swings, strikes", ["Shooting", "Fight"]),
            "wounds_dealt": number("How many wounds or damage were dealt", 0),
            "models_destroyed": number("How many models were killed", 0),
            "unit_destroyed": {"type": "boolean", "description": "Whether the whole unit was wiped out"},
        },
        ["attacking_unit", "attacking_player", "defending_unit", "defending_player", "phase"],
    ),
    tool(
        "query_game_state",
        "Answers a question about the game: what phase is it, how many CP do I have, what's the score, who controls the "
        "objectives, what round is it? Changes nothing.",
        {
            "query_type": choice(
                "What is asked. current_phase: phase, whose turn; cp_remaining: CP, command points, left; victory_points: score, "
                "VP, points, who is winning; objectives_held: objectives, markers; battle_round: round",
                ["current_phase", "cp_remaining", "victory_points", "objectives_held", "battle_round"],
            ),
            "player": choice(f"Whose. {OWN_OR_OTHER}; both: all, everyone", [*SIDES, "both"], default="both"),
        },
        ["query_type"],
    ),
    tool(
        "set_secondary_objectives",
        "The secondary objectives (secondaries) that a side picked, chose, drew or has: my secondaries are Assassination, "
        "Cleanse and Area Denial. One to three; they replace the old ones.",
        {
            "player": side("Whose secondaries"),
            "secondaries": {
                "type": "array",
                "items": name(SECONDARY, "secondaries", is_open=True),
                "minItems": 1,
                "maxItems": 3,
                "description": "The names of all of them",
            },
        },
        ["player", "secondaries"],
    ),
    tool(
        "redraw_secondary_objective",
        "Discard a secondary objective that is held and draw another one for 1 CP: redraw, swap, exchange, replace, "
        "discarding Assassination and drawing Cleanse. The call itself pays the CP.",
        {
            "player": side("Whose secondary"),
            "old_secondary": name("The one that goes: discarded, from", "secondaries/{player}", is_open=True),
            "new_secondary": name("The one that comes: drawn, to, into, for", "secondaries", is_open=True),
        },
        ["player", "old_secondary", "new_secondary"],
    ),
    tool(
        "update_unit_health",
        "A unit takes damage or loses models: took 6 wounds, did 5 damage to your Swarmlord, lost 2 models, killed 3 "
        "Intercessors, the sergeant died. Kills are models_lost, damage is wounds_lost.",
        {
            "unit_name": name("The unit that is hurt", "units/{owner}"),
            "owner": side("Whose unit is hurt"),
            "wounds_lost": number("Wounds or damage taken, suffered, dealt to it; not where kills are said", 0, 100),
            "models_lost": number("Models lost, killed, died, dead, slain; also where a damage figure is said beside it", 0, 50),
            "target_model_role": choice(
                "Only where such a model is named. sergeant: sarge, champion; leader: boss; "
                "heavy_weapon: heavy bolter, lascannon, missile launcher, heavy weapon guy; "
                "special_weapon: plasma gun, melta gun, flamer, special weapon guy; regular: trooper",
                ["sergeant", "leader", "heavy_weapon", "special_weapon", "regular"],
            ),
            "context": text("What did it, such as his lascannons"),
        },
        ["unit_name", "owner"],
    ),
    tool(
        "mark_unit_destroyed",
        "A whole unit is destroyed, wiped out, dead, gone, annihilated: his tank is destroyed, my dreadnought is wiped out, "
        "the Carnifex is dead.",
        {
            "unit_name": name("The unit that is gone", "units/{owner}"),
            "owner": side("Whose unit it is"),
            "destroyed_by": name("The unit that did it", "units", is_open=True),
        },
        ["unit_name", "owner"],
    ),
    tool(
        "update_unit_status",
        "A unit is battle-shocked or recovers, or gains or loses an effect such as cover, stealth or a buff: "
        "my terminators are battle-shocked, his unit has cover, they lose cover.",
        {
            "unit_name": name("The unit", "units/{owner}"),
            "owner": side("Whose unit it is"),
            "is_battle_shocked": {
                "type": "boolean",
                "description": "true: is battle-shocked, failed its test; false: recovers, passed, no longer battle-shocked",
            },
            "add_effects": effects("Effects it has or gains: has cover, gets stealth"),
            "remove_effects": effects("Effects it loses: no longer, loses cover"),
        },
        ["unit_name", "owner"],
    ),
    tool(
        "get_strategic_advice",
        "Advice on what is possible now: what can I do, what should I do, which stratagems can I use, what should I watch "
        "for, what can my opponent do? Changes nothing.",
        {
            "query_type": choice(
                "opportunities: what can I do, options, usable; "
                "threats: watch for, beware, worry, danger, what can the opponent do; all: everything, overview",
                ["opportunities", "threats", "all"],
            )
        },
        ["query_type"],
    ),
]

_UNIT = {
    "type": "object",
    "properties": {
        "name": text("The unit's name", 200, minLength=1),
        "models": number("How many models it has", 1, 50),
        "wounds": number("The wounds of one model", 1, 100),
        "roles": {
            "type": "object",
            "properties": {role: number(f"How many are {role}", 0, 50) for role in ROLES},
            "additionalProperties": False,
            "description": "Models with a role; the others are regular",
        },
        "attached_to": text("The unit that a character has joined", 200, minLength=1),
    },
    "required": ["name", "models", "wounds"],
    "additionalProperties": False,
}

# Offered until the first event of the game.
SET_ARMY = tool(
    "set_army",
    "Set up the army list of a side before the battle begins: its units, or the name of a stored list. Only one of both.",
    {
        "player": side("Whose army it is"),
        "units": {"type": "array", "items": _UNIT, "minItems": 1, "maxItems": 40, "description": "The units of the army list"},
        "stored": text("The name of a stored army list", 100, minLength=1),
    },
    ["player"],
)


def record_override(rules: list[str]) -> dict:
    """Offered while there are findings that the players may override."""
    return tool(
        "record_override",
        "The players let stand what a finding objects to: override, overrule it, we allow it, let it stand, agreed.",
        {
            "rule": choice("The rule of the finding", rules),
            "player": side("Who overrides"),
            "reason": text("Why, as it was said"),
        },
        ["rule", "player"],
    )
