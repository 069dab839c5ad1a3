"""A correct node that wants to be asked in its own way: pages that exist, small writes, new names, and not too fast."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from itertools import chain, count, takewhile
from typing import TypeVar
from urllib.parse import parse_qsl

from conformance.selftest.tools.accounts import Write, account_of
from conformance.selftest.tools.alter import Answered, Forward, Received, intercept, refusal, wrap
from conformance.selftest.tools.alter_runs import RUN
from conformance.selftest.variants.variant import EVERYTHING, GROUP_LISTS, LISTS, choices
from reference_node.chain.account_config import Group, Permissions, UsageKey
from reference_node.node import Node
from reference_node.problems import Conflict

MOST_ENTRIES = 10
EACH = 40
"""Every so many requests one is asked to wait."""
PAGE_FIELDS = {"page_number", "page_size"}
AT_MOST = 100
Listed = TypeVar("Listed")


@choices(
    {
        "limits": {"page_size_default": None, "entries_per_write": MOST_ENTRIES},
        "wire": {"group": {"cid_wildcard_form": [0]}},
    }
)
def demanding(node: Node) -> None:
    """Refuse lists without page fields, pages behind the last, groups with many entries and names that are taken.

    All actions are the number 0 alone. Every fortieth request is asked to wait. A name is taken where another group, or
    another usage key, of the account has it.
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
    _with_new_names(node)


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


def _with_new_names(node: Node) -> None:
    def new_among_groups(acting_key: int, name: str, own: int = 0) -> None:
        groups = _all(lambda page: node.accounts.groups(account_of(node, acting_key), page, AT_MOST))
        _refuse_taken(name, [group.name for group in groups if group.id != own])

    def new_among_keys(acting_key: int, name: str, own: int) -> None:
        keys = _all(lambda page: node.accounts.usage_keys(account_of(node, acting_key), page, AT_MOST))
        _refuse_taken(name, [key.name for key in keys if key.key_hash != own])

    def add_group(write: Write, acting_key: int, name: str, *rest: object) -> object:
        new_among_groups(acting_key, name)
        return write(acting_key, name, *rest)

    def update_group(write: Write, acting_key: int, group: Group, *rest: object) -> object:
        new_among_groups(acting_key, group.name, group.id)
        return write(acting_key, group, *rest)

    def set_usage_key(write: Write, acting_key: int, key: UsageKey) -> object:
        new_among_keys(acting_key, key.name, key.key_hash)
        return write(acting_key, key)

    def update_usage_key(write: Write, acting_key: int, key_hash: int, name: str, *rest: str | Permissions) -> object:
        new_among_keys(acting_key, name, key_hash)
        return write(acting_key, key_hash, name, *rest)

    wrap(node.accounts, "add_group", add_group)
    wrap(node.accounts, "update_group", update_group)
    wrap(node.accounts, "set_usage_key", set_usage_key)
    for method in ("update_usage_key", "update_usage_key_metadata"):
        wrap(node.accounts, method, update_usage_key)


def _all(page_of: Callable[[int], list[Listed]]) -> list[Listed]:
    return list(chain.from_iterable(takewhile(bool, map(page_of, count()))))


def _refuse_taken(name: str, taken: list[str]) -> None:
    if name in taken:
        raise Conflict("name-taken", "another of this account has this name")
