"""Grimlog: keeps the books of a tabletop battle while the players talk.

Speech comes in, tool calls go out, and the state of the game is right at once; no chatter. The
speaker is the side `player`, the other one `opponent`. Every tool checks first and changes then, so
a call that is refused has changed nothing. A broken rule is reported as a finding beside the
result, and the call is carried out: the table decides, not the tracker.
"""

from typing import ClassVar

from _grimlog_advice import opportunities, reminders, threats
from _grimlog_armies import SIDES, army_of, fault_of
from _grimlog_damage import at_half_strength, damage, destroyed, of_role
from _grimlog_game import ARMIES, Game, counted, listed
from _grimlog_names import entry, find, known_or_as_said, stratagem_entries, words
from _grimlog_result import reported
from _grimlog_rules import (
    LAST_ROUND,
    Refused,
    command_point_findings,
    finding,
    phase_findings,
    round_findings,
    stratagem_findings,
)
from _grimlog_tools import SET_ARMY, TOOLS, record_override
from _grimlog_view import VIEW  # noqa: F401, Callboard reads it from here

CHARACTER_NAME = "Grimlog"

INSTRUCTIONS = {
    "instruction_prompt": """
You are Grimlog, who records a tabletop battle from what the players say at the table. You are a TOOL-CALLING AGENT, not a
conversation partner.

- Call tools for everything that happens in the game, at once. Do not chat, do not explain, do not ask back.
- One utterance may hold several things: make one call for each, in the order in which they were said. "Objectives 1, 2 and 3"
  are three calls. A thing may be spread over several lines: call when it is whole, and only once.
- The speaker is "player": I, me, my, we, our. The other one is "opponent": you, your, he, his, they, opponent. A unit that is
  named without an owner belongs to the side whose army has it; if both have it, to the side that the sentence is about.
- Speech recognition mishears names. Take the unit of the armies that sounds like what you read, or that was spoken of before.
- Kills are models_lost, also when a damage figure is said beside them; wounds and damage are wounds_lost. "Took damage" without
  a number is update_unit_health without a number. A model that is named by its weapon or rank gives target_model_role.
- A unit that attacks or kills another is log_combat_result; models that were killed or wounds that were dealt also need
  update_unit_health on the defender.
- "Your turn", "end of my turn", "I'm done": change_phase to Command with the other side. With every phase say whose turn it is.
- A stratagem without a price costs 1. Using a stratagem or a redraw pays its CP by itself: no second call for the CP.
- Questions about the game: query_game_state or get_strategic_advice.
- "Undo", "take that back", "scratch that": undo. "Actually that was 4, not 3": undo the wrong one, then make the right call.
- "Override", "we allow it", "let it stand", after a finding: record_override.
- A result that says success false tells what was wrong: correct the call once if you can, else leave it.
- If it is unclear what happened, if it is small talk, hesitation or not about the game: make no call.
""",
    "language": "en",
}

METADATA = {
    "good": True,
    "comment": "A battle tracker: spoken game actions become tool calls on a game state.",
    "examples": [
        "Start the shooting phase.",
        "The carnifex lost five wounds.",
        "I hold objectives 1 and 2.",
        "Five victory points for me.",
    ],
}

REPLY = {"deliver_text": False, "ask_again": True, "confirm": True}
UNDO = True
LIMITS = {"tools": len(TOOLS) + 2, "arguments": 16_384}


