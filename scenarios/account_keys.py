"""The account API key of API mode ("Resources and their fields / Account API key")."""

from __future__ import annotations

import string
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from itertools import cycle, product

from conformance.cases import Judge, case
from conformance.drivers.sections import labelled
from conformance.service.derivations import (
    account_private_key,
    base64_of,
    bytes_of_base64,
    bytes_of_hex,
    key_with_flipped_bit,
)
from conformance.service.lists import IN_GROUP, first_page, one_item_page, read_pages, unchanged_list
from conformance.service.near_keys import images, near_keys, spelt
from conformance.service.node import Node
from conformance.service.refusal import NO_KEY, Refusals, must_refuse, was_accepted
from conformance.service.secrecy import distinct_bytes, must_hide, shared_prefix
from conformance.service.secrets_search import witnessed
from conformance.service.usage_keys import ALL_PERMISSIONS, Permissions
from conformance.values.ids import HashedCid, is_address
from conformance.values.json_values import member, pluck, printed
from conformance.values.key_text import key_bytes

NEEDS = ("managed_accounts",)
LISTS = ("list_groups", "list_wallets", "list_actions", "list_api_keys")
WALLET_RULE = "crypto.account_wallet_derivation"
EMAIL = {"email": "suite@example.org"}
"""What an account may be made with beside its labels."""


@case("creation-returns-the-key", requirements=["AKEY-010", "AKEY-020"], needs=NEEDS)
def creation_returns_the_key(judge: Judge, node: Node) -> None:
    """Account creation answers an api_key in base64."""
    with judge("AKEY-010"):
        key = node.accounts.new(spends=False).key
        judge.that(key != "", "an api_key", key)
    with judge("AKEY-020"):
        # Base64 without a further word is the standard alphabet with padding (RFC 4648, section 3.2).
        judge.same(base64_of(bytes_of_base64(key)), key, "the one base64 text of the key's bytes")


@case("key-is-shown-once", requirements=["AKEY-050"], needs=NEEDS)
def key_is_shown_once(judge: Judge, node: Node) -> None:
    """No answer but that of account creation holds the account key."""
    alice = node.accounts.new()
    answers = witnessed(node.session)
    node.accounts.new(spends=False)
    key, cid, page = alice.key, node.actions.sample_cid("one"), one_item_page(node.session)
    page["page_size"] = 3
    node.session.call("account_exists", key)
    node.pkps.creations(key, 1)
    node.actions.add(key, cid)
    group = node.groups.add(key).id
    node.groups.add_action(key, group, cid)
    usage_key = node.usage_keys.add(key, ALL_PERMISSIONS).key
    for name in LISTS:
        node.session.call(name, key, **page)
    for name in IN_GROUP:
        node.session.call(name, key, group_id=group, **page)
    # The account's usage keys must not come to know it either; whether they may read these lists is SCOPE-160.
    for name in ("list_api_keys", "list_groups"):
        node.session.send(node.session.request(name, usage_key, **page))
    node.pkps.creations(usage_key, 1)
    node.usage_keys.rename(key, usage_key, "renamed")
    removes = node.usage_keys.remove(key, usage_key)
    node.groups.remove(key, group)
    # Answers without a credential, and a refusal, which must not repeat the key that was sent.
    for name in ("get_node_chain_config", "get_api_payers", "get_admin_api_payer"):
        node.session.call(name)
    node.session.send(removes.changed())
    for answer in answers:
        with judge.apart():
            must_hide(answer, key, "the account key")


@case("key-identifies-the-account", requirements=["AKEY-060"], needs=NEEDS, uses=["wire.list_groups.item_fields"])
def key_identifies_the_account(judge: Judge, node: Node) -> None:
    """The account key alone, in either header, tells the node whose lists are asked for."""
    keys = [node.accounts.new().key for _ in range(2)]
    for via in ("x-api-key", "bearer"):
        for number, key in enumerate(keys):
            node.session.accept(replace(node.groups.creation(key, f"{via} {number}"), via=via))
        for number, key in enumerate(keys):
            own, other = f"{node.label} {via} {number}", f"{node.label} {via} {1 - number}"
            with judge.apart():
                request = replace(node.session.request("list_groups", key), via=via)
                names = pluck(read_pages(node.session, request), "name")
                judge.that(own in names and other not in names, "the groups of the account alone", names)


