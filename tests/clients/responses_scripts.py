"""Scripts for clients of the Responses API, in addition to those in scripts.py.

`recall` repeats the whole history, so that a client can see what was stored; `codex-editor` edits a file with codex: the
prompt names the file to read and the file to write, by absolute paths, in that order.
"""
import json
import shlex

from scripts import ALL_STREAM_FAULTS, OSLO, Call, Reply, Step, always, answered_calls, as_text, steps, tell_sum, tell_weather

ALL_IN_ONE_PLACE = frozenset({"index_zero"})
NOTE = 'Line 1: "quoted", {"not": "an argument"}\nLine 2: \\ and 🎭\n'
REPORT = '```json\n{"title": "Hamlet", "acts": "5", "cast": ["Hamlet", "Ophelia",],}\n```'


def recall(messages):
    """The text of all messages, with their roles."""
    said = [f"{message['role']}: {as_text(message.get('content'))}" for message in messages if message.get("content")]
    return Reply(" | ".join(said))


def parrot(messages):
    """Calls `say` with the last message, and repeats the result."""
    words = as_text(messages[-1]["content"])
    return Reply(words) if messages[-1]["role"] == "tool" else Reply("", (Call("say", json.dumps({"words": words})),))


def hold(messages):
    """Begins a reply, and waits at the pipe that the last message names."""
    words, pipe = as_text(messages[-1]["content"]).split()
    return Reply("One moment, please." if words == "Speak." else "", pause=pipe)


# ---------------------------------------------------------------------------------------------------------------------
# Codex: its shell is the tool exec_command, whose result ends in `Output:` and the output of the command

def prompt_paths(messages):
    prompts = [as_text(message["content"]) for message in messages if message["role"] == "user"]
    source, target = [word for word in prompts[-1].split() if word.startswith("/")]
    return source, target


def printed(result):
    return result.partition("Output:\n")[2].strip()


def read_notes(messages):
    source, _ = prompt_paths(messages)
    arguments = repr({"cmd": f"cat {source}"})
    return Reply("I read the notes first.", (Call("functions.exec_command", arguments),), "stop", ALL_STREAM_FAULTS)


def write_capitals(messages):
    """Writes the output of the first command, so the file is correct only if the read was."""
    _, target = prompt_paths(messages)
    notes = printed(next(as_text(message["content"]) for message in messages if message["role"] == "tool"))
    command = f"printf '%s\\n' {shlex.quote(notes.upper())} > {target}"
    return Reply("", (Call("Exec_Command", {"cmd": command}),), "stop", ALL_IN_ONE_PLACE)


def look_again(messages):
    _, target = prompt_paths(messages)
    read = Call("exec-command", json.dumps({"cmd": f"cat {target}"})[:-1] + ",}", "tool_1")
    count = Call("exec_command", json.dumps(json.dumps({"cmd": f"wc -l {target}"})), "tool_2")
    return Reply("", (read, count), "stop", ALL_IN_ONE_PLACE)


def patch_target(messages):
    """Writes a file with a custom tool, as models do that codex knows by name."""
    _, target = prompt_paths(messages)
    patch = f"*** Begin Patch\n*** Add File: {target}\n+THE CALLBOARD HANGS BACKSTAGE\n*** End Patch\n"
    return Reply("", (Call("functions.apply_patch", repr({"input": patch})),), "stop", ALL_STREAM_FAULTS)


def tell_both(messages):
    return Reply(" and ".join(printed(result) for _, result in answered_calls(messages)))


SCRIPTS = {
    "recall": recall,
    "parrot": parrot,
    "hold": hold,
    "thinker": steps(Step(Reply("Forty-two.", reasoning="What is six times seven?"))),
    "thinking-caller": steps(Step(Reply("", (OSLO,), reasoning="I had better look.")), Step(tell_weather)),
    "talks-of-rockets": always(Reply("Three, two, one.", (Call("launch_rocket", "{}"),))),
    "long-winded": always(Reply("And so on and so", finish="length")),
    "sure": steps(Step(Reply("Certainly so.", sure=True))),
    "namespaced": steps(Step(Reply("", (Call("sums__add", '{"a": "2", "b": 3,}'),))), Step(tell_sum)),
    "hand-over": steps(Step(Reply("", (Call("transfer_to_forecaster", ""),))), Step(Reply("", (OSLO,))), Step(tell_weather)),
    "final-result": always(Reply("", (Call("Final_Result", REPORT),), "stop", ALL_STREAM_FAULTS)),
    "note-taker": steps(
        Step(Reply("", (Call("Take-Note", {"input": NOTE}),), "stop", ALL_STREAM_FAULTS)),
        Step(lambda messages: Reply(as_text(messages[-1]["content"]))),
    ),
    "reporter": steps(Step(Reply(reasoning="A play, then.", text=REPORT))),
    "codex-editor": steps(
        Step(read_notes),
        Step(write_capitals, slip=Reply("", (Call("exec_command", '{"workdir": "/"}'),))),
        Step(look_again),
        Step(tell_both),
    ),
    "gpt-5.5": steps(Step(patch_target), Step(Reply("Done."))),
}
