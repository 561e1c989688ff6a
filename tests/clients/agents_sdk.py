#!/usr/bin/env python3
"""The OpenAI Agents SDK against Callboard: its own tool loop with models that break every call, over HTTP and WebSocket.

    agents_sdk.py URL
"""
import asyncio
import sys
from typing import Literal

import openai
from agents import (
    Agent,
    ModelSettings,
    OpenAIConversationsSession,
    OpenAIProvider,
    RunConfig,
    Runner,
    SQLiteSession,
    function_tool,
    set_tracing_disabled,
)
from pydantic import BaseModel

from checks import Suite, equal

URL = f"{sys.argv[1]}/v1"
set_tracing_disabled(True)
suite = Suite("agents")
loop = asyncio.Runner()
ASK = "What is the weather like?"


class Report(BaseModel):
    title: str
    acts: int
    cast: list[str]


class Tools:
    """The functions of an agent, and the arguments of their calls."""

    def __init__(self):
        self.seen = []

        @function_tool
        def add(a: int, b: int) -> str:
            """Adds two integers."""
            self.seen.append((a, b))
            return str(a + b)

        @function_tool
        async def get_weather(city: str, days: int, unit: Literal["celsius", "fahrenheit"]) -> str:
            """A forecast."""
            self.seen.append((city, days, unit))
            return f"{days} days of sun"

        self.add, self.get_weather = add, get_weather


def client():
    return openai.AsyncOpenAI(base_url=URL, api_key="sk-test", max_retries=0, timeout=20)


def provider(transport):
    return OpenAIProvider(openai_client=client(), use_responses=True, use_responses_websocket=transport == "websocket")


async def whole(agent, words, config, **options):
    return await Runner.run(agent, words, run_config=config, **options)


async def streamed(agent, words, config, **options):
    result = Runner.run_streamed(agent, words, run_config=config, **options)
    kinds = [event.type async for event in result.stream_events()]
    assert "raw_response_event" in kinds and "run_item_stream_event" in kinds, kinds
    return result


def play(way, transport, agent, words=ASK, **options):
    """One run, with its own connection."""
    async def run():
        models = provider(transport)
        try:
            return await way(agent, words, RunConfig(model_provider=models), **options)
        finally:
            await models.aclose()
    return loop.run(run())


WAYS = {(way.__name__, transport): (way, transport) for way in (whole, streamed) for transport in ("http", "websocket")}


def each_way(name):
    def add(function):
        for (way, transport), chosen in WAYS.items():
            suite.check(f"{name}, {way}, {transport}")(lambda chosen=chosen: function(*chosen))
        return function
    return add


@each_way("a tool loop of two rounds")
def _(way, transport):
    tools = Tools()
    result = play(way, transport, Agent(name="adder", instructions="Add.", model="sums", tools=[tools.add]))
    equal((result.final_output, tools.seen), ("The sum is 10.", [(2, 3), (5, 5)]))
    kinds = [item.type for item in result.new_items]
    equal(kinds, ["tool_call_item", "tool_call_output_item"] * 2 + ["message_output_item"])


@each_way("three calls at once among several tools")
def _(way, transport):
    tools = Tools()
    agent = Agent(name="forecaster", model="parallel-same-id", tools=[tools.add, tools.get_weather])
    result = play(way, transport, agent)
    equal(result.final_output, "Oslo: 3 days of sun; Lima: 2 days of sun; Pune: 1 days of sun")
    equal(sorted(tools.seen), [("Lima", 2, "celsius"), ("Oslo", 3, "celsius"), ("Pune", 1, "celsius")])


@each_way("reasoning before a call is sent back")
def _(way, transport):
    tools = Tools()
    result = play(way, transport, Agent(name="thinker", model="thinking-caller", tools=[tools.get_weather]))
    equal(result.final_output, "Oslo: 3 days of sun")
    assert "reasoning_item" in [item.type for item in result.new_items], result.new_items


@each_way("an output type")
def _(way, transport):
    result = play(way, transport, Agent(name="reporter", model="reporter", output_type=Report))
    equal(result.final_output, Report(title="Hamlet", acts=5, cast=["Hamlet", "Ophelia"]))


@each_way("one agent hands over to another")
def _(way, transport):
    tools = Tools()
    second = Agent(name="forecaster", model="hand-over", tools=[tools.get_weather])
    result = play(way, transport, Agent(name="porter", model="hand-over", handoffs=[second]))
    equal((result.final_output, result.last_agent.name), ("Oslo: 3 days of sun", "forecaster"))


@each_way("the loop continues stored responses")
def _(way, transport):
    tools = Tools()
    agent = Agent(name="adder", model="sums", tools=[tools.add])
    result = play(way, transport, agent, auto_previous_response_id=True)
    equal((result.final_output, tools.seen), ("The sum is 10.", [(2, 3), (5, 5)]))
    assert result.last_response_id.startswith("resp_"), result.last_response_id


@each_way("nothing is stored with store=False")
def _(way, transport):
    tools = Tools()
    settings = ModelSettings(store=False, tool_choice="auto", parallel_tool_calls=True)
    result = play(way, transport, Agent(name="adder", model="sums", tools=[tools.add], model_settings=settings))
    equal(result.final_output, "The sum is 10.")


@suite.check("a session stored by the client")
def _():
    async def talk():
        session = SQLiteSession("one")
        config = RunConfig(model_provider=provider("http"))
        agent = Agent(name="echo", model="recall")
        await Runner.run(agent, "One.", session=session, run_config=config)
        return (await Runner.run(agent, "Two.", session=session, run_config=config)).final_output
    equal(loop.run(talk()), "user: One. | assistant: user: One. | user: Two.")


@suite.check("a session stored as a conversation")
def _():
    async def talk():
        session = OpenAIConversationsSession(openai_client=client())
        config = RunConfig(model_provider=provider("http"))
        agent = Agent(name="echo", model="recall")
        await Runner.run(agent, "One.", session=session, run_config=config)
        return (await Runner.run(agent, "Two.", session=session, run_config=config)).final_output
    equal(loop.run(talk()), "user: One. | assistant: user: One. | user: Two.")


@each_way("a character with its own tools and one of the agent")
def _(way, transport):
    tools = Tools()
    agent = Agent(name="guest", model="narrator", tools=[tools.get_weather])
    result = play(way, transport, agent, "Open the door and ask for the weather.")
    equal(result.final_output, "Logged story event: The red door was opened | 3 days of sun")


@suite.check("a character keeps its state in a session stored by the client")
def _():
    async def talk():
        session = SQLiteSession("two")
        config = RunConfig(model_provider=provider("http"))
        agent = Agent(name="guest", model="game_master")
        await Runner.run(agent, "I am Mira the ranger.", session=session, run_config=config)
        return (await Runner.run(agent, "torch", session=session, run_config=config)).final_output
    equal(loop.run(talk()), "Hero: Mira the ranger, 20 of 20 health. Bag: 1 torch.")


@each_way("a model that keeps failing ends the run with an error")
def _(way, transport):
    tools = Tools()
    try:
        play(way, transport, Agent(name="rocket", model="always-unknown-tool", tools=[tools.add]))
    except Exception as error:
        assert "unknown_tool_call" in repr(error) or "launch_rocket" in repr(error), repr(error)
        return type(error).__name__
    raise AssertionError("no error")


sys.exit(1 if suite.run() else 0)