class PromptGenerator(Game):
    _heard: ClassVar[dict] = {}

    def __init__(self, instructions):
        super().__init__()
        self.instructions = instructions

    def make_system_prompt(self) -> str:
        return self.instructions["instruction_prompt"].strip()

    def begin_conversation(self, metadata):
        """A conversation may begin with armies of its own: `player_army` and `opponent_army`, each a name or a list of units."""
        for side in SIDES:
            if f"{side}_army" in metadata:
                self._take_army(side, army_of(metadata[f"{side}_army"], ARMIES))

    def get_tools(self) -> list:
        """The tools, and those that apply now: armies before the battle, overrides where a finding may be overridden."""
        rules = list(self._open_findings())
        return TOOLS + [SET_ARMY] * (not self._has_begun()) + [record_override(rules) for _ in rules[:1]]

    # Armies and overrides

    @reported
    def set_army(self, player, units=None, stored=None):
        if self._has_begun():
            raise Refused("battle_begun", "The battle has begun; nothing changed.", "Set up the army in a new conversation.")
        if (units is None) == (stored is None):
            raise Refused("army_missing", "Give units, or the name of a stored army list; nothing changed.")
        army = ARMIES.get(stored) if units is None else units
        if army is None:
            message = f"There is no stored army list '{stored[:60]}'; nothing changed."
            raise Refused("army_not_found", message, candidates=list(ARMIES))
        wrong = fault_of(army)
        if wrong:
            raise Refused("army_invalid", f"{wrong[:1].upper()}{wrong[1:]}; nothing changed.")
        text = f"{player}'s army: {counted(len(army), 'unit')}"
        self._record("army", text, [], side=player, stored=stored)
        self._take_army(player, army)
        return text + ".", {"player": player, "units": list(self.units[player])}, []

    @reported
    def record_override(self, rule, player, reason=None):
        numbers = self._open_findings()
        if rule not in numbers:
            raise Refused("override_not_needed", f"No finding of {rule[:60]} is open; nothing changed.", candidates=list(numbers))
        overridden = self.events[numbers[rule]]
        text = f"{player} overrides {rule}: {overridden['text']}"
        self._record("override", text, [], side=player, rule=rule, event=numbers[rule], reason=reason)
        self.events[numbers[rule]] = {**overridden, "override": {"by": player, "reason": reason}}
        return text + ".", {"rule": rule, "player": player, "reason": reason}, []

    # Rounds, phases and points

    @reported
    def change_phase(self, new_phase, player_turn):
        if self._decides_who_begins(new_phase, player_turn):
            findings, new_round, self.first_turn = [], 1, player_turn
        else:
            findings = phase_findings(self.phase, self.turn, new_phase, player_turn)
            new_round = self.round + (player_turn == self.first_turn != self.turn)
        if (new_phase, player_turn) != (self.phase, self.turn):
            self._go_to(min(new_round, LAST_ROUND), new_phase, player_turn, "phase", findings)
        data = {"phase": self.phase, "playerTurn": self.turn, "reminders": reminders(self.phase, self.units[self.turn])}
        return f"{self.phase} phase, {self.turn}'s turn, round {self.round}.", data, findings

    def _decides_who_begins(self, new_phase, player_turn):
        """Before anything has happened, the other side's Command phase means that the other side goes first."""
        at_start = (self.round, self.phase, new_phase) == (1, "Command", "Command") and not self.events
        return at_start and self.turn == self.first_turn != player_turn

    @reported
    def advance_battle_round(self, round_number):
        findings = round_findings(self.round, round_number)
        if round_number != self.round:
            self._go_to(round_number, "Command", self.first_turn, "round", findings)
        return (
            f"Round {self.round}, {self.phase} phase, {self.turn}'s turn.",
            {"round": self.round, "playerTurn": self.turn},
            findings,
        )

    @reported
    def log_stratagem_use(self, stratagem_name, cp_cost, used_by, target_unit=None, description=None):
        name = known_or_as_said(stratagem_name, stratagem_entries())
        target = self._unit(target_unit, *SIDES).name if target_unit else None
        uses = self.uses_this_turn(name, used_by)
        findings = stratagem_findings(name, cp_cost, self.cp[used_by], self.phase in uses, bool(uses))
        paid = min(cp_cost, self.cp[used_by])
        text = f"{used_by} used {name}{f' on {target}' if target else ''} for {paid} CP"
        self._record(
            "stratagem", text, findings, name=name, side=used_by, cost=cp_cost, paid=paid, target=target, description=description
        )
        self.cp[used_by] -= paid
        left = self.cp[used_by]
        return f"{text}; {left} CP left.", {"stratagem": name, "cpCost": cp_cost, "cpRemaining": left}, findings

    @reported
    def update_command_points(self, player, change, reason):
        self._require_points(player, -change)
        is_extra = change > 0 and self.phase != "Command"
        findings = command_point_findings(change, is_extra and self.extra_cp[player])
        if change:
            self._record(
                "command_points", f"{player} {change:+} CP: {reason}", findings, side=player, change=change, reason=reason
            )
        self.cp[player] += change
        self.extra_cp[player] = self.extra_cp[player] or is_extra
        data = {"player": player, "change": change, "newCP": self.cp[player]}
        return f"{player} {change:+} CP, now {self.cp[player]}.", data, findings

    @reported
    def update_victory_points(self, player, points, source):
        self._record("victory_points", f"{player} +{points} VP: {source}", [], side=player, points=points, source=source)
        self.vp[player] += points
        data = {"player": player, "points": points, "totalVP": self.vp[player]}
        return f"{player} +{points} VP, now {self.vp[player]}.", data, []

    # Objectives

    @reported
    def update_objective_control(self, objective_number, controlled_by, controlling_unit=None):
        number, unit, findings = str(objective_number), None, []
        if controlling_unit:
            unit, findings = self._acting_unit(controlling_unit, controlled_by)
        before = self.objectives.get(number, "none")
        text = f"Objective {number}: {controlled_by}{f' with {unit}' if unit else ''}, before: {before}"
        self._record("objective", text, findings, objective=objective_number, holder=controlled_by, before=before, unit=unit)
        self.objectives[number] = controlled_by
        self.holding_units.pop(number, None)
        if unit:
            self.holding_units[number] = unit
        return text + ".", {"objectiveNumber": objective_number, "controlledBy": controlled_by}, findings

    @reported
    def set_secondary_objectives(self, player, secondaries):
        named = [known_or_as_said(one, self._secondary_entries()) for one in secondaries]
        chosen = list({tuple(words(one)): one for one in reversed(named)}.values())[::-1]
        text = f"{player}'s secondaries: {', '.join(chosen)}"
        self._record("secondary", text, [], side=player, secondaries=chosen)
        self.secondaries[player] = chosen
        return text + ".", {"player": player, "secondaries": chosen}, []

    @reported
    def redraw_secondary_objective(self, player, old_secondary, new_secondary):
        held = self.secondaries[player]
        old = find(old_secondary, [entry(name) for name in held]).name
        new = known_or_as_said(new_secondary, self._secondary_entries())
        if old is None:
            raise Refused("secondary_not_held", f"{player} does not hold {old_secondary}; nothing is spent.", candidates=held)
        if words(new) in [words(name) for name in held]:
            raise Refused("secondary_already_held", f"{player} holds {new} already; nothing is spent.", secondaries=held)
        self._require_points(player, 1)
        text = f"{player} redrew {old} into {new} for 1 CP"
        self._record("secondary", text, [], side=player, old=old, new=new)
        self.secondaries[player] = [new if name == old else name for name in held]
        self.cp[player] -= 1
        data = {"oldSecondary": old, "newSecondary": new, "secondaries": self.secondaries[player], "cpRemaining": self.cp[player]}
        return f"{text}; {self.cp[player]} CP left.", data, []

    # Units

    @reported
    def log_unit_action(self, unit_name, action_type, owner, target=None, success=None, details=None):
        unit, findings = self._acting_unit(unit_name, owner)
        against = self._known_unit_or_as_said(target)
        outcome = {None: "", True: ", made it", False: ", failed"}[success]
        text = f"{unit} ({owner}): {action_type.replace('_', ' ')}{f' against {against}' if against else ''}{outcome}"
        self._record(
            "action", text, findings, unit=unit, side=owner, action=action_type, target=against, success=success, details=details
        )
        return text + ".", {"unitName": unit, "actionType": action_type}, findings

    @reported
    def log_combat_result(
        self,
        attacking_unit,
        attacking_player,
        defending_unit,
        defending_player,
        phase,
        wounds_dealt=None,
        models_destroyed=None,
        unit_destroyed=None,
    ):
        attacker, defender = self._unit(attacking_unit, attacking_player).name, self._unit(defending_unit, defending_player).name
        data = {
            "attackingUnit": attacker,
            "defendingUnit": defender,
            "woundsDealt": wounds_dealt,
            "modelsDestroyed": models_destroyed,
            "unitDestroyed": unit_destroyed,
        }
        counts = [counted(count, noun) for count, noun in ((wounds_dealt, "wound"), (models_destroyed, "model")) if count]
        result = ", ".join(counts + ["destroyed"] * bool(unit_destroyed))
        text = (
            f"{attacker} ({attacking_player}) against {defender} ({defending_player}) in {phase}{': ' + result if result else ''}"
        )
        self._record(
            "combat", text, [], **data, attackingPlayer=attacking_player, defendingPlayer=defending_player, combatPhase=phase
        )
        return text + ".", data, []

    @reported
    def update_unit_health(self, unit_name, owner, wounds_lost=None, models_lost=None, target_model_role=None, context=None):
        found = self._standing_unit(unit_name, owner)
        name, unit = found.name, self.units[owner][found.name]
        lost = {"models": models_lost or 0, "wounds": wounds_lost or 0, "role": target_model_role}
        hurtable = of_role(unit, target_model_role)
        self._require_damage(name, lost, hurtable)
        outcome = damage(unit, **lost)
        heard = self._heard.get("unit_name", {"said": unit_name, "method": found.method})
        health = {"unitName": name, "matchedFrom": heard["said"], "matchMethod": heard["method"], "owner": owner}
        data = {**health, **_health_data(outcome, target_model_role)}
        if not hurtable:
            note = finding("info", "role_not_present", f"{name} has no {target_model_role}; nothing changed.")
            return f"{name}: {counted(unit['models'], 'model')}.", data, [note]
        findings = _surplus_findings(name, outcome.surplus)
        text = f"{name} ({owner}) lost {_lost_text(lost)}; {_left_text(outcome.unit)}"
        self._record("health", text, findings, unit=name, side=owner, context=context, **lost)
        self.units[owner][name] = outcome.unit
        return text + ".", data, findings

    def _require_damage(self, name, lost, hurtable):
        if not lost["models"] and not lost["wounds"]:
            raise Refused(
                "damage_missing", f"How much did {name} lose? Give wounds_lost or models_lost; nothing changed.", unitName=name
            )
        if hurtable and lost["models"] > hurtable:
            message = f"{name} has only {counted(hurtable, 'such model')} to lose, not {lost['models']}; nothing changed."
            raise Refused("damage_exceeds_models", message, unitName=name, modelsLeft=hurtable)

    @reported
    def mark_unit_destroyed(self, unit_name, owner, destroyed_by=None):
        name = self._standing_unit(unit_name, owner).name
        by = self._known_unit_or_as_said(destroyed_by)
        text = f"{name} ({owner}) is destroyed{f' by {by}' if by else ''}"
        self._record("destroyed", text, [], unit=name, side=owner, by=by)
        self.units[owner][name] = destroyed(self.units[owner][name])
        return text + ".", {"unitName": name, "owner": owner, "isDestroyed": True}, []

    @reported
    def update_unit_status(self, unit_name, owner, is_battle_shocked=None, add_effects=None, remove_effects=None):
        name = self._standing_unit(unit_name, owner).name
        if is_battle_shocked is None and not add_effects and not remove_effects:
            raise Refused(
                "status_missing", f"Say what changed for {name}: battle-shock, or effects; nothing changed.", unitName=name
            )
        unit = self.units[owner][name]
        shocked = unit["battle_shocked"] if is_battle_shocked is None else is_battle_shocked
        effects = _effects(unit["effects"], add_effects or [], remove_effects or [])
        text = f"{name} ({owner}): {'' if shocked else 'not '}battle-shocked, effects: {listed(effects)}"
        self._record("status", text, [], unit=name, side=owner, battle_shocked=shocked, effects=effects)
        self.units[owner][name] = {**unit, "battle_shocked": shocked, "effects": effects}
        return text + ".", {"unitName": name, "owner": owner, "isBattleShocked": shocked, "activeEffects": effects}, []

    # Questions

    @reported
    def query_game_state(self, query_type, player="both"):
        sides = SIDES if player == "both" else (player,)
        held = {side: [number for number, holder in sorted(self.objectives.items()) if holder == side] for side in sides}
        answers: dict[str, tuple[str, dict]] = {
            "current_phase": (
                f"{self.phase} phase, {self.turn}'s turn, round {self.round}.",
                {"phase": self.phase, "playerTurn": self.turn},
            ),
            "cp_remaining": (_by_side(self.cp, sides, "CP"), {"cp": {side: self.cp[side] for side in sides}}),
            "victory_points": (_by_side(self.vp, sides, "VP"), {"vp": {side: self.vp[side] for side in sides}}),
            "objectives_held": (
                f"Objectives: {listed(self._objective_texts())}.",
                {"held": held, "objectives": dict(self.objectives)},
            ),
            "battle_round": (f"Round {self.round}.", {"round": self.round}),
        }
        message, data = answers[query_type]
        return message, {"queryType": query_type, **data}, []

    @reported
    def get_strategic_advice(self, query_type):
        chances = opportunities(self) if query_type != "threats" else []
        dangers = threats(self) if query_type != "opportunities" else []
        data = {
            "phase": self.phase,
            "playerTurn": self.turn,
            "opportunitiesCount": len(chances),
            "threatsCount": len(dangers),
            "opportunities": chances[:10],
            "threats": dangers[:10],
        }
        shown = chances[:3] + dangers[:2] if query_type == "all" else chances[:5] + dangers[:5]
        return f"{self.phase} phase, {self.turn}'s turn: {listed(shown)}.", data, []


