"""Faults about account keys: how they are made, who learns of them, and what passes for one."""

from __future__ import annotations

import base64
import json
import secrets
from collections.abc import Callable, Iterable
from dataclasses import replace
from fnmatch import fnmatchcase
from hashlib import sha256
from itertools import cycle

from eth_utils.crypto import keccak
from pydantic import JsonValue

from conformance.selftest.tools.accounts import Write, account_of, permissions_of
from conformance.selftest.tools.alter import (
    Answered,
    Forward,
    Received,
    body_of,
    change_accepted,
    change_answer,
    change_body,
    change_items,
    each,
    intercept,
    members,
    wrap,
)
from conformance.selftest.tools.api_keys import (
    KeyBook,
    ask_as,
    change_secrets,
    header,
    in_given_out_form,
    key_book,
    presented,
    under,
)
from conformance.selftest.tools.mutant import mutant, row
from reference_node.chain.account_config import Group
from reference_node.chain.contract_abi import ContractRefusal
from reference_node.node import Node
from reference_node.problems import Forbidden

READS = ("list_groups", "list_api_keys", "list_wallets", "list_actions")
Told = dict[str, JsonValue]


def _new_accounts(node: Node, change: Callable[[dict[str, JsonValue]], dict[str, JsonValue]]) -> None:
    change_answer(node, "new_account", lambda value: change(value) if isinstance(value, dict) else value)


def _new_keys(node: Node, change: Callable[[bytes], bytes]) -> None:
    """Answer a key with another secret than the account has."""

    def changed(answer: dict[str, JsonValue]) -> dict[str, JsonValue]:
        secret = change(base64.b64decode(str(answer["api_key"])))
        return {**answer, "api_key": base64.b64encode(secret).decode()}

    _new_accounts(node, changed)


STRAY_BITS = {letter: chr(ord(letter) + 1) for letter in "AEIMQUYcgkosw048"}
"""The last digit of 32 bytes in base64, and a digit that holds bits beyond them."""


def _key(change: Callable[[str], JsonValue]) -> Callable[[Told], Told]:
    return lambda told: {**told, "api_key": change(str(told["api_key"]))}


@mutant(
    each=[
        row(
            "no-key", lambda told: {"wallet_address": told["wallet_address"]}, breaks="AKEY-010 EP-050", also="VER-050"
        ),
        row(
            "key-in-hex",
            _key(lambda key: f"0x{base64.b64decode(key).hex()}"),
            breaks="AKEY-020",
            also="AKEY-060 AKEY-070 EP-050 VER-050",
        ),
        row(
            "key-with-stray-bits",
            _key(lambda key: f"{key[:-2]}{STRAY_BITS[key[-2]]}="),
            breaks="AKEY-020",
            also="AKEY-060 AKEY-070 EP-050 VER-050",
        ),
        row("random-address", lambda told: {**told, "wallet_address": f"0x{secrets.token_hex(20)}"}, breaks="AKEY-080"),
        row(
            "address-without-0x",
            lambda told: {**told, "wallet_address": str(told["wallet_address"])[2:]},
            breaks="EP-050 EP-430",
            also="VER-050",
        ),
    ]
)
def new_account_is_told_wrongly(node: Node, change: Callable[[Told], Told]) -> None:
    """Answer something else from `new_account` than the key and the address; the label says what."""
    _new_accounts(node, change)


@mutant(
    each=[
        row("half-zero", lambda secret: bytes(16) + secret[16:], breaks="AKEY-030"),
        row("hex-digits", lambda secret: secret[:16].hex().encode(), breaks="AKEY-030"),
        row("letters-and-digits", lambda _: secrets.token_urlsafe(24).encode(), breaks="AKEY-030"),
    ],
    also="AKEY-040",
)
def account_secret_is_weak(node: Node, change: Callable[[bytes], bytes]) -> None:
    """Make a secret of less than 32 random bytes for `new_account`; the label says of which form."""
    change_secrets(node, "new_account", change)


@mutant("AKEY-040", also="AKEY-060 AKEY-070 AKEY-080")
def account_key_has_half_of_the_secret(node: Node) -> None:
    """Answer the first 16 bytes of the secret from `new_account`."""
    _new_keys(node, lambda secret: secret[:16])


