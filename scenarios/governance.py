"""Whose word counts in a ChainSecured account ("Authentication" 8 to 10).

The owner is a governance wallet, be it a plain wallet or a contract; keys hold what the owner gave them; nothing else
opens the account. Item 8 is taken to the letter: management writes come from the admin wallet, and keys of such
accounts run actions. Whether a key that holds the scope may also write over HTTP is the profile's
`auth.chain_secured_usage_key_writes` (AUTH-220); one without the scope may not in any case.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from conformance.cases import Judge, case
from conformance.endpoints.extent import every_other
from conformance.endpoints.requests import OutgoingRequest
from conformance.service.acceptance import Accepted
from conformance.service.admin_writes import group_named, wallet_record
from conformance.service.bindings import Converted, bound, converted
from conformance.service.derivations import bytes_of_hex, bytes_of_key, hashed_cid, random_key, wallet_hash
from conformance.service.envelopes import WALLET_AUTH, billing_auth, sign_envelope, wallet_auth_header
from conformance.service.lists import first_page, unchanged_list
from conformance.service.minting import BALANCE, NEVER
from conformance.service.node import Node
from conformance.service.reads import Read
from conformance.service.refusal import Refusals, must_be_as_stated, must_refuse
from conformance.service.secrecy import must_hide
from conformance.service.usage_keys import ALL_PERMISSIONS, Permissions
from conformance.values.ids import PkpId
from conformance.values.json_text import written
from conformance.values.json_values import member, pluck, printed, same_hex

API_KEY = re.compile(r'"api_?[kK]ey"\s*:')
CHAIN = ("chain_rpc", "funded_wallet")
AFTER_CONVERSION = ({"chain.admin_hash_meaning": "api_key_hash"}, {"billing.credits_after_conversion": "moved"})
STATED_WRITES = "auth.chain_secured_usage_key_writes"
RECORD = ("list_groups", "list_wallets", "list_usage_api_keys", "list_actions")


def record(node: Node, account: str) -> list[Read]:
    """What the contract holds of an account, as reads that must stay unchanged."""
    whole = node.contract.unchanged_view("get_account", account)
    return [whole, *(node.contract.unchanged_items(view, account) for view in RECORD)]


@case("broad-keys-run-and-convert-nothing", requirements=["AUTH-160"], needs=["managed_accounts"])
def broad_keys_run_and_convert_nothing(judge: Judge, node: Node) -> None:
    """A key with every permission runs in every group of an API-mode account, and does not hand the account over."""
    alice, bob = node.accounts.new().key, node.accounts.new().key
    p, actions = node.pkps.create(alice), [node.actions.prepared(mark=mark) for mark in "xy"]
    for action in actions:
        bound(node, alice, [p], [action])
    key = node.usage_keys.add(alice, ALL_PERMISSIONS).key
    for action in actions:
        node.signing.must_sign(key, action, p)
    by_account_key = node.session.accept(node.accounts.conversion(bob, node.wallets.new("erin")))[1]
    by_key = node.accounts.conversion(key, node.wallets.new("carol"))
    reads = [unchanged_list(node.session, name, alice) for name in ("list_groups", "list_api_keys")]
    with judge():
        must_refuse(node.session, by_key, ["forbidden", "unauthenticated"], control=by_account_key, unchanged=reads)
        # The account key still writes: the account is in API mode.
        node.session.accept(node.groups.creation(alice))


@case("conversion-hands-out-no-key", requirements=["ACC-160"], needs=["managed_accounts"])
def conversion_hands_out_no_key(judge: Judge, node: Node) -> None:
    """The answer of a conversion holds no account key."""
    alice, carol = node.accounts.new().key, node.wallets.new("carol")
    with judge():
        answer = node.session.accept(node.accounts.conversion(alice, carol))[0]
        judge.that(API_KEY.search(answer.text) is None, "an answer without an api_key", answer.text)
        must_hide(answer, alice, "the account key")


# ------------------------------------------------------------------------------------------------- a contract as owner


@case(
    "contract-wallet-owns",
    requirements=["AUTH-170", "ACC-060", "ACC-180"],
    needs=CHAIN,
    uses=[{"mode.contract_admin": "accepted"}],
)
def contract_wallet_owns(judge: Judge, node: Node) -> None:
    """A contract wallet owns the account that it makes, writes to it, and the wallet behind it does not."""
    carol = node.wallets.new("carol")
    vault = node.wallets.contract_wallet(carol)
    own = wallet_hash(vault.address)
    with judge("ACC-180"):
        node.contract.write(vault, "new_chain_secured_account", node.label, "d")
    with judge("ACC-060"):
        judge.same(node.contract.view("account_exists", own), {"exists": True}, "the account under the vault's hash")
    with judge("ACC-180"):
        account = node.contract.view("get_account", own)
        judge.same(member(account, "managed"), False, "managed, of an account that a wallet owns")
        admin = member(account, "adminWalletAddress")
        judge.that(same_hex(admin, vault.address), f"the admin wallet {vault.address}", admin)
    with judge("AUTH-170"):
        _, adds = node.contract.write(vault, "add_group", own, node.label, "d", [], [])
        judge.same(pluck(node.contract.items("list_groups", own), "name"), [node.label], "the groups of the account")
        groups = [node.contract.unchanged_items("list_groups", own)]
        behind = "of the wallet behind"
        node.contract.must_refuse(carol, "add_group", own, behind, "d", [], [], control=adds, unchanged=groups)


@case(
    "contract-wallet-grants",
    requirements=["AUTH-170"],
    needs=CHAIN,
    uses=[
        {"mode.contract_admin": "accepted"},
        {"auth.usage_key_permission.lists": "any_key"},
        "wire.list_groups.item_fields.name",
    ],
)
def contract_wallet_grants(judge: Judge, node: Node) -> None:
    """A key that a contract wallet attached holds the execute scope for its group, and lists the account."""
    carol = node.wallets.new("carol")
    vault = node.wallets.contract_wallet(carol)
    dana = node.accounts.by_wallet(vault)
    # Envelopes are a plain wallet's: contract signatures do not count everywhere.
    wallet, key, other_key = node.minting.wallet(carol), *(node.minting.usage_key(carol) for _ in range(2))
    hashes = [hashed_cid(node.actions.sample_cid(name)) for name in ("one", "two")]
    names = [f"{node.label} {name}" for name in "GH"]
    with judge():
        for minted in (wallet, key, other_key):
            node.minting.register(dana, minted)
        pkp = PkpId(printed(member(wallet_record(node, dana.hash, wallet.address), "id")))
        for name, hashed in zip(names, hashes, strict=True):
            node.contract.write(vault, "add_group", dana.hash, name, "d", [pkp], [hashed])
        g = group_named(node, dana, names[0])
        node.minting.attach(dana, key, Permissions(add_pkp_to_groups=[g], execute_in_groups=[g]))
    for hashed, permitted in zip(hashes, (True, False), strict=True):
        with judge.apart():
            may = node.contract.view("can_execute", key.hash, hashed, pkp)
            judge.members(may, {"permitted": permitted}, "whether the key may run the action")
    with judge():
        judge.same(
            sorted(map(printed, pluck(node.groups.list(key.key), "name"))), names, "the groups that the key lists"
        )
        permissions = ALL_PERMISSIONS.arguments
        attaching = [dana.hash, other_key.hash, node.session.stated(NEVER), BALANCE, "n", "d", *permissions]

        def by_the_vault() -> None:
            node.contract.write(vault, "set_usage_api_key", *attaching)

        keys = [node.contract.unchanged_items("list_usage_api_keys", dana.hash)]
        node.contract.must_refuse(carol, "set_usage_api_key", *attaching, control=by_the_vault, unchanged=keys)


# ------------------------------------------------------------------------------------------------ restricted and broad


def in_an_account_of_bobs(node: Node, on: Converted) -> dict[str, Accepted]:
    """Each management write, accepted from the key of an API-mode account: the controls of what is refused."""
    bob = node.accounts.new().key
    pkp = node.pkps.create(bob)
    empty = node.groups.add(bob)
    filled = bound(node, bob, [pkp], [on.x])
    key = node.usage_keys.add(bob, ALL_PERMISSIONS)
    made = [
        pkp.accepted,
        empty.accepted,
        node.groups.add_action(bob, empty.id, on.y.cid),
        node.groups.remove_action(bob, filled, on.x.hash),
        node.groups.add_pkp(bob, empty.id, pkp.id),
        node.groups.remove_pkp(bob, filled, pkp.id),
        node.groups.update(bob, empty.id, pkp_ids=[], cid_hashes=[]),
        node.groups.remove(bob, filled),
        key.accepted,
        node.usage_keys.update(bob, key.key, ALL_PERMISSIONS),
        node.usage_keys.rename(bob, key.key, "renamed"),
        node.usage_keys.remove(bob, key.key),
        node.actions.add(bob, on.x.cid),
        node.actions.update(bob, on.x.hash, "renamed"),
        node.actions.delete(bob, on.x.hash),
    ]
    return {accepted.call: accepted for accepted in made}


def asked_by(key: str, accepted: Accepted, **members: object) -> OutgoingRequest:
    """The accepted request with another key, about objects of that key's account."""
    return replace(accepted.changed(**members), credential=key)


