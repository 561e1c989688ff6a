"""The rules of the battle tracker: damage, findings, refusals, names, and the words it answers with."""

import tempfile
import unittest
from pathlib import Path

from grimlog_table import SCHEMAS, Table

import _grimlog_armies
import grimlog
from _grimlog_names import find, unit_entry

SQUAD = {"name": "Squad", "models": 5, "wounds": 3}


class DamageTest(unittest.TestCase):
    def squad(self, current, each, roles=None):
        entry = {"name": "Squad", "models": len(current), "wounds": each, "roles": roles or {}}
        table = Table(armies={"player": [entry]})
        for model, wounds in zip(table.unit("Squad")["living"], current):
            model["current"] = wounds
        table.unit("Squad").update(_grimlog_armies.tally(table.unit("Squad")["living"]))
        return table

    def test_worked_examples(self):
        rows = [
            ([2, 2, 1, 1, 2], 2, [{"wounds_lost": 4}], [[2, 2]]),
            ([3] * 5, 3, [{"wounds_lost": 6}, {"wounds_lost": 3}, {"wounds_lost": 6}], [[3, 3, 3], [3, 3], []]),
            ([1] * 10, 1, [{"models_lost": 3}], [[1] * 7]),
            ([3, 3, 2, 1, 3], 3, [{"wounds_lost": 6}], [[3, 3]]),
            ([3] * 5, 3, [{"wounds_lost": 4}, {"wounds_lost": 3}], [[2, 3, 3, 3], [2, 3, 3]]),
            ([3, 1, 3, 3, 3], 3, [{"models_lost": 2}], [[3, 3, 3]]),
            ([3, 1, 3, 3, 3], 3, [{"models_lost": 2, "wounds_lost": 4}], [[2, 3]]),
            ([2, 2, 2], 2, [{"models_lost": 1, "wounds_lost": 1}], [[1, 2]]),
        ]
        for current, each, hits, after in rows:
            table = self.squad(current, each)
            for hit, expected in zip(hits, after):
                with self.subTest(current=current, hit=hit):
                    result = table.play("update_unit_health", unit_name="Squad", owner="player", **hit)
                    self.assertEqual(table.wounds(), expected)
                    unit = table.unit("Squad")
                    self.assertEqual((unit["models"], unit["wounds"], unit["destroyed"]), (len(expected), sum(expected), not expected))
                    data = result["data"]
                    self.assertEqual((data["currentModels"], data["currentWounds"], data["isDestroyed"]), (len(expected), sum(expected), not expected))

    def test_roles_die_in_order(self):
        table = self.squad([1] * 10, 1, {"sergeant": 1, "heavy_weapon": 1, "special_weapon": 1})
        left = []
        for lost in (3, 4, 1, 1, 1):
            table.play("update_unit_health", unit_name="Squad", owner="player", wounds_lost=lost)
            left.append(table.unit("Squad")["roles"])
        special, heavy, sergeant = {"special_weapon": 1}, {"heavy_weapon": 1}, {"sergeant": 1}
        self.assertEqual(left, [{"regular": 4, **special, **heavy, **sergeant}, {**special, **heavy, **sergeant}, {**heavy, **sergeant}, sergeant, {}])

    def test_a_role_limits_the_damage(self):
        table = self.squad([3] * 5, 3, {"sergeant": 1, "heavy_weapon": 1})
        hit = dict(unit_name="Squad", owner="player")
        result = table.play("update_unit_health", **hit, wounds_lost=5, target_model_role="sergeant")
        self.assertEqual((result["validation"]["severity"], table.unit("Squad")["wounds"]), ("warning", 12))
        before = table.state
        gone = table.play("update_unit_health", **hit, wounds_lost=2, target_model_role="sergeant")
        self.assertTrue(gone["success"])
        self.assertEqual((gone["validation"]["rule"], gone["data"]["modelsKilled"], table.state), ("role_not_present", 0, before))
        self.assertFalse(table.play("update_unit_health", **hit, models_lost=2, target_model_role="heavy_weapon")["success"])
        self.assertEqual(table.state, before)

    def test_a_wounded_sergeant_goes_before_whole_regulars(self):
        table = self.squad([3] * 3, 3, {"sergeant": 1})
        table.play("update_unit_health", unit_name="Squad", owner="player", wounds_lost=1, target_model_role="sergeant")
        table.play("update_unit_health", unit_name="Squad", owner="player", wounds_lost=2)
        self.assertEqual(table.unit("Squad")["roles"], {"regular": 2})

    def test_more_than_there_is(self):
        table = Table(armies={"player": [SQUAD]})
        before = table.state
        refused = table.play("update_unit_health", unit_name="Squad", owner="player", models_lost=6)
        self.assertEqual((refused["success"], refused["validation"]["rule"], table.state), (False, "damage_exceeds_models", before))
        done = table.play("update_unit_health", unit_name="Squad", owner="player", wounds_lost=16)
        self.assertEqual((done["success"], done["validation"]["severity"], done["data"]["isDestroyed"]), (True, "warning", True))
        again = table.play("update_unit_health", unit_name="Squad", owner="player", wounds_lost=1)
        self.assertEqual((again["success"], again["validation"]["rule"]), (False, "already_destroyed"))

    def test_half_strength_is_half_of_the_models_rounded_down(self):
        for start, lost, half in ((5, 2, False), (5, 3, True), (10, 4, False), (10, 5, True)):
            table = self.squad([1] * start, 1)
            result = table.play("update_unit_health", unit_name="Squad", owner="player", models_lost=lost)
            with self.subTest(start=start, lost=lost):
                self.assertEqual(result["data"]["isHalfStrength"], half)
        single = self.squad([12], 12)
        result = single.play("update_unit_health", unit_name="Squad", owner="player", wounds_lost=11)
        self.assertFalse(result["data"]["isHalfStrength"])


