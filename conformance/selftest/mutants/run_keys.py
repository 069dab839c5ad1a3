"""Faults about which keys run, and how a run is told its key."""

from __future__ import annotations

from collections.abc import Callable

from conformance.selftest.tools.accounts import permissions_of
from conformance.selftest.tools.alter import Answered, Forward, Received, answer_instead, intercept, refusal, wrap
from conformance.selftest.tools.alter_runs import RUN, Lists, all_groups, decide, own_groups
from conformance.selftest.tools.api_keys import header, key_book, presented, under
from conformance.selftest.tools.mutant import mutant
from reference_node.node import Node
from reference_node.permission.keys import key_hash, parse_key


@mutant("UKEY-320", also="EXEC-010 EXEC-090 UKEY-280")
def the_wildcard_covers_the_groups_of_its_day(node: Node) -> None:
    """Let a key with the wildcard run only in the groups that existed when it was made or last updated."""
    there: dict[int, set[int]] = {}

    def create(write: Callable[..., None], acting_key: int, key: object) -> None:
        write(acting_key, key)
        there[key.key_hash] = {group.id for group in all_groups(node, acting_key)}  # type: ignore[attr-defined]

    def update(write: Callable[..., None], acting_key: int, key: int, *values: object) -> None:
        write(acting_key, key, *values)
        there[key] = {group.id for group in all_groups(node, acting_key)}

    def reach(node: Node, key: int) -> list[Lists]:
        permissions = permissions_of(node, key)
        groups = own_groups(node, key)
        wild = permissions is not None and 0 in permissions.execute_in_groups
        return [one for one in groups if one.id in there.get(key, {one.id})] if wild else groups

    wrap(node.accounts, "set_usage_key", create)
    wrap(node.accounts, "update_usage_key", update)
    decide(node, reach=reach)