def broaden(node: Node, on: Converted) -> None:
    """Have the owner give the key every permission."""
    arguments = [on.account.hash, on.attached.hash, "n", "d", *ALL_PERMISSIONS.arguments]
    node.contract.write(on.account.admin, "update_usage_api_key", *arguments)


@case(
    "restricted-keys-run-and-no-more",
    requirements=["AUTH-170"],
    needs=[*CHAIN, "managed_accounts"],
    uses=AFTER_CONVERSION,
)
def restricted_keys_run_and_no_more(judge: Judge, node: Node) -> None:
    """In the restricted setup a key runs in its group, and is refused everything that it holds no scope for."""
    on = converted(node, adds_pkps=True)
    node.contract.write(on.account.admin, "add_action", on.account.hash, on.x.hash, "n", "d")
    controls = in_an_account_of_bobs(node, on)
    # The key may add wallets to G: there it is the profile that says whether over HTTP.
    objects: dict[str, dict[str, object]] = {
        "add_action_to_group": {"group_id": on.g},
        "remove_action_from_group": {"group_id": on.g},
        "remove_pkp_from_group": {"group_id": on.g, "pkp_id": on.p.id},
        "add_pkp_to_group": {"group_id": on.h, "pkp_id": on.p.id},
        "update_group": {"group_id": on.g},
        "remove_group": {"group_id": on.h},
        "update_usage_api_key": {"usage_api_key": on.key},
        "update_usage_api_key_metadata": {"usage_api_key": on.key},
        "remove_usage_api_key": {"usage_api_key": on.key},
        "add_action": {"action_ipfs_cid": on.y.cid},
    }
    reads = record(node, on.account.hash)
    for view in ("list_actions_in_group", "list_wallets_in_group"):
        reads += [node.contract.unchanged_items(view, on.account.hash, group) for group in (on.g, on.h)]
    with judge():
        runs = node.signing.must_sign(on.key, on.x, on.p).accepted
        node.signing.must_be_refused(on.key, on.y, on.q, control=runs)
        with Refusals(node.session, control=list(controls.values()), unchanged=reads) as refusals:
            for operation, accepted in controls.items():
                refusals.send(asked_by(on.key, accepted, **objects.get(operation, {})), ["any"])
        node.signing.must_sign(on.key, on.x, on.p)


