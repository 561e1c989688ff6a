"""What a client gets from llama-cpp-python's server through Callboard. The wire is checked; the words are known by heart.

    checks.py CALLBOARD SCRATCH

A check that is known to fail is marked with the reason. It must be mended here as soon as it holds.
"""

import http.client
import json
import os
import signal
import subprocess
import sys
import urllib.parse
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Optional

from servers import start_callboard, start_callboard_with_model_server, start_model_server

TOOL = {
    "type": "function",
    "function": {
        "name": "find_play",
        "parameters": {
            "type": "object",
            "properties": {"title": {"type": "string"}, "act": {"type": "integer"}},
            "required": ["title"],
        },
    },
}
CALL = {"name": "find_play", "arguments": {"title": "Hamlet", "act": 2}}
NAMED = {"type": "function", "function": {"name": "find_play"}}


class Gateway:
    """Requests to Callboard."""

    def __init__(self, url):
        self.address = urllib.parse.urlsplit(url).netloc

    def get(self, path):
        connection = http.client.HTTPConnection(self.address, timeout=60)
        connection.request("GET", path)
        return connection.getresponse().read().decode()

    def send(self, model, messages, **fields):
        """A response whose body has not been read."""
        connection = http.client.HTTPConnection(self.address, timeout=60)
        body = json.dumps({"model": model, "messages": messages, **fields})
        connection.request("POST", "/v1/chat/completions", body, {"content-type": "application/json"})
        return connection.getresponse()

    def whole(self, model, messages, **fields):
        response = self.send(model, messages, **fields)
        return response.status, response.headers, json.loads(response.read())

    def streamed(self, model, messages, **fields):
        """The lines of a stream."""
        response = self.send(model, messages, stream=True, **fields)
        return response.status, [line for line in response.read().decode().split("\n") if line]

    def upstream(self):
        return json.loads(self.get("/v1/upstreams"))["data"][0]

    def learned(self, model):
        return self.upstream()["learned"].get(model, [])


def user(words):
    return [{"role": "user", "content": words}]


