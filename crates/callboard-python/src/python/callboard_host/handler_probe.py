"""Whether handle_tool_call implements a tool, where its code does not show it.

It is asked twice, in a process of its own: with a name that no tool has, and with the tool's. The second time it is stopped at
the first step that the first one did not take, or when it looks at the arguments. So no tool is run.
"""

from __future__ import annotations

import builtins
import dis
import inspect
import os
import sys
from typing import TYPE_CHECKING, Any

from callboard_host.awaiting import resolve
from callboard_host.fork_runner import run_in_fork
from callboard_host.problems import describe_exception, shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import FrameType

    # What a function did: lines and calls of the character's files.
    Step = tuple[Any, ...]
    Steps = set[Step]

IMPLEMENTED, REFUSED, UNCLEAR = "implemented", "refused", "unclear"
NO_SUCH_TOOL = "callboard_no_such_tool"
SECONDS = 2.0
_MAX_SHOWN = 100


class HandlerProbe:
    """Asks the handler of a character. What it found out is kept."""

    def __init__(self, make_instance: Callable[[], Any], generator: Any, folder: str) -> None:
        self._make_instance, self._folder = make_instance, os.path.join(folder, "")
        # One that takes any name is never run: what it would do is not known.
        self._takes_any_name = _ignores_name(generator)
        self._verdicts: dict[str, tuple[str, str]] = {}

    def ask(self, names: Iterable[str], knows_others: bool) -> None:
        """Finds out about tools. `knows_others`: the handler has branches for other tools."""
        unknown = [name for name in names if name not in self._verdicts]
        if not unknown:
            return
        default, found = (IMPLEMENTED, ""), None
        if not self._takes_any_name:
            default = (UNCLEAR, "it does not answer in time")
            found = run_in_fork(lambda: self._compare(unknown, knows_others), SECONDS)
        for name in unknown:
            self._verdicts[name] = tuple(found[name]) if found else default

    def verdict(self, name: str) -> tuple[str, str]:
        """What is known about a tool, and what the handler does with names that it does not know."""
        return self._verdicts.get(name, (UNCLEAR, "it was not asked"))

    def _compare(self, names: list[str], knows_others: bool) -> dict[str, tuple[str, str]]:
        stranger = self._call(NO_SUCH_TOOL, None)
        if stranger.is_beyond:
            return dict.fromkeys(names, (UNCLEAR, "it looks at the arguments before it refuses a name"))
        answers = {name: self._call(name, stranger.steps) for name in names}
        known = {name for name, answer in answers.items() if not answer.ends_as(stranger, name)}
        is_refusal = knows_others or bool(known) or stranger.refuses()
        refused = (REFUSED, stranger.shown()) if is_refusal else (UNCLEAR, f"it {stranger.shown()} for any name")
        return {name: (IMPLEMENTED, "") if name in known else refused for name in names}

    def _call(self, name: str, allowed: Steps | None) -> _Answer:
        instance = self._make_instance()
        answer = _Answer(self._folder, allowed)
        answer.record(lambda: resolve(instance.handle_tool_call(name, _Arguments(answer))))
        return answer


class _Beyond(BaseException):
    """The handler went further than with an unknown name."""


class _Answer:
    """What a handler did with a name, and how it ended."""

    def __init__(self, folder: str, allowed: Steps | None) -> None:
        self._folder, self._allowed = folder, allowed
        self.steps: Steps = set()
        self.is_beyond = False
        self._raised: str | None = None
        self._text: str | None = None

    def record(self, call: Callable[[], Any]) -> None:
        outer = sys.gettrace()
        sys.settrace(self._trace)
        try:
            value = call()
            self._text = None if value is None else str(value)
        except _Beyond:
            self.is_beyond = True
        except BaseException as error:
            self._raised, self._text = type(error).__name__, describe_exception(error)
        finally:
            sys.settrace(outer)

    def ends_as(self, stranger: _Answer, name: str) -> bool:
        """Whether it ended as with the unknown name, but for the name."""
        if self.is_beyond or self._raised != stranger._raised:
            return False
        expected = stranger._text and stranger._text.replace(NO_SUCH_TOOL, name)
        return self._raised is not None or self._text == expected

    def refuses(self) -> bool:
        """Whether the end is a refusal: an exception, nothing, or a text that names the tool."""
        return self._raised is not None or self._text is None or NO_SUCH_TOOL in self._text

    def shown(self) -> str:
        text = shorten(self._text or "None", _MAX_SHOWN).replace(NO_SUCH_TOOL, "…")
        return f"raises {text}" if self._raised else f"returns {text}"

    def _trace(self, frame: FrameType, event: str, _argument: Any) -> Any:
        """Follows the character's own code line by line, and which functions of others it calls."""
        is_own = frame.f_code.co_filename.startswith(self._folder)
        if event == "call" and (is_own or frame.f_back and frame.f_back.f_code.co_filename.startswith(self._folder)):
            self._step(frame.f_code)
        elif event == "line" and is_own:
            self._step(frame.f_code, frame.f_lineno)
        return self._trace if is_own else None

    def _step(self, *step: Any) -> None:
        if self._allowed is not None and step not in self._allowed:
            self.go_beyond()
        self.steps.add(step)

    def go_beyond(self) -> None:
        self.is_beyond = True
        raise _Beyond


def _is_read(arguments: _Arguments, *_: Any, **_named: Any) -> Any:
    arguments.answer.go_beyond()


class _Arguments(dict):  # type: ignore[type-arg]
    """Arguments that may be counted and printed; whoever reads them goes beyond a refusal."""

    def __init__(self, answer: _Answer) -> None:
        super().__init__({"": None})
        self.answer = answer

    __getitem__ = __iter__ = __contains__ = __reversed__ = __or__ = __ror__ = _is_read
    __eq__ = __ne__ = __reduce_ex__ = __delitem__ = _is_read
    get = keys = values = items = pop = popitem = setdefault = update = copy = clear = _is_read
    __hash__ = None

    def __repr__(self) -> str:
        return "{}"


def _ignores_name(generator: Any) -> bool:
    """Whether the handler's code does something, whatever name it is given: more than raising or returning a constant."""
    is_static = isinstance(inspect.getattr_static(generator, "handle_tool_call"), staticmethod)
    code = getattr(inspect.unwrap(generator.handle_tool_call), "__code__", None)
    place = 0 if is_static else 1
    if code is None or code.co_argcount <= place:
        return False
    loaded = [instruction.argval for instruction in dis.get_instructions(code) if instruction.opname.startswith("LOAD")]
    names = {name for value in loaded for name in (value if isinstance(value, tuple) else (value,)) if isinstance(name, str)}
    does_something = not names.isdisjoint(code.co_varnames[: code.co_argcount]) or not all(map(_is_exception, code.co_names))
    return does_something and code.co_varnames[place] not in names


def _is_exception(name: str) -> bool:
    value = getattr(builtins, name, None)
    return inspect.isclass(value) and issubclass(value, BaseException)
