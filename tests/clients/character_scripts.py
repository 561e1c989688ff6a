"""The scripted model `character-script` for characters: the user's first line selects a script.

Words of that line that begin with a slash are paths for the script; the rest selects the script. A script is a list of steps as
in scripts.py. It gets the history that Callboard stores, with calls and results, and continues only if all of them are there;
it repeats results, so that a client can see them.
"""
import json

from scripts import Call, Reply, Step, answered_calls, as_text, steps

ALL_IN_ONE_PLACE = frozenset({"index_zero"})
DAMAGED_WEATHER = Call("get-weather", "{'city': 'Oslo', 'days': '3', 'unit': 'Celsius',}", "tool_7")


# ---------------------------------------------------------------------------------------------------------------------
# Reading the history

def words_of(messages, role, place):
    return as_text([message["content"] for message in messages if message["role"] == role][place])


def paths(messages):
    return [word for word in words_of(messages, "user", 0).split() if word.startswith("/")]


def first_line(messages):
    return " ".join(word for word in words_of(messages, "user", 0).split() if not word.startswith("/"))


def results(messages):
    return [result for _, result in answered_calls(messages)]


# ---------------------------------------------------------------------------------------------------------------------
# Parts of scripts

def call(tool, /, **arguments):
    return Call(tool, json.dumps(arguments))


def log(event, **more):
    return call("log_story_event", event=event, **more)


def tell_results(messages):
    return Reply(" | ".join(results(messages)))


def tell_prompt(messages):
    return Reply(words_of(messages, "system", 0))


def one_call(call):
    """A play that makes one call and repeats its result."""
    return steps(Step(Reply("", (call,))), Step(tell_results))


def with_pipe(name):
    """A step that calls a tool with the path of the first line."""
    def ask(messages):
        return Reply("I go. ", (call(name, pipe=paths(messages)[0]),))
    return Step(ask)


# ---------------------------------------------------------------------------------------------------------------------
# The narrator

DOOR = log("The red door was opened", importance="high")


def open_door(messages):
    """Waits before the call if the first line names a pipe."""
    return Reply("The hinges groan. ", (DOOR,), pause=next(iter(paths(messages)), None))


def think_aloud(messages):
    return Reply("Once upon a time", pause=paths(messages)[0])


def door_then_weather(messages):
    """Counts results: a history sent by a client does not show which calls were made in one reply."""
    results = [as_text(message["content"]) for message in messages if message["role"] == "tool"]
    return [Reply("", (DOOR,)), Reply("", (DAMAGED_WEATHER,)), Reply(" | ".join(results))][len(results)]


THREE_ROUNDS = (
    Step(Reply("A lamp flickers. ", (log("A lamp flickered", importance="low"),))),
    Step(Reply("A key lies in the sand. ", (log("A key was found"),))),
    Step(Reply("", (log("The key broke", importance="high"),))),
    Step(tell_results),
)
THREE_AT_ONCE = Reply("So much happens. ", (log("First"), log("Second"), log("Third")), "stop", ALL_IN_ONE_PLACE)
WITH_WEATHER = Reply("Come in. ", (DOOR, DAMAGED_WEATHER), "stop", ALL_IN_ONE_PLACE)
WRITTEN_CALL = '<tool_call>\n{"name": "log_story_event", "arguments": {"event": "It was written"}}\n</tool_call>'


# ---------------------------------------------------------------------------------------------------------------------
# The quiz and the game: the call depends on the user's last message, so an edited history makes another call

def judge(messages):
    return Reply("", (call("check_answer", answer=words_of(messages, "user", -1)),))


def take_item(messages):
    return Reply("", (call("add_item", item=words_of(messages, "user", -1)),))


def count_with_me(messages):
    """Takes the item that each message names: a script without an end."""
    last = messages[-1]
    if last["role"] == "tool":
        return Reply(as_text(last["content"]))
    words = as_text(last["content"])
    return Reply("Ready.") if words == "Count with me." else Reply("", (call("add_item", item=words),))


def wait_after_change(messages):
    """Changes something, and waits in the middle of its text, where the client may disconnect. Then takes the named item."""
    first = len([message for message in messages if message["role"] == "user"]) == 1
    if messages[-1]["role"] == "tool":
        return think_aloud(messages) if first else tell_results(messages)
    return Reply("", (call("set_hero", name="Mira", calling="ranger"),)) if first else take_item(messages)


# ---------------------------------------------------------------------------------------------------------------------
# The stagehand

def both_ends(messages):
    """The first call can only end once the second has begun."""
    [pipe] = paths(messages)
    return Reply("", (call("listen", pipe=pipe), call("signal", pipe=pipe, word="now")))


SCRIPTS = {
    "Open the door.": steps(Step(open_door), Step(Reply("Behind it lies the sea."))),
    "Open the door and ask for the weather.": steps(Step(WITH_WEATHER), Step(tell_results)),
    "Open the door, then ask for the weather.": door_then_weather,
    "Just talk.": steps(Step(think_aloud)),
    "Three things happen, one by one.": steps(*THREE_ROUNDS),
    "Three things happen at once.": steps(Step(THREE_AT_ONCE), Step(tell_results)),
    "Write the call down.": steps(Step(Reply(f"Listen. {WRITTEN_CALL}")), Step(tell_results)),
    "Dance.": one_call(call("dance")),
    "Break off.": one_call(Call("log_story_event", '{"event": "It broke", "importance": ')),
    "Exaggerate.": one_call(log("It was huge", importance="enormous")),
    "Leave it out.": one_call(call("log_story_event", importance="low")),
    "Be sloppy.": one_call(Call("log_story_event", "{'event': 'It was mended', 'importance': 'HIGH',}")),
    "One good, two bad.": steps(Step(Reply("", (call("dance"), log("A good one"), log(7)))), Step(tell_results)),
    "Think only.": steps(Step(Reply(reasoning="What could they mean?"))),
    "Say nothing.": steps(Step(Reply())),
    "Act, then say nothing.": steps(Step(Reply("", (log("Nobody spoke"),))), Step(Reply())),
    "Geography for 100.": steps(
        Step(Reply("", (call("ask_question", topic="geography", points=100),))), Step(tell_results), Step(judge),
        Step(tell_results), Step(tell_prompt),
    ),
    "I am Mira the ranger.": steps(
        Step(Reply("", (call("set_hero", name="Mira", calling="ranger"),))), Step(tell_results), Step(take_item),
        Step(tell_results), Step(take_item), Step(tell_results),
    ),
    "I am Mira the ranger, but wait.": wait_after_change,
    "Count with me.": count_with_me,
    "Listen.": steps(with_pipe("listen"), Step(tell_results)),
    "Listen and speak.": steps(Step(both_ends), Step(tell_results)),
    "Oversleep.": steps(with_pipe("oversleep"), Step(tell_results)),
    "Stumble.": one_call(call("stumble", reason="the trapdoor")),
}


def character_script(messages):
    return SCRIPTS[first_line(messages)](messages)