def after_result(content):
    function = {"name": "find_play", "arguments": '{"title":"Hamlet"}'}
    call = {"id": "call_abcdefghijklmnopqrstuvwx", "type": "function", "function": function}
    return [
        *user("Is Hamlet on?"),
        {"role": "assistant", "content": content, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": call["id"], "content": "tonight"},
    ]


def message_of(reply):
    return reply["choices"][0]["message"]


def calls_of(message):
    return [
        {"name": call["function"]["name"], "arguments": json.loads(call["function"]["arguments"])}
        for call in message.get("tool_calls", [])
    ]


def folded(lines):
    """A stream put together as clients do; its form is checked on the way."""
    assert lines[-1] == "data: [DONE]", lines[-1]
    chunks = [json.loads(line[len("data: "):]) for line in lines[:-1] if line.startswith("data: ")]
    choices = [chunk["choices"][0] for chunk in chunks if chunk["choices"]]
    assert choices[0]["delta"]["role"] == "assistant", choices[0]
    finishes = [choice["finish_reason"] for choice in choices if choice["finish_reason"]]
    assert len(finishes) == 1, finishes
    message: dict[str, Any] = {"content": "".join(choice["delta"].get("content") or "" for choice in choices), "tool_calls": []}
    for fragment in (part for choice in choices for part in choice["delta"].get("tool_calls", [])):
        if fragment["index"] == len(message["tool_calls"]):
            message["tool_calls"].append(fragment)
        else:
            message["tool_calls"][fragment["index"]]["function"]["arguments"] += fragment["function"]["arguments"]
    return message, finishes[0], chunks[-1].get("usage")


def models_are_listed(gateway, _):
    listed = [entry["id"] for entry in json.loads(gateway.get("/v1/models"))["data"]]
    assert {"tiny", "plain"} <= set(listed), listed


def a_whole_answer(gateway, _):
    status, headers, reply = gateway.whole("tiny", user("When?"))
    assert (status, message_of(reply)["content"]) == (200, "The curtain rises at eight."), reply
    assert reply["choices"][0]["finish_reason"] == "stop" and reply["usage"]["completion_tokens"] == 6, reply
    assert headers["callboard-contract"] == "ok", headers


def a_streamed_answer(gateway, _):
    status, lines = gateway.streamed("tiny", user("When?"), stream_options={"include_usage": True})
    message, finish, usage = folded(lines)
    assert (status, message["content"], finish) == (200, "The curtain rises at eight.", "stop"), lines
    assert usage["completion_tokens"] > 0 and ": callboard-usage estimated" in lines, lines


def an_answer_cut_by_the_limit(gateway, _):
    message, finish, _ = folded(gateway.streamed("tiny", user("endless"), max_tokens=6)[1])
    assert (message["content"], finish) == (" tick tock tick tock tick tock", "length"), message


def a_call_that_the_server_leaves_in_the_text(gateway, _):
    status, headers, reply = gateway.whole("tiny", user("Is Hamlet on?"), tools=[TOOL])
    assert status == 200 and calls_of(message_of(reply)) == [CALL], reply
    assert (message_of(reply)["content"], reply["choices"][0]["finish_reason"]) == ("Let me look:", "tool_calls"), reply
    assert "call_in_text" in headers["callboard-contract"], headers
    message, finish, _ = folded(gateway.streamed("tiny", user("Is Hamlet on?"), tools=[TOOL])[1])
    assert (calls_of(message), message["content"], finish) == ([CALL], "Let me look:", "tool_calls"), message


def a_call_cut_by_the_limit(gateway, _):
    message, finish, _ = folded(gateway.streamed("tiny", user("Is Hamlet on?"), tools=[TOOL], max_tokens=11)[1])
    assert (message["content"], message["tool_calls"], finish) == ("Let me look:", [], "length"), message


def a_required_call(gateway, _):
    _, _, reply = gateway.whole("tiny", user("Is Hamlet on?"), tools=[TOOL], tool_choice="required")
    assert calls_of(message_of(reply)) == [CALL], reply


def a_named_function(gateway, _):
    _, _, reply = gateway.whole("tiny", user("Is Hamlet on?"), tools=[TOOL], tool_choice=NAMED, max_tokens=60)
    assert [call["name"] for call in calls_of(message_of(reply))] == ["find_play"], reply


def the_result_of_a_call(gateway, _):
    _, _, reply = gateway.whole("tiny", after_result(""), tools=[TOOL])
    assert message_of(reply)["content"] == "It is on tonight!", reply


def null_content_beside_a_call_is_learned(gateway, _):
    _, _, reply = gateway.whole("tiny", after_result(None), tools=[TOOL])
    assert message_of(reply)["content"] == "It is on tonight!", reply
    assert "null_content" in gateway.learned("tiny") and "tools" not in gateway.learned("tiny"), gateway.learned("tiny")


def a_role_that_it_does_not_know_is_learned(gateway, _):
    messages = [{"role": "developer", "content": "Be brief."}, *user("When?")]
    status, _, reply = gateway.whole("tiny", messages)
    assert (status, message_of(reply)["content"]) == (200, "The curtain rises at eight."), reply
    assert "developer_role" in gateway.learned("tiny"), gateway.learned("tiny")


def a_format_that_it_does_not_know_is_learned(gateway, _):
    wanted = {"type": "json_schema", "json_schema": {"name": "any", "schema": {"type": "object"}}}
    status, _, reply = gateway.whole("tiny", user("When?"), response_format=wanted)
    assert "response_format" in gateway.learned("tiny"), (status, reply)


def a_template_without_tools_gets_them_in_the_prompt(gateway, _):
    """Streamed at first: the server's stream is empty then, and the reason has to be asked for."""
    message, finish, _ = folded(gateway.streamed("plain", after_result(""), tools=[TOOL])[1])
    assert (message["content"], finish) == ("It is on tonight!", "stop"), message
    assert "tools" in gateway.learned("plain"), gateway.learned("plain")
    _, _, reply = gateway.whole("plain", user("Is Hamlet on?"), tools=[TOOL])
    assert calls_of(message_of(reply)) == [CALL], reply
    message, finish, _ = folded(gateway.streamed("plain", user("Is Hamlet on?"), tools=[TOOL])[1])
    assert (calls_of(message), finish) == ([CALL], "tool_calls"), message


def too_long_a_prompt(gateway, _):
    status, _, reply = gateway.whole("tiny", user("x" * 9000))
    assert (status, reply["error"]["code"]) == (400, "context_length_exceeded"), reply
    status, lines = gateway.streamed("tiny", user("x" * 9000))
    assert (status, json.loads(lines[0])["error"]["code"]) == (400, "context_length_exceeded"), lines


def parts_in_other_roles_are_learned(gateway, _):
    """The server takes parts of text from users only."""
    messages = [{"role": "system", "content": [{"type": "text", "text": "Be brief."}]}, *user("When?")]
    status, _, reply = gateway.whole("tiny", messages)
    assert (status, message_of(reply)["content"]) == (200, "The curtain rises at eight."), reply
    assert "content_parts" in gateway.learned("tiny"), gateway.learned("tiny")


def what_does_not_fit_is_a_bad_request(gateway, _):
    """Whatever the server calls it, and it is not set aside for it."""
    for _ in range(4):
        status, _, reply = gateway.whole("tiny", user("When?"), top_k="many")
        assert status == 400 and "answered 500" in reply["error"]["message"], (status, reply)
    assert json.loads(gateway.get("/v1/upstreams"))["data"][0]["set_aside"] is False


def a_stream_that_fails_does_not_hurt_the_next_request(gateway, _):
    """The server's stream is empty then, and it closes the connection a moment later: at any moment of the next request."""
    for _ in range(30):
        status, lines = gateway.streamed("tiny", user("x" * 9000))
        assert status == 400, (status, lines)
        status, lines = gateway.streamed("tiny", user("When?"))
        assert status == 200, (status, lines)


def a_client_that_leaves_stops_the_model(gateway, model_server):
    response = gateway.send("tiny", user("endless"), stream=True, max_tokens=8000)
    first = response.readline()
    assert first.startswith(b"data: "), (response.status, first, response.read())
    response.close()
    model_server.wait_for("(Disconnected from client)")
    status, _, reply = gateway.whole("tiny", user("When?"))
    assert (status, message_of(reply)["content"]) == (200, "The curtain rises at eight."), reply


def what_was_learned_is_shown(gateway, _):
    assert 'quirk="developer_role"' in gateway.get("/metrics")
    command = [sys.argv[1], "upstreams", "--listen", gateway.address]
    shown = subprocess.run(command, capture_output=True, text=True, cwd=f"{sys.argv[2]}/probe-off", timeout=60).stdout
    assert "developer_role" in shown, shown


# In order: later ones look at what earlier ones have taught. With a reason for those that are known to fail.
CHECKS: list[tuple[Callable, Optional[str]]] = [
    (models_are_listed, None),
    (a_whole_answer, None),
    (a_streamed_answer, None),
    (an_answer_cut_by_the_limit, None),
    (a_call_that_the_server_leaves_in_the_text, None),
    (a_call_cut_by_the_limit, None),
    (a_required_call, None),
    (the_result_of_a_call, None),
    (a_role_that_it_does_not_know_is_learned, None),
    (a_template_without_tools_gets_them_in_the_prompt, None),
    (too_long_a_prompt, None),
    (parts_in_other_roles_are_learned, None),
    (what_does_not_fit_is_a_bad_request, None),
    (a_client_that_leaves_stops_the_model, None),
    (what_was_learned_is_shown, None),
    (a_format_that_it_does_not_know_is_learned, None),
    (a_named_function, None),
    (null_content_beside_a_call_is_learned, None),
    (a_stream_that_fails_does_not_hurt_the_next_request, None),
]


def holds(check: Callable, gateway: Gateway, model_server: Any) -> Optional[str]:
    """The complaint, if there is one."""
    try:
        check(gateway, model_server)
        return None
    except Exception as error:  # a check may fail in any way; the others run on
        return f"{type(error).__name__}: {error}"


def run_checks(gateway, model_server):
    failed = 0
    for check, known in CHECKS:
        name, complaint = check.__name__.replace("_", " "), holds(check, gateway, model_server)
        if complaint is None and known is None:
            print(f"ok     {name}")
        elif complaint is not None and known is not None:
            print(f"open   {name}: {known}")
        else:
            failed += 1
            print(f"FAILED {name}: {complaint or 'it holds now: take the reason away'}")
    return failed


def a_server_that_callboard_starts_is_started_again(program, scratch):
    """Requests wait for its start, the one in flight when it is killed is answered by the next, and that ends with Callboard."""
    with start_callboard_with_model_server(program, scratch) as callboard, ThreadPoolExecutor() as clients:
        gateway = Gateway(callboard.url)
        status, _, reply = gateway.whole("tiny", user("When?"))
        assert (status, message_of(reply)["content"]) == (200, "The curtain rises at eight."), reply
        first = gateway.upstream()["process"]
        asked = clients.submit(gateway.whole, "tiny", user("endless"), max_tokens=4000)
        while gateway.upstream()["in_flight"] == 0 and not asked.done():
            pass
        os.kill(first["pid"], signal.SIGKILL)
        status, _, reply = asked.result(timeout=120)
        assert (status, reply["choices"][0]["finish_reason"]) == (200, "length"), reply
        second = gateway.upstream()["process"]
        assert (second["state"], second["restarts"]) == ("ready", 1) and second["pid"] != first["pid"], second
        assert callboard.stop() == 0
        assert not os.path.exists(f"/proc/{second['pid']}"), second


def what_it_ignores_is_found_out(program, scratch, url):
    """The template shows the model that there are tools, and not what they are, so the prompt is no longer with a long one."""
    with start_callboard(program, url, scratch, "auto") as callboard:
        gateway = Gateway(callboard.url)
        _, _, reply = gateway.whole("tiny", user("Is Hamlet on?"), tools=[TOOL], tool_choice="required")
        assert [call["name"] for call in calls_of(message_of(reply))] == ["find_play"], reply
        while 'callboard_upstream_probes_total{' not in gateway.get("/metrics"):
            pass
        [known] = gateway.upstream()["known"]
        assert known["version"].startswith("llama-cpp-python 0."), known
        found = {finding["name"]: finding["value"] for finding in known["findings"]}
        ignored, honored = ["tools", "tool_choice:required"], ["tool_choice:named", "response_format"]
        assert all(found.get(name) == "ignored" for name in ignored), found
        assert all(found.get(name) == "honored" for name in honored) and "schema_in_json_object" in found, found
        assert known["tools_mode"] == "constrained", known


def run_apart(check, *arguments):
    """Whether a check failed that starts a Callboard of its own."""
    name = check.__name__.replace("_", " ")
    try:
        check(*arguments)
    except Exception as error:  # it may fail in any way
        print(f"FAILED {name}: {type(error).__name__}: {error}")
        return 1
    print(f"ok     {name}")
    return 0


def play(program, scratch):
    """Starts the servers, checks, and stops them; how many checks failed."""
    with start_model_server(scratch) as model_server:
        # Without probes, so that all is learned from refusals.
        with start_callboard(program, model_server.url, scratch, "off") as callboard:
            failed = run_checks(Gateway(callboard.url), model_server)
            code = callboard.stop()
        failed += run_apart(what_it_ignores_is_found_out, program, scratch, model_server.url)
    print("ok     it exits with 0 on SIGTERM" if code == 0 else f"FAILED exit code {code} on SIGTERM")
    return failed + (code != 0) + run_apart(a_server_that_callboard_starts_is_started_again, program, scratch)


def main():
    due = 2 + sum(known is None for _, known in CHECKS)
    try:
        failed = play(*sys.argv[1:])
    except Exception as error:  # a server that does not start
        failed = due
        print(f"FAILED {error}")
    print(f"{max(due - failed, 0)} passed, {failed} failed")
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
