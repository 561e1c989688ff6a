"""The baseline of `bench/stage`: tools called in the server's own process.

A pydantic model is made from each tool's schema when the character is loaded. A call is parsed, validated by that model, run
in a thread with `asyncio.to_thread`, and awaited with `asyncio.wait_for` for a tenth of a second. Needs pydantic 2.

    in_process.py FILE TOOL ARGUMENTS CALLS LANES        prints one JSON object
"""

import asyncio
import contextlib
import importlib.util
import json
import os
import sys
import time
from pathlib import Path
from typing import Any, Literal, Optional

from pydantic import Field, ValidationError, create_model

TIMEOUT_SECONDS = 0.1
WARM_UP = 100
TYPES = {"string": str, "integer": int, "number": float, "boolean": bool, "array": list, "object": dict}


class Character:
    """A loaded file, with a validator for each tool. Every conversation has its own instance."""

    def __init__(self, path):
        sys.path.insert(0, str(path.parent))
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec and spec.loader, path
        self.module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.module)
        functions = [tool["function"] for tool in self.module.TOOLS]
        self.validators = {function["name"]: validator(function) for function in functions}

    def open(self):
        return self.module.PromptGenerator(self.module.INSTRUCTIONS)


def validator(function):
    """A pydantic model for the parameters of a tool."""
    schema = function["parameters"]
    required = schema.get("required", [])
    fields = {name: field(property, name in required) for name, property in schema["properties"].items()}
    return create_model(function["name"], **fields)


def field(schema, required):
    kind = Literal[tuple(schema["enum"])] if "enum" in schema else TYPES.get(schema.get("type"), Any)
    limits = {"ge": schema.get("minimum"), "le": schema.get("maximum"), "min_length": schema.get("minLength"),
              "max_length": schema.get("maxLength")}
    limits = {name: limit for name, limit in limits.items() if limit is not None}
    if required:
        return kind, Field(..., **limits)
    return Optional[kind], Field(schema.get("default"), **limits)


async def execute(character, instance, tool, arguments):
    """One call, from the text of its arguments to the text of its result."""
    try:
        values = json.loads(arguments)
    except json.JSONDecodeError as error:
        return f"Error: Invalid JSON arguments - {error}"
    try:
        values = character.validators[tool](**values).model_dump()
    except ValidationError as error:
        return f"Error: Invalid parameters - {error}"
    try:
        return await asyncio.wait_for(asyncio.to_thread(instance.handle_tool_call, tool, values), TIMEOUT_SECONDS)
    except asyncio.TimeoutError:
        return "Error: Tool execution timed out"
    except Exception as error:
        return f"Error: {type(error).__name__}: {error}"


async def lane(character, tool, arguments, count):
    """One conversation with sequential calls. Returns the duration of each call, and the failed ones."""
    instance, times, wrong = character.open(), [], []
    for _ in range(count):
        began = time.perf_counter()
        result = await execute(character, instance, tool, arguments)
        times.append(time.perf_counter() - began)
        if result.startswith("Error"):
            wrong.append(result)
    return times, wrong


async def measure(character, tool, arguments, calls, lanes):
    def all_lanes(count):
        return asyncio.gather(*(lane(character, tool, arguments, count) for _ in range(lanes)))

    await all_lanes(WARM_UP)
    began = time.perf_counter()
    done = await all_lanes(calls // lanes)
    seconds = time.perf_counter() - began
    times = sorted(time for times, _ in done for time in times)
    wrong = [result for _, results in done for result in results]
    return {"calls": len(times), "calls_per_second": len(times) / seconds, "p50_ms": times[len(times) // 2] * 1e3,
            "p99_ms": times[len(times) * 99 // 100] * 1e3, "errors": len(wrong), "first_error": next(iter(wrong), None)}


def main():
    path, tool, arguments, calls, lanes = sys.argv[1:]
    # Line-buffered, as on a terminal, and discarded.
    with open(os.devnull, "w", encoding="utf-8", buffering=1) as output, contextlib.redirect_stdout(output):
        figures = asyncio.run(measure(Character(Path(path)), tool, arguments, int(calls), int(lanes)))
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
