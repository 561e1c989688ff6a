"""The measures of the bench with their targets, and the table of results.

A sample is the result of one gateway and measure in one round. Figures are medians over the rounds;
ratios are relative to nginx's medians.
"""

from dataclasses import dataclass
from statistics import median
from typing import Callable

from turns import WORDS, agent

BASE = "nginx"
# Of all cores; an idle machine stays well below.
TOLERATED_FOREIGN_SHARE = 0.1


@dataclass(frozen=True)
class Target:
    what: str
    limit: float
    value: Callable[[dict, dict], float]  # of a gateway's figures and nginx's


@dataclass(frozen=True)
class Request:
    """What is sent where the request is not one of the scenarios of `load`."""

    path: str
    body: dict
    expected: str  # in every reply


@dataclass(frozen=True)
class Measure:
    name: str
    title: str
    load: str | Request  # a scenario of `load`, or a request
    connections: int
    requests: int
    target: Target | None = None
    with_characters: bool = False  # of a Callboard with characters, alone

    @property
    def path(self) -> str:
        return self.load.path if isinstance(self.load, Request) else "/v1/chat/completions"


def cpu_ratio(limit: float) -> Target:
    return Target("CPU ratio", limit, lambda own, base: own["cpu_us"] / base["cpu_us"])


def character_turn(name: str) -> dict:
    return {"model": name, "stream": True, "messages": [{"role": "user", "content": WORDS}]}


MEASURES = [
    Measure("whole-call", "whole tool call, 5 tools", "whole-tool-call", 32, 60000, cpu_ratio(3)),
    Measure("streamed-call", "streamed tool call of 25 events", "streamed-tool-call", 32, 15000, cpu_ratio(1.5)),
    Measure("streamed-text", "text stream of 204 events, each by itself", "streamed-text", 32, 480, cpu_ratio(1.3)),
    Measure("streamed-text-unpaced", "text stream of 204 events, as fast as they come", "streamed-text-unpaced", 32, 4000,
            cpu_ratio(1.8)),
    Measure("latency", "single streamed tool call", "streamed-tool-call", 1, 8000,
            Target("ms above nginx", 0.1, lambda own, base: own["p50_ms"] - base["p50_ms"])),
    Measure("memory", "memory under streamed tool calls", "streamed-tool-call", 128, 10000,
            Target("resident MB", 30, lambda own, _: own["resident_mb"])),
    Measure("responses", "streamed tool call over the Responses API, stored",
            Request("/v1/responses", agent("streamed-tool-call", stream=True), "response.completed"), 32, 10000),
    Measure("character", "a character's turn with one tool",
            Request("/v1/chat/completions", character_turn("noter"), "checked."), 32, 4000, with_characters=True),
]

# Key of a figure, heading, format.
COLUMNS = [
    ("requests_per_second", "requests/s", "{:.0f}"),
    ("p50_ms", "p50 ms", "{:.2f}"),
    ("p99_ms", "p99 ms", "{:.2f}"),
    ("cpu_us", "CPU us/request", "{:.0f}"),
    ("resident_mb", "resident MB", "{:.1f}"),
]


def summarise(samples: list[dict]) -> dict:
    """The figures of one gateway: medians over rounds, the sum of errors, and the rounds themselves."""
    figures = {key: median(sample[key] for sample in samples) for key, _, _ in COLUMNS}
    figures["pieces_per_reply"] = median(sample["pieces_per_reply"] for sample in samples)
    figures["foreign_share"] = max(sample["foreign_share"] for sample in samples)
    figures["errors"] = sum(sample["errors"] for sample in samples)
    figures["rounds"] = samples
    return figures


def judge(measure: Measure, figures: dict) -> dict:
    """Adds ratios to nginx and the verdict on the target to each gateway's figures."""
    base = figures.get(BASE)
    for name, own in figures.items():
        if base is None:
            continue
        own["ratios"] = {key: own[key] / base[key] for key, _, _ in COLUMNS}
        if name != BASE and measure.target:
            value = measure.target.value(own, base)
            own["target"] = {"what": measure.target.what, "limit": measure.target.limit, "value": value,
                             "met": value <= measure.target.limit}
    return figures


def table(measure: Measure, figures: dict) -> str:
    """The figures of one measure as lines of text."""
    rows = [["", *(heading for _, heading, _ in COLUMNS), "pieces", "target"]]
    for name, own in figures.items():
        cells = [cell(own, key, form) for key, _, form in COLUMNS]
        rows.append([name, *cells, f"{own['pieces_per_reply']:.0f}", verdict(own)])
    widths = [max(map(len, column)) for column in zip(*rows)]
    lines = [f"{measure.name}: {measure.title}, {measure.connections} connection{'s' * (measure.connections > 1)}"]
    for row in rows:
        aligned = [text.rjust(width) for text, width in zip(row[1:-1], widths[1:-1])]
        lines.append("  ".join([row[0].ljust(widths[0]), *aligned, row[-1]]).rstrip())
    return "\n".join(lines) + disturbance(figures)


def disturbance(figures: dict) -> str:
    """A warning when other processes used too much CPU during the measurement."""
    worst = max(own["foreign_share"] for own in figures.values())
    if worst <= TOLERATED_FOREIGN_SHARE:
        return ""
    return f"\nother programs had up to {worst:.0%} of the machine meanwhile: do not rely on these figures"


def cell(own: dict, key: str, form: str) -> str:
    if "ratios" not in own:
        return form.format(own[key])
    ratio = own["ratios"][key]
    return f"{form.format(own[key])} ({ratio:.{2 if ratio >= 0.1 else 4}f}x)"


def verdict(own: dict) -> str:
    if own["errors"]:
        return f"INVALID: {own['errors']} failed requests"
    if "target" not in own:
        return ""
    target = own["target"]
    met = "met" if target["met"] else "MISSED"
    return f"{target['what']} {target['value']:.2f} <= {target['limit']:g}: {met}"
