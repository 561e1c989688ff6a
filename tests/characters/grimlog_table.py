"""A table to play the battle tracker at, as the stage plays it: a fresh instance for each call, state as JSON between them."""

import json
import sys
from pathlib import Path
from typing import Any, Optional

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "characters"))
sys.dont_write_bytecode = True

import grimlog  # noqa: E402

CASES = json.loads((HERE / "grimlog_cases.json").read_text(encoding="utf-8"))
SCHEMAS = {tool["function"]["name"]: tool["function"]["parameters"] for tool in grimlog.TOOLS}


class Table:
    """One game. `play` makes a call and gives its result; `state` is what the stage would have stored."""

    def __init__(self, **context):
        opened = grimlog.PromptGenerator(dict(grimlog.INSTRUCTIONS))
        self.state = self._kept(opened)
        for given in (CASES["defaults"], context):
            known = {key: value for key, value in given.items() if key in self.state and key != "armies"}
            self.state.update({key: {**self.state[key], **value} if isinstance(value, dict) else value for key, value in known.items()})
        default = CASES["armies"]["default"]
        self.state["armies"] = {**default, **(context.get("armies") or {})}
        self.play("query_game_state", query_type="battle_round")

    def instance(self):
        made = grimlog.PromptGenerator(dict(grimlog.INSTRUCTIONS))
        for key in self._kept(made):
            delattr(made, key)
        vars(made).update(json.loads(json.dumps(self.state)))
        return made

    def play(self, tool, **arguments):
        instance = self.instance()
        offered = {one["function"]["name"]: one["function"]["parameters"] for one in instance.get_tools()}
        problem = misfit(arguments, offered[tool])
        assert problem is None, f"{tool}: {problem}"
        text = getattr(instance, tool)(**arguments)
        assert isinstance(text, str) and len(text) < 1000, f"{len(text)} characters"
        self.state = self._kept(instance)
        return json.loads(text)

    def unit(self, name, side="player"):
        return self.state["units"][side][name]

    def wounds(self, name="Squad", side="player"):
        return [model["current"] for model in self.unit(name, side)["living"]]

    @staticmethod
    def _kept(instance):
        public = {key: value for key, value in vars(instance).items() if not key.startswith("_") and key != "instructions"}
        return json.loads(json.dumps(public, sort_keys=True, allow_nan=False))


def misfit(value: Any, schema: dict) -> Optional[str]:
    """Why a value does not fit a schema of the kinds that the tools use, or None."""
    kinds: dict[str, Any] = {"object": dict, "array": list, "string": str, "integer": int, "boolean": bool}
    if not isinstance(value, kinds[schema["type"]]) or (schema["type"] == "integer" and isinstance(value, bool)):
        return "type"
    if value not in schema.get("enum", [value]):
        return "enum"
    if schema["type"] == "integer":
        return None if schema.get("minimum", value) <= value <= schema.get("maximum", value) else "bounds"
    if schema["type"] == "string":
        return None if schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", len(value)) else "length"
    if schema["type"] == "array":
        fits = schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value))
        return next((why for why in (misfit(one, schema["items"]) for one in value) if why), None) if fits else "items"
    return misfit_of_object(value, schema) if schema["type"] == "object" else None


def misfit_of_object(value, schema):
    if set(schema.get("required", [])) - set(value):
        return "required"
    if set(value) - set(schema["properties"]):
        return "additional property"
    return next((why for why in (misfit(one, schema["properties"][key]) for key, one in value.items()) if why), None)
