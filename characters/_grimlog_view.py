"""How a page may show the battle tracker's state: parts from top to bottom, described, not drawn.

A path is a JSON Pointer into the state; inside a table it starts at the row.
- facts: labels with one value each
- steps: one of several texts, in their order
- table: a row for each entry of an object; `of` is the value that a cell counts down from, and a row
  whose `struck` is true is crossed out
- timeline: the entries of an object, newest first
"""

from _grimlog_armies import SIDES
from _grimlog_rules import PHASES

VIEW = {
    "title": "Battle",
    "parts": [
        {
            "show": "facts",
            "title": "Now",
            "items": [
                {"label": "Round", "path": "/round"},
                {"label": "Turn", "path": "/turn"},
                {"label": "Phase", "path": "/phase"},
            ],
        },
        {"show": "steps", "path": "/phase", "of": PHASES},
        *(
            {
                "show": "facts",
                "title": side.capitalize(),
                "items": [
                    {"label": "CP", "path": f"/cp/{side}"},
                    {"label": "VP", "path": f"/vp/{side}"},
                    {"label": "Secondaries", "path": f"/secondaries/{side}"},
                ],
            }
            for side in SIDES
        ),
        {"show": "table", "title": "Objectives", "path": "/objectives", "key": "Objective", "value": "Held by"},
        *(
            {
                "show": "table",
                "title": f"Army of the {side}",
                "path": f"/units/{side}",
                "key": "Unit",
                "columns": [
                    {"label": "Models", "path": "/models", "of": "/starting_models"},
                    {"label": "Wounds", "path": "/wounds", "of": "/starting_wounds"},
                    {"label": "Battle-shocked", "path": "/battle_shocked"},
                    {"label": "Effects", "path": "/effects"},
                ],
                "struck": "/destroyed",
            }
            for side in SIDES
        ),
        {"show": "timeline", "title": "Events", "path": "/events", "text": "/text", "kind": "/kind", "finding": "/finding"},
    ],
}
