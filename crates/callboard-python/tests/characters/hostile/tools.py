"""Tools that do what no tool should."""

import ctypes
import os
import subprocess
import sys
import threading
import time

CHARACTER_NAME = "Saboteur"
INSTRUCTIONS = {}
LIMITS = {"tools": 40}


def answers() -> str:
    """Answers, to show that all is well."""
    return "well"


def says_who_it_is() -> str:
    """Tells its process number."""
    return str(os.getpid())


def loops() -> str:
    """Never comes back."""
    while True:
        pass


def sleeps_in_c() -> str:
    """Sleeps where Python cannot be interrupted."""
    ctypes.PyDLL(None).sleep(600)
    return "woke up"


def ignores_signals() -> str:
    """Blocks every signal that can be blocked."""
    import signal

    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    while True:
        time.sleep(600)


def exits() -> str:
    """Calls sys.exit."""
    sys.exit(3)


def exits_hard() -> str:
    """Calls os._exit."""
    sys.stderr.write("goodbye\n")
    os._exit(7)


def segfaults() -> str:
    """Reads from nowhere."""
    ctypes.string_at(0)
    return "survived"


def overflows_the_stack() -> str:
    """Calls itself without end."""
    return overflows_the_stack()


def kills_itself() -> str:
    """Sends itself a signal."""
    os.kill(os.getpid(), 9)
    return "survived"


def kills_its_parent() -> str:
    """Ends the process that forked it."""
    os.kill(os.getppid(), 9)
    while True:
        time.sleep(600)


def forks() -> str:
    """Both sides return."""
    return "child" if os.fork() == 0 else "parent"


def forks_below_python() -> str:
    """Both sides return, and Python does not know."""
    return "child" if ctypes.PyDLL(None).fork() == 0 else "parent"


def forks_and_hangs(folder: str) -> str:
    """Leaves a child behind, and hangs.

    Args:
        folder: where the child notes its number
    """
    child = os.fork()
    if child == 0:
        note(folder, "child", os.getpid())
        time.sleep(600)
    while True:
        time.sleep(600)


def leaves_a_daemon(folder: str) -> str:
    """Leaves a process that has left its group and its parent, and hangs.

    Args:
        folder: where the process notes its number
    """
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            note(folder, "daemon", os.getpid())
            time.sleep(600)
        os._exit(0)
    while True:
        time.sleep(600)


def leaves_a_program() -> str:
    """Starts a program and does not wait for it."""
    return str(subprocess.Popen(["sleep", "600"]).pid)


def leaves_a_thread() -> str:
    """Leaves a thread that would go on printing."""

    def chatter():
        while True:
            time.sleep(0.001)
            print("still here")

    threading.Thread(target=chatter, daemon=True).start()
    return str(os.getpid())


def eats_memory() -> str:
    """Asks for two gigabytes at once."""
    return str(len(bytearray(2 << 30)))


def eats_memory_slowly() -> str:
    """Asks for memory until there is none."""
    eaten = []
    while True:
        eaten.append(bytearray(1 << 20))


def prints_100_megabytes() -> str:
    """Prints more than anyone reads."""
    line = "x" * 999 + "\n"
    for _ in range(100):
        sys.stdout.write(line * 1000)
    return "printed"


def closes_stdout() -> str:
    """Closes standard output."""
    sys.stdout.close()
    return str(os.getpid())


def closes_everything() -> str:
    """Closes every file, also those that are not its own."""
    os.closerange(0, 64)
    return "closed"


def opens_many_files() -> str:
    """Opens more files than it may."""
    return str(len([open(os.devnull) for _ in range(1000)]))


def returns_none() -> str:
    """Returns nothing."""


def returns_a_number() -> str:
    """Returns a number."""
    return 5


def returns_a_list() -> str:
    """Returns a list."""
    return ["a"]


def returns_a_dict() -> str:
    """Returns a dict."""
    return {"a": 1}


def returns_bytes() -> str:
    """Returns bytes."""
    return b"a"


def returns_half_a_character() -> str:
    """Returns text that UTF-8 cannot hold."""
    return "a\ud83db"


def returns_too_much() -> str:
    """Returns two megabytes."""
    return "x" * (2 << 20)


def raises_a_huge_message() -> str:
    """Raises with fifty megabytes to say."""
    raise ValueError("y" * 50_000_000)


def raises_without_words() -> str:
    """Raises something that cannot be turned into text."""

    class Unspeakable(Exception):
        def __str__(self):
            raise RuntimeError("no")

    raise Unspeakable()


def writes_after_its_deadline(folder: str) -> str:
    """Notes its number, waits past its deadline, and would note another.

    Args:
        folder: where it notes
    """
    note(folder, "before", os.getpid())
    time.sleep(3)
    note(folder, "after", os.getpid())
    return "done"


def note(folder, name, number):
    path = os.path.join(folder, name)
    with open(path + ".part", "w") as file:
        file.write(str(number))
    os.rename(path + ".part", path)


TOOLS = [value for name, value in list(globals().items()) if callable(value) and value is not note and hasattr(value, "__code__")]


# What must time out does so soon; what must not has time enough on a busy machine.
TOOL_TIMEOUT_MS = {
    **dict.fromkeys([tool.__name__ for tool in TOOLS], 20_000),
    **dict.fromkeys(["loops", "sleeps_in_c", "ignores_signals"], 100),
    **dict.fromkeys(["forks_and_hangs", "leaves_a_daemon", "writes_after_its_deadline"], 1_000),
}


class PromptGenerator:
    def __init__(self, instructions):
        pass

    def make_system_prompt(self):
        return "Break things."