def _health_data(outcome, role):
    unit = outcome.unit
    return {
        "currentModels": unit["models"],
        "startingModels": unit["starting_models"],
        "currentWounds": unit["wounds"],
        "modelsKilled": outcome.killed,
        "distributionLog": outcome.steps,
        "targetRole": role,
        "isDestroyed": unit["destroyed"],
        "isHalfStrength": at_half_strength(unit),
    }


def _lost_text(lost):
    """Such as "2 models and 3 wounds", with the role that was hit."""
    parts = [counted(lost[what], what[:-1]) for what in ("models", "wounds") if lost[what]]
    return " and ".join(parts) + (f" ({lost['role']})" if lost["role"] else "")


def _left_text(unit):
    if unit["destroyed"]:
        return "destroyed"
    return f"{counted(unit['models'], 'model')} with {counted(unit['wounds'], 'wound')} left"


def _surplus_findings(name, surplus):
    if not surplus:
        return []
    return [finding("warning", "damage_exceeds_wounds", f"{surplus} wounds more than {name} had to lose.")]


def _effects(have, added, removed):
    """Effects are compared without regard to case; none is listed twice."""
    gone = {one.strip().casefold() for one in removed}
    wanted = {one.strip().casefold(): one.strip() for one in reversed(have + added)}
    return [wanted[key] for key in reversed(list(wanted)) if key not in gone]


def _by_side(points, sides, unit):
    return ", ".join(f"{side} {points[side]} {unit}" for side in sides) + "."