class RulesTest(unittest.TestCase):
    def test_phases(self):
        rows = [  # phase and turn now, first side, what is said, severity, rule, override, phase, turn and round after
            ("Command", "player", "player", "Movement", "player", "valid", None, False, 1),
            ("Command", "player", "player", "Charge", "player", "info", "phase_skip", False, 1),
            ("Fight", "player", "player", "Shooting", "player", "error", "phase_sequence_violation", True, 1),
            ("Charge", "player", "player", "Command", "player", "error", "phase_sequence_violation", True, 1),
            ("Fight", "player", "player", "Command", "player", "info", "turn_cycle", False, 1),
            ("Fight", "player", "player", "Command", "opponent", "info", "turn_cycle", False, 1),
            ("Fight", "opponent", "player", "Command", "player", "info", "turn_cycle", False, 2),
            ("Fight", "player", "opponent", "Command", "opponent", "info", "turn_cycle", False, 2),
            ("Shooting", "player", "player", "Command", "opponent", "info", "phase_skip", False, 1),
            ("Fight", "player", "player", "Movement", "opponent", "info", "phase_skip", False, 1),
        ]
        for now, turn, first, phase, side, severity, rule, override, round_after in rows:
            table = Table(phase=now, turn=turn, first_turn=first)
            result = table.play("change_phase", new_phase=phase, player_turn=side)
            with self.subTest(now=now, turn=turn, phase=phase, side=side):
                validation = result["validation"]
                self.assertEqual((validation["severity"], validation["rule"], validation["requiresOverride"]), (severity, rule, override))
                self.assertEqual((table.state["phase"], table.state["turn"], table.state["round"]), (phase, side, round_after))

    def test_the_same_phase_again_is_a_finding_and_no_event(self):
        table = Table(phase="Shooting")
        before = table.state
        result = table.play("change_phase", new_phase="Shooting", player_turn="player")
        self.assertEqual((result["success"], result["validation"]["rule"], table.state), (True, "same_phase", before))

    def test_the_command_phase_reminds(self):
        table = Table(phase="Fight", turn="opponent")
        table.play("update_unit_health", unit_name="Hellblaster Squad", owner="player", models_lost=3)
        reminders = " ".join(table.play("change_phase", new_phase="Command", player_turn="player")["data"]["reminders"])
        for word in ("1 CP", "Battle-shock", "primary", "Hellblaster Squad"):
            self.assertIn(word, reminders)
        self.assertEqual(table.state["cp"], {"player": 3, "opponent": 3})

    def test_who_goes_first_is_settled_by_the_first_command_phase(self):
        table = Table()
        result = table.play("change_phase", new_phase="Command", player_turn="opponent")
        self.assertEqual((result["validation"]["severity"], table.state["first_turn"], table.state["round"]), ("valid", "opponent", 1))
        table.play("change_phase", new_phase="Command", player_turn="player")
        self.assertEqual(table.state["round"], 1)
        table.play("change_phase", new_phase="Command", player_turn="opponent")
        self.assertEqual((table.state["round"], table.state["first_turn"]), (2, "opponent"))

    def test_rounds(self):
        rows = [(1, 2, "valid", None, False), (1, 3, "error", "round_skip", True), (3, 1, "critical", "round_regression", True), (2, 2, "info", "same_round", False)]
        for now, new, severity, rule, override in rows:
            table = Table(round=now, phase="Fight", turn="opponent")
            validation = table.play("advance_battle_round", round_number=new)["validation"]
            with self.subTest(now=now, new=new):
                self.assertEqual((validation["severity"], validation["rule"], validation["requiresOverride"]), (severity, rule, override))
                self.assertEqual(table.state["round"], new)
                self.assertEqual(table.state["phase"], "Fight" if now == new else "Command")

    def test_command_points(self):
        rows = [
            (1, True, "valid", None, False, 4), (2, True, "valid", None, False, 5), (3, True, "warning", "high_cp_gain", True, 6),
            (4, True, "critical", "excessive_cp_gain", True, 7), (-3, True, "valid", None, False, 0), (-4, False, "error", "cp_validation", False, 3),
        ]
        for change, success, severity, rule, override, after in rows:
            table = Table()
            result = table.play("update_command_points", player="player", change=change, reason="said")
            with self.subTest(change=change):
                validation = result["validation"]
                self.assertEqual((result["success"], table.state["cp"]["player"]), (success, after))
                self.assertEqual((validation["severity"], validation["rule"], validation["requiresOverride"]), (severity, rule, override))

    def test_one_extra_gain_in_a_turn(self):
        table = Table(phase="Shooting")
        gain = dict(player="player", change=1, reason="said")
        rules = [table.play("update_command_points", **gain)["validation"]["rule"] for _ in range(2)]
        self.assertEqual(rules, [None, "extra_cp_cap"])
        table.play("change_phase", new_phase="Charge", player_turn="player")
        self.assertEqual(table.play("update_command_points", **gain)["validation"]["rule"], "extra_cp_cap")
        table.play("advance_battle_round", round_number=2)
        table.play("change_phase", new_phase="Movement", player_turn="player")
        self.assertIsNone(table.play("update_command_points", **gain)["validation"]["rule"])
        self.assertEqual(table.state["cp"]["player"], 7)

    def test_stratagems_twice(self):
        table = Table(phase="Shooting", cp={"player": 9})
        use = dict(stratagem_name="trans human", cp_cost=1, used_by="player")
        rules = [table.play("log_stratagem_use", **{**use, "used_by": side})["validation"]["rule"] for side in ("player", "opponent", "player")]
        self.assertEqual(rules, [None, None, "duplicate_stratagem_this_phase"])
        table.play("change_phase", new_phase="Fight", player_turn="player")
        other_phase = table.play("log_stratagem_use", **use)["validation"]
        self.assertEqual((other_phase["rule"], other_phase["severity"]), ("duplicate_stratagem_this_turn", "info"))
        table.play("change_phase", new_phase="Command", player_turn="opponent")
        self.assertIsNone(table.play("log_stratagem_use", **use)["validation"]["rule"])

    def test_a_stratagem_without_enough_points(self):
        table = Table(cp={"player": 1})
        result = table.play("log_stratagem_use", stratagem_name="Fire Overwatch", cp_cost=2, used_by="player")
        self.assertEqual((result["success"], result["validation"]["rule"], result["data"]["cpRemaining"]), (True, "insufficient_cp", 0))
        event = table.state["events"]["0001"]
        self.assertEqual((event["kind"], event["data"]["cost"], event["data"]["paid"]), ("stratagem", 2, 1))
        self.assertEqual(event["finding"]["rule"], "insufficient_cp")

    def test_secondaries(self):
        table = Table(secondaries={"player": ["Cleanse", "Sabotage"]}, cp={"player": 1})
        before = table.state
        refusals = [("Area Denial", "Assassination", "secondary_not_held"), ("cleanse", "Sabotage", "secondary_already_held")]
        for old, new, rule in refusals:
            result = table.play("redraw_secondary_objective", player="player", old_secondary=old, new_secondary=new)
            self.assertEqual((result["success"], result["validation"]["rule"], table.state), (False, rule, before))
        done = table.play("redraw_secondary_objective", player="player", old_secondary="the cleanse", new_secondary="assassination")
        self.assertEqual((done["data"]["secondaries"], done["data"]["cpRemaining"]), (["Assassination", "Sabotage"], 0))
        poor = table.play("redraw_secondary_objective", player="player", old_secondary="Sabotage", new_secondary="Cleanse")
        self.assertEqual((poor["success"], poor["validation"]["rule"]), (False, "cp_validation"))
        self.assertEqual(table.state["secondaries"]["player"], ["Assassination", "Sabotage"])
        chosen = table.play("set_secondary_objectives", player="player", secondaries=["Cleanse", "cleanse", "Teleport Homer"])
        self.assertEqual(chosen["data"]["secondaries"], ["Cleanse", "Teleport Homer"])


