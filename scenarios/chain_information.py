"""What the three open endpoints say of chain and payers, and what of the permission state the chain shows.

"Chain and payer information", "Resources and their fields / Account".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from conformance.cases import Judge, case
from conformance.endpoints.messages import Answer
from conformance.problems import Departure, SetupFailed
from conformance.profile.operations import PERMISSION_FLAGS
from conformance.service.acceptance import Accepted, must_accept
from conformance.service.accounts import makes_accounts
from conformance.service.at_once import send_at_once
from conformance.service.bindings import bound
from conformance.service.contract import dry_run_call, payers
from conformance.service.derivations import account_hash, hashed_cid, random_address, random_hash, usage_key_hash
from conformance.service.lists import only
from conformance.service.node import Node
from conformance.service.refusal import Refusals
from conformance.service.secrets_search import witnessed
from conformance.service.session import DESCRIPTION
from conformance.service.usage_keys import ALL_PERMISSIONS, Permissions
from conformance.values.ids import Cid, is_address
from conformance.values.json_values import MISSING, member, pluck, printed, same_hex, same_hexes, whole_number
from conformance.values.key_text import spellings

HEX = re.compile("0x((?:[0-9a-f]{2})+)")
ZERO_ADDRESS = f"0x{0:040x}"
CHAIN_ID = re.compile("[1-9][0-9]*")
CODE = re.compile("0x([0-9a-fA-F]{2}){32}")
SHOWN = 80
"""Characters of the chain configuration that are shown from an RPC URL's name on."""
RPC_URLS = [
    # An RPC URL that is null or empty is not returned. An address for people is none, which its name tells; any other
    # URL is taken for one.
    re.compile(r'(?i)"[^"]*rpc[^"]*"\s*:(?!\s*(?:null|false|""|\[\s*\]|\{\s*\})\s*[,}])'),
    re.compile(
        r'(?i)"(?![^"]*(?:explorer|faucet|info|docs|site|icon|logo|schema))[^"]*"\s*:\s*[\[{]?\s*"(?:https?|wss?)://'
    ),
    re.compile("(?i)wss?://"),
]
ON_CHAIN = ("managed_accounts", "chain_rpc")
AT_ONCE, ROUNDS = 8, 2


# -------------------------------------------------------------------------------------------- what the node says of it


def config(node: Node) -> dict[str, object]:
    """The chain configuration that the node answers."""
    answer = node.session.call("get_node_chain_config").value
    return {name: member(answer, name) for name in ("contract_address", "chain_id")}


@case("chain-config", requirements=["CHAIN-010", "CHAIN-020"])
def chain_config(judge: Judge, node: Node) -> None:
    """The chain configuration names contract and chain, and no RPC endpoint."""
    asked = node.session.request("get_node_chain_config")
    with judge("CHAIN-010"):
        answer = node.session.accept(asked)[0]
        address, chain = member(answer.value, "contract_address"), member(answer.value, "chain_id")
        judge.that(is_address(address) and not same_hex(address, ZERO_ADDRESS), "a contract_address", address)
        is_id = isinstance(chain, str) and CHAIN_ID.fullmatch(chain)
        judge.that(bool(is_id) or (type(chain) is int and chain >= 1), "a chain_id of at least 1", chain)
    with judge("CHAIN-020"):
        must_name_no_rpc(judge, answer)


def must_name_no_rpc(judge: Judge, answer: Answer) -> None:
    """Raise where a chain configuration names an RPC endpoint."""
    begins = sorted({one.start() for pattern in RPC_URLS for one in pattern.finditer(answer.text)})
    found = [answer.text[begin : begin + SHOWN] for begin in begins]
    judge.that(not found, "no RPC endpoint in the chain configuration", found)


