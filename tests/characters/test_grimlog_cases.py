"""What players say, and what must come of it, for the battle tracker.

grimlog_cases.json holds the sentences. Here the calls that belong to a sentence are carried out, and
state and findings compared; which calls a model makes of a sentence is not tested here.
"""

import unittest
from typing import ClassVar

from grimlog_table import CASES, SCHEMAS, Table, misfit

from _grimlog_names import find, unit_entry


def meets(found, expected):
    """Whether a value is what a case expects: only what is stated counts."""
    if isinstance(expected, dict) and "any_of" in expected:
        return found in expected["any_of"]
    if isinstance(expected, dict) and "contains" in expected:
        return expected["contains"].casefold() in found.casefold()
    if isinstance(expected, dict):
        return all(key in found and meets(found[key], value) for key, value in expected.items())
    return sorted(found) == sorted(expected) if isinstance(expected, list) else found == expected


def said(value):
    """A value that meets what a case expects of an argument."""
    if isinstance(value, dict):
        return value["any_of"][0] if "any_of" in value else value["contains"]
    return [said(one) for one in value] if isinstance(value, list) else value


def whole(call, table):
    """A case states only what the sentence fixes; the rest is filled in as a model would."""
    usual = {"cp_cost": 1, "reason": "as said", "source": "as said", "phase": table.state["phase"], "player_turn": table.state["turn"]}
    usual["attacking_unit"] = table.state["armies"]["player"][0]["name"]
    given = {key: said(value) for key, value in call["args"].items()}
    return {**{key: usual[key] for key in SCHEMAS[call["tool"]]["required"] if key not in given}, **given}


class CasesTest(unittest.TestCase):
    UNDONE: ClassVar = {"the last stratagem use": "log_stratagem_use", "the last phase change": "change_phase"}

    def test_calls_lead_to_the_state_and_the_finding(self):
        for case in CASES["cases"]:
            for calls in case["expect"].get("calls_any_of") or [case["expect"]["calls"]]:
                with self.subTest(case=case["id"], say=case["say"], calls=calls):
                    self.check(case, calls)

    def check(self, case, calls):
        undone = [call for call in calls if call.get("undo")]
        journal = self.without(case["context"].get("journal", []), undone)
        table = Table(**case["context"])
        for call in journal:
            self.assertTrue(table.play(call["tool"], **call["args"])["success"])
        results = [table.play(call["tool"], **whole(call, table)) for call in calls if call["tool"]]
        self.assertTrue(meets(table.state, case["expect"].get("state", {})), table.state)
        if results and "validation" in case["expect"]:
            expected = {"requiresOverride" if key == "requires_override" else key: value for key, value in case["expect"]["validation"].items()}
            self.assertTrue(meets(results[-1]["validation"], expected), results[-1])
        if case["id"] != 59:  # damage without a number
            self.assertTrue(all(result["success"] or case["id"] == 25 for result in results), results)

    def without(self, journal, undone):
        """The journal after an undo, which takes back a call and replays the later ones."""
        for undo in undone:
            tool = self.UNDONE.get(undo["target"])
            transhuman = "Transhuman" in undo["target"]
            fitting = [call for call in journal if (not tool or call["tool"] == tool) and (not transhuman or "Transhuman" in str(call))]
            journal = [call for call in journal if call is not fitting[-1]]
        return journal

    def test_arguments_fit_or_do_not(self):
        for row in CASES["arguments"]:
            with self.subTest(row=row):
                self.assertEqual(misfit(row["args"], SCHEMAS[row["tool"]]) is None, row["valid"])

    def test_plain_matching_is_never_wrong(self):
        certain = {"exact", "plural", "article", "part", "nickname", "mishearing", "unknown"}
        for row in CASES["names"]:
            found = find(row["said"], [unit_entry(name) for name in row["among"]])
            with self.subTest(row=row, found=found):
                if isinstance(row["expect"], dict):
                    self.assertEqual((found.name, sorted(found.candidates)), (None, sorted(row["expect"]["ambiguous"])))
                elif row["kind"] in certain:
                    self.assertEqual(found.name, row["expect"])
                else:
                    self.assertIn(found.name, (row["expect"], None))


if __name__ == "__main__":
    unittest.main()