class UnitsTest(unittest.TestCase):
    def test_names_with_articles_plurals_and_parts(self):
        rows = [("the terminators", "player", "Terminator Squad"), ("Swarmlord", "opponent", "The Swarmlord"), ("my Captain", "player", "Captain in Terminator Armour"),
                ("CARNIFEX", "opponent", "Carnifex"), ("dreads", "player", "Redemptor Dreadnought"), ("tournaments", "opponent", "Termagants")]
        for spoken, side, name in rows:
            with self.subTest(spoken=spoken):
                result = Table().play("update_unit_health", unit_name=spoken, owner=side, wounds_lost=1)
                self.assertEqual((result["data"]["unitName"], result["data"]["matchedFrom"]), (name, spoken))

    def test_a_whole_nickname_beats_a_part_of_one(self):
        entries = [unit_entry("Assault Intercessor Squad"), unit_entry("Intercessor Squad")]
        self.assertEqual(find("inter sisters", entries)[:2], ("Intercessor Squad", "nickname"))
        self.assertEqual(find("assault inter sisters", entries).name, "Assault Intercessor Squad")

    def test_unknown_and_ambiguous_units_change_nothing(self):
        combat = dict(attacking_player="player", defending_unit="Carnifex", defending_player="opponent", phase="Fight")
        calls: list[tuple[str, dict, str, str]] = [
            ("update_unit_health", dict(unit_name="gaunts", owner="opponent", wounds_lost=1), "unit_ambiguous", "Hormagaunts"),
            ("log_unit_action", dict(unit_name="gaunts", owner="opponent", action_type="advance"), "unit_ambiguous", "Termagants"),
            ("log_combat_result", dict(attacking_unit="bananas", **combat), "unit_not_found", "Terminator Squad"),
            ("mark_unit_destroyed", dict(unit_name="Carnifex", owner="player"), "unit_not_found", "Hellblaster Squad"),
            ("update_unit_status", dict(unit_name="bananas", owner="player", is_battle_shocked=True), "unit_not_found", "Terminator Squad"),
            ("log_stratagem_use", dict(stratagem_name="Grenade", cp_cost=1, used_by="player", target_unit="bananas"), "unit_not_found", "Carnifex"),
            ("update_objective_control", dict(objective_number=1, controlled_by="player", controlling_unit="bananas"), "unit_not_found", "Terminator Squad"),
        ]
        for tool, arguments, rule, candidate in calls:
            table = Table()
            before = table.state
            with self.subTest(tool=tool):
                result = table.play(tool, **arguments)
                self.assertEqual((result["success"], result["validation"]["rule"], table.state), (False, rule, before))
                self.assertIn(candidate, result["data"]["candidates"])

    def test_destroyed_units(self):
        table = Table()
        self.assertTrue(table.play("mark_unit_destroyed", unit_name="Termagants", owner="opponent", destroyed_by="terminators")["data"]["isDestroyed"])
        unit = table.unit("Termagants", "opponent")
        self.assertEqual((unit["models"], unit["wounds"], unit["roles"], unit["living"], unit["destroyed"]), (0, 0, {}, [], True))
        self.assertEqual(table.state["events"]["0001"]["data"]["by"], "Terminator Squad")
        self.assertFalse(table.play("mark_unit_destroyed", unit_name="Termagants", owner="opponent")["success"])
        self.assertFalse(table.play("update_unit_status", unit_name="Termagants", owner="opponent", is_battle_shocked=True)["success"])
        self.assertEqual(table.play("log_unit_action", unit_name="gaunts", owner="opponent", action_type="advance")["data"]["unitName"], "Hormagaunts")
        late = table.play("log_unit_action", unit_name="Termagants", owner="opponent", action_type="advance")
        self.assertEqual(late["validation"]["rule"], "unit_destroyed")
        names = {one["name"]: one["aliases"] for one in table.instance().get_names()["units/opponent"]}
        self.assertEqual((names["Termagants"], "gaunts" in names["Hormagaunts"]), ([], True))

    def test_effects_without_doubles(self):
        table = Table()
        change = dict(unit_name="Terminator Squad", owner="player")
        table.play("update_unit_status", **change, add_effects=["cover", "Cover ", "stealth"], is_battle_shocked=True)
        unit = table.unit("Terminator Squad")
        self.assertEqual((unit["effects"], unit["battle_shocked"]), (["cover", "stealth"], True))
        result = table.play("update_unit_status", **change, remove_effects=["COVER"])
        self.assertEqual((result["data"]["activeEffects"], result["data"]["isBattleShocked"]), (["stealth"], True))
        self.assertFalse(table.play("update_unit_status", **change)["success"])

    def test_logs_leave_health_alone_and_keep_what_was_not_said_open(self):
        table = Table(phase="Charge")
        table.play("log_unit_action", unit_name="Terminators", owner="player", action_type="charge", target="the carnifex")
        table.play("log_combat_result", attacking_unit="Terminators", attacking_player="player", defending_unit="carnifex", defending_player="opponent",
                   phase="Fight", wounds_dealt=3)
        action, combat = (table.state["events"][key] for key in ("0001", "0002"))
        self.assertEqual((action["kind"], action["data"]["success"], action["data"]["target"]), ("action", None, "Carnifex"))
        self.assertEqual((combat["kind"], combat["data"]["attackingUnit"], combat["data"]["modelsDestroyed"]), ("combat", "Terminator Squad", None))
        self.assertEqual(table.unit("Carnifex", "opponent")["wounds"], 8)

    def test_objectives_know_their_unit_and_who_held_them(self):
        table = Table(objectives={"2": "opponent"})
        table.play("update_objective_control", objective_number=2, controlled_by="player", controlling_unit="Intercessors")
        self.assertEqual((table.state["objectives"], table.state["holding_units"]), ({"2": "player"}, {"2": "Intercessor Squad"}))
        self.assertEqual(table.state["events"]["0001"]["data"]["before"], "opponent")
        table.play("update_objective_control", objective_number=2, controlled_by="contested")
        self.assertEqual((table.state["objectives"], table.state["holding_units"]), ({"2": "contested"}, {}))

    def test_units_of_the_same_name_get_numbers(self):
        table = Table(armies={"player": [{**SQUAD, "name": "Nobz"}] * 2})
        self.assertEqual(list(table.state["units"]["player"]), ["Nobz 1", "Nobz 2"])
        self.assertEqual(table.play("mark_unit_destroyed", unit_name="nobz", owner="player")["validation"]["rule"], "unit_ambiguous")
        table.play("update_unit_health", unit_name="nobz 2", owner="player", models_lost=1)
        self.assertEqual((table.unit("Nobz 1")["models"], table.unit("Nobz 2")["models"]), (5, 4))


