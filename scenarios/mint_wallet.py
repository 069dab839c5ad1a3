"""Wallets minted by signature ("States and transitions / Minted wallet or usage key", "Authentication" 6).

A wallet that a signature mints belongs to nobody until an admin wallet registers it.
"""

from __future__ import annotations

from dataclasses import replace

from conformance.cases import Judge, case
from conformance.endpoints.requests import OutgoingRequest
from conformance.service.acceptance import must_accept
from conformance.service.accounts import ChainSecuredAccount
from conformance.service.admin_writes import writes_by_admin
from conformance.service.at_once import send_at_once
from conformance.service.bindings import bound, one_group
from conformance.service.derivations import ID_RULE, account_hash, pkp_id, wallet_hash
from conformance.service.envelopes import billing_auth, sign_envelope
from conformance.service.lists import only
from conformance.service.node import Node
from conformance.service.pkps import Pkp
from conformance.service.refusal import must_refuse
from conformance.service.session import DESCRIPTION
from conformance.service.suite_wallet import SuiteWallet
from conformance.values.ids import is_checked_address
from conformance.values.json_text import parse
from conformance.values.json_values import MISSING, member, pluck, printed, same_hex

MINT = "create_wallet_with_signature"
WALLET_FIELDS = "wire.list_items.fields.wallet"
RUNS_NEED = ("chain_rpc", "funded_wallet", "managed_accounts")
OWN_HASH = {"chain.admin_hash_meaning": "api_key_hash"}
CONTRACT_SIGNATURES = "env.erc1271_outside_convert"


@case("mints", requirements=["MINT-010", "MINT-210", "WSIG-010", "WSIG-080"])
def mints(judge: Judge, node: Node) -> None:
    """Any wallet's signature mints a wallet with its path; no key, no account and no ether are asked for."""
    carol = node.wallets.new("carol")
    with judge("MINT-010", "MINT-210"):
        minted = node.session.accept(node.minting.request(MINT, carol))[0].value
    address, path = member(minted, "wallet_address"), member(minted, "derivation_path")
    with judge("MINT-010", "WSIG-010"):
        judge.that(is_checked_address(address), "a wallet_address (0x, 40 hex digits, EIP-55)", address)
        judge.that(path not in (None, MISSING), "a derivation_path", path)
    with judge("WSIG-080"):
        judge.that(not same_hex(address, carol.address), "another wallet than the signer's", address)


@case("wrong-signer", requirements=["MINT-020", "ENV-220"])
def wrong_signer(judge: Judge, node: Node) -> None:
    """A signature of another wallet mints nothing, nor does one that has minted, beside a later time."""
    carol, mallory = node.wallets.new("carol"), node.wallets.new("mallory")
    signed, later = (sign_envelope(node.session, "CreateWallet", carol, issued=issued) for issued in (0, 10))
    control = node.session.accept(node.session.request(MINT, **signed.members))[1]
    with judge.apart("MINT-020", "ENV-220"):
        request = node.session.request(MINT, **replace(later, signature=signed.signature).members)
        must_refuse(node.session, request, ["any"], control=control, unchanged=[])
    signed_by_another = sign_envelope(node.session, "CreateWallet", carol, signed_by=mallory)
    names_another = sign_envelope(node.session, "CreateWallet", carol, address=mallory.address)
    for envelope in (signed_by_another, names_another):
        with judge.apart("MINT-020"):
            request = node.session.request(MINT, **envelope.members)
            must_refuse(node.session, request, ["any"], control=control, unchanged=[])


def issued_at(request: OutgoingRequest) -> object:
    """When the envelope of a request was issued."""
    data = request.members["typed_data"]
    return member(member(parse(data) if isinstance(data, str) else data, "message"), "issuedAt")


def requests_of_one_second(node: Node, *signers: SuiteWallet) -> list[OutgoingRequest]:
    """Mints that these wallets sign with the same `issuedAt`."""
    while True:
        requests = [node.minting.request(MINT, signer) for signer in signers]
        if len({*map(issued_at, requests)}) == 1:
            return requests


