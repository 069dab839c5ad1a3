"""Attestation: an answer that is kept against the quote that it holds, evidence rotated against bare signatures."""

from __future__ import annotations

import asyncio

from starlette.requests import Request

from benchmarks.timing import Row, in_turn
from reference_node.api.attestation import attestation
from reference_node.assembly import build_node
from reference_node.settings import Settings
from reference_node.tee.attestation import NO_REPORT_DATA

ANSWERS = 100
"""A single answer is too short to be timed."""


def rows() -> list[Row]:
    """The node's side of attestation."""
    node = build_node(Settings())
    request = Request({"type": "http", "method": "GET", "path": "/attestation", "headers": []})

    async def answers() -> None:
        for _ in range(ANSWERS):
            await attestation(request, node)

    kept, made = in_turn([lambda: asyncio.run(answers()), lambda: node.attestation.quote(NO_REPORT_DATA)], 200)
    return [Row("/attestation answered, its quote kept", kept / ANSWERS, "making the quote", made, 0.05)]
