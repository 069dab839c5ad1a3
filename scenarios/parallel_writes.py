"""Writes at the same time that hit one record, and reads beside a write.

Specification, "States and transitions": each accepted write replaces what its request holds, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import NamedTuple, TypeAlias

from conformance.cases import Judge, case
from conformance.endpoints.requests import OutgoingRequest
from conformance.service.acceptance import must_accept
from conformance.service.at_once import at_once, send_at_once
from conformance.service.derivations import hashed_cid
from conformance.service.histories import Answered, left_by, table, unexplained
from conformance.service.lists import only, read_list, read_pages
from conformance.service.node import Node
from conformance.service.pkps import Pkp
from conformance.service.refusal import was_accepted
from conformance.service.session import DESCRIPTION
from conformance.service.usage_keys import NO_PERMISSIONS, Permissions
from conformance.values.ids import Cid, GroupId
from conformance.values.json_values import member, pluck, printed, printed_json, same

NEEDS = ("managed_accounts",)
ROUNDS = 3
LABELS = ("name", "description")
TEXTS = ("one", "two")
"""Two updates at once send each its text as name and as description."""


def send_all(node: Node, requests: list[OutgoingRequest]) -> list[bool]:
    """Send all requests at once; whether each was accepted. A node may refuse one of two that contradict."""
    answers = send_at_once(node.session, requests)
    return [was_accepted(node.session, answer, or_refused=["conflict"]) for answer in answers]


def listed_with_labels(node: Node, items: list[object]) -> bool:
    """Whether one item has the labels that the suite gave to "one"."""
    labels = [[member(item, label) for label in LABELS] for item in items]
    return [f"{node.label} one", DESCRIPTION] in labels


@case("rename-beside-an-update", requirements=["KEYLIFE-070"], needs=NEEDS)
def rename_beside_an_update(judge: Judge, node: Node) -> None:
    """A metadata update beside an update of permissions takes none of these back."""
    alice = node.accounts.new().key
    key = node.usage_keys.add(alice).key
    labels = {"usage_api_key": key, "name": node.label, "description": DESCRIPTION}
    rename = node.session.request("update_usage_api_key_metadata", alice, **labels)
    for turn in range(2 * ROUNDS):
        given = NO_PERMISSIONS if turn % 2 else Permissions(can_create_groups=True)
        update = node.session.request("update_usage_api_key", alice, **labels, **given.members)
        updated, _ = send_all(node, [update, rename])
        if not updated:
            continue
        answer = node.session.send(node.groups.creation(key))
        with judge.apart():
            may = was_accepted(node.session, answer, or_refused=["forbidden"])
            judge.same(may, given.can_create_groups, "whether the key may create groups, as its update says,")


@case(
    "metadata-of-a-usage-key-do-not-mix",
    requirements=["KEYLIFE-060"],
    needs=NEEDS,
    uses=[f"wire.list_items.fields.usage_key.{label}" for label in LABELS],
)
def metadata_of_a_usage_key_do_not_mix(judge: Judge, node: Node) -> None:
    """Of two metadata updates of a usage key at the same time one takes effect as a whole."""
    alice = node.accounts.new().key
    key = node.usage_keys.add(alice, name="one").key
    judge.set_up(listed_with_labels(node, node.usage_keys.list(alice)), "a list with both labels of the new key")
    updates = [
        node.session.request("update_usage_api_key_metadata", alice, usage_api_key=key, name=text, description=text)
        for text in TEXTS
    ]
    for _ in range(ROUNDS):
        send_all(node, updates)
        labels = [[member(item, label) for label in LABELS] for item in node.usage_keys.list(alice)]
        with judge.apart():
            judge.that(
                any([text, text] in labels for text in TEXTS),
                "the name and the description of one and the same of two parallel updates",
                labels,
            )


@case(
    "metadata-of-an-action-do-not-mix",
    requirements=["EP-300"],
    needs=NEEDS,
    uses=[f"wire.list_items.fields.action.{label}" for label in LABELS],
)
def metadata_of_an_action_do_not_mix(judge: Judge, node: Node) -> None:
    """Of two metadata updates of an action at the same time one takes effect as a whole, and it stays one action."""
    alice = node.accounts.new().key
    cid = node.actions.sample_cid("one")
    node.actions.add(alice, cid, "one")
    judge.set_up(listed_with_labels(node, node.actions.list(alice)), "a list with both labels of the new action")
    updates = [
        node.session.request("update_action_metadata", alice, hashed_cid=hashed_cid(cid), name=text, description=text)
        for text in TEXTS
    ]
    for _ in range(ROUNDS):
        send_all(node, updates)
        with judge.apart():
            item = only(node.actions.list(alice), "hashed_cid", hashed_cid(cid))
            labels = [member(item, label) for label in LABELS]
            judge.that(
                labels in [[text, text] for text in TEXTS],
                "the name and the description of one and the same of two parallel updates",
                labels,
            )


@case(
    "equal-additions-at-once-count-once",
    requirements=["GRP-230", "ACT-180"],
    needs=NEEDS,
    uses=["wire.list_items.fields.wallet.id"],
)
def equal_additions_at_once_count_once(judge: Judge, node: Node) -> None:
    """A wallet that is added to a group several times at once is listed once, and a CID is registered once."""
    alice = node.accounts.new().key
    pkp = node.pkps.create(alice)
    cid = node.actions.sample_cid("one")
    group = node.groups.add(alice).id
    to_group = node.session.request("add_pkp_to_group", alice, group_id=group, pkp_id=pkp.id)
    action = {"action_ipfs_cid": cid, "name": node.label, "description": DESCRIPTION}
    registration = node.session.request("add_action", alice, **action)
    # What a second addition of the same is answered with is the vendor's (GRP-220, ACT-180).
    for answer in send_at_once(node.session, [to_group, registration] * 3):
        was_accepted(node.session, answer, or_refused=["any"])
    wallets, actions = node.pkps.list(alice, group), node.actions.list(alice)
    with judge.apart("GRP-230"):
        judge.same_hexes(pluck(wallets, "id"), [pkp.id], "the wallets of the group")
    with judge.apart("ACT-180"):
        judge.same_hexes(pluck(actions, "hashed_cid"), [hashed_cid(cid)], "the actions of the account")


@dataclass(frozen=True)
class Addition:
    """What several requests at once add to an account."""

    lists: str
    ids: tuple[str, str]
    """The requirements about its name and its description."""
    request: Callable[[Node, str, str], OutgoingRequest]
    """Of the account with this key, with this text in both labels."""


def _group(node: Node, key: str, text: str) -> OutgoingRequest:
    lists: dict[str, object] = {"pkp_ids_permitted": [], "cid_hashes_permitted": []}
    return node.session.request("add_group", key, group_name=text, group_description=text, **lists)


def _usage_key(node: Node, key: str, text: str) -> OutgoingRequest:
    return node.session.request("add_usage_api_key", key, name=text, description=text, **NO_PERMISSIONS.members)


def _action(node: Node, key: str, text: str) -> OutgoingRequest:
    cid = node.actions.sample_cid(text)
    return node.session.request("add_action", key, action_ipfs_cid=cid, name=text, description=text)


ADDITIONS = {
    "groups": Addition("list_groups", ("GRP-020", "GRP-030"), _group),
    "usage keys": Addition("list_api_keys", ("UKEY-020", "UKEY-030"), _usage_key),
    "actions": Addition("list_actions", ("ACT-060", "ACT-060"), _action),
}


@case(
    "additions-at-once-keep-their-labels",
    requirements=["LIST-170", "GRP-020", "GRP-030", "UKEY-020", "UKEY-030", "ACT-060"],
    needs=NEEDS,
    uses=[
        *(f"wire.list_groups.item_fields.{label}" for label in LABELS),
        *(f"wire.list_items.fields.{kind}.{label}" for kind in ("usage_key", "action") for label in LABELS),
    ],
)
def additions_at_once_keep_their_labels(judge: Judge, node: Node) -> None:
    """Groups, usage keys and actions that two accounts add at the same time are listed with their own labels."""
    accounts = [node.accounts.new().key for _ in range(2)]
    for what, added in ADDITIONS.items():
        texts = {
            key: [f"{node.label} {what} {place} {number}" for number in range(ROUNDS)]
            for place, key in enumerate(accounts)
        }
        requests = [added.request(node, key, text) for key, given in texts.items() for text in given]
        with judge.apart(*added.ids):
            for answer in send_at_once(node.session, requests):
                must_accept(answer)
        for key, given in texts.items():
            listed = read_list(node.session, added.lists, key)
            with judge.apart("LIST-170"):
                judge.that(len(listed) >= len(given), f"{len(given)} new {what} in the list", listed)
            for label, about in zip(LABELS, added.ids, strict=True) if len(listed) >= len(given) else ():
                with judge.apart(about):
                    got = sorted(text for text in map(printed, pluck(listed, label)) if text.startswith(node.label))
                    judge.same(got, given, f"the {label}s of the account's {what}")


class Contents(NamedTuple):
    """What a group holds."""

    actions: frozenset[str]
    """Their hashes, in small letters."""
    wallets: frozenset[str]
    """Their addresses, in small letters."""
    labels: tuple[str, str]
    """Name and description."""


Asked: TypeAlias = Callable[[], Answered[Contents]]


@dataclass(frozen=True)
class OneGroup:
    """Requests that write to a group and that read of it."""

    node: Node
    key: str
    id: GroupId
    listed_id: object
    """How `list_groups` shows its id."""
    called: Mapping[str, str]
    """What the case calls the actions and wallets, by hash or address in small letters."""
    orders: list[list[object]] = field(default_factory=list)
    """The ids in each `list_groups`."""

    def write(self, operation: str, told: str, change: Callable[[Contents], Contents], **members: object) -> Asked:
        """A write; refused, as a contradiction to another one may be, it changes nothing."""

        def sent() -> Answered[Contents]:
            begun = monotonic()
            request = self.node.session.request(operation, self.key, group_id=self.id, **members)
            answer = self.node.session.send(request)
            ended = monotonic()
            accepted = was_accepted(self.node.session, answer, or_refused=["conflict", "not_found"])
            after = change if accepted else Contents._make
            return Answered(f"{operation} {told} → {answer.status}", begun, ended, after, writes=accepted)

        return sent

    def with_action(self, name: str, cid: Cid) -> Asked:
        """Add an action."""
        added = {hashed_cid(cid)}
        return self.write(
            "add_action_to_group", name, lambda now: now._replace(actions=now.actions | added), action_ipfs_cid=cid
        )

    def without_action(self, name: str, cid: Cid) -> Asked:
        """Remove an action."""
        hashed = hashed_cid(cid)
        return self.write(
            "remove_action_from_group",
            name,
            lambda now: now._replace(actions=now.actions - {hashed}),
            hashed_cid=hashed,
        )

    def with_wallet(self, name: str, pkp: Pkp) -> Asked:
        """Add a wallet."""
        added = {pkp.address.lower()}
        return self.write(
            "add_pkp_to_group", name, lambda now: now._replace(wallets=now.wallets | added), pkp_id=pkp.id
        )

    def without_wallet(self, name: str, pkp: Pkp) -> Asked:
        """Remove a wallet."""
        removed = {pkp.address.lower()}
        return self.write(
            "remove_pkp_from_group", name, lambda now: now._replace(wallets=now.wallets - removed), pkp_id=pkp.id
        )

    def updated(self, name: str, cid: Cid, pkp: Pkp) -> Asked:
        """Replace the name and both lists, by one action and one wallet."""
        hashed = hashed_cid(cid)
        label = f"{self.node.label} {name}"
        left = Contents(frozenset({hashed}), frozenset({pkp.address.lower()}), (label, label))
        lists: dict[str, object] = {"pkp_ids_permitted": [pkp.id], "cid_hashes_permitted": [hashed]}
        return self.write("update_group", name, lambda _: left, name=label, description=label, **lists)

    def reads(self) -> list[Asked]:
        """Each list that shows the group."""

        def labels(items: list[object]) -> tuple[str, ...] | None:
            self.orders.append(pluck(items, "id"))
            found = [item for item in items if same(member(item, "id"), self.listed_id)]
            # That it is missing is judged by the order.
            return tuple(printed(member(found[0], label)) for label in LABELS) if found else None

        return [
            self.read("actions", "list_actions", lambda items: small(pluck(items, "hashed_cid")), group_id=self.id),
            self.read(
                "wallets",
                "list_wallets_in_group",
                lambda items: small(pluck(items, "wallet_address")),
                group_id=self.id,
            ),
            self.read("labels", "list_groups", labels),
        ]

    def read(self, part: str, lists: str, seen: Callable[[list[object]], object], **members: object) -> Asked:
        """A read, which shows a part of what is there."""

        def sent() -> Answered[Contents]:
            begun = monotonic()
            items = read_pages(self.node.session, self.node.session.request(lists, self.key, **members))
            ended, found = monotonic(), seen(items)
            told = self.told(found)

            def fits(now: Contents) -> Contents | None:
                return now if found in (None, getattr(now, part)) else None

            return Answered(f"{lists} → {told}", begun, ended, fits, writes=False)

        return sent

    def told(self, part: object) -> str:
        """A part of what is there, by what the case calls it."""
        if isinstance(part, frozenset):
            return f"[{', '.join(sorted(self.called.get(one, one) for one in part))}]"
        return printed_json(part)


def small(texts: Sequence[object]) -> frozenset[str]:
    """The texts in small letters."""
    return frozenset(printed(text).lower() for text in texts)


@case(
    "answers-at-once-have-an-order",
    requirements=["GRPLIFE-230", "LIST-170", "GRPLIFE-090"],
    needs=NEEDS,
    uses=[
        {"semantics.settle_time_seconds": 0},
        "wire.list_groups.item_fields.name",
        "wire.list_groups.item_fields.description",
    ],
)
def answers_at_once_have_an_order(judge: Judge, node: Node) -> None:
    """What is written to a group and read of it at the same time is answered as one after the other, in some order."""
    alice = node.accounts.new().key
    p, q = node.pkps.create_several(alice, 2)
    x, y = (node.actions.sample_cid(name) for name in ("one", "two"))
    groups = [node.groups.add(alice, str(number)) for number in range(3)]
    ids = pluck(node.groups.list(alice), "id")
    called = {hashed_cid(x): "x", hashed_cid(y): "y", p.address.lower(): "p", q.address.lower(): "q"}
    group = OneGroup(node, alice, groups[1].id, ids[-2], called)
    rounds = (
        [group.with_action("x", x), group.with_action("y", y), group.with_wallet("p", p)],
        [
            group.without_action("x", x),
            group.without_action("y", y),
            group.with_wallet("q", q),
            group.without_wallet("p", p),
        ],
        *[[group.updated("first", x, q), group.updated("second", y, p), group.with_action("x", x)]] * 2,
    )
    states = frozenset({Contents(frozenset(), frozenset(), (f"{node.label} 1", DESCRIPTION))})
    for writes in rounds:
        history = [*at_once([*writes, *group.reads()]), *(read() for read in group.reads())]
        if writes is not rounds[-1]:  # of updates that contradict one another one may be refused
            with judge.apart("GRPLIFE-230"):
                refused = [one.told for one in history[: len(writes)] if not one.writes]
                judge.same(refused, [], "those of the writes at the same time that the node refused")
        left = left_by(history, states)
        with judge("GRPLIFE-230", "LIST-170"):
            before = " or ".join(", ".join(map(group.told, state)) for state in states)
            told = table(unexplained(history, states)) if not left else ""
            judge.that(bool(left), f"an order of these requests that explains all answers, from {before}", told)
        states = left
    for order in group.orders:
        with judge.apart("GRPLIFE-090"):
            judge.same(order, ids, "the groups in their order")
