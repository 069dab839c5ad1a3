"""Actions, and the rule of raw and hashed CIDs ("Resources and their fields / Action", "Wallets and actions").

The hashed CID is keccak256 of the raw CID's text. The lists of actions, unlike `list_groups`, have no order that the
specification states: items are found by their hash.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from conformance.cases import Judge, case
from conformance.endpoints.extent import every_other
from conformance.profile.wire import ZERO_HASH
from conformance.service.acceptance import Accepted
from conformance.service.derivations import account_hash, hashed_cid, random_hash
from conformance.service.lists import only, unchanged_list
from conformance.service.node import Node
from conformance.service.refusal import NO_ID, Refusals, must_be_as_stated, was_accepted
from conformance.values.ids import Cid, GroupId, HashedCid
from conformance.values.json_values import MISSING, member, pluck, printed, same_hex

NEEDS = ("managed_accounts",)
LABELS = tuple(f"wire.list_items.fields.action.{label}" for label in ("name", "description"))
DUPLICATE = "semantics.add_action_duplicate"
UNREGISTERED = (
    "semantics.list_actions_unregistered.account_list",
    "semantics.list_actions_unregistered.labels_in_group_list",
)
VERSIONS = {
    "QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWnPbdG": (
        "0x9e70d347eb27e5edfa2b03409b020ecdaba0997a7a4806a5c441694ea6bf9b5d"
    ),
    "bafybeie5nqv6kd3qnfjupgvz34woh3oksc3iau6abmyajn7qvtf6d2ho34": (
        "0x5cf993e2b923ae6d8c8dc642422007abb9a8539f603b14b868f72ced14994571"
    ),
}
"""The CIDv0 and the CIDv1 of one content, each with its hash."""
NO_CIDS = [
    "",
    "three random words",
    "https://example.org/action.js",
    # As long as a CIDv0, with a last letter that base58 leaves out.
    "QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWnPbd0",
    # In base58 a leading 1 is a byte of zeros: not the bytes of a CIDv0 any more.
    "1QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWnPbdG",
    # The same before a CIDv1, after the z that stands for base58.
    "z1b2rhZfjRh2FHHB2RkHVEvL2vJnCTcu7kwRqgVsf9gpkLgteo",
    # Multibase, like any CIDv1, but the bytes are those of a word.
    "bmzxw6ytboi",
]
SPELLINGS = {
    "base32": "bafybeidwslb22nkaxoadyaqlhlxgntmiq4jdenhkbrxhcq6avxlt75br5u",
    "base32 in capitals": "BAFYBEIB7YTGP45CYODRMBWM7OHZQ74DFNSG63VA4YHL5HU3WWDN6NBPC6M",
    "base16": "f017012208b5b9db0c13db24256c829aa364aa90c6d2eba318b9232a4ab9313b954d3555f",
    "base16 in capitals": "F0170122004EFAF080F5A3E74E1C29D1CA6A48569382CBBCD324E8D59D2B83EF21C039F00",
    "base58btc": "zdj7WXjH1bX5jJkyv7y2BgHZuTF5zqvX1aZCGVfbWcnwUAThq",
    "base36": "k2jmtxvacy5p64u708sn9oawhfsizpcwgk1g59ckse0h1r7a2j7d0tlr",
}
"""A CIDv1 of a content of its own in each of these multibases."""


@dataclass(frozen=True)
class Registered:
    """An account with two actions, X and Y, that nobody has registered yet, and what its lists must show of actions."""

    judge: Judge
    node: Node
    key: str
    x: Cid
    y: Cid

    def register(self, cid: Cid, name: str = "n", description: str = "d", **others: object) -> Accepted:
        """Register an action with these labels."""
        labels = {"name": name, "description": description, **others}
        return self.node.session.accept(
            self.node.session.request("add_action", self.key, action_ipfs_cid=cid, **labels)
        )[1]

    def relabel(self, cid: Cid, name: str, description: str) -> None:
        """Replace the labels of an action."""
        labels = {"hashed_cid": hashed_cid(cid), "name": name, "description": description}
        self.node.session.call("update_action_metadata", self.key, **labels)

    def must_list(self, labels: Mapping[Cid, tuple[str, str]]) -> None:
        """The account lists these actions with their name and description, and no others."""
        listed = self.node.actions.list(self.key)
        hashes = [hashed_cid(cid) for cid in labels]
        self.judge.same_hexes(pluck(listed, "hashed_cid"), hashes, "the account's actions", any_order=True)
        for cid, (name, description) in labels.items():
            item, expected = only(listed, "hashed_cid", hashed_cid(cid)), {"name": name, "description": description}
            self.judge.members(item, expected, "the labels of the action")

    def must_hold(self, group: GroupId, *cids: Cid) -> list[object]:
        """The group lists these actions and no others. Returns its items."""
        items = self.node.actions.list(self.key, group)
        hashes = pluck(items, "hashed_cid")
        self.judge.same_hexes(hashes, [*map(hashed_cid, cids)], "the actions of the group", any_order=True)
        return items

    def group(self, *cids: Cid) -> GroupId:
        """A new group with these actions."""
        return self.node.groups.add(self.key, cid_hashes=[*map(hashed_cid, cids)]).id


def account(judge: Judge, node: Node) -> Registered:
    """A fresh one."""
    key = node.accounts.new().key
    return Registered(judge, node, key, node.actions.sample_cid("x"), node.actions.sample_cid("y"))


@case("one-cid-in-two-accounts", requirements=["ACT-020", "ACT-210"], needs=NEEDS, uses=LABELS)
def one_cid_in_two_accounts(judge: Judge, node: Node) -> None:
    """Two accounts register one CID under names of their own, and neither sees or changes the other's."""
    alice, bob = account(judge, node), account(judge, node)
    of_alice, of_bob = ("of alice", "by alice"), ("of bob", "by bob")
    alice.register(alice.x, *of_alice)
    alice.must_list({alice.x: of_alice})
    with judge():
        bob.register(alice.x, *of_bob)
        alice.must_list({alice.x: of_alice})
        bob.must_list({alice.x: of_bob})
    alice.relabel(alice.x, "renamed", "described")
    alice.must_list({alice.x: ("renamed", "described")})
    with judge("ACT-210"):
        bob.must_list({alice.x: of_bob})
    node.actions.delete(alice.key, hashed_cid(alice.x))
    alice.must_list({})
    with judge("ACT-210"):
        bob.must_list({alice.x: of_bob})