@case(
    "scopes-over-http",
    requirements=["AUTH-220"],
    needs=[*CHAIN, "managed_accounts"],
    uses=[*AFTER_CONVERSION, STATED_WRITES],
)
def scopes_over_http(judge: Judge, node: Node) -> None:
    """Whether a key with a scope writes to a ChainSecured account over HTTP is as the profile says."""
    on = converted(node)
    bob = node.accounts.new().key
    pkp, group = node.pkps.create(bob), node.groups.add(bob)
    adds = node.groups.add_pkp(bob, group.id, pkp.id)
    groups, wallets = (node.contract.unchanged_items(view, on.account.hash) for view in ("list_groups", "list_wallets"))
    in_g = node.contract.unchanged_items("list_wallets_in_group", on.account.hash, on.g)
    with judge(), Refusals(node.session, control=group.accepted, unchanged=[groups]) as refusals:
        refusals.send(asked_by(on.key, group.accepted), ["any"])
    broaden(node, on)
    for control, members, read in (
        (group.accepted, {}, groups),
        (pkp.accepted, {}, wallets),
        (adds, {"group_id": on.g, "pkp_id": on.q.id}, in_g),
    ):
        with judge.apart():
            request = asked_by(on.key, control, **members)
            must_be_as_stated(node.session, request, STATED_WRITES, control=control, unchanged=[read])


@case("broad-keys-of-a-wallet", requirements=["AUTH-160"], needs=[*CHAIN, "managed_accounts"], uses=AFTER_CONVERSION)
def broad_keys_of_a_wallet(judge: Judge, node: Node) -> None:
    """In the broad setup a key runs in every group, and is refused the owner-only operations all the same."""
    on = converted(node)
    bob = node.accounts.new().key
    added = node.usage_keys.add(bob, ALL_PERMISSIONS)
    removed = node.usage_keys.remove(bob, added.key)
    broaden(node, on)
    keys = [node.contract.unchanged_items("list_usage_api_keys", on.account.hash)]
    with judge():
        node.signing.must_sign(on.key, on.x, on.p)
        node.signing.must_sign(on.key, on.y, on.q)
        with Refusals(node.session, control=[added.accepted, removed], unchanged=keys) as refusals:
            refusals.send(asked_by(on.key, added.accepted), ["any"])
            refusals.send(asked_by(on.key, removed, usage_api_key=on.key), ["any"])


# ----------------------------------------------------------------------------------------------- no other credential


def as_key(hex_digits: str) -> str:
    """Bytes in the form of a key."""
    return base64.b64encode(bytes_of_hex(hex_digits)).decode()


