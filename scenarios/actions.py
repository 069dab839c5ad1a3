"""Actions, where cases compute: spellings of CIDs ("Resources and their fields / Action")."""

from __future__ import annotations

from conformance.cases import Judge, case
from conformance.service.derivations import hashed_cid
from conformance.service.node import Node
from conformance.service.refusal import was_accepted
from conformance.values.ids import Cid
from conformance.values.json_values import pluck

NEEDS = ("managed_accounts",)
SPELLINGS = {
    "base32": "bafybeidwslb22nkaxoadyaqlhlxgntmiq4jdenhkbrxhcq6avxlt75br5u",
    "base32 in capitals": "BAFYBEIB7YTGP45CYODRMBWM7OHZQ74DFNSG63VA4YHL5HU3WWDN6NBPC6M",
    "base16": "f017012208b5b9db0c13db24256c829aa364aa90c6d2eba318b9232a4ab9313b954d3555f",
    "base16 in capitals": "F0170122004EFAF080F5A3E74E1C29D1CA6A48569382CBBCD324E8D59D2B83EF21C039F00",
    "base58btc": "zdj7WXjH1bX5jJkyv7y2BgHZuTF5zqvX1aZCGVfbWcnwUAThq",
    "base36": "k2jmtxvacy5p64u708sn9oawhfsizpcwgk1g59ckse0h1r7a2j7d0tlr",
}
"""A CIDv1 of a content of its own in each of these multibases."""


@case("spellings-of-a-cid-are-not-folded", requirements=["ACT-050", "EP-030"], needs=NEEDS)
def spellings_of_a_cid_are_not_folded(judge: Judge, node: Node) -> None:
    """A CIDv1 in any base and in capitals is stored under the hash of the text as it is, where the node takes it."""
    alice = node.accounts.new().key
    group = node.groups.add(alice).id
    taken: dict[str, list[str]] = {"add_action": [], "add_action_to_group": []}
    labels: dict[str, object] = {"name": node.label, "description": node.label}
    for cid in map(Cid, SPELLINGS.values()):
        for operation, others in (("add_action", labels), ("add_action_to_group", {"group_id": group})):
            request = node.session.request(operation, alice, action_ipfs_cid=cid, **others)
            # In which bases a node takes CIDs is silent.
            with judge.apart("EP-030"):
                if was_accepted(node.session, node.session.send(request), or_refused=["any"]):
                    taken[operation].append(hashed_cid(cid))
    for operation, listed in (
        ("add_action", node.actions.list(alice)),
        ("add_action_to_group", node.actions.list(alice, group)),
    ):
        with judge.apart("ACT-050"):
            judge.same_hexes(
                pluck(listed, "hashed_cid"), taken[operation], f"the hashes that {operation} stored", any_order=True
            )
