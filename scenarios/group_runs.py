"""What groups permit to run, tried with each pair of two actions and two wallets.

Specification: "Resources and their fields / Group", "Resources and their fields / Action", "Endpoints / Execution
rule". A permitted run proves itself: it signs with the wallet that it names.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from conformance.cases import Judge, case
from conformance.service.actions import ActionCode
from conformance.service.bindings import TwoAndTwo, bound, two_and_two
from conformance.service.groups import ALL_PKPS
from conformance.service.node import Node
from conformance.service.pkps import Pkp
from conformance.service.refusal import must_refuse, was_accepted
from conformance.service.runs import failed
from conformance.service.usage_keys import Permissions

NEEDS = ("managed_accounts",)
FORMS = "wire.group.cid_wildcard_form"
EVERY_PAIR = ("x with p", "x with q", "y with p", "y with q")


@dataclass(frozen=True)
class Permitted:
    """Tries pairs such as `x with p` with the key of the account, or with another."""

    judge: Judge
    node: Node
    on: TwoAndTwo
    key: str

    def runs(self, *pairs: str, by: str | None = None) -> None:
        """These are permitted, each proven by a signature."""
        for pair in pairs:
            expected = f"a run to be permitted: a group of the key permits {self.told(pair)}"
            self.judge.that(self.permits(pair, by), expected, "it was refused")

    def refuses(self, *pairs: str, by: str | None = None) -> None:
        """These are refused."""
        for pair in pairs:
            expected = f"a run to be refused: no single group of the key permits {self.told(pair)}"
            self.judge.that(not self.permits(pair, by), expected, "it was permitted")

    def permits(self, pair: str, by: str | None = None) -> bool:
        """Whether the pair is permitted."""
        return self.node.signing.signs(by or self.key, *self.pair(pair))

    def told(self, pair: str) -> str:
        """The pair by hash and id, which a report puts names to."""
        action, pkp = self.pair(pair)
        return f"{action.hash} with {pkp.id}"

    def pair(self, pair: str) -> tuple[ActionCode, Pkp]:
        """The action and the wallet of a pair."""
        action, pkp = pair.split(" with ")
        return {"x": self.on.x, "y": self.on.y}[action], {"p": self.on.p, "q": self.on.q}[pkp]


def everywhere(judge: Judge, node: Node, on: TwoAndTwo) -> Permitted:
    """Tries pairs with a new usage key that may execute in every group."""
    return within(judge, node, on, 0)


def within(judge: Judge, node: Node, on: TwoAndTwo, group: int) -> Permitted:
    """Tries pairs with a new usage key that may execute in this group."""
    return Permitted(judge, node, on, node.usage_keys.executing_in(on.alice, group))


def all_but(*pairs: str) -> Sequence[str]:
    """The other pairs."""
    return [pair for pair in EVERY_PAIR if pair not in pairs]


# --------------------------------------------------------------------------------------------------------- listed pairs


@case("every-listed-pair", requirements=["GRP-040", "GRP-050", "GRP-060", "ACT-130"], needs=NEEDS)
def every_listed_pair(judge: Judge, node: Node) -> None:
    """A group permits each listed action, by the hash that the client computed, to use each listed wallet."""
    on = two_and_two(node)
    group = within(judge, node, on, bound(node, on.alice, [on.p, on.q], [on.x, on.y]))
    permitted = [pair for pair in EVERY_PAIR if group.permits(pair)]
    for of_it, requirements in (("pq", ["GRP-040"]), ("xy", ["GRP-050", "ACT-130"])):
        with judge.apart(*requirements):
            used = sorted({one for pair in permitted for one in pair.split(" with ") if one in of_it})
            judge.same(used, list(of_it), f"those of {of_it} that run with one of the others")
    with judge.apart("GRP-060"):
        judge.same(permitted, list(EVERY_PAIR), "the pairs that are permitted")


@case("empty-lists", requirements=["GRP-140"], needs=NEEDS)
def empty_lists(judge: Judge, node: Node) -> None:
    """Empty lists permit nothing, until an action and a wallet are added."""
    on = two_and_two(node)
    g = bound(node, on.alice, [], [])
    group = within(judge, node, on, g)
    with judge():
        group.refuses(*EVERY_PAIR)
    node.groups.add_action(on.alice, g, on.x.cid)
    with judge():
        group.refuses("x with p", "x with q")
    node.groups.add_pkp(on.alice, g, on.p.id)
    group.runs("x with p")


@case("duplicates-count-once", requirements=["GRP-230"], needs=NEEDS)
def duplicates_count_once(judge: Judge, node: Node) -> None:
    """One removal ends the permission of an entry that was given twice."""
    on = two_and_two(node)
    with judge():
        g = bound(node, on.alice, [on.p, on.q, on.p], [on.x, on.y, on.x])
    group = within(judge, node, on, g)
    with judge():
        group.runs(*EVERY_PAIR)
    node.groups.remove_pkp(on.alice, g, on.p.id)
    with judge():
        group.refuses("x with p", "y with p")
    node.groups.remove_action(on.alice, g, on.x.hash)
    with judge():
        group.refuses("x with q")
    group.runs("y with q")


@case("three-ways-permit-the-same", requirements=["GRP-270"], needs=NEEDS)
def three_ways_permit_the_same(judge: Judge, node: Node) -> None:
    """Wallets and actions permit the same runs, whether given to add_group, to update_group or to the add calls."""
    on = two_and_two(node)
    made = bound(node, on.alice, [on.p], [on.x])
    updated, filled = bound(node, on.alice, [], []), bound(node, on.alice, [], [])
    node.groups.update(on.alice, updated, pkp_ids=[on.p.id], cid_hashes=[on.x.hash])
    node.groups.add_pkp(on.alice, filled, on.p.id)
    node.groups.add_action(on.alice, filled, on.x.cid)
    for g in (made, updated, filled):
        group = within(judge, node, on, g)
        with judge():
            group.runs("x with p")
            group.refuses(*all_but("x with p"))


@case("account-key-uses-every-group", requirements=["GRP-250"], needs=NEEDS)
def account_key_uses_every_group(judge: Judge, node: Node) -> None:
    """The account key runs through each group, also through one that a usage key created."""
    on = two_and_two(node)
    maker = node.usage_keys.add(on.alice, Permissions(can_create_groups=True)).key
    bound(node, on.alice, [on.q], [on.y])
    g = node.groups.add(maker, listed_to=on.alice).id
    with judge():
        node.groups.add_pkp(on.alice, g, on.p.id)
        node.groups.add_action(on.alice, g, on.x.cid)
        Permitted(judge, node, on, on.alice).runs("x with p", "y with q")


@case("removal-leaves-the-wildcard", requirements=["EXEC-100", "EXEC-110"], needs=NEEDS, uses=[FORMS])
def removal_leaves_the_wildcard(judge: Judge, node: Node) -> None:
    """Removing a wallet or action from a group that lists the wildcard alone, or adding one, takes it from no other."""
    on, groups = two_and_two(node), node.groups
    wallets, actions = bound(node, on.alice, [ALL_PKPS], [on.x]), bound(node, on.alice, [on.p], [groups.all_actions])
    in_wallets, in_actions = within(judge, node, on, wallets), within(judge, node, on, actions)
    judge.set_up(in_wallets.permits("x with q"), "a group that permits all wallets")
    judge.set_up(in_actions.permits("y with p"), "a group that permits all actions")
    # What the removal of something that is listed by no name does is the vendor's, and so is its addition.
    for operation, members in (
        ("remove_pkp_from_group", {"group_id": wallets, "pkp_id": on.p.id}),
        ("remove_action_from_group", {"group_id": actions, "hashed_cid": on.x.hash}),
        ("add_pkp_to_group", {"group_id": wallets, "pkp_id": on.p.id}),
        ("add_action_to_group", {"group_id": actions, "action_ipfs_cid": on.x.cid}),
    ):
        answer = node.session.send(node.session.request(operation, on.alice, **members))
        was_accepted(node.session, answer, or_refused=["any"])
    with judge.apart("EXEC-110"):
        in_wallets.runs("x with q")
    with judge.apart("EXEC-100"):
        in_actions.runs("y with p")


# ------------------------------------------------------------------------------------------------------------ wildcards


@case("all-wallets", requirements=["GRP-070", "GRP-090", "GRP-110", "GRP-140", "LIM-040"], needs=NEEDS)
def all_wallets(judge: Judge, node: Node) -> None:
    """The all-zero PKP id permits all wallets, later ones too, with the listed actions alone."""
    on = two_and_two(node)
    without_wallets = within(judge, node, on, bound(node, on.alice, [], [on.x]))
    with judge.apart("GRP-140"):
        without_wallets.refuses(*EVERY_PAIR)
    group = within(judge, node, on, bound(node, on.alice, [ALL_PKPS], [on.x]))
    with judge.apart("GRP-070", "LIM-040"):
        group.runs("x with p", "x with q")
    with judge.apart("GRP-110"):
        group.refuses("y with p", "y with q")
    *_, later = node.pkps.create_several(on.alice, 2)
    with judge.apart("GRP-090"):
        node.signing.must_sign(group.key, on.x, later)


@case("all-actions", requirements=["GRP-080", "GRP-110", "GRP-140", "LIM-040"], needs=NEEDS, uses=[FORMS])
def all_actions(judge: Judge, node: Node) -> None:
    """The wildcard `0` permits all actions, with the listed wallets alone."""
    on = two_and_two(node)
    without_actions = within(judge, node, on, bound(node, on.alice, [on.p], []))
    with judge.apart("GRP-140"):
        without_actions.refuses(*EVERY_PAIR)
    group = within(judge, node, on, bound(node, on.alice, [on.p], [node.groups.all_actions]))
    with judge.apart("GRP-080", "LIM-040"):
        group.runs("x with p", "y with p")
    with judge.apart("GRP-110"):
        group.refuses("x with q", "y with q")


@case("last-form-of-all-actions", requirements=["GRP-080"], needs=NEEDS, uses=[FORMS])
def last_form_of_all_actions(judge: Judge, node: Node) -> None:
    """The wildcard of actions permits all actions also in the form that the profile names last."""
    on = two_and_two(node)
    forms = node.session.profile.wire.group.cid_wildcard_form or [0]
    with judge():
        g = bound(node, on.alice, [on.p], [forms[-1]])
    group = within(judge, node, on, g)
    with judge():
        group.runs("x with p", "y with p")


@case("wildcard-beside-entries", requirements=["GRP-100", "GRP-200"], needs=NEEDS, uses=[FORMS])
def wildcard_beside_entries(judge: Judge, node: Node) -> None:
    """A wildcard beside concrete entries keeps its effect, also when one of them is removed."""
    on = two_and_two(node)
    g = bound(node, on.alice, [on.p, ALL_PKPS], [on.x])
    group = within(judge, node, on, g)
    with judge.apart("GRP-100"):
        group.runs("x with p", "x with q")
    node.groups.remove_pkp(on.alice, g, on.p.id)
    with judge.apart("GRP-200"):
        group.runs("x with p", "x with q")
    node.groups.update(on.alice, g, pkp_ids=[on.p.id], cid_hashes=[on.x.hash, node.groups.all_actions])
    with judge.apart("GRP-100"):
        group.runs("x with p", "y with p")
    node.groups.remove_action(on.alice, g, on.x.hash)
    with judge.apart("GRP-200"):
        group.runs("x with p", "y with p")


@case("wildcards-of-another-group", requirements=["GRP-140", "GRP-150", "GRP-120"], needs=NEEDS, uses=[FORMS])
def wildcards_of_another_group(judge: Judge, node: Node) -> None:
    """A group's wildcards have no effect in another group, and which keys use it is for the keys' arrays to say."""
    on = two_and_two(node)
    closed = bound(node, on.alice, [], [])
    in_closed = node.usage_keys.executing_in(on.alice, closed)
    group = Permitted(judge, node, on, in_closed)
    with judge("GRP-140"):
        group.refuses("x with p")
    opened = bound(node, on.alice, [on.p], [on.x])
    in_opened = node.usage_keys.executing_in(on.alice, opened)
    node.signing.must_sign(in_opened, on.x, on.p)
    with judge("GRP-150"):
        group.refuses("x with p")
    # No write to a group lets a key in.
    node.groups.update(on.alice, opened, pkp_ids=[ALL_PKPS], cid_hashes=[node.groups.all_actions])
    node.signing.must_sign(in_opened, on.y, on.q)
    with judge("GRP-120"):
        group.refuses("x with p", "y with q")
    node.groups.add_pkp(on.alice, closed, on.p.id)
    with judge("GRP-120"):
        group.refuses("x with p")
    node.groups.add_action(on.alice, closed, on.x.cid)
    group.runs("x with p")
    with judge("GRP-120"):
        group.refuses("y with p", "x with q")


@case("nearly-zero", requirements=["GRP-130"], needs=NEEDS, uses=[FORMS])
def nearly_zero(judge: Judge, node: Node) -> None:
    """Only the zero is a wildcard; an entry that is nearly zero permits nothing else."""
    on = two_and_two(node)
    group = everywhere(judge, node, on)
    group.refuses("x with p")
    for near in (f"0x{1:064x}", f"0x8{0:063x}"):
        for pkp_ids, hashes in (([on.p.id], [near]), ([near], [on.x.hash])):
            labels = {"group_name": node.label, "group_description": "nearly zero"}
            request = node.session.request(
                "add_group", on.alice, **labels, pkp_ids_permitted=pkp_ids, cid_hashes_permitted=hashes
            )
            # A wallet that the account does not have may be refused as an entry (PKP-160).
            was_accepted(node.session, node.session.send(request), or_refused=["any"])
            with judge():
                group.refuses("x with p")
    bound(node, on.alice, [ALL_PKPS], [node.groups.all_actions])
    node.signing.must_sign(group.key, on.x, on.p)


# -------------------------------------------------------------------------------------------------- hashes of actions


@case("metadata-permits-nothing", requirements=["ACT-070"], needs=NEEDS)
def metadata_permits_nothing(judge: Judge, node: Node) -> None:
    """An action that is registered and in no group may not run, until it joins one."""
    on = two_and_two(node)
    g = bound(node, on.alice, [on.p], [on.y])
    group = within(judge, node, on, g)
    group.runs("y with p")
    for key in (group.key, on.alice):
        group.refuses("x with p", by=key)
    node.actions.add(on.alice, on.x.cid, "x")
    with judge():
        group.refuses("x with p")
        group.refuses("x with p", by=on.alice)
    node.actions.update(on.alice, on.x.hash, "x again")
    with judge():
        group.refuses("x with p")
    node.groups.add_action(on.alice, g, on.x.cid)
    group.runs("x with p")


CODES = {
    "plain": "async function main() { return 'one'; }",
    "other characters": "async function main() { return 'one'; } // zw\u00f6lf \u4e8c \U0001f600 e\u0301 \u00e9",
    "line ends": "\r\n// one\r\nasync function main() { return 'one'; }\r\n\n",
    "blanks": "  \t async function main() { return 'one'; }  ",
    "long": "async function main() { return 'one'; } // " + "zw\u00f6lf \u4e8c \U0001f600 " * 40,
}


@case("computed-cid-permits-its-code", requirements=["ACT-140"], needs=NEEDS)
def computed_cid_permits_its_code(judge: Judge, node: Node) -> None:
    """The CID that the node computes for a code, once in a group, permits that very code."""
    on = two_and_two(node)
    g = bound(node, on.alice, [on.p], [on.y])
    key = node.usage_keys.executing_in(on.alice, g)
    runs = node.signing.must_sign(key, on.y, on.p).accepted
    for name, code in node.session.some([*CODES.items()]):
        cid, request = node.actions.asked_cid(code), node.runs.request(key, code)
        must_refuse(node.session, request, ["forbidden"], control=runs, unchanged=[])
        node.groups.add_action(on.alice, g, cid)
        answer = node.session.send(request)
        if failed(answer, node.session.profile):
            node.runs.succeeded(answer)  # it was permitted; how it ends is another matter
        with judge.apart():
            judge.same(node.runs.succeeded(answer).result, "one", f"what the code {name!r} returns")


@case("hash-is-no-cid", requirements=["ACT-120"], needs=NEEDS)
def hash_is_no_cid(judge: Judge, node: Node) -> None:
    """A hash in the place of a raw CID permits nothing."""
    on = two_and_two(node)
    g = bound(node, on.alice, [on.p], [on.y])
    group = within(judge, node, on, g)
    group.runs("y with p")
    digits = on.x.hash.removeprefix("0x")
    for given in (on.x.hash, digits, f"0x{digits.upper()}"):
        adding = node.session.request("add_action_to_group", on.alice, group_id=g, action_ipfs_cid=given)
        was_accepted(node.session, node.session.send(adding), or_refused=["any"])
        with judge():
            group.refuses("x with p")
    node.groups.add_action(on.alice, g, on.x.cid)
    group.runs("x with p")