@case("any-cid-in-a-group", requirements=["ACT-030", "ACT-130", "ACC-110"], needs=NEEDS)
def any_cid_in_a_group(judge: Judge, node: Node) -> None:
    """An account puts in its group a CID that only another account registered, and one that nobody registered."""
    alice, bob = account(judge, node), account(judge, node)
    of_alice, of_nobody = alice.x, alice.y
    alice.register(of_alice, f"{node.label} of alice", f"{node.label} by alice")
    g, own = bob.group(), node.actions.sample_cid("own")
    bob.register(own)
    node.groups.add_action(bob.key, g, own)
    with judge("ACT-030"):
        for cid in (of_alice, of_nobody):
            node.groups.add_action(bob.key, g, cid)
        listed = bob.must_hold(g, own, of_alice, of_nobody)
        h = bob.group(of_alice, of_nobody)
    with judge.apart("ACC-110", why="the labels that another account gave an action are that account's"):
        item = only(listed, "hashed_cid", hashed_cid(of_alice))
        judge.that("alice" not in printed(item), "the action without the other account's labels", item)
    with judge("ACT-130", why="add_group takes the keccak256 of a CID and lists it as it was given"):
        bob.must_hold(h, of_alice, of_nobody)
    with judge("ACT-130", why="update_group takes the keccak256 of a CID and lists it as it was given"):
        node.groups.update(bob.key, h, pkp_ids=[], cid_hashes=[hashed_cid(of_nobody)])
        bob.must_hold(h, of_nobody)


