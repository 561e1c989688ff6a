"""Results of a character's functions, which may be `async def`."""

from __future__ import annotations

import asyncio
import inspect
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Awaitable


def resolve(value: Any) -> Any:
    """The value itself, or the result of an awaitable."""
    return asyncio.run(_wait_for(value)) if inspect.isawaitable(value) else value


async def _wait_for(value: Awaitable[Any]) -> Any:
    return await value