@case("key-carries-full-permission", requirements=["AKEY-070", "EP-340"], needs=NEEDS)
def key_carries_full_permission(judge: Judge, node: Node) -> None:
    """No management operation is refused to the account key, and its account exists, whatever it has."""
    alice, cid = node.accounts.new().key, node.actions.sample_cid("one")
    with judge("AKEY-070"):
        node.groups.add(alice, "other")
        p = node.pkps.create(alice)
        g = node.groups.add(alice).id
        node.actions.add(alice, cid)
        hashed = HashedCid(printed(member(member(node.actions.list(alice), "-1"), "hashed_cid")))
        node.actions.update(alice, hashed, "renamed")
        node.groups.add_action(alice, g, cid)
        node.actions.list(alice, g)
        node.groups.add_pkp(alice, g, p.id)
        node.pkps.list(alice, g)
        node.groups.remove_pkp(alice, g, p.id)
        node.groups.remove_action(alice, g, hashed)
        node.actions.delete(alice, hashed)
        node.groups.update(alice, g, pkp_ids=[p.id], cid_hashes=[hashed])
        key = node.usage_keys.add(alice, Permissions(True, True, True, [0], [g], [0], [g])).key
        node.usage_keys.update(alice, key, Permissions(False, False, False, [g], [0], [g], [0]))
        node.usage_keys.rename(alice, key, "renamed")
        judge.that(bool(node.usage_keys.list(alice)), "a list with the usage key", [])
        answer = node.session.call("account_exists", alice)
    with judge.apart("EP-340"):
        judge.same(
            member(answer.value, "exists"), True, "`exists` of an account with two groups, a wallet and a usage key"
        )
    with judge("AKEY-070"):
        node.usage_keys.remove(alice, key)
        node.groups.remove(alice, g)


@case("secret-is-long-enough", requirements=["AKEY-040"], needs=NEEDS)
def secret_is_long_enough(judge: Judge, node: Node) -> None:
    """An account's secret has at least 32 bytes."""
    key = node.accounts.new(spends=False).key
    with judge():
        judge.that(len(bytes_of_base64(key)) >= 32, "a secret of at least 32 bytes", key)


@case("secret-is-random", requirements=["AKEY-030"], needs=NEEDS)
def secret_is_random(judge: Judge, node: Node) -> None:
    """The secrets of accounts made with equal bodies have nothing in common."""
    keys = [node.accounts.new(spends=False).key for _ in range(5)]
    with judge():
        secrets = [bytes_of_base64(key) for key in keys]
        judge.that(len(set(secrets)) == len(secrets), "each new account to have a secret of its own", keys)
        judge.that(len({len(secret) for secret in secrets}) == 1, "secrets of one length", keys)
        # Five random secrets begin with the same byte once in four thousand million runs.
        judge.that(shared_prefix(secrets) <= 1, "random secrets, no two of which begin alike", keys)
        # Five random secrets of 16 bytes hold 69 different bytes on the average, of 32 bytes 119.
        judge.that(distinct_bytes(secrets) >= 48, "random secrets, which hold bytes of all values", keys)
        judge.that(not all(secret.isascii() for secret in secrets), "random bytes, which are no text", keys)


@case("wallet-address-follows-from-the-secret", requirements=["AKEY-080"], needs=NEEDS, uses=[WALLET_RULE])
def wallet_address_follows_from_the_secret(judge: Judge, node: Node) -> None:
    """The wallet_address of account creation is that of the wallet derived from the account's secret."""
    accounts = [node.accounts.new(members=members, spends=False) for members in ({}, EMAIL)]
    with judge():
        for account in accounts:
            derived = account_private_key(account.key, node.session.stated(WALLET_RULE)).public_key.to_address()
            judge.same_hex(account.wallet_address, derived, "the wallet_address of the new account")


@case("wallet-address-of-each-account", requirements=["AKEY-080"], needs=NEEDS)
def wallet_address_of_each_account(judge: Judge, node: Node) -> None:
    """Each account creation answers the address of another wallet, also one with the same body."""
    addresses = [node.accounts.new(members=EMAIL, spends=False).wallet_address.lower() for _ in range(2)]
    with judge():
        judge.that(
            all(is_address(one) and int(one, 16) for one in addresses),
            "a wallet_address of 0x and 40 hex digits for each account",
            addresses,
        )
        judge.that(addresses[0] != addresses[1], "another wallet_address for each account", addresses)


HEADERS = ("x-api-key", "bearer")


@case("altered-key-is-refused", requirements=["AKEY-110", "AUTH-050"], needs=NEEDS)
def altered_key_is_refused(judge: Judge, node: Node) -> None:
    """What differs from an account key or a usage key in little, or is a part of it, opens nothing."""
    alice = node.accounts.new().key
    usage_key = node.usage_keys.add(alice, ALL_PERMISSIONS).key
    read = node.session.request("list_groups", alice, page_number=first_page(node.session), page_size=1)
    lists = node.session.accept(read)[1]
    write = node.groups.creation(alice)
    adds = node.session.accept(write)[1]
    groups = unchanged_list(node.session, "list_groups", alice)
    for requirement, key in (("AKEY-110", alice), ("AUTH-050", usage_key)):
        for what, texts in near_keys(key).items():
            with (
                judge.apart(requirement),
                labelled(what),
                Refusals(node.session, control=lists, unchanged=[]) as refusals,
            ):
                for text, header in product(node.session.some(texts, 1), HEADERS):
                    refusals.send(replace(read, credential=text, via=header), NO_KEY)
    altered = replace(write, credential=key_with_flipped_bit(alice))
    with judge("AKEY-110"):
        must_refuse(node.session, altered, ["unauthenticated"], control=adds, unchanged=[groups])


