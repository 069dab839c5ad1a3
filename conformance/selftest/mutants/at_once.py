"""Faults that show when equal requests are under way at the same time."""

from __future__ import annotations

import asyncio

from conformance.selftest.alter import Answered, Forward, Received, intercept
from conformance.selftest.mutant import mutant
from reference_node.node import Node

PAUSE_SECONDS = 0.05
"""How long a request stays under way, so that others find it so."""


def _one_answer_at_a_time(node: Node, operation: str) -> None:
    """Requests that equal one under way get its answer."""
    working: dict[tuple[str | None, bytes], asyncio.Task[Answered]] = {}

    async def handler(request: Received, forward: Forward) -> Answered:
        asked = request.key, request.body
        if asked not in working:
            working[asked] = asyncio.create_task(_later(request, forward))
        given = await working[asked]
        working.pop(asked, None)
        return given

    intercept(node, operation, handler)


async def _later(request: Received, forward: Forward) -> Answered:
    await asyncio.sleep(PAUSE_SECONDS)
    return await forward(request)


@mutant("ACC-200")
def accounts_made_at_once_are_one(node: Node) -> None:
    """While `new_account` is at work, equal requests get the account that it makes."""
    _one_answer_at_a_time(node, "new_account")


@mutant("UKEY-420")
def usage_keys_made_at_once_are_one(node: Node) -> None:
    """While `add_usage_api_key` is at work, equal requests get the key that it makes."""
    _one_answer_at_a_time(node, "add_usage_api_key")