@case("again", requirements=["MINT-180", "MINT-010"])
def again(judge: Judge, node: Node) -> None:
    """The same request again, and several times at the same moment, gives another wallet and another path each time.

    So does one that another wallet has signed in the same second.
    """
    request, of_dave = requests_of_one_second(node, node.wallets.new("carol"), node.wallets.new("dave"))
    minted = [node.session.accept(request)[0].value]
    with judge("MINT-180"):
        minted += [node.session.accept(request)[0].value for _ in range(2)]
        for answer in send_at_once(node.session, [request] * 6):
            must_accept(answer)
            minted.append(answer.value)
        for name in ("wallet_address", "derivation_path"):
            judge.distinct(pluck(minted, name), f"values of {name} in the answers to one envelope")
    with judge("MINT-010"):
        minted.append(node.session.accept(of_dave)[0].value)
        for name in ("wallet_address", "derivation_path"):
            judge.distinct(
                pluck(minted, name), f"values of {name}, the last of another wallet's envelope of that second"
            )


@case("listed-nowhere", requirements=["MINT-010", "MINT-180"], needs=["managed_accounts"])
def listed_nowhere(judge: Judge, node: Node) -> None:
    """A minted wallet is in no list of any account, also where the account's key accompanies the request."""
    alice = node.accounts.new().key
    alone = node.minting.request(MINT, node.wallets.new("carol"))
    with_key = replace(alone, credential=alice)
    node.pkps.create(alice)
    before = node.pkps.list(alice)
    for about, requests in (("MINT-010", [with_key]), ("MINT-180", [alone, with_key])):
        for request in requests:
            node.session.accept(request)
        with judge(about):
            judge.same(node.pkps.list(alice), before, "the account's wallets")


@case("costs-nothing", requirements=["MINT-200"], needs=["managed_accounts", "billing"])
def costs_nothing(judge: Judge, node: Node) -> None:
    """Minting with an account's key costs its credits nothing."""
    alice, carol = node.accounts.new().key, node.wallets.new("carol")
    node.pkps.create(alice)
    before = node.payments.balance(alice)
    for operation in (MINT, "add_usage_api_key_with_signature"):
        node.session.accept(replace(node.minting.request(operation, carol), credential=alice))
    with judge():
        judge.same(node.payments.balance(alice), before, "the balance after minting")


@case("registered-by-the-admin", requirements=["MINT-030", "MINT-070", "PKP-080"], needs=["chain_rpc", "funded_wallet"])
def registered_by_the_admin(judge: Judge, node: Node) -> None:
    """A minted wallet is nobody's until the admin wallet registers it; then it is listed under the given name."""
    account, other = (node.accounts.by_wallet(node.wallets.new(name)) for name in ("carol", "erin"))
    minted = node.minting.wallet(account.admin)

    def listed(owner: ChainSecuredAccount) -> list[object]:
        return node.contract.items("list_wallets", owner.hash)

    with judge("PKP-080"):
        judge.same(listed(account), [], "the account's wallets before one is registered")
    with judge("MINT-030"):
        node.minting.register(account, minted, "named")
    with judge("MINT-030", "PKP-080"):
        judge.same_hexes(pluck(listed(account), "walletAddress"), [minted.address], "the account's wallets")
    with judge("MINT-070"):
        labels = {"name": f"{node.label} named", "description": DESCRIPTION}
        judge.items(listed(account), [labels], "the wallets with the labels that the contract was given")
    with judge("MINT-030"):
        judge.same(listed(other), [], "the wallets of another account")


@case(
    "listed-over-http",
    requirements=["MINT-030", "MINT-070", "PKP-080"],
    needs=RUNS_NEED,
    uses=[
        OWN_HASH,
        {"auth.usage_key_permission.lists": "any_key"},
        *(f"{WALLET_FIELDS}.{name}" for name in ("wallet_address", "name", "description")),
    ],
)
def listed_over_http(judge: Judge, node: Node) -> None:
    """The node lists a minted wallet once it is registered, with the name and description given to the contract.

    Whoever had it minted: another wallet than the admin that registers it.
    """
    on, bob = one_group(node), node.accounts.new().key
    account = node.accounts.converted(on.alice, node.wallets.new("carol"))
    minted = node.minting.wallet(node.wallets.new("dave"))
    before, of_bob = node.pkps.list(on.key), node.pkps.list(bob)
    with judge("PKP-080"):
        known = [one for one in pluck(before, "wallet_address") if same_hex(one, minted.address)]
        judge.same(known, [], "the minted wallet in the list before it is registered")
    with judge("MINT-030"):
        node.minting.register(account, minted, "named")
    after = node.pkps.list(on.key)
    with judge("MINT-030", "PKP-080"):
        wallet = only(after, "wallet_address", minted.address)
    with judge("MINT-070"):
        labels = {"name": f"{node.label} named", "description": DESCRIPTION}
        judge.members(wallet, labels, "the wallet with the labels that the contract was given")
    with judge("MINT-030"):
        judge.same(len(after), len(before) + 1, "the number of listed wallets")
        judge.same(node.pkps.list(bob), of_bob, "the wallets of another account")


