"""Wallets minted by signature, where cases compute ("States and transitions / Minted wallet or usage key")."""

from __future__ import annotations

from dataclasses import replace

from conformance.cases import Judge, case
from conformance.service.derivations import account_hash, wallet_hash
from conformance.service.envelopes import billing_auth
from conformance.service.node import Node
from conformance.service.refusal import must_refuse
from conformance.values.json_values import member, pluck, printed

CONTRACT_SIGNATURES = "env.erc1271_outside_convert"


@case("again", requirements=["MINT-180"])
def again(judge: Judge, node: Node) -> None:
    """The same request again gives another wallet and another path."""
    request = node.minting.request("create_wallet_with_signature", node.wallets.new("carol"))
    minted = [node.session.accept(request)[0].value]
    with judge():
        minted += [node.session.accept(request)[0].value for _ in range(3)]
        for name in ("wallet_address", "derivation_path"):
            judge.distinct(pluck(minted, name), f"values of {name} in the answers to one envelope")


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