class WordsTest(unittest.TestCase):
    def test_every_kind_of_event_is_recorded_and_reported(self):
        table = Table()
        table.play("update_victory_points", player="opponent", points=7, source="primary")
        table.play("update_command_points", player="player", change=1, reason="command phase")
        table.play("update_objective_control", objective_number=3, controlled_by="opponent")
        table.play("mark_unit_destroyed", unit_name="Hellblasters", owner="player")
        table.play("change_phase", new_phase="Movement", player_turn="player")
        kinds = [event["kind"] for event in table.state["events"].values()]
        self.assertEqual(kinds, ["victory_points", "command_points", "objective", "destroyed", "phase"])
        context = table.instance().make_turn_context()
        for line in ("round: 1", "phase: Movement", "player_turn: player", "player: 4 CP, 0 VP", "opponent: 3 CP, 7 VP", "objectives: 3 opponent",
                     "- Hellblaster Squad: destroyed", "- Intercessor Squad: 10/10 models, 20/20 wounds", "- opponent +7 VP: primary"):
            self.assertIn(line, context)

    def test_questions_change_nothing(self):
        table = Table(round=2, phase="Charge", vp={"player": 5}, objectives={"2": "player"})
        before = table.state
        rows = [("current_phase", "Charge"), ("cp_remaining", "player 3 CP"), ("victory_points", "player 5 VP, opponent 0 VP"), ("objectives_held", "2 player"), ("battle_round", "2")]
        for kind, text in rows:
            self.assertIn(text, table.play("query_game_state", query_type=kind, player="both")["message"])
        self.assertEqual(table.play("query_game_state", query_type="cp_remaining", player="opponent")["data"]["cp"], {"opponent": 3})
        self.assertEqual(table.state, before)

    def test_advice_fits_the_moment(self):
        table = Table(phase="Movement", turn="opponent", objectives={"1": "opponent"}, vp={"opponent": 4}, cp={"player": 0, "opponent": 1})
        before = table.state
        data = table.play("get_strategic_advice", query_type="all")["data"]
        self.assertEqual(data["opportunities"], ["Take objective 1"])
        self.assertEqual(data["threats"], ["Command Re-roll (1 CP)", "Objective 1: opponent", "4 VP behind"])
        self.assertEqual((data["opportunitiesCount"], data["threatsCount"], table.state), (1, 3, before))
        rich = Table(phase="Movement", turn="opponent").play("get_strategic_advice", query_type="opportunities")["data"]
        self.assertEqual(rich["opportunities"], ["Command Re-roll (1 CP)", "Rapid Ingress (1 CP)", "Fire Overwatch (1 CP)"])

    def test_results_have_one_shape(self):
        long = "x" * 200
        table = Table(armies={"player": [{**SQUAD, "name": long, "models": 50}]})
        results = [
            table.play("update_unit_health", unit_name=long, owner="player", wounds_lost=100, context=long),
            table.play("update_unit_health", unit_name=long + "", owner="opponent", wounds_lost=1),
            table.play("set_secondary_objectives", player="player", secondaries=[long, long[1:], long[2:]]),
            table.play("redraw_secondary_objective", player="player", old_secondary=long, new_secondary=long[3:]),
            table.play("log_stratagem_use", stratagem_name=long, cp_cost=3, used_by="player", target_unit=long, description=long),
        ]
        for result in results:
            self.assertEqual(list(result), ["toolName", "success", "message", "data", "validation"])
            self.assertEqual(list(result["validation"]), ["severity", "message", "rule", "suggestion", "requiresOverride"])
        self.assertEqual([result["success"] for result in results], [True, False, True, True, True])


