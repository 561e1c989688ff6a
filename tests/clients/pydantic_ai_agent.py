#!/usr/bin/env python3
"""Pydantic AI against Callboard: its agents on the Responses API, with models that break every call.

    pydantic_ai_agent.py URL
"""
import asyncio
import sys
from typing import Literal

import openai
from pydantic import BaseModel
from pydantic_ai import Agent, ModelHTTPError, NativeOutput, PromptedOutput, ToolOutput
from pydantic_ai.models.openai import OpenAIResponsesModel
from pydantic_ai.providers.openai import OpenAIProvider

from checks import Suite, equal

URL = f"{sys.argv[1]}/v1"
suite = Suite("pydantic-ai")
loop = asyncio.Runner()
ASK = "What is the weather like?"
TRANSPORTS = ("http", "websocket")


class Report(BaseModel):
    title: str
    acts: int
    cast: list[str]


HAMLET = Report(title="Hamlet", acts=5, cast=["Hamlet", "Ophelia"])


def model(name):
    client = openai.AsyncOpenAI(base_url=URL, api_key="sk-test", max_retries=0, timeout=20)
    return OpenAIResponsesModel(name, provider=OpenAIProvider(openai_client=client))


def agent(name, seen, **options):
    """An agent with two tools, which record their arguments."""
    made = Agent(model(name), **options)

    @made.tool_plain
    def add(a: int, b: int) -> str:
        """Adds two integers."""
        seen.append((a, b))
        return str(a + b)

    @made.tool_plain
    async def get_weather(city: str, days: int, unit: Literal["celsius", "fahrenheit"]) -> str:
        """A forecast."""
        seen.append((city, days, unit))
        return f"{days} days of sun"

    return made


def run(made, words=ASK, **settings):
    return loop.run(made.run(words, model_settings=settings)).output


def run_streamed(made, words=ASK, **settings):
    async def read():
        async with made.run_stream(words, model_settings=settings) as stream:
            return await stream.get_output()
    return loop.run(read())


def each_way(name):
    def add(function):
        for ask in (run, run_streamed):
            for transport in TRANSPORTS:
                way = "streamed" if ask is run_streamed else "whole"
                suite.check(f"{name}, {way}, {transport}")(
                    lambda ask=ask, transport=transport: function(lambda *a, **s: ask(*a, openai_transport=transport, **s)))
        return function
    return add


@each_way("a tool loop of two rounds")
def _(ask):
    seen = []
    equal((ask(agent("sums", seen)), seen), ("The sum is 10.", [(2, 3), (5, 5)]))


@each_way("three calls at once among several tools")
def _(ask):
    seen = []
    equal(ask(agent("parallel-same-id", seen)), "Oslo: 3 days of sun; Lima: 2 days of sun; Pune: 1 days of sun")
    equal(sorted(seen), [("Lima", 2, "celsius"), ("Oslo", 3, "celsius"), ("Pune", 1, "celsius")])


@each_way("reasoning before a call is sent back")
def _(ask):
    equal(ask(agent("thinking-caller", []), openai_reasoning_summary="auto"), "Oslo: 3 days of sun")


@each_way("an output type by the text format")
def _(ask):
    equal(ask(Agent(model("reporter"), output_type=NativeOutput(Report))), HAMLET)


@each_way("an output type by a required tool")
def _(ask):
    equal(ask(Agent(model("final-result"), output_type=ToolOutput(Report, name="final_result"))), HAMLET)


@suite.check("an output type by the prompt only")
def _():
    equal(run(Agent(model("report"), output_type=PromptedOutput(Report))), HAMLET)


@each_way("the loop continues stored responses")
def _(ask):
    seen = []
    equal((ask(agent("sums", seen), openai_previous_response_id="auto"), seen), ("The sum is 10.", [(2, 3), (5, 5)]))


@each_way("nothing is stored with store=False")
def _(ask):
    equal(ask(agent("sums", []), openai_store=False), "The sum is 10.")


@suite.check("a second run continues the messages of the first")
def _():
    echo = Agent(model("recall"), instructions="Be kind.")
    first = loop.run(echo.run("One."))
    second = loop.run(echo.run("Two.", message_history=first.all_messages()))
    equal(second.output, "system: Be kind. | user: One. | assistant: system: Be kind. | user: One. | user: Two.")


@suite.check("a character with its own tools")
def _():
    answer = run(Agent(model("narrator")), "Open the door.")
    assert answer.endswith("Behind it lies the sea."), answer


@suite.check("a character keeps its state in a second run that continues the response of the first")
def _():
    guest = Agent(model("game_master"), model_settings={"openai_previous_response_id": "auto"})
    first = loop.run(guest.run("I am Mira the ranger."))
    second = loop.run(guest.run("torch", message_history=first.all_messages()))
    equal(second.output, "Hero: Mira the ranger, 20 of 20 health. Bag: 1 torch.")


@suite.check("a model that keeps failing ends the run with its error code")
def _():
    try:
        run(agent("always-unknown-tool", []))
    except ModelHTTPError as error:
        return equal((error.status_code, error.body["code"]), (502, "unknown_tool_call"))
    raise AssertionError("no error")


sys.exit(1 if suite.run() else 0)