@mutant("AKEY-030", also="AKEY-040 AKEY-060 AKEY-070 AKEY-080")
def account_secrets_differ_in_length(node: Node) -> None:
    """Leave the last byte out of every other secret."""
    lengths = cycle((32, 31))
    _new_keys(node, lambda secret: secret[: next(lengths)])


@mutant("AKEY-050", also="UKEY-360")
def answers_carry_the_secret_in_a_header(node: Node) -> None:
    """Answer `add_group` with a session header that holds the key's secret in hex."""

    def changed(request: Received, given: Answered) -> Answered:
        session = base64.b64decode(presented(request)).hex().encode()
        return given.headed(b"x-session", session)

    change_accepted(node, "add_group", changed)


@mutant("AKEY-060", also="ACC-110 ACC-200 AKEY-110 AUTH-040 AUTH-050 AUTH-200 KEYLIFE-080 KEYLIFE-150 LIST-170")
def keys_open_the_newest_account(node: Node) -> None:
    """Answer `list_groups` with the groups of the newest account, whatever the key."""
    newest: list[bytes] = []

    async def remember(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        newest[:] = [json.loads(given.body)["api_key"].encode()]
        return given

    async def read(request: Received, forward: Forward) -> Answered:
        others = tuple(header for header in request.headers if header[0] not in {b"x-api-key", b"authorization"})
        return await forward(replace(request, headers=(*others, (b"x-api-key", newest[0]))))

    intercept(node, "new_account", remember)
    intercept(node, "list_groups", read)


@mutant(
    "AKEY-070",
    each=[
        row(
            "update_group",
            also="EP-180 GRP-250 GRPLIFE-020 GRPLIFE-030 GRPLIFE-040 GRPLIFE-050 GRPLIFE-060 GRPLIFE-070 GRPLIFE-080",
        ),
        row("delete_action", also="EP-290"),
        row("update_usage_api_key_metadata", "update_usage_key_metadata", also="EP-140 KEYLIFE-060"),
    ],
)
def account_key_is_refused(node: Node, method: str) -> None:
    """Refuse `{method}` to the account key."""

    def write_for(write: Write, acting_key: int, *arguments: object) -> None:
        if permissions_of(node, acting_key) is None:
            raise Forbidden("scope-missing", "this key lacks the scope")
        write(acting_key, *arguments)

    wrap(node.accounts, method, write_for)


@mutant("GRP-250", each=["update_group", "remove_group"], also="AKEY-070")
def groups_belong_to_the_key_that_made_them(node: Node, method: str) -> None:
    """Refuse `{method}` to the account key in groups that usage keys made."""
    made: set[tuple[int, int]] = set()

    def add(write: Callable[..., int], acting_key: int, *arguments: object) -> int:
        group = write(acting_key, *arguments)
        if permissions_of(node, acting_key):
            made.add((account_of(node, acting_key), group))
        return group

    def change(write: Write, acting_key: int, group: Group | int, *arguments: object) -> None:
        if (acting_key, group.id if isinstance(group, Group) else group) in made:
            raise ContractRefusal("OwnerOnly", {"keyHash": acting_key})
        write(acting_key, group, *arguments)

    wrap(node.accounts, "add_group", add)
    wrap(node.accounts, method, change)


@mutant(
    "AKEY-110",
    each=[
        row("all-but-lowest-bits", READS, lambda secret: bytes(byte & 0xFE for byte in secret)),
        row("all-but-last-byte-in-writes", ("add_group",), lambda secret: secret[:31]),
    ],
)
def part_of_a_key_suffices(node: Node, operations: tuple[str, ...], part: Callable[[bytes], bytes]) -> None:
    """Recognise an account key by a part of its bytes; the label says by which."""
    known: dict[bytes, str] = {}

    async def remember(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        key = json.loads(given.body)["api_key"]
        known[part(base64.b64decode(key))] = key
        return given

    def as_given_out(request: Received) -> str:
        sent = presented(request)
        try:
            return known.get(part(base64.b64decode(sent, validate=True)), sent)
        except ValueError:
            return sent

    intercept(node, "new_account", remember)
    ask_as(node, operations, as_given_out)


@mutant(
    each=[
        row("of-account-keys", b"x-api-key", lambda book: book.accounts, breaks="AKEY-110"),
        row("of-usage-keys", b"authorization", lambda book: book.owners, breaks="AUTH-050"),
    ]
)
def case_of_a_key_is_ignored(node: Node, name: bytes, keys: Callable[[KeyBook], Iterable[str]]) -> None:
    """Compare keys in one header for lists without regard to case, where the text is base64 as the node writes it."""
    book = key_book(node)

    def as_given_out(request: Received) -> str:
        sent = presented(request)
        try:
            canonical = _in_base64(base64.b64decode(sent, validate=True)) == sent
        except ValueError:
            return sent
        fits = canonical and bool(header(request, name))
        return next((key for key in keys(book) if fits and key.lower() == sent.lower()), sent)

    ask_as(node, READS, as_given_out)


def _hash(key: str) -> bytes:
    return keccak(base64.b64decode(key))


def _in_base64(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


def _number(shown: object) -> str:
    return sha256(f"key {shown}".encode()).hexdigest()[:20]


@mutant("AUTH-050")
def listed_number_of_a_key_opens(node: Node) -> None:
    """Show a number of each usage key in `list_api_keys`, and take it as Bearer for the key in lists."""
    book = key_book(node)

    def as_given_out(request: Received) -> str:
        sent = header(request, b"authorization")
        known = ((key, f"Bearer {_number(f'0x{_hash(key).hex()}')}") for key in book.owners)
        return next((key for key, number in known if number == sent), presented(request))

    ask_as(node, READS, as_given_out)
    change_items(node, "list_api_keys", each(lambda item: {**item, "api_key_hash": _number(item["api_key_hash"])}))


@mutant(
    each=[
        row(
            "hash-in-metadata",
            "update_usage_api_key_metadata",
            lambda key, text: text == _in_base64(_hash(key)),
            breaks="KEYLIFE-110",
        ),
        row(
            "hash-in-removal",
            "remove_usage_api_key",
            lambda key, text: text == _in_base64(_hash(key)),
            breaks="KEYLIFE-120",
        ),
        row(
            "beginning",
            "update_usage_api_key",
            lambda key, text: len(text) > 8 and key.startswith(text),
            breaks="KEYLIFE-110",
        ),
        row("other-case", "remove_usage_api_key", lambda key, text: key.lower() == text.lower(), breaks="KEYLIFE-120"),
        row(
            "pattern",
            "update_usage_api_key_metadata",
            lambda key, text: fnmatchcase(key, text.replace("%", "*")),
            breaks="KEYLIFE-110",
        ),
    ],
)
def another_text_names_a_usage_key(node: Node, operation: str, names: Callable[[str, str], bool]) -> None:
    """Take another text for the value of a usage key in the body of `{operation}`; the label says which."""
    book = key_book(node)

    def changed(value: JsonValue) -> JsonValue:
        body = members(value)
        text = str(body.get("usage_api_key"))
        named = next((key for key in book.owners if text not in book.owners and names(key, text)), None)
        return {**body, "usage_api_key": named} if named else value

    change_body(node, operation, changed)


@mutant("KEYLIFE-180", also="ACC-120")
def unpadded_key_is_anybodys(node: Node) -> None:
    """Rename a usage key that is named without its padding, whichever account has it."""
    book = key_book(node)

    async def rename(request: Received, forward: Forward) -> Answered:
        text = str(body_of(request).get("usage_api_key"))
        key = in_given_out_form(text)
        if key == text or key not in book.owners or not presented(request):
            return await forward(request)
        named = request.having({**body_of(request), "usage_api_key": key})
        return await forward(under(named, book.owners[key]))

    intercept(node, "update_usage_api_key_metadata", rename)


@mutant(
    each=[
        row("after-their-removal", lambda book, key: key in book.removed, breaks="KEYLIFE-080", also="AUTH-050"),
        row(
            "for-the-account",
            lambda book, key: key in book.owners and key not in book.removed,
            breaks="AUTH-080",
            also="AUTH-050 AUTH-090 UKEY-050",
        ),
    ]
)
def keys_in_another_spelling_count(node: Node, counts: Callable[[KeyBook, str], bool]) -> None:
    """Take usage keys that are spelt in another way for the account key; the label says when."""
    book = key_book(node)

    def key_for(request: Received) -> str:
        text = presented(request)
        key = in_given_out_form(text)
        return book.account_of(key) if key != text and counts(book, key) else text

    ask_as(node, "add_group", key_for)