@case(
    "no-account-key",
    requirements=["AUTH-180"],
    needs=[*CHAIN, "managed_accounts"],
    uses=[{"accounts.credits": "granted"}],
)
def no_account_key(judge: Judge, node: Node) -> None:
    """Nothing that is known of a ChainSecured account is a key to it."""
    carol = node.wallets.new("carol")
    dana = node.accounts.by_wallet(carol)
    node.contract.write(carol, "add_group", dana.hash, node.label, "d", [], [])
    # The controls are an API-mode account's, which does have a key.
    alice = node.accounts.new().key
    lists = node.session.request("list_groups", alice, page_number=first_page(node.session), page_size=1)
    controls = [
        node.session.accept(lists)[1],
        node.groups.add(alice).accepted,
        node.session.accept(node.pkps.creation(alice))[1],
        node.usage_keys.add(alice, ALL_PERMISSIONS).accepted,
    ]
    padded = f"{0:024x}{carol.address.removeprefix('0x')}"
    # keccak256 of the address's 20 bytes is the account's hash.
    known = [as_key(carol.address), as_key(padded), carol.address, as_key(dana.hash), dana.hash]
    with judge(), Refusals(node.session, control=controls, unchanged=record(node, dana.hash)) as refusals:
        for number, key in enumerate((*known, random_key(node.session.random))):
            for control in every_other(controls, number):
                refusals.send(asked_by(key, control), ["any"])


@case("no-other-credential", requirements=["AUTH-180", "AUTH-230"], needs=["chain_rpc", "managed_accounts"])
def no_other_credential(judge: Judge, node: Node) -> None:
    """Neither old keys, nor keys of others, nor proofs, nor no key at all change a ChainSecured account over HTTP."""
    alice, carol = node.accounts.new().key, node.wallets.new("carol")
    g, key = bound(node, alice, [], []), node.usage_keys.add(alice, ALL_PERMISSIONS).key
    account = node.accounts.converted(alice, carol).hash
    erik, bob = node.accounts.new().key, node.accounts.new().key
    group, of_erik = node.groups.add(erik), node.usage_keys.add(erik, ALL_PERMISSIONS)
    adds = [group.accepted, of_erik.accepted]
    updates = node.groups.update(erik, group.id, pkp_ids=[], cid_hashes=[])
    removes = [node.groups.remove(erik, group.id), node.usage_keys.remove(erik, of_erik.key)]
    creates = node.session.accept(node.pkps.creation(erik))[1]
    controls = [*adds, updates, *removes, creates]
    objects: Mapping[str, dict[str, object]] = {
        "update_group": {"group_id": g},
        "remove_group": {"group_id": g},
        "remove_usage_api_key": {"usage_api_key": key},
    }

    def asked(by: str | None, operations: Sequence[Accepted], proof: Mapping[str, str | None]) -> list[OutgoingRequest]:
        wanted = [accepted.changed(**objects.get(accepted.call, {})) for accepted in operations]
        return [replace(request, credential=by, headers=dict(proof)) for request in wanted]

    proof = billing_auth(node.session, carol)
    conversion = sign_envelope(node.session, "ConvertAccount", carol)
    encoding = node.session.profile.wire.x_wallet_auth.encoding
    other_proof = {WALLET_AUTH: wallet_auth_header(written(conversion.members), encoding)}
    hashes = [as_key(account), as_key(wallet_hash(carol.address))]
    keys = [
        alice,
        bytes_of_key(alice).hex(),
        *hashes,
        as_key(carol.address),
        carol.address,
        printed(proof[WALLET_AUTH]),
    ]
    by_keys = [
        request
        for number, by in enumerate(node.session.some(keys))
        for request in asked(by, every_other([*adds, *removes, creates], number), {})
    ]
    proofs: Sequence[Mapping[str, str | None]] = (proof, other_proof, {WALLET_AUTH: ""})
    by_proofs = [
        request
        for number, header in enumerate(proofs)
        for request in asked(None, every_other([*adds, *removes], number), header)
    ]
    # Two credentials that count for nothing here count for nothing together.
    by_both = [*asked(alice, adds, proof), *asked(key, adds[1:], proof)]
    # A key of another account that names what is this account's; that account has nothing of its own.
    by_bob = asked(bob, [updates, *removes], {})
    reads = record(node, account)
    with judge.apart("AUTH-180"), Refusals(node.session, control=controls, unchanged=reads) as refusals:
        for request in by_keys:
            refusals.send(request, ["any"])
    with judge("AUTH-230"), Refusals(node.session, control=controls, unchanged=reads) as refusals:
        for request in (*by_proofs, *by_both):
            refusals.send(request, ["any"])
        for request in by_bob:  # to his account, what is named is not there
            refusals.send(request, ["not_found", "any"])