@case("no-rpc-url", requirements=["CHAIN-020"], needs=["chain_rpc"])
def no_rpc_url(judge: Judge, node: Node) -> None:
    """The RPC URL that the vendor gave to the suite is nowhere in the chain configuration, nor in its headers.

    Nor is another one, whoever asks.
    """
    url = printed(node.session.stated("chain.rpc_url"))
    keys = [node.accounts.new().key] if makes_accounts(node.session.profile) else []
    for key in (None, *keys):
        with judge.apart():
            answer = node.session.call("get_node_chain_config", key)
            for said in (answer.text, printed(dict(answer.headers))):
                judge.that(url not in said, "an answer without the RPC URL", said)
            must_name_no_rpc(judge, answer)


@case("api-payers", requirements=["CHAIN-060", "CHAIN-070"])
def api_payers(judge: Judge, node: Node) -> None:
    """The API payers are a list of different addresses, and the admin payer is one address."""
    with judge.apart("CHAIN-060"):
        addresses = member(node.session.call("get_api_payers").value, "addresses")
        judge.that(isinstance(addresses, list) and len(addresses) > 0, "a list of payers", addresses)
        known = addresses if isinstance(addresses, list) else []
        judge.that(all(map(is_payer, known)), "addresses other than zero", addresses)
        judge.distinct([printed(one).lower() for one in known], "addresses of payers")
    with judge("CHAIN-070"):
        admin = member(node.session.call("get_admin_api_payer").value, "address")
        judge.that(is_payer(admin), "the address of the admin payer", admin)


def is_payer(address: object) -> bool:
    """Whether it is an address other than zero."""
    return is_address(address) and not same_hex(address, ZERO_ADDRESS)


@case("repeated-answers-agree", requirements=["CHAIN-190", "CHAIN-020"])
def repeated_answers_agree(judge: Judge, node: Node) -> None:
    """Repeated calls of the three endpoints agree, and no chain configuration among them names an RPC endpoint."""
    told = witnessed(node.session)

    def answers() -> object:
        addresses = member(node.session.call("get_api_payers").value, "addresses")
        listed = sorted(map(printed, addresses)) if isinstance(addresses, list) else addresses
        return [config(node), listed, member(node.session.call("get_admin_api_payer").value, "address")]

    first = answers()
    with judge("CHAIN-190"):
        for _ in range(5):
            judge.same(answers(), first, "contract, chain and payers, asked again,")
    for answer in told:
        if answer.operation is not None and answer.operation.name == "get_node_chain_config":
            with judge.apart("CHAIN-020"):
                must_name_no_rpc(judge, answer)


# The suite itself asks for contract and chain id once in a run.
@case("same-after-writes", requirements=["CHAIN-190"], needs=["managed_accounts"])
def same_after_writes(judge: Judge, node: Node) -> None:
    """The chain configuration is the same after an account was made and written to."""
    first = config(node)
    alice = node.accounts.new().key
    with judge():
        judge.same(config(node), first, "the chain configuration after a new account")
    node.session.accept(node.groups.creation(alice))
    node.session.accept(node.pkps.creation(alice))
    with judge():
        judge.same(config(node), first, "the chain configuration after writes")


@case("chain-id-of-the-chain", requirements=["CHAIN-030"], needs=["chain_rpc"])
def chain_id_of_the_chain(judge: Judge, node: Node) -> None:
    """The chain id is that of the settlement chain."""
    of_chain, stated = node.session.chain.chain_id(), whole_number(printed(config(node)["chain_id"]))
    judge.set_up(stated is not None, "a chain id in decimal digits")
    with judge():
        judge.same(stated, of_chain, "the chain id that the node states")


@case("contract-of-the-accounts", requirements=["CHAIN-040"], needs=ON_CHAIN)
def contract_of_the_accounts(judge: Judge, node: Node) -> None:
    """At the contract's address is the contract that knows this node's accounts."""
    own = account_hash(node.accounts.new().key, node.session.profile)
    address = config(node)["contract_address"]
    with judge():
        code = printed(node.session.chain.code(printed(address)))
        judge.that(CODE.match(code) is not None, f"a contract at {address}", code[:100])
        for account, exists in ((own, True), (random_hash(node.session.random), False)):
            judge.same(
                node.contract.view("account_exists", account), {"exists": exists}, f"account_exists of {account}"
            )