def kept(key: str) -> list[str]:
    """SHA-256, by which services keep keys, of a key's text and of its bytes: hex, base64."""
    hashed = [key.encode()]
    with suppress(ValueError):
        hashed.append(key_bytes(key))
    return [text for raw in hashed for text in spelt(sha256(raw).digest())[:2]]


def shown(node: Node, owner: str) -> list[str]:
    """What the list of usage keys shows of each to tell it from others, where the profile names that member."""
    values = [item.get("api_key_hash") for item in node.usage_keys.list(owner) if isinstance(item, dict)]
    return [value for value in values if isinstance(value, str) and value]


@case("images-of-keys-open-nothing", requirements=["AUTH-050"], needs=NEEDS)
def images_of_keys_open_nothing(judge: Judge, node: Node) -> None:
    """The hash of a key and the address of its wallet, in any spelling, are refused in place of the key."""
    account = node.accounts.new()
    alice, usage_key = account.key, node.usage_keys.add(account.key).key
    address = account.wallet_address
    of_wallet = [address, address.lower(), base64_of(bytes_of_hex(address).rjust(32, bytes(1)))]
    read = node.session.request("list_groups", alice, page_number=first_page(node.session), page_size=1)
    lists = node.session.accept(read)[1]
    public = [*images(alice), *images(usage_key), *shown(node, alice), *of_wallet]
    tried = [*product(public, HEADERS), *zip((*kept(alice), *kept(usage_key)), cycle(HEADERS))]
    with judge(), Refusals(node.session, control=lists, unchanged=[]) as refusals:
        for text, header in tried:
            refusals.send(replace(read, credential=text, via=header), NO_KEY)


NAMED_BY = "wire.usage_api_key.reference_forms"


@case(
    "hashes-name-no-usage-key",
    requirements=["KEYLIFE-110", "KEYLIFE-120"],
    needs=NEEDS,
    uses=[{NAMED_BY: [["value"]]}],
)
def hashes_name_no_usage_key(judge: Judge, node: Node) -> None:
    """The hash of a usage key, or what is near it, is not taken for the key in updates and removals."""
    alice = node.accounts.new().key
    usage_key = node.usage_keys.add(alice).key
    updates = [node.usage_keys.update(alice, usage_key, Permissions()), node.usage_keys.rename(alice, usage_key)]
    removes = node.usage_keys.remove(alice, node.usage_keys.add(alice).key)
    near = near_keys(usage_key)
    texts = [*images(usage_key)[:2], *(text for texts in near.values() for text in texts[-1:])]
    listed = unchanged_list(node.session, "list_api_keys", alice)
    for statement, does in (("KEYLIFE-110", updates), ("KEYLIFE-120", [removes])):
        with judge(statement), Refusals(node.session, control=does, unchanged=[listed]) as refusals:
            for text, accepted in product(texts, does):
                refusals.send(accepted.changed(usage_api_key=text), ["not_found", "malformed", "invalid"])


BASE64 = f"{string.ascii_uppercase}{string.ascii_lowercase}{string.digits}+/"


def respelt(key: str) -> list[str]:
    """Other texts that lenient readers of base64 take for the same bytes."""
    digits = key.rstrip("=")
    padding = key[len(digits) :]
    # A last digit before padding holds bits that are no part of the bytes.
    stray = [f"{digits[:-1]}{BASE64[BASE64.find(digits[-1]) ^ 1]}{padding}"] if padding else []
    for_urls = key.replace("+", "-").replace("/", "_")
    texts = [*stray, digits, for_urls, for_urls.rstrip("="), f"{key}=", f"{key[:8]} {key[8:]}", f'"{key}"']
    return [text for text in dict.fromkeys(texts) if text != key]


@case("other-spellings-open-no-more", requirements=["AUTH-080", "KEYLIFE-080"], needs=NEEDS)
def other_spellings_open_no_more(judge: Judge, node: Node) -> None:
    """Another base64 text of a key's bytes never opens more than the key does, and nothing after its removal.

    Whether such a text is the key is left open (`service-conformance requirements` tells the readings of AKEY-020).
    """
    alice = node.accounts.new().key
    poor, key = (node.usage_keys.add(alice, may).key for may in (Permissions(), Permissions(can_create_groups=True)))
    write = node.groups.creation(alice)
    adds = node.session.accept(write)[1]
    groups = unchanged_list(node.session, "list_groups", alice)
    with judge.apart("AUTH-080"), Refusals(node.session, control=adds, unchanged=[groups]) as refusals:
        for text in respelt(poor):
            for header in HEADERS:
                refusals.send(replace(write, credential=text, via=header), ["forbidden", *NO_KEY])
    # Whoever remembers what opened an account does so now.
    for text in respelt(key):
        was_accepted(node.session, node.session.send(replace(write, credential=text)), or_refused=NO_KEY)
    node.usage_keys.remove(alice, key)
    with judge.apart("KEYLIFE-080"), Refusals(node.session, control=adds, unchanged=[groups]) as refusals:
        for text in respelt(key):
            for header in HEADERS:
                refusals.send(replace(write, credential=text, via=header), NO_KEY)