@case("two-versions-are-two-actions", requirements=["ACT-040", "ACT-050", "ACT-090"], needs=NEEDS)
def two_versions_are_two_actions(judge: Judge, node: Node) -> None:
    """The CIDv0 and the CIDv1 of one content are two actions, each under keccak256 of its own text."""
    first, second = VERSIONS
    for cid in (first, second):
        alice = account(judge, node)
        g = alice.group()
        node.groups.add_action(alice.key, g, Cid(cid))
        alice.register(Cid(cid))
        lists = node.actions.list(alice.key, g), node.actions.list(alice.key)
        judge.set_up([*map(len, lists)] == [1, 1], "lists of the one action that was added")
        shown: list[object] = []
        with judge.apart():
            shown += [member(only(listed, "hashed_cid", VERSIONS[cid]), "hashed_cid") for listed in lists]
        with judge.apart("ACT-040"):
            for own in shown:
                judge.that(printed(own).startswith("0x"), "a hash that begins with 0x", own)
        if cid == first:  # nobody else has registered the second yet
            with judge("ACT-050", why="each is registered beside the other"):
                alice.register(Cid(second))
                hashes = pluck(node.actions.list(alice.key), "hashed_cid")
                judge.same_hexes(hashes, [*VERSIONS.values()], "the account's actions", any_order=True)


@case("metadata-is-registered-and-replaced", requirements=["ACT-010", "ACT-060", "EP-300"], needs=NEEDS, uses=LABELS)
def metadata_is_registered_and_replaced(judge: Judge, node: Node) -> None:
    """An action is registered by the CID of its code; its labels are replaced by the hash of that CID alone."""
    alice = account(judge, node)
    cid = node.actions.asked_cid("async function main(parameters) { return parameters }")
    labels = {cid: ("zwölf", "δύο, 二"), alice.y: ("other", "of other")}
    alice.register(cid, *labels[cid])
    # What a node answers to the hash of an action that it does not know is its own affair; it may do nothing here.
    unknown = {"hashed_cid": random_hash(node.session.random)}
    wrong = {"name": "wrong", "description": "wrong"}
    with judge("ACT-010"):
        for name, others in (("update_action_metadata", wrong), ("delete_action", {})):
            answer = node.session.send(node.session.request(name, alice.key, **unknown, **others))
            was_accepted(node.session, answer, or_refused=["any"])
        listed = node.actions.list(alice.key)
        judge.same_hexes(pluck(listed, "hashed_cid"), [hashed_cid(cid)], "the account's actions")
        judge.that("wrong" not in pluck(listed, "name"), "the action without the labels of another", listed)
    alice.register(alice.y, *labels[alice.y])
    with judge("ACT-060"):
        alice.must_list(labels)
    labels[cid] = "renamed", labels[cid][1]
    with judge("ACT-010"):
        alice.relabel(cid, *labels[cid])
    with judge("ACT-060"):
        alice.must_list(labels)
    emptied = {"hashed_cid": hashed_cid(cid), "name": "again", "description": ""}
    with judge("EP-300"):
        answer = node.session.send(node.session.request("update_action_metadata", alice.key, **emptied))
        if was_accepted(node.session, answer, or_refused=["malformed", "invalid"]):
            labels[cid] = "again", ""
    with judge("ACT-060", "EP-300"):
        alice.must_list(labels)
    with judge("ACT-010"):
        node.actions.delete(alice.key, hashed_cid(cid))
        left = pluck(node.actions.list(alice.key), "hashed_cid")
        judge.that(not any(same_hex(one, hashed_cid(cid)) for one in left), "a list without the deleted action", left)


@case(
    "contract-and-list-agree-on-actions",
    requirements=["ACT-040", "ACT-060", "ACT-100"],
    needs=[*NEEDS, "chain_rpc"],
)
def contract_and_list_agree_on_actions(judge: Judge, node: Node) -> None:
    """After each write the contract holds the same actions, names and descriptions as list_actions shows."""
    alice = account(judge, node)
    own = account_hash(alice.key, node.session.profile)
    labels = {alice.x: ("name", "description"), alice.y: ("other", "of other")}

    def must_hold(*about: str) -> None:
        held = node.contract.items("list_actions", own)
        judge.set_up(bool(held) or not labels, "a contract that holds an action")
        with judge(*about):
            hashes = [hashed_cid(cid) for cid in labels]
            judge.same_hexes(pluck(held, "cidHash"), hashes, "the actions in the contract", any_order=True)
        with judge("ACT-060"):
            for cid, (name, description) in labels.items():
                item, expected = only(held, "cidHash", hashed_cid(cid)), {"name": name, "description": description}
                judge.members(item, expected, "the labels in the contract")

    for cid, texts in labels.items():
        alice.register(cid, *texts)
    must_hold("ACT-040")
    labels[alice.x] = "renamed", "described"
    with judge("ACT-100"):
        alice.relabel(alice.x, *labels[alice.x])
    must_hold("ACT-060")
    with judge("ACT-100"):
        node.actions.delete(alice.key, hashed_cid(alice.x))
    del labels[alice.x]
    must_hold("ACT-100")