class DefinitionTest(unittest.TestCase):
    def test_tools_are_closed_and_described(self):
        self.assertEqual(len(SCHEMAS), 15)
        for tool in grimlog.TOOLS:
            function = tool["function"]
            with self.subTest(tool=function["name"]):
                self.assertLess(len(function["description"]), 200)
                self.assertIs(function["parameters"]["additionalProperties"], False)
                self.assertNotIn("strict", function)

    def test_lists_of_names_exist(self):
        lists = Table().instance().get_names()
        for name, schema in SCHEMAS.items():
            for key, value in schema["properties"].items():
                wanted = value.get("x-names") or value.get("items", {}).get("x-names")
                parameter = wanted.partition("{")[2].rstrip("}") if wanted and "{" in wanted else None
                options = schema["properties"][parameter]["enum"] if parameter else [""]
                for option in options if wanted else []:
                    with self.subTest(tool=name, parameter=key, option=option):
                        self.assertIn(wanted.partition("{")[0] + option, lists)


class SetArmyTest(unittest.TestCase):
    def names(self, table):
        return [one["function"]["name"] for one in table.instance().get_tools()]

    def test_an_army_belongs_to_the_conversation(self):
        table, other = Table(), Table()
        result = table.play("set_army", player="player", units=[{"name": "Nobz", "models": 5, "wounds": 2, "roles": {"sergeant": 1}}])
        self.assertEqual((result["success"], result["data"]["units"]), (True, ["Nobz"]))
        self.assertEqual((table.unit("Nobz")["models"], list(table.state["units"]["player"])), (5, ["Nobz"]))
        self.assertIn("Termagants", table.state["units"]["opponent"])
        self.assertIn("Terminator Squad", other.state["units"]["player"])
        self.assertTrue(table.play("set_army", player="opponent", stored="player")["success"])
        self.assertIn("Terminator Squad", table.state["units"]["opponent"])

    def test_what_is_no_army_changes_nothing(self):
        table = Table()
        before = table.state
        unit = {"name": "Nobz", "models": 1, "wounds": 2}
        rows: list[tuple[dict, str]] = [({}, "army_missing"), ({"units": [unit], "stored": "player"}, "army_missing"), ({"stored": "orks"}, "army_not_found"),
                ({"units": [{**unit, "roles": {"leader": 2}}]}, "army_invalid"), ({"units": [{**unit, "name": " "}]}, "army_invalid")]
        for arguments, rule in rows:
            with self.subTest(arguments=arguments):
                result = table.play("set_army", player="player", **arguments)
                self.assertEqual((result["success"], result["validation"]["rule"], table.state), (False, rule, before))

    def test_armies_are_set_up_before_the_battle_only(self):
        table = Table()
        table.play("set_army", player="player", stored="opponent")
        self.assertIn("set_army", self.names(table))
        table.play("change_phase", new_phase="Movement", player_turn="player")
        self.assertNotIn("set_army", self.names(table))
        text = table.instance().set_army(player="player", stored="player")
        self.assertIn("battle_begun", text)