# ------------------------------------------------------------------------------------- the contract follows every write


@contextmanager
def as_over_http(judge: Judge, shown: Callable[[], bool]) -> Iterator[None]:
    """A block that judges the contract. A write that `shown` does not find over HTTP, either, was not done at all."""
    with judge():
        try:
            yield
        except Departure as problem:
            if not shown():
                raise SetupFailed.of(problem) from problem
            raise


@case("contract-knows-usage-keys", requirements=["CHAIN-050"], needs=ON_CHAIN)
def contract_knows_usage_keys(judge: Judge, node: Node) -> None:
    """The contract's record of usage keys shows each write over HTTP."""
    alice = node.accounts.new().key
    own = account_hash(alice, node.session.profile)
    created = Permissions(True, False, True, [0], [], [0], [])
    updated = Permissions(False, True, False, [], [0], [], [0])
    key = node.usage_keys.add(alice, created).key

    def shown(permissions: Permissions) -> bool:
        listed = only(node.usage_keys.list(alice), "name", node.label)
        return all(member(listed, name) in {MISSING, permissions.members[name]} for name in PERMISSION_FLAGS)

    def holds(permissions: Permissions) -> None:
        with as_over_http(judge, lambda: shown(permissions)):
            record = node.contract.view("get_usage_api_key", own, usage_key_hash(key, node.session.profile))
            judge.members(member(record, "usageKey"), permissions.record, "the permissions in the contract")

    holds(created)
    node.usage_keys.update(alice, key, updated)
    holds(updated)
    node.usage_keys.rename(alice, key, "renamed")
    name = f"{node.label} renamed"

    def named() -> bool:
        items = [item for item in node.usage_keys.list(alice) if member(item, "name") == name]
        return [member(item, "description") in {MISSING, DESCRIPTION} for item in items] == [True]

    with as_over_http(judge, named):
        item = only(node.contract.items("list_usage_api_keys", own), "name", name)
        expected = {"description": DESCRIPTION, "canDeleteGroups": True, "executeInGroups": [0]}
        judge.members(item, expected, "the renamed key in the contract")
    node.usage_keys.remove(alice, key)
    with as_over_http(judge, lambda: not named()):
        names = pluck(node.contract.items("list_usage_api_keys", own), "name")
        judge.that(name not in names, "a contract without the removed key", names)


@case("contract-knows-groups", requirements=["CHAIN-050"], needs=ON_CHAIN)
def contract_knows_groups(judge: Judge, node: Node) -> None:
    """The contract's record of groups, wallets and actions shows each write over HTTP."""
    alice = node.accounts.new().key
    own, items = account_hash(alice, node.session.profile), node.contract.items
    p, x, y = node.pkps.create(alice), node.actions.sample_cid("one"), node.actions.sample_cid("two")
    with judge():
        wallet = only(items("list_wallets", own), "walletAddress", p.address)
        judge.same_hex(member(wallet, "id"), p.id, "the id of the wallet in the contract")
    g = bound(node, alice, [p], [hashed_cid(x)])

    def holds(name: str, wallets: Sequence[str], cids: Sequence[Cid]) -> None:
        labels = {"name": f"{node.label} {name}".strip(), "description": DESCRIPTION}
        hashes = [hashed_cid(cid) for cid in cids]

        def shown() -> bool:
            named = labels["name"] in pluck(node.groups.list(alice), "name")
            listed = same_hexes(pluck(node.actions.list(alice, g), "hashed_cid"), hashes, any_order=True)
            return named and listed and len(node.pkps.list(alice, g)) == len(wallets)

        with as_over_http(judge, shown):
            judge.members(only(items("list_groups", own), "id", g), labels, "the group in the contract")
            ids = pluck(items("list_wallets_in_group", own, g), "id")
            judge.same_hexes(ids, wallets, "the wallets of the group in the contract")
            held = pluck(items("list_actions_in_group", own, g), "cidHash")
            judge.same_hexes(held, hashes, "its actions in the contract", any_order=True)

    holds("", [p.id], [x])
    node.groups.remove_pkp(alice, g, p.id)
    holds("", [], [x])
    node.groups.add_pkp(alice, g, p.id)
    node.groups.add_action(alice, g, y)
    holds("", [p.id], [x, y])
    node.groups.remove_action(alice, g, hashed_cid(x))
    holds("", [p.id], [y])
    node.groups.update(alice, g, "renamed", pkp_ids=[], cid_hashes=[hashed_cid(x)])
    holds("renamed", [], [x])
    node.groups.remove(alice, g)
    with as_over_http(judge, lambda: g not in pluck(node.groups.list(alice), "id")):
        left = pluck(items("list_groups", own), "id")
        judge.that(g not in left, "a contract without the removed group", left)