@case("registering-joins-no-group", requirements=["ACT-070"], needs=NEEDS)
def registering_joins_no_group(judge: Judge, node: Node) -> None:
    """Registering an action adds it to no group, made before or after; only adding it to a group does."""
    alice = account(judge, node)
    g, h = alice.group(), alice.group(alice.y)
    alice.register(alice.x)
    only(node.actions.list(alice.key), "hashed_cid", hashed_cid(alice.x))
    with judge(why="add_action adds the action to no group"):
        alice.must_hold(g)
        alice.must_hold(h, alice.y)
    i = alice.group()
    with judge(why="a group made after add_action does not list the action"):
        alice.must_hold(i)
    node.groups.add_action(alice.key, g, alice.x)
    alice.must_hold(g, alice.x)
    alice.must_hold(h, alice.y)


@case("action-in-two-groups", requirements=["ACT-080", "ACT-220"], needs=NEEDS, uses=LABELS)
def action_in_two_groups(judge: Judge, node: Node) -> None:
    """An action belongs to several groups at once; leaving one leaves it in those before and after, and registered."""
    alice = account(judge, node)
    alice.register(alice.x, "name", "text")
    before, between, after = alice.group(), alice.group(alice.y), alice.group()
    registered = only(node.actions.list(alice.key), "hashed_cid", hashed_cid(alice.x))
    judge.members(registered, {"name": "name", "description": "text"}, "the labels of the action")
    node.groups.add_action(alice.key, between, alice.x)
    for group in (before, after):
        with judge("ACT-080"):
            node.groups.add_action(alice.key, group, alice.x)
    with judge("ACT-080", why="an action that was added to several groups is listed in the first"):
        alice.must_hold(between, alice.y, alice.x)
    node.groups.remove_action(alice.key, between, hashed_cid(alice.x))
    with judge("ACT-220", why="an action that left one group stays registered on the account"):
        registered = only(node.actions.list(alice.key), "hashed_cid", hashed_cid(alice.x))
        judge.members(registered, {"name": "name", "description": "text"}, "the labels of the action")
    alice.must_hold(between, alice.y)
    for group in (before, after):
        with judge.apart("ACT-080", why="an action that left one group stays in the others"):
            alice.must_hold(group, alice.x)
        node.groups.remove_action(alice.key, group, hashed_cid(alice.x))
    with judge("ACT-220"):
        registered = only(node.actions.list(alice.key), "hashed_cid", hashed_cid(alice.x))
        judge.members(registered, {"name": "name", "description": "text"}, "the labels of the action")


@case("listed-hash-goes-back-verbatim", requirements=["ACT-100"], needs=NEEDS, uses=LABELS)
def listed_hash_goes_back_verbatim(judge: Judge, node: Node) -> None:
    """The hash that list_actions shows is what update, removal from a group and deletion take, for that action only."""
    alice = account(judge, node)
    for cid in (alice.x, alice.y):
        alice.register(cid)
    g = alice.group()
    for cid in (alice.x, alice.y):
        node.groups.add_action(alice.key, g, cid)
    # Whichever of the two comes first: it is acted on, the other one stays.
    listed = [HashedCid(printed(one)) for one in pluck(node.actions.list(alice.key), "hashed_cid")]
    judge.set_up(len(listed) == 2, "a list with both actions")
    acted_on, left_alone = listed

    def shows(group: GroupId | None, *hashes: str) -> None:
        judge.same(
            sorted(map(printed, pluck(node.actions.list(alice.key, group), "hashed_cid"))), sorted(hashes), "hashes"
        )

    def labels(hashed: str, name: str, description: str) -> None:
        item = only(node.actions.list(alice.key), "hashed_cid", hashed)
        judge.members(item, {"name": name, "description": description}, "the labels of the action")

    with judge():
        renamed = {"hashed_cid": acted_on, "name": "renamed", "description": "described"}
        node.session.call("update_action_metadata", alice.key, **renamed)
        labels(acted_on, "renamed", "described")
        labels(left_alone, "n", "d")
        node.groups.remove_action(alice.key, g, acted_on)
        shows(g, left_alone)
        shows(None, acted_on, left_alone)
        node.actions.delete(alice.key, acted_on)
        shows(None, left_alone)
        labels(left_alone, "n", "d")
        shows(g, left_alone)


