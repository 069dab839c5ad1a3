"""Wallets minted by signature, where cases compute ("States and transitions / Minted wallet or usage key")."""

from __future__ import annotations

from conformance.cases import Judge, case
from conformance.service.node import Node
from conformance.values.json_values import member, printed


@case("again", requirements=["MINT-180"])
def again(judge: Judge, node: Node) -> None:
    """The same request again gives another wallet and another path."""
    request = node.minting.request("create_wallet_with_signature", node.wallets.new("carol"))
    minted = [node.session.accept(request)[0].value]
    with judge():
        minted += [node.session.accept(request)[0].value for _ in range(3)]
        addresses = {printed(member(one, "wallet_address")).lower() for one in minted}
        paths = {printed(member(one, "derivation_path")) for one in minted}
        judge.that(len(addresses) == len(paths) == 4, "four wallets with four paths", minted)
