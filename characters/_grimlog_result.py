"""Results of the battle tracker's tools: one shape for all of them, short enough to reach the model whole."""

import functools
import json

from _grimlog_rules import Refused, gravest

AT_MOST = 990
KEPT_TEXT = (200, 90, 45, 24)


def reported(method):
    """Makes a tool of a method that returns (message, data, findings) or raises Refused."""

    @functools.wraps(method)
    def tool(self, **arguments):
        self._muster()
        try:
            message, data, findings = method(self, **arguments)
        except Refused as refused:
            return _result(method.__name__, False, str(refused), refused.data, refused.finding)
        notes = [one["message"] for one in findings]
        return _result(method.__name__, True, " ".join([message, *notes]), data, gravest(findings))

    return tool


def _result(tool, success, message, data, validation):
    result = {"toolName": tool, "success": success, "message": message, "data": data, "validation": validation}
    text = _written(result)
    for kept in KEPT_TEXT:
        while len(text) > AT_MOST and _shorten_longest_list(result["data"]):
            text = _written(result)
        if len(text) <= AT_MOST:
            break
        result = {
            **result,
            "message": _clipped(message, 2 * kept),
            "data": _clipped(result["data"], kept),
            "validation": _clipped(validation, kept),
        }
        text = _written(result)
    return text


def _written(result):
    return json.dumps(result, ensure_ascii=False, separators=(",", ":"))


def _shorten_longest_list(data):
    """Takes the last entry of the longest list that has more than three; counts stand beside the lists."""
    lists = [key for key, value in data.items() if isinstance(value, list) and len(value) > 3]
    if lists:
        longest = max(lists, key=lambda key: len(_written(data[key])))
        data[longest] = data[longest][:-1]
    return bool(lists)


def _clipped(value, kept):
    if isinstance(value, str):
        return value if len(value) <= kept else value[: kept - 1] + "…"
    if isinstance(value, list):
        return [_clipped(one, kept) for one in value]
    if isinstance(value, dict):
        return {key: _clipped(one, kept) for key, one in value.items()}
    return value