@case("raw-cid-in-place-of-the-hash", requirements=["ACT-110"], needs=NEEDS)
def raw_cid_in_place_of_the_hash(judge: Judge, node: Node) -> None:
    """A raw CID given as hashed_cid acts on nothing."""
    alice = account(judge, node)
    for cid in (alice.x, alice.y):
        alice.register(cid)
    g, hashed = alice.group(alice.x, alice.y), hashed_cid(alice.x)
    does = [
        node.actions.update(alice.key, hashed, "n"),
        node.groups.remove_action(alice.key, g, hashed),
        node.actions.delete(alice.key, hashed),
    ]
    reads = [
        unchanged_list(node.session, "list_actions", alice.key),
        unchanged_list(node.session, "list_actions", alice.key, group_id=g),
    ]
    with judge(), Refusals(node.session, control=does, unchanged=reads) as refusals:
        for accepted in does:
            refusals.send(accepted.changed(hashed_cid=alice.y), NO_ID)


@case("hash-in-place-of-the-raw-cid", requirements=["ACT-120"], needs=NEEDS)
def hash_in_place_of_the_raw_cid(judge: Judge, node: Node) -> None:
    """A hash given as action_ipfs_cid is not taken as an already hashed CID."""
    # Refused, or hashed once more as any text: either is right, as long as the hash itself gets into no list. The last
    # one would be the wildcard for all actions.
    alice = account(judge, node)
    g = alice.group()
    node.groups.add_action(alice.key, g, alice.x)
    hashed = next(iter(VERSIONS.values()))

    def send(operation: str, **members: object) -> None:
        answer = node.session.send(node.session.request(operation, alice.key, **members))
        was_accepted(node.session, answer, or_refused=["any"])

    for given in (hashed, hashed.removeprefix("0x"), ZERO_HASH):
        again = hashed_cid(given)
        with judge.apart():
            send("add_action_to_group", group_id=g, action_ipfs_cid=given)
            inside = pluck(node.actions.list(alice.key, g), "hashed_cid")
            only(node.actions.list(alice.key, g), "hashed_cid", hashed_cid(alice.x))
            others = [one for one in inside if not same_hex(one, hashed_cid(alice.x)) and not same_hex(one, again)]
            judge.same(others, [], "what the group lists beside its action and the hash of what was given")
        send("remove_action_from_group", group_id=g, hashed_cid=again)
        with judge.apart():
            send("add_action", action_ipfs_cid=given, name="n", description="d")
    with judge():
        listed = pluck(node.actions.list(alice.key), "hashed_cid")
        as_given = [one for one in listed if same_hex(one, hashed) or same_hex(one, ZERO_HASH)]
        judge.same(as_given, [], "the hashes that were taken as they are")


@case("no-cid-text", requirements=["ACT-170"], needs=NEEDS)
def no_cid_text(judge: Judge, node: Node) -> None:
    """An action_ipfs_cid that is no CID is refused and registers nothing."""
    alice = account(judge, node)
    g = alice.group()
    does = [alice.register(alice.x), node.groups.add_action(alice.key, g, alice.x)]
    reads = [
        unchanged_list(node.session, "list_actions", alice.key),
        unchanged_list(node.session, "list_actions", alice.key, group_id=g),
    ]
    with judge(), Refusals(node.session, control=does, unchanged=reads) as refusals:
        for number, text in enumerate(NO_CIDS):
            for accepted in every_other(does, number):
                refusals.send(accepted.changed(action_ipfs_cid=text), NO_ID)


