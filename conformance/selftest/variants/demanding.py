"""A correct node that wants to be asked in its own way: pages that exist, small writes, and not too fast."""

from __future__ import annotations

import json
from dataclasses import replace
from urllib.parse import parse_qsl

from conformance.selftest.tools.alter import Answered, Forward, Received, intercept, refusal
from conformance.selftest.tools.alter_runs import RUN
from conformance.selftest.variants.variant import EVERYTHING, GROUP_LISTS, LISTS, choices
from reference_node.node import Node

MOST_ENTRIES = 10
EACH = 40
"""Every so many requests one is asked to wait."""
PAGE_FIELDS = {"page_number", "page_size"}


@choices(
    {
        "limits": {"page_size_default": None, "entries_per_write": MOST_ENTRIES},
        "wire": {"group": {"cid_wildcard_form": [0]}},
    }
)
def demanding(node: Node) -> None:
    """Refuse lists without page fields, pages behind the last and groups with many entries; ask to wait now and then.

    All actions are the number 0 alone. Every fortieth request is asked to wait.
    """
    asked = 0

    async def busy(request: Received, forward: Forward) -> Answered:
        nonlocal asked
        asked += 1
        if asked % EACH:
            return await forward(request)
        told = refusal(429)
        return replace(told, headers=(*told.headers, (b"retry-after", b"0")))

    intercept(node, ("add_group", "update_group"), _of_few_entries)
    intercept(node, LISTS, _of_a_page)
    intercept(node, (*EVERYTHING, RUN), busy)


async def _of_a_page(request: Received, forward: Forward) -> Answered:
    fields = dict(parse_qsl(request.query, keep_blank_values=True))
    if not fields.keys() >= PAGE_FIELDS and _has_key(request):
        return refusal(422)
    given = await forward(request)
    later = fields.get("page_number", "0").strip("0") != ""
    return refusal(404) if later and given.accepted and given.body == b"[]" else given


def _has_key(request: Received) -> bool:
    return bool({name for name, _ in request.headers} & {b"x-api-key", b"authorization"})


async def _of_few_entries(request: Received, forward: Forward) -> Answered:
    try:
        body = json.loads(request.body)
    except (ValueError, RecursionError):
        body = None
    lists = [body.get(name) for name in GROUP_LISTS] if isinstance(body, dict) else []
    entries = [one if isinstance(one, list) else [] for one in lists]
    otherwise = any(isinstance(cid, str) and not cid.lstrip("0x") for cid in (entries or [[]])[-1])
    return refusal(422) if sum(map(len, entries)) > MOST_ENTRIES or otherwise else await forward(request)