@case("contract-knows-action-metadata", requirements=["CHAIN-050"], needs=ON_CHAIN)
def contract_knows_action_metadata(judge: Judge, node: Node) -> None:
    """The contract's record of action metadata shows each write over HTTP."""
    alice, cid = node.accounts.new().key, node.actions.sample_cid("one")
    own, hashed = account_hash(alice, node.session.profile), hashed_cid(cid)

    def holds(*names: str) -> None:
        with as_over_http(judge, lambda: pluck(node.actions.list(alice), "name") == [*names]):
            actions = node.contract.items("list_actions", own)
            judge.same_hexes(pluck(actions, "cidHash"), [hashed for _ in names], "the actions in the contract")
            labels = [{"name": name, "description": DESCRIPTION} for name in names]
            judge.items(actions, labels, "the labels of the actions in the contract")

    node.actions.add(alice, cid)
    holds(node.label)
    node.actions.update(alice, hashed, "renamed")
    holds(f"{node.label} renamed")
    node.actions.delete(alice, hashed)
    holds()


# --------------------------------------------------------------------------------------------------- who writes to it


@case(
    "payers-send-the-writes",
    requirements=["CHAIN-080", "CHAIN-060", "CHAIN-190", "ACC-140"],
    needs=ON_CHAIN,
)
def payers_send_the_writes(judge: Judge, node: Node) -> None:
    """Managed writes are transactions that published payers, who hold gas, send to the contract."""
    alice = node.accounts.new().key
    published = {payer.lower() for payer in payers(node.session)}
    before = node.session.chain.block_number()
    # At once, so that each of several payers has something to send.
    for answer in send_at_once(node.session, [node.groups.creation(alice, f"{number}") for number in range(AT_ONCE)]):
        must_accept(answer)
    with judge("ACC-140"):
        # A transaction of this case is one whose calldata hold a text that only this case sends.
        sent = node.contract.transactions_after(before, holding=node.label.encode().hex())
        judge.that(len(sent) > 0, "transactions with the names of the new groups", sent)
    with judge("ACC-140"):
        receivers = {printed(one["to"]) for one in sent}
        judge.that(receivers == {node.contract.address.lower()}, "transactions to the contract", receivers)
    senders = {printed(one["from"]) for one in sent}
    told = f"no sender but {', '.join(sorted(published))}"
    with judge("CHAIN-080"):
        judge.that(bool(senders & published), told, senders)
    with judge("CHAIN-060", why="get_api_payers lists every payer that sends a write"):
        judge.that(senders <= published, told, senders)
    with judge("CHAIN-190"):
        judge.that(all(node.session.chain.balance(sender) > 0 for sender in senders), "senders with gas", senders)


@case("no-key-on-the-chain", requirements=["CHAIN-140"], needs=ON_CHAIN)
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


@case("strangers-write-nothing", requirements=["CHAIN-130"], needs=ON_CHAIN)
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
