"""What the settlement chain shows, where cases compute ("Resources and their fields / Account")."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from conformance.cases import Judge, case
from conformance.endpoints.messages import Answer
from conformance.service.acceptance import Accepted, must_accept
from conformance.service.at_once import send_at_once
from conformance.service.bindings import bound
from conformance.service.contract import dry_run_call, payers
from conformance.service.derivations import account_hash, hashed_cid, random_address, random_hash, usage_key_hash
from conformance.service.node import Node
from conformance.service.refusal import Refusals
from conformance.service.usage_keys import ALL_PERMISSIONS, Permissions
from conformance.values.json_values import member, printed
from conformance.values.key_text import spellings

HEX = re.compile("0x((?:[0-9a-f]{2})+)")
AT_ONCE, ROUNDS = 8, 3


@case(
    "payers-send-the-writes",
    requirements=["CHAIN-080", "CHAIN-190", "ACC-140"],
    needs=["managed_accounts", "chain_rpc"],
)
def payers_send_the_writes(judge: Judge, node: Node) -> None:
    """A managed write is a transaction that a published payer, who holds gas, sends to the contract."""
    alice = node.accounts.new().key
    published = {payer.lower() for payer in payers(node.session)}
    before = node.session.chain.block_number()
    node.session.accept(node.groups.creation(alice))
    with judge("ACC-140"):
        # A transaction of this case is one whose calldata hold a text that only this case sends.
        sent = node.contract.transactions_after(before, holding=node.label.encode().hex())
        judge.that(len(sent) > 0, "a transaction with the name of the new group", sent)
    with judge("ACC-140"):
        receivers = {printed(one["to"]) for one in sent}
        judge.that(receivers == {node.contract.address.lower()}, "transactions to the contract", receivers)
    senders = {printed(one["from"]) for one in sent}
    with judge("CHAIN-080"):
        judge.that(senders <= published, f"senders among {published}", senders)
    with judge("CHAIN-190"):
        judge.that(all(node.session.chain.balance(sender) > 0 for sender in senders), "senders with gas", senders)


@case("no-key-on-the-chain", requirements=["CHAIN-140"], needs=["managed_accounts", "chain_rpc"])
def no_key_on_the_chain(judge: Judge, node: Node) -> None:
    """Neither calldata nor logs hold the value of a key."""
    before = node.session.chain.block_number()
    account_key = node.accounts.new().key
    key = node.usage_keys.add(account_key, Permissions(can_create_groups=True, can_create_pkps=True)).key
    node.usage_keys.update(account_key, key, Permissions(True, True, True))
    node.usage_keys.rename(account_key, key, "renamed")
    node.session.accept(node.groups.creation(key))
    node.session.accept(node.pkps.creation(key))
    node.usage_keys.remove(account_key, key)
    mined = printed(node.contract.transactions_after(before))
    seen = mined.count(node.label.encode().hex())
    judge.set_up(seen >= 5, "the transactions of the case, with the names that it gave")
    texts = [bytes.fromhex(digits).decode("latin-1") for digits in HEX.findall(mined)]
    for text in (mined, *texts):
        with judge.apart():
            disclosed = [form for form in (*spellings(account_key), *spellings(key)) if form in text]
            judge.that(not disclosed, "no key in the transactions and their logs", disclosed)


@case("payers-beside-writes", requirements=["CHAIN-060", "CHAIN-190"], needs=["managed_accounts"])
def payers_beside_writes(judge: Judge, node: Node) -> None:
    """The list of payers holds the same addresses while writes are under way."""
    creation, asks = node.groups.creation(node.accounts.new().key), node.session.request("get_api_payers")

    def addresses(answer: Answer) -> list[str]:
        found = member(answer.value, "addresses")
        return sorted(printed(address).lower() for address in found) if isinstance(found, list) else []

    usual = addresses(node.session.call("get_api_payers"))
    for _ in range(ROUNDS):
        answers = send_at_once(node.session, [request for _ in range(AT_ONCE) for request in (creation, asks)])
        with judge():
            for answer in answers[1::2]:
                must_accept(answer)
                judge.same(addresses(answer), usual, "the payers beside writes, as without")


@case("strangers-write-nothing", requirements=["CHAIN-130"], needs=["managed_accounts", "chain_rpc"])
def strangers_write_nothing(judge: Judge, node: Node) -> None:
    """The contract takes no write about an API-mode account from an address that has nothing to do with it."""
    alice = node.accounts.new().key
    p, q = node.pkps.create_several(alice, 2)
    registered, other = (node.actions.sample_cid(name) for name in ("registered", "other"))
    node.actions.add(alice, registered)
    action, other_action = hashed_cid(registered), hashed_cid(other)
    g = bound(node, alice, [p], [action])
    profile, random = node.session.profile, node.session.random
    key = usage_key_hash(node.usage_keys.add(alice, Permissions(can_create_groups=True)).key, profile)
    wallet, fresh_key = [random_address(random), 7, "n", "d"], [random_hash(random), 0, 0]
    writes: Mapping[str, Sequence[object]] = {
        "add_group": ["n", "d", [], []],
        "update_group": [g, "n", "d", [], []],
        "remove_group": [g],
        "add_action_to_group": [g, other_action],
        "remove_action_from_group": [g, action],
        "add_pkp_to_group": [g, q.id],
        "remove_pkp_from_group": [g, p.id],
        "add_action": [other_action, "n", "d"],
        "update_action_metadata": [action, "n", "d"],
        "delete_action": [action],
        "create_wallet": wallet,
        "register_wallet_derivation": wallet,
        "set_usage_api_key": [*fresh_key, "n", "d", *ALL_PERMISSIONS.arguments],
        "update_usage_api_key": [key, "n", "d", *ALL_PERMISSIONS.arguments],
        "update_usage_api_key_metadata": [key, "n", "d"],
        "remove_usage_api_key": [key],
    }
    payer, stranger = payers(node.session)[0], random_address(random)
    for function, arguments in writes.items():
        asked = [account_hash(alice, profile), *arguments]
        by_payer, by_stranger = node.contract.dry_runs(function, [(payer, asked), (stranger, asked)])
        by_payer()
        with (
            judge.apart(why=f"the contract takes {function} from payers, and not from a stranger"),
            Refusals(node.session, control=Accepted(dry_run_call(function)), unchanged=[]) as refusals,
        ):
            refusals.must_revert_dry(dry_run_call(function), by_stranger)