class OverrideTest(unittest.TestCase):
    def test_an_override_is_recorded_with_the_event_that_it_is_about(self):
        table = Table()
        table.play("advance_battle_round", round_number=4)
        table.play("update_command_points", player="player", change=3, reason="gained")
        tools = {one["function"]["name"]: one["function"]["parameters"] for one in table.instance().get_tools()}
        self.assertEqual(tools["record_override"]["properties"]["rule"]["enum"], ["round_skip", "high_cp_gain"])
        result = table.play("record_override", rule="round_skip", player="opponent", reason="house rule")
        self.assertTrue(result["success"])
        first, _, last = table.state["events"].values()
        self.assertEqual(first["override"], {"by": "opponent", "reason": "house rule"})
        self.assertEqual((first["kind"], last["kind"], last["data"]["rule"], last["data"]["event"]), ("round", "override", "round_skip", "0001"))
        self.assertEqual(last["round"], 4)
        table.play("record_override", rule="high_cp_gain", player="player")
        self.assertNotIn("record_override", [one["function"]["name"] for one in table.instance().get_tools()])

    def test_there_is_nothing_to_override_without_a_finding(self):
        table = Table()
        table.play("update_command_points", player="player", change=1, reason="gained")
        before = table.state
        text = table.instance().record_override(rule="high_cp_gain", player="player")
        self.assertIn("override_not_needed", text)
        self.assertEqual(table.state, before)


class ArmyFilesTest(unittest.TestCase):
    def test_a_file_takes_the_place_of_a_sample(self):
        rows = [
            ('[{"name": "Nobz", "models": 5, "wounds": 2}]', None), ("{}", "opponent.json, it must be a list of units"), ("[", "not JSON"), ('[{"name": ""}]', "unit 1"),
            ('[{"name": "A", "models": 0, "wounds": 2}]', "models"), ('[{"name": "A", "models": 1, "wounds": 2, "roles": {"cook": 1}}]', "roles"),
            ('[{"name": "A", "models": 1, "wounds": 2, "roles": {"leader": 2}}]', "more models"),
        ]
        for text, problem in rows:
            with self.subTest(text=text), tempfile.TemporaryDirectory() as folder:
                (Path(folder) / "opponent.json").write_text(text, encoding="utf-8")
                if problem:
                    self.assertRaisesRegex(ValueError, problem, _grimlog_armies.armies, folder)
                else:
                    both = _grimlog_armies.armies(folder)
                    self.assertEqual((both["opponent"][0]["name"], both["player"]), ("Nobz", _grimlog_armies.SAMPLES["player"]))


if __name__ == "__main__":
    unittest.main()
