"""Runs a character's functions, whether they are plain or `async def`."""

import asyncio
import inspect


def settle(value):
    """The value itself, or what an awaitable gives when run to its end."""
    if inspect.isawaitable(value):
        return asyncio.run(_wait_for(value))
    return value


async def _wait_for(value):
    return await value
