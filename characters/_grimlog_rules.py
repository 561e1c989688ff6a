"""The rules that the battle tracker watches over, as findings.

A finding advises: what was said is carried out all the same, because the table knows better than a
tracker. `Refused` is for the few things that cannot be carried out; it is raised before anything
has changed. Nothing here changes the game.
"""

PHASES = ["Command", "Movement", "Shooting", "Charge", "Fight"]
SEVERITIES = ["valid", "info", "warning", "error", "critical"]
LAST_ROUND = 10


class Refused(Exception):
    """The call is not carried out. `data` goes into the result, such as candidates for a name."""

    def __init__(self, rule, message, suggestion=None, **data):
        super().__init__(message)
        self.finding = finding("error", rule, message, suggestion)
        self.data = data


def finding(severity: str, rule, message: str, suggestion=None, override=False) -> dict:
    return {"severity": severity, "message": message, "rule": rule, "suggestion": suggestion, "requiresOverride": override}


VALID = finding("valid", None, "")


def gravest(findings: list[dict]) -> dict:
    return max(findings, key=lambda one: SEVERITIES.index(one["severity"]), default=VALID)


def phase_findings(now: str, turn: str, new_phase: str, new_turn: str) -> list[dict]:
    """What is odd about going from a phase of one side's turn to a phase of the same or the other side's."""
    steps = PHASES.index(new_phase) - PHASES.index(now)
    if new_turn == turn and steps == 0:
        return [finding("info", "same_phase", f"It is the {now} phase already; nothing changed.")]
    if now == "Fight" and new_phase == "Command":
        return [finding("info", "turn_cycle", "A new turn begins.")]
    if new_turn == turn and steps < 0:
        return [_backwards(now, new_phase)]
    left_out = _left_out(now, new_phase, new_turn == turn)
    return [finding("info", "phase_skip", "Left out: " + ", ".join(left_out) + ".")] if left_out else []


def _backwards(now, new_phase):
    following = PHASES[(PHASES.index(now) + 1) % len(PHASES)]
    message = f"{new_phase} comes before {now} in a turn."
    return finding("error", "phase_sequence_violation", message, f"The next phase is {following}.", override=True)


def _left_out(now, new_phase, same_turn):
    after, before = PHASES.index(now) + 1, PHASES.index(new_phase)
    return PHASES[after:before] if same_turn else PHASES[after:] + PHASES[:before]


def round_findings(now: int, new: int) -> list[dict]:
    if new == now:
        return [finding("info", "same_round", f"It is round {now} already; nothing changed.")]
    if new < now:
        message = f"Round {new} lies before the current round {now}."
        return [finding("critical", "round_regression", message, f"The next round is {now + 1}.", override=True)]
    if new > now + 1:
        message = f"Round {new} does not follow round {now}."
        return [finding("error", "round_skip", message, f"The next round is {now + 1}.", override=True)]
    return []


def command_point_findings(change: int, extra_already: bool) -> list[dict]:
    """What is odd about a gain of command points; extra_already: one was gained this turn, outside Command."""
    if change > 3:
        return [
            finding(
                "critical",
                "excessive_cp_gain",
                f"{change} CP at once is far more than the rules give.",
                "Usual is 1.",
                override=True,
            )
        ]
    if change > 2:
        return [finding("warning", "high_cp_gain", f"{change} CP at once is unusual.", "Usual is 1.", override=True)]
    if change > 0 and extra_already:
        message = "Extra CP were gained this turn already."
        return [finding("warning", "extra_cp_cap", message, "Only one extra gain per turn counts.", override=True)]
    return []


def stratagem_findings(name: str, cost: int, have: int, used_this_phase: bool, used_this_turn: bool) -> list[dict]:
    found = []
    if cost > have:
        message = f"{name} costs {cost} CP, there are {have}."
        found.append(finding("error", "insufficient_cp", message, "Gain CP first, or take the stratagem back.", override=True))
    if used_this_phase:
        message = f"{name} was used in this phase already."
        found.append(finding("warning", "duplicate_stratagem_this_phase", message, "Use another stratagem.", override=True))
    elif used_this_turn:
        found.append(finding("info", "duplicate_stratagem_this_turn", f"{name} was used earlier in this turn."))
    return found