@mutant("UKEY-330", also="AUTH-080 ERR-100 EXEC-040 EXEC-050 EXEC-090 EXEC-130 GRP-140 GRPLIFE-160")
def the_wildcard_reaches_other_accounts(node: Node) -> None:
    """Try a refused run of a usage key with the wildcard as every other account."""
    book = key_book(node)

    async def handler(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        key = presented(request)
        secret = parse_key(key) if given.status == 403 and key in book.owners else None
        permissions = permissions_of(node, key_hash(secret)) if secret else None
        if permissions is None or 0 not in permissions.execute_in_groups:
            return given
        for account in book.accounts:
            if account == book.account_of(key):
                continue
            other = await forward(under(request, account))
            if other.accepted:
                return other
        return given

    intercept(node, RUN, handler)


@mutant(
    "SCOPE-120",
    "SCOPE-110",
    "AUTH-210",
    also="AUTH-080 ERR-100 EXEC-030 EXEC-070 EXEC-090 GRP-150 UKEY-270 UKEY-290 UKEY-300",
)
def makers_of_a_group_run_in_it(node: Node) -> None:
    """Let a usage key execute in a group that it made."""
    made: dict[int, set[int]] = {}

    def add(write: Callable[..., int], key: int, *given: object) -> int:
        group = write(key, *given)
        made.setdefault(key, set()).add(group)
        return group

    wrap(node.accounts, "add_group", add)
    decide(
        node,
        reach=lambda node, key: [
            group
            for group in all_groups(node, key)
            if group.id in made.get(key, set()) or group in own_groups(node, key)
        ],
    )


@mutant(
    "SCOPE-110", "SCOPE-090", "AUTH-080", also="ERR-100 EXEC-030 EXEC-070 EXEC-090 GRP-150 UKEY-270 UKEY-290 UKEY-300"
)
def who_fills_groups_runs_in_them(node: Node) -> None:
    """Let a key execute in groups to which it may add actions or wallets."""

    def reach(node: Node, key: int) -> list[Lists]:
        permissions = permissions_of(node, key)
        if permissions is None:
            return all_groups(node, key)
        named = {*permissions.manage_ipfs_ids_in_groups, *permissions.add_pkp_to_groups, *permissions.execute_in_groups}
        return [group for group in all_groups(node, key) if 0 in named or group.id in named]

    decide(node, reach=reach)


@mutant("SCOPE-090", "AUTH-080", also="AUTH-090 SCOPE-130 UKEY-050")
def who_runs_everywhere_makes_groups(node: Node) -> None:
    """Let a key with the wildcard in `execute_in_groups` create groups."""

    def add(write: Callable[..., int], key: int, *given: object) -> int:
        permissions = permissions_of(node, key)
        broad = permissions is not None and 0 in permissions.execute_in_groups
        return write(node.accounts.key_info(key).account_hash if broad else key, *given)

    wrap(node.accounts, "add_group", add)


@mutant("AUTH-160", also="AUTH-150 EXEC-010 EXEC-090 EXEC-240 SCOPE-020 SCOPE-090 UKEY-260 UKEY-280")
def broad_keys_do_not_run(node: Node) -> None:
    """Refuse runs of keys that may create wallets."""

    def reach(node: Node, key: int) -> list[Lists]:
        permissions = permissions_of(node, key)
        return [] if permissions is not None and permissions.can_create_pkps else own_groups(node, key)

    decide(node, reach=reach)


@mutant("AUTH-010", "EXEC-250", also="AUTH-030 EXEC-020")
def runs_take_bearer_keys_alone(node: Node) -> None:
    """Refuse runs with a key in `X-Api-Key`."""
    answer_instead(node, RUN, refusal(401), lambda request: header(request, b"x-api-key"))


@mutant("AUTH-020", "AUTH-030")
def runs_take_no_bearer_keys(node: Node) -> None:
    """Refuse runs without a key in `X-Api-Key`."""
    answer_instead(node, RUN, refusal(401), lambda request: not header(request, b"x-api-key"))


@mutant("AUTH-030", also="AUTH-080 ERR-100 EXEC-030 EXEC-070 EXEC-090 UKEY-270 UKEY-290 UKEY-300")
def bearer_keys_run_everything(node: Node) -> None:
    """Treat a usage key in `Authorization` as its account key in runs."""
    book = key_book(node)

    async def handler(request: Received, forward: Forward) -> Answered:
        bearer = "" if header(request, b"x-api-key") else presented(request)
        known = bearer in book.owners and bearer not in book.removed
        return await forward(under(request, book.account_of(bearer)) if known else request)

    intercept(node, RUN, handler)


@mutant("AUTH-040", also="AUTH-200 EXEC-260")
def runs_without_a_key_are_the_last_ones(node: Node) -> None:
    """Take a run without a key for one of whoever ran last."""
    keys: list[str] = []

    async def handler(request: Received, forward: Forward) -> Answered:
        own = presented(request)
        given = await forward(request if own or not keys else under(request, keys[-1]))
        keys.extend([own] if own and given.accepted else [])
        return given

    intercept(node, RUN, handler)


@mutant("AUTH-050", "EXEC-260", also="AKEY-110 KEYLIFE-080 MINT-110")
def unknown_keys_are_guests(node: Node) -> None:
    """Take a run with an unknown key for one of the newest account."""
    book = key_book(node)

    async def handler(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        guest = given.status == 401 and presented(request) and book.accounts
        return await forward(under(request, book.accounts[-1])) if guest else given

    intercept(node, RUN, handler)


@mutant("ERR-160", also="AKEY-050 UKEY-360")
def refusals_of_runs_tell_the_key(node: Node) -> None:
    """Repeat the key in the refusal of a run."""

    async def handler(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        if given.accepted:
            return given
        return given.having({**given.told, "detail": f"the key {presented(request)} may not"})

    intercept(node, RUN, handler)


@mutant("KEYLIFE-080", also="AUTH-080 EXEC-230")
def removed_keys_run_without_their_padding(node: Node) -> None:
    """Look a key up by its bytes, and the removed ones by their texts: without its padding one of them runs on."""
    book = key_book(node)

    async def handler(request: Received, forward: Forward) -> Answered:
        key = presented(request)
        padded = next((one for one in book.removed if key == one.rstrip("=") and key != one), None)
        owner = book.owners.get(padded or "")
        return await forward(under(request, owner) if owner else request)

    intercept(node, RUN, handler)
