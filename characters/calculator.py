"""Calculator: arithmetic, units and averages, worked out instead of guessed.

Shows tools as plain functions of the file. They keep no state, so Callboard may run several of
them at the same time.
"""

import ast
import math
import operator
import statistics
from collections.abc import Callable
from typing import Literal

from _prompts import TOOL_MANNERS, persona

CHARACTER_NAME = "Calculator"

INSTRUCTIONS = {
    "instruction_prompt": """
You are Calculator, a patient helper with numbers. Language models are bad at arithmetic, and you know
it: work out every figure with calculate, convert or average, never in your head, and repeat the
result exactly as it came. Take a word problem apart first, and say in one sentence which sum you are
about to do. If something is missing to work it out, ask for it.
""",
    "language": "en/fr",
}

METADATA = {"good": True, "comment": "Stateless tools as plain functions with type hints."}

OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
FUNCTIONS: dict[str, Callable[..., float]] = {
    "sqrt": math.sqrt,
    "abs": abs,
    "round": round,
    "sin": math.sin,
    "cos": math.cos,
    "log": math.log,
}
NAMES = {"pi": math.pi, "e": math.e}
LONGEST_EXPRESSION = 200

# Each unit: what it measures, and how many of the measure's base unit it is.
UNITS = {
    "m": ("length", 1),
    "km": ("length", 1000),
    "ft": ("length", 0.3048),
    "mi": ("length", 1609.344),
    "kg": ("weight", 1),
    "lb": ("weight", 0.45359237),
    "litre": ("volume", 1),
    "us_gallon": ("volume", 3.785411784),
    "celsius": ("temperature", 1),
    "fahrenheit": ("temperature", 5 / 9),
}
Unit = Literal["m", "km", "ft", "mi", "kg", "lb", "litre", "us_gallon", "celsius", "fahrenheit"]


def calculate(expression: str) -> str:
    """Work out an arithmetic expression with + - * / // % **, parentheses, sqrt, abs, round, sin, cos, log, pi, e.

    Args:
        expression: What to work out, such as "(3 + 4) * 2 ** 5".
    """
    if len(expression) > LONGEST_EXPRESSION:
        raise ValueError(f"the expression is longer than {LONGEST_EXPRESSION} characters; split it")
    try:
        tree = ast.parse(expression.strip(), mode="eval")
    except SyntaxError:
        raise ValueError(f"'{expression}' is not arithmetic; write for instance '(3 + 4) * 2'") from None
    return f"{expression.strip()} = {number(value_of(tree.body))}"


def convert(value: float, unit: Unit, to: Unit) -> str:
    """Convert a length, weight, volume or temperature into another unit.

    Args:
        value: How much.
        unit: The unit that the value has.
        to: The unit to convert it into.
    """
    (measure, factor), (target, target_factor) = UNITS[unit], UNITS[to]
    if measure != target:
        raise ValueError(f"{unit} is a {measure} and {to} is a {target}; they do not convert")
    offset = {"fahrenheit": 32}
    base = (value - offset.get(unit, 0)) * factor
    return f"{number(value)} {unit} = {number(base / target_factor + offset.get(to, 0))} {to}"


def average(numbers: list[float]) -> str:
    """Give the sum, mean and median of some numbers.

    Args:
        numbers: The numbers, in any order.
    """
    if not numbers:
        raise ValueError("numbers is empty; there is no average of nothing")
    mean, median = statistics.fmean(numbers), statistics.median(numbers)
    return f"Sum {number(sum(numbers))}, mean {number(mean)}, median {number(median)}, of {len(numbers)} numbers."


def value_of(node):
    """Only what is named here can be worked out; the text is never run as Python."""
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return node.value
    if isinstance(node, ast.Name) and node.id in NAMES:
        return NAMES[node.id]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        value = value_of(node.operand)
        return -value if isinstance(node.op, ast.USub) else value
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        return power(value_of(node.left), value_of(node.right))
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        return OPERATORS[type(node.op)](value_of(node.left), value_of(node.right))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS and not node.keywords:
        return FUNCTIONS[node.func.id](*(value_of(argument) for argument in node.args))
    raise ValueError("only numbers, + - * / // % **, parentheses, " + ", ".join([*FUNCTIONS, *NAMES]) + " are known")


def power(base, exponent):
    """Powers grow quickly; an unreadable result is refused before it is worked out."""
    if abs(exponent) > 1000 or abs(base) > 1e15:
        raise ValueError("that power is too large")
    result = base**exponent
    if isinstance(result, complex):
        raise ValueError("a negative number has no such root")
    return result


def number(value):
    """Whole numbers as they are, others with at most twelve digits."""
    if abs(value) > 1e300 or value != value:
        raise ValueError("the result is too large")
    if isinstance(value, int) and abs(value) < 10**40:
        return str(value)
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    return format(float(value), ".12g")


TOOLS = [calculate, convert, average]


class PromptGenerator:
    def __init__(self, instructions):
        self.instructions = instructions

    def make_system_prompt(self) -> str:
        return persona(self.instructions, TOOL_MANNERS)
