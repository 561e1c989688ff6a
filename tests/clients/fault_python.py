"""The official Python SDK in the fault matrix, whole and streamed: its own types check and parse the arguments of each call."""
import asyncio

import openai
from pydantic import BaseModel

from fault_cases import TOOL, Case, Ending, note_calls, notes

ROUNDS = 6
AT_ONCE = 16


class Note(BaseModel):
    """Writes a note and gives a receipt."""
    title: str
    number: int
    urgent: bool
    tags: list[str]
    text: str


TOOLS = [openai.pydantic_function_tool(Note, name=TOOL)]


async def ask_whole(client, **request):
    return await client.chat.completions.parse(**request)


async def ask_streamed(client, **request):
    async with client.chat.completions.stream(**request) as stream:
        return await stream.get_final_completion()


async def converse(ask, client, case, written):
    """The final answer; the notes that the model had written on the way are added to `written`."""
    messages = [{"role": "user", "content": case.prompt(note_calls(case))}]
    for _ in range(ROUNDS):
        message = (await ask(client, model=case.model, messages=messages, tools=TOOLS)).choices[0].message
        if not message.tool_calls:
            return message.content
        messages.append(message)
        for call in message.tool_calls:
            assert call.function.name == TOOL, f"no such tool: {call.function.name}"
            note = call.function.parsed_arguments
            written.append(note.model_dump())
            messages.append({"role": "tool", "tool_call_id": call.id, "content": f"receipt-{2 * note.number}"})
    return ""


async def case_ending(ask, case, seconds):
    written = []
    try:
        async with openai.AsyncOpenAI(base_url=case.url, api_key="sk-test") as client, asyncio.timeout(seconds):
            said = await converse(ask, client, case, written)
    except TimeoutError:
        return Ending(written, notes(case), hangs=True)
    except Exception as error:
        return Ending(written, notes(case), error=repr(error))
    return Ending(written, notes(case), said or "")


def run(ask, cases: list[Case], seconds: float) -> dict[Case, Ending]:
    async def all_cases():
        turn = asyncio.Semaphore(AT_ONCE)

        async def in_turn(case):
            async with turn:
                return await case_ending(ask, case, seconds)
        return await asyncio.gather(*map(in_turn, cases))
    return dict(zip(cases, asyncio.run(all_cases())))


def whole(cases, seconds):
    return run(ask_whole, cases, seconds)


def streamed(cases, seconds):
    return run(ask_streamed, cases, seconds)