@case("registered-wallet-signs", requirements=["MINT-040"], needs=RUNS_NEED, uses=[OWN_HASH, ID_RULE])
def registered_wallet_signs(judge: Judge, node: Node) -> None:
    """A minted wallet, registered with its path unchanged, signs runs as the minted address, whoever had it minted."""
    x = node.actions.prepared()
    alice = node.accounts.new().key
    own, key = node.pkps.create(alice), node.usage_keys.executing_in(alice, 0)
    g = bound(node, alice, [own], [x])
    account = node.accounts.converted(alice, node.wallets.new("carol"))
    minted = node.minting.wallet(node.wallets.new("dave"))
    registered = node.minting.register(account, minted)
    wallet = Pkp(pkp_id(minted.address, node.session.stated(ID_RULE)), minted.address, registered)
    # Registered, it is in no group yet.
    control = node.signing.must_sign(key, x, own).accepted
    with judge():
        node.signing.must_be_refused(key, x, wallet, control=control, classes=["any"])
    # In the group of the other wallet: this is not about runs that a second group permits.
    writes_by_admin(node, account)("add_pkp_to_group", g, wallet.id)
    with judge():
        node.signing.must_sign(key, x, wallet)


@case("changes-nothing-on-chain", requirements=["MINT-200"], needs=["chain_rpc", "managed_accounts"])
def changes_nothing_on_chain(judge: Judge, node: Node) -> None:
    """Minting sends no transaction and changes no record."""
    alice, carol = node.accounts.new().key, node.wallets.new("carol")
    own = account_hash(alice, node.session.profile)
    flows = ("create_wallet_with_signature", "add_usage_api_key_with_signature")
    requests = [replace(node.minting.request(flow, carol), credential=alice) for flow in flows]
    views = ("list_wallets", "list_usage_api_keys")
    records = {view: node.contract.items(view, own) for view in views}
    before = node.session.chain.block_number()
    with judge():
        minted = [node.session.accept(request)[0].value for _ in range(3) for request in requests]
        # Other traffic may go through the same payers: a transaction of these mints would name a wallet or the signer.
        marks = [printed(member(one, "wallet_address")).lower()[2:] for one in minted] + [carol.address.lower()[2:]]
        mined = node.contract.transactions_after(before)
        naming = [one for one in mined if any(mark in printed(one["input"]) for mark in marks)]
        judge.same(naming, [], "the transactions that name a minted wallet or the signer")
    for view in views:
        with judge.apart():
            judge.same(node.contract.items(view, own), records[view], f"{view} of the account, as before")
    with judge.apart():
        exists = node.contract.view("account_exists", wallet_hash(carol.address))
        judge.same(exists, {"exists": False}, "an account of the signer")


@case(
    "contract-signatures-as-stated",
    requirements=["MINT-260"],
    needs=["chain_rpc", "funded_wallet"],
    uses=[CONTRACT_SIGNATURES],
)
def contract_signatures_as_stated(judge: Judge, node: Node) -> None:
    """A contract account that calls its owner's signature valid (ERC-1271) mints or not, as the profile states."""
    carol = node.wallets.new("carol")
    vault = node.wallets.contract_wallet(carol)
    stated = node.session.stated(CONTRACT_SIGNATURES)
    for operation in ("create_wallet_with_signature", "add_usage_api_key_with_signature"):
        _, control = node.session.accept(node.minting.request(operation, carol))
        request = node.minting.request(operation, vault)
        with judge.apart():
            if stated == "accepted":
                node.session.accept(request)
            else:
                must_refuse(node.session, request, ["any"], control=control, unchanged=[])


@case(
    "contract-signatures-show-no-balance",
    requirements=["MINT-260"],
    needs=["managed_accounts", "billing", "chain_rpc", "funded_wallet"],
    uses=[{CONTRACT_SIGNATURES: "refused"}],
)
def contract_signatures_show_no_balance(judge: Judge, node: Node) -> None:
    """Where the profile states that contract signatures are refused, none counts in X-Wallet-Auth."""
    carol = node.wallets.new("carol")
    node.accounts.convert(node.accounts.new().key, carol)
    request = node.payments.by_wallet("balance", carol)
    _, control = node.session.accept(request)
    vault = node.wallets.contract_wallet(carol)
    with judge():
        by_vault = replace(request, headers=billing_auth(node.session, vault))
        must_refuse(node.session, by_vault, ["any"], control=control, unchanged=[])