# ------------------------------------------------------------------- what the profile says where nothing else does


@case("second-registration-of-a-cid", requirements=["ACT-180"], needs=NEEDS, uses=LABELS)
def second_registration_of_a_cid(judge: Judge, node: Node) -> None:
    """A second add_action of one CID does what the profile says, and never makes a second item."""
    alice = account(judge, node)
    registered = alice.register(alice.x, "first", "one")
    first, second = {"name": "first"}, {"name": "second", "description": "two"}
    judge.items(node.actions.list(alice.key), [first], "the account's actions")
    actions = [unchanged_list(node.session, "list_actions", alice.key)]
    with judge():
        must_be_as_stated(node.session, registered.changed(**second), DUPLICATE, control=registered, unchanged=actions)
        overwrites = node.session.stated(DUPLICATE) == "overwrites"
        listed = node.actions.list(alice.key)
        judge.items(
            listed, [{"name": "second"} if overwrites else first], "the account's actions, as the profile states,"
        )


@case("unregistered-action-in-lists", requirements=["ACT-190"], needs=NEEDS, uses=LABELS)
def unregistered_action_in_lists(judge: Judge, node: Node) -> None:
    """Whether an action that is only in a group appears among the account's actions is as the profile says."""
    alice = account(judge, node)
    in_account, in_group = (node.session.stated(key) for key in UNREGISTERED)
    g = alice.group()
    node.groups.add_action(alice.key, g, alice.x)
    alice.must_hold(g, alice.x)
    with judge():
        hashes = [hashed_cid(alice.x)] if in_account == "present" else []
        listed = node.actions.list(alice.key)
        judge.same_hexes(pluck(listed, "hashed_cid"), hashes, "the account's actions, as the profile states,")
        text = "" if in_group == "empty" else MISSING
        item = member(node.actions.list(alice.key, g), "0")
        labels = [member(item, name) for name in ("name", "description")]
        judge.that(labels == [text, text], f"labels that are {in_group}, as the profile states", item)


@case("deleted-metadata-do-not-come-back", requirements=["EP-290"], needs=NEEDS, uses=LABELS)
def deleted_metadata_do_not_come_back(judge: Judge, node: Node) -> None:
    """The labels of a deleted action are not shown again, where a group lists it or it is registered without texts."""
    alice = account(judge, node)
    g, former = alice.group(), ("former name", "former text")
    alice.register(alice.x, *former)
    alice.must_list({alice.x: former})
    node.actions.delete(alice.key, hashed_cid(alice.x))
    node.groups.add_action(alice.key, g, alice.x)

    def must_be_gone(items: Sequence[object]) -> None:
        for name, text in zip(("name", "description"), former, strict=True):
            judge.that(text not in pluck(items, name), f"items without the former {name}", items)

    alice.must_hold(g, alice.x)
    with judge():
        must_be_gone(node.actions.list(alice.key, g))
    again = node.session.request("add_action", alice.key, action_ipfs_cid=alice.x, name="", description="")
    was_accepted(node.session, node.session.send(again), or_refused=["invalid", "malformed"])
    with judge():
        must_be_gone(node.actions.list(alice.key))


@case("deletion-and-groups", requirements=["ACT-200"], needs=NEEDS)
def deletion_and_groups(judge: Judge, node: Node) -> None:
    """Whether delete_action takes the action out of the groups that list it is as the profile says."""
    alice = account(judge, node)
    stated = node.session.stated("semantics.delete_action_group_membership")
    alice.register(alice.x)
    g = alice.group(alice.x, alice.y)
    node.actions.delete(alice.key, hashed_cid(alice.x))
    left = pluck(node.actions.list(alice.key), "hashed_cid")
    judge.set_up(not any(same_hex(one, hashed_cid(alice.x)) for one in left), "a list without the deleted action")
    with judge(why=f"the profile states that it is {stated}"):
        alice.must_hold(g, *[alice.x] * (stated == "kept"), alice.y)


# ---------------------------------------------------------------------------------------------- spellings of CIDs


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
