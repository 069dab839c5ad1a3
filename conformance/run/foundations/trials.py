"""The trials of foundations: each tests one of them, with as few requests as possible.

A trial raises a Departure where its foundation does not hold. What fails while `set_up` prepares it leaves that open.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from conformance.drivers.sections import set_up
from conformance.problems import Mismatch, NotAccepted, NotRefused, StateChanged
from conformance.service.accounts import Accounts
from conformance.service.actions import ActionCode, Actions
from conformance.service.derivations import code_cid, hashed_cid, random_key
from conformance.service.groups import Groups, group_id
from conformance.service.lists import one_item_page, read_page, read_pages
from conformance.service.payments import Payments
from conformance.service.pkps import Pkp, Pkps
from conformance.service.refusal import ExpectedRefusal, check_refusal
from conformance.service.runs import Runs
from conformance.service.scope_trial import ScopeTrial, opened_by
from conformance.service.session import DESCRIPTION, Session
from conformance.service.signing_runs import SigningRuns
from conformance.service.usage_keys import Permissions, UsageKeys
from conformance.service.wallets import Wallets
from conformance.values.ids import Cents
from conformance.values.json_values import MISSING, member, printed, printed_json, same, same_hexes

SHOWN = 200
MAKES_GROUPS = Permissions(can_create_groups=True)
SCOPES = (
    MAKES_GROUPS,
    Permissions(can_delete_groups=True),
    Permissions(can_create_pkps=True),
    Permissions(manage_ipfs_ids_in_groups=[0]),
    Permissions(add_pkp_to_groups=[0]),
    Permissions(remove_pkp_from_groups=[0]),
)
"""Each scope that opens operations of management, alone."""


def _must(session: Session, holds: bool, expected: str, got: object) -> None:
    if not holds:
        raise Mismatch(expected, printed_json(got)[:SHOWN], session.last_exchange)


def _account(session: Session) -> str:
    """The key of a new account, after one call with it."""
    with set_up():
        key = Accounts(session).new().key
        Groups(session).list(key)
    return key


def _pluck(items: Sequence[object], name: str) -> list[object]:
    return [member(item, name) for item in items]


def accounts_are_made(session: Session) -> None:
    """An account is made with a name and a description."""
    Accounts(session).new()


def account_keys_open_something(session: Session) -> None:
    """The key of a new account lists or makes groups, in one of the two headers."""
    with set_up():
        key = Accounts(session).new().key
    asked = (session.request("list_groups", key), Groups(session).creation(key))
    answers = [session.send(replace(request, via=via)) for request in asked for via in ("x-api-key", "bearer")]
    if not any(answer.accepted for answer in answers):
        expected = "acceptance (2xx) of list_groups or add_group with the key of a new account"
        raise NotAccepted(expected, answers[0].summary, answers[0].exchange)


def accounts_differ(session: Session) -> None:
    """Two creations with the same body answer different keys."""
    accounts = Accounts(session)
    first, second = (accounts.new("same").key for _ in range(2))
    if first == second:
        raise Mismatch("two accounts of different keys", "equal keys", session.last_exchange)


def refused_writes_change_nothing(session: Session) -> None:
    """A group that an unknown key shall make, after the owner made one, is not listed."""
    groups, key = Groups(session), _account(session)
    with set_up():
        groups.add(key, "one")
        before = groups.list(key)
        _must_be_refused(session, random_key(session.random))
        exchange = session.last_exchange
        after = groups.list(key)
    if not same(before, after):
        raise StateChanged(f"list_groups as before: {printed(before)[:SHOWN]}", printed(after)[:SHOWN], exchange)


def lists_repeat(session: Session) -> None:
    """Each list of an account with two of everything is the same three times."""
    key, actions, groups, pkps = _account(session), Actions(session), Groups(session), Pkps(session)
    keys = UsageKeys(session)
    with set_up():
        cids = [actions.sample_cid(name) for name in ("one", "other")]
        for cid in cids:
            actions.add(key, cid)
            keys.add(key)
        wallets = pkps.create_several(key, 2)
        groups.add(key)
        group = groups.add(
            key, pkp_ids=[wallet.id for wallet in wallets], cid_hashes=[hashed_cid(cid) for cid in cids]
        ).id
    reads: Sequence[Callable[[], list[object]]] = (
        lambda: groups.list(key),
        lambda: keys.list(key),
        lambda: pkps.list(key),
        lambda: pkps.list(key, group),
        lambda: actions.list(key),
        lambda: actions.list(key, group),
    )
    for read in reads:
        first = read()
        for _ in range(2):
            again = read()
            _must(session, same(again, first), f"the list as before: {printed_json(first)[:SHOWN]}", again)


def _additions(session: Session, key: str) -> Mapping[str, Callable[[str], object]]:
    """By list, what adds an item to it without reading it."""
    actions, groups, pkps, keys = Actions(session), Groups(session), Pkps(session), UsageKeys(session)
    return {
        "list_groups": lambda _: session.accept(groups.creation(key)),
        "list_api_keys": lambda _: keys.add(key),
        "list_wallets": lambda _: session.accept(pkps.creation(key)),
        "list_actions": lambda mark: actions.add(key, actions.sample_cid(mark)),
    }


def pages_have_a_size(session: Session, operation: str) -> None:
    """A page of one item of a list of two has no more than that."""
    with set_up():
        key = Accounts(session).new().key
        for mark in ("first", "second"):
            _additions(session, key)[operation](mark)
        session.settle()
    page = read_page(session, session.request(operation, key), 0, 1)
    _must(session, len(page) <= 1, f"a page of {operation} with at most one item", page)


def lists_follow_additions(session: Session, operation: str) -> None:
    """A list that was read before something was added shows it afterwards, as a list that was never read does."""
    with set_up():
        key, fresh = (Accounts(session).new().key for _ in range(2))
    add = _additions(session, key)[operation]

    def length(owner: str) -> int:
        return len(read_pages(session, session.request(operation, owner)))

    with set_up():
        add("first")
        one = length(key)
        _must(session, one > length(fresh), "a list of what was added before it was read", one)
        add("second")
    _must(session, (now := length(key)) > one, f"another item beside the {one} that were there when it was read", now)


def groups_can_be_listed(session: Session) -> None:
    """`list_groups` answers, and each item has an `id`."""
    groups = Groups(session)
    with set_up():
        key = Accounts(session).new().key
        Pkps(session).list(key)
    groups.list(key)
    with set_up():
        groups.add(key)
    ids = _pluck(groups.list(key), "id")
    _must(session, MISSING not in ids, "an `id` of each item of list_groups", ids)


def groups_are_made(session: Session) -> None:
    """Two groups that are added are listed, each by its own id."""
    key, groups = _account(session), Groups(session)
    before = len(groups.list(key))
    made = [groups.add(key, name).listed_id for name in ("first", "second")]
    after = _pluck(groups.list(key), "id")
    expected = f"the new groups {printed_json(made)}, and no others, in list_groups"
    distinct = len({*map(str, made)}) == len(made)
    _must(
        session,
        distinct and len(after) == before + len(made) and all(group in after for group in made),
        expected,
        after,
    )


def groups_are_listed_with_labels(session: Session) -> None:
    """The newest group is listed with its name and its description."""
    key, groups = _account(session), Groups(session)
    with set_up():
        groups.add(key, "labelled")
        listed = groups.list(key)[-1:]
    _labelled(session, "list_groups", listed)


def keys_are_listed_with_labels(session: Session) -> None:
    """An only usage key is listed with its name and its description."""
    key, keys = _account(session), UsageKeys(session)
    with set_up():
        keys.add(key, name="labelled")
        listed = keys.list(key)
    _labelled(session, "list_api_keys", listed if len(listed) == 1 else [])


def actions_are_listed_with_labels(session: Session) -> None:
    """An only action is listed with its name and its description."""
    key, actions = _account(session), Actions(session)
    with set_up():
        actions.add(key, actions.sample_cid("labelled"), "labelled")
        listed = actions.list(key)
    _labelled(session, "list_actions", listed if len(listed) == 1 else [])


def _labelled(session: Session, where: str, items: Sequence[object]) -> None:
    """These items have the labels of their making, as far as lists show labels."""
    for name, given in (("name", f"{session.label} labelled"), ("description", DESCRIPTION)):
        for got in _pluck(items, name):
            _must(session, got is MISSING or same(got, given), f"the {name} {printed_json(given)} in {where}", got)


def groups_have_own_ids(session: Session) -> None:
    """Three groups that are added are listed by different ids."""
    key, groups = _account(session), Groups(session)
    for name in ("first", "second", "third"):
        groups.add(key, name)
    ids = _pluck(groups.list(key), "id")
    _must(session, len({*map(str, ids)}) == len(ids), "no id twice in list_groups", ids)


def groups_are_listed_in_order(session: Session) -> None:
    """Two new groups are the last of the list, in their order."""
    key, groups = _account(session), Groups(session)
    made = [groups.add(key, name).listed_id for name in ("first", "second")]
    last = _pluck(groups.list(key), "id")[-len(made) :]
    _must(session, same(last, made), f"the newest groups {printed_json(made)} at the end of list_groups", last)


def keys_differ(session: Session) -> None:
    """Two usage keys that are added have different values."""
    account, keys = _account(session), UsageKeys(session)
    with set_up():
        one, other = (keys.add(account, name=name).key for name in ("first", "second"))
    _must(session, one != other, "two usage keys of different values", "equal ones")


def keys_are_made(session: Session) -> None:
    """Two usage keys that are added are listed, and one can do what it is permitted."""
    account, keys = _account(session), UsageKeys(session)
    before = len(keys.list(account))
    made = [keys.add(account, MAKES_GROUPS, name).key for name in ("first", "second")]
    after = keys.list(account)
    _must(session, len(after) == before + 2, f"{before + 2} items in list_api_keys after two more keys", after)
    Groups(session).add(made[0], listed_to=account)


def keys_are_listed(session: Session) -> None:
    """A usage key that is added is one item more in the list."""
    account, keys = _account(session), UsageKeys(session)
    before = len(keys.list(account))
    with set_up():
        keys.add(account)
    after = keys.list(account)
    _must(session, len(after) == before + 1, f"{before + 1} items in list_api_keys after one more key", after)


def keys_are_listed_as_given(session: Session) -> None:
    """The list shows the permissions of a usage key as they were given."""
    account, keys, groups = _account(session), UsageKeys(session), Groups(session)
    with set_up():
        arrays = [[groups.add(account, name).id] for name in ("one", "two", "three", "four")]
        given = Permissions(True, False, True, *arrays)
        keys.add(account, given)
    listed = keys.list(account)
    shown = [{name: value for name in given.members if (value := member(item, name)) is not MISSING} for item in listed]
    holds = any(all(same(value, given.members[name]) for name, value in item.items()) for item in shown)
    _must(session, holds, f"a usage key in list_api_keys with {printed_json(given.members)}", shown)


def wallets_are_made(session: Session) -> None:
    """Two wallets that are created have their own ids, and each is listed as soon as it is there."""
    key, pkps = _account(session), Pkps(session)
    before = len(pkps.list(key))
    made = []
    for number in (1, 2):
        made.append(pkps.create(key))
        after = pkps.list(key)
        expected = f"{before + number} items in list_wallets, one more for each new wallet"
        _must(session, len(after) == before + number, expected, after)
    _must(session, made[0].id != made[1].id, "two wallets of different ids", made[0].id)


def writes_take_pkp_ids(session: Session) -> None:
    """A wallet is named by its id in one of the writes at least: as an addition to a group, or in a new group."""
    key, groups = _account(session), Groups(session)
    with set_up():
        wallet, group = Pkps(session).create(key), groups.add(key)
    added = session.send(session.request("add_pkp_to_group", key, group_id=group.id, pkp_id=wallet.id))
    if not added.accepted and not session.send(groups.creation(key, pkp_ids=[wallet.id])).accepted:
        raise NotAccepted("acceptance (2xx) of a write that names a wallet by its id", added.summary, added.exchange)


def creations_of_wallets_count(session: Session) -> None:
    """After a creation the account lists one wallet more."""
    key, pkps = _account(session), Pkps(session)
    with set_up():
        before = len(pkps.list(key))
    session.accept(pkps.creation(key))
    after = pkps.list(key)
    _must(session, len(after) == before + 1, f"{before + 1} items in list_wallets, one more for the new wallet", after)


def wallets_differ(session: Session) -> None:
    """Two creations answer different addresses."""
    key, pkps = _account(session), Pkps(session)
    with set_up():
        answers = [session.accept(pkps.creation(key)) for _ in range(2)]
    first, second = (member(answer.value, "wallet_address") for answer, _ in answers)
    _must(session, not same(first, second), "two wallets of different addresses", first)


def lists_of_wallets_are_of_one_group(session: Session) -> None:
    """A group without wallets lists none, though the account has one."""
    key, pkps = _account(session), Pkps(session)
    with set_up():
        pkps.create(key)
        group = Groups(session).add(key)
    _addresses(session, pkps.list(key, group.id), [])


def lists_of_actions_are_of_one_group(session: Session) -> None:
    """A group without actions lists none, though the account registered one."""
    key, actions = _account(session), Actions(session)
    with set_up():
        actions.add(key, actions.sample_cid("registered"))
        group = Groups(session).add(key)
    _hashes(session, "list_actions of the group", actions.list(key, group.id), [])


def actions_are_listed_by_hashes(session: Session) -> None:
    """An item of the account's list of actions has a `hashed_cid`."""
    key, actions = _account(session), Actions(session)
    with set_up():
        actions.add(key, actions.sample_cid("listed"))
        listed = actions.list(key)
        _must(session, bool(listed), "an item in list_actions", listed)
    _must(session, MISSING not in _pluck(listed, "hashed_cid"), "a `hashed_cid` of each item of list_actions", listed)


def actions_are_all_listed(session: Session) -> None:
    """Two actions that are registered are two items more in the list."""
    key, actions = _account(session), Actions(session)
    with set_up():
        before = len(actions.list(key))
        for name in ("one", "other"):
            actions.add(key, actions.sample_cid(name))
    listed = actions.list(key)
    _must(session, len(listed) == before + 2, f"{before + 2} items in list_actions after two more actions", listed)


def keys_are_renamed(session: Session) -> None:
    """A usage key is listed with its new name after an update of its labels. A node may give accounts a key before."""
    key, keys = _account(session), UsageKeys(session)
    with set_up():
        usage_key = keys.add(key, name="labelled before").key
    keys.rename(key, usage_key, "labelled")
    ours = [item for item in keys.list(key) if session.label in str(member(item, "name"))]
    _labelled(session, "list_api_keys", ours)


def actions_are_renamed(session: Session) -> None:
    """An only action is listed with its new labels after an update of them."""
    key, actions = _account(session), Actions(session)
    cid = actions.sample_cid("labelled")
    with set_up():
        actions.add(key, cid, "labelled before")
        actions.update(key, hashed_cid(cid), "labelled")
        listed = actions.list(key)
    _labelled(session, "list_actions", listed if len(listed) == 1 else [])


def cids_are_as_stated(session: Session) -> None:
    """The CID of a short code is the one of the algorithm that the profile states."""
    code, actions = "async function main() { return 1; }", Actions(session)
    stated = code_cid(code, session.profile.crypto.cid_algorithm)
    with set_up():
        got = actions.asked_cid(code)
    _must(session, stated in {None, got}, f"the CID {stated} of a short code", got)


def cids_are_hashed(session: Session) -> None:
    """The one action that is registered is listed by the hash of its CID."""
    key, actions = _account(session), Actions(session)
    cid = actions.sample_cid("hashed")
    with set_up():
        actions.add(key, cid)
        listed = actions.list(key)
        _must(session, len(listed) == 1, "one item in list_actions", listed)
    _hashes(session, "list_actions", listed, [cid])


def registrations_of_actions_count(session: Session) -> None:
    """An account that registered two actions lists two."""
    key, actions = _account(session), Actions(session)
    for name in ("registered", "registered next"):
        actions.add(key, actions.sample_cid(name))
    listed = actions.list(key)
    _must(session, len(listed) == 2, "two items in list_actions", listed)


def actions_are_registered(session: Session) -> None:
    """Two actions that are registered are listed by the hashes of their CIDs."""
    key, actions = _account(session), Actions(session)
    cids = [actions.sample_cid(f"registered {number}") for number in range(2)]
    for cid in cids:
        actions.add(key, cid)
    _hashes(session, "list_actions", actions.list(key), cids)


def _hashes(session: Session, where: str, items: Sequence[object], cids: Sequence[str]) -> None:
    expected = [hashed_cid(cid) for cid in cids]
    listed = _pluck(items, "hashed_cid")
    _must(
        session,
        same_hexes(listed, expected, any_order=True),
        f"the actions {printed_json(expected)} in {where}",
        listed,
    )


def _addresses(session: Session, items: Sequence[object], addresses: Sequence[str]) -> None:
    listed = _pluck(items, "wallet_address")
    expected = f"the wallets {printed_json([*addresses])} in list_wallets_in_group"
    _must(session, same_hexes(listed, [*addresses], any_order=True), expected, listed)


def groups_list_the_actions_they_are_made_with(session: Session) -> None:
    """A group's list holds the action that it was made with."""
    key, actions = _account(session), Actions(session)
    cid = actions.sample_cid("permitted")
    group = Groups(session).add(key, cid_hashes=[hashed_cid(cid)])
    _hashes(session, "list_actions of the group", actions.list(key, group.id), [cid])


def groups_list_the_wallets_they_are_made_with(session: Session) -> None:
    """A group's list holds the wallet that it was made with."""
    key, pkps = _account(session), Pkps(session)
    with set_up():
        wallet = pkps.create(key)
    group = Groups(session).add(key, pkp_ids=[wallet.id])
    _addresses(session, pkps.list(key, group.id), [wallet.address])


def additions_of_actions_count(session: Session) -> None:
    """A group to which an action is added lists one action."""
    _, listed = _group_with_an_action(session)
    _must(session, len(listed) == 1, "one item in list_actions of the group", listed)


def actions_join_groups(session: Session) -> None:
    """An action that is added to a group is listed there by the hash of its CID."""
    cid, listed = _group_with_an_action(session)
    _hashes(session, "list_actions of the group", listed, [cid])


def _group_with_an_action(session: Session) -> tuple[str, list[object]]:
    """The CID that was added to a new group, and the group's actions."""
    key, actions, groups = _account(session), Actions(session), Groups(session)
    cid = actions.sample_cid("joining")
    with set_up():
        group = groups.add(key)
    groups.add_action(key, group.id, cid)
    return cid, actions.list(key, group.id)


def actions_leave_groups(session: Session) -> None:
    """After the first of a group's three actions is removed, the group lists the others, and then without the last."""
    key, actions, groups = _account(session), Actions(session), Groups(session)
    first, stays, last = (actions.sample_cid(name) for name in ("first", "staying", "last"))
    with set_up():
        group = groups.add(key, cid_hashes=[hashed_cid(cid) for cid in (first, stays, last)])
        _hashes(session, "list_actions of the group", actions.list(key, group.id), [first, stays, last])
    groups.remove_action(key, group.id, hashed_cid(first))
    _hashes(session, "list_actions of the group", actions.list(key, group.id), [stays, last])
    groups.remove_action(key, group.id, hashed_cid(last))
    _hashes(session, "list_actions of the group", actions.list(key, group.id), [stays])


def additions_of_wallets_count(session: Session) -> None:
    """A group to which a wallet is added lists one wallet."""
    _, listed = _group_with_a_wallet(session)
    _must(session, len(listed) == 1, "one item in list_wallets_in_group", listed)


def wallets_join_groups(session: Session) -> None:
    """A wallet that is added to a group is listed there."""
    address, listed = _group_with_a_wallet(session)
    _addresses(session, listed, [address])


def _group_with_a_wallet(session: Session) -> tuple[str, list[object]]:
    """The address of the wallet that was added to a new group, and the group's wallets."""
    key, groups, pkps = _account(session), Groups(session), Pkps(session)
    with set_up():
        group, wallet = groups.add(key), pkps.create(key)
    groups.add_pkp(key, group.id, wallet.id)
    return wallet.address, pkps.list(key, group.id)


def wallets_leave_groups(session: Session) -> None:
    """After the first of a group's three wallets is removed, the group lists the others, and then without the last."""
    key, groups, pkps = _account(session), Groups(session), Pkps(session)
    with set_up():
        first, stays, last = pkps.create_several(key, 3)
        group = groups.add(key, pkp_ids=[first.id, stays.id, last.id])
        _addresses(session, pkps.list(key, group.id), [first.address, stays.address, last.address])
    groups.remove_pkp(key, group.id, first.id)
    _addresses(session, pkps.list(key, group.id), [stays.address, last.address])
    groups.remove_pkp(key, group.id, last.id)
    _addresses(session, pkps.list(key, group.id), [stays.address])


def updates_replace_lists(session: Session) -> None:
    """After an update a group's lists hold what the update named."""
    key, actions, groups, pkps = _account(session), Actions(session), Groups(session), Pkps(session)
    old, new = (actions.sample_cid(name) for name in ("old", "new"))
    with set_up():
        first, second = pkps.create_several(key, 2)
        group = groups.add(key, pkp_ids=[first.id], cid_hashes=[hashed_cid(old)])
    groups.update(key, group.id, pkp_ids=[second.id], cid_hashes=[hashed_cid(new)])
    _hashes(session, "list_actions of the updated group", actions.list(key, group.id), [new])
    _addresses(session, pkps.list(key, group.id), [second.address])


def updated_groups_keep_their_ids(session: Session) -> None:
    """After an update an account has the same groups as before."""
    key, groups = _account(session), Groups(session)
    with set_up():
        made = [groups.add(key, name) for name in ("first", "second")]
        before = _pluck(groups.list(key), "id")
        _must(session, {one.listed_id for one in made} <= {*before}, "two new groups in list_groups", before)
    groups.update(key, made[0].id, pkp_ids=[], cid_hashes=[])
    after = _pluck(groups.list(key), "id")
    # One that is gone, with nothing in its place, is for the updates of groups to tell.
    kept = len(after) != len(before) or {*after} == {*before}
    _must(session, kept, f"the groups {printed_json(before)} in list_groups after an update", after)


def groups_are_removed(session: Session) -> None:
    """After the second of three groups is removed, the others are listed and it is not."""
    key, groups = _account(session), Groups(session)
    with set_up():
        made = [groups.add(key, name).listed_id for name in ("first", "second", "third")]
        _must(session, {*made} <= {*_pluck(groups.list(key), "id")}, "three new groups in list_groups", made)
    goes = made.pop(1)
    groups.remove(key, group_id(goes))
    left = _pluck(groups.list(key), "id")
    expected = f"the groups {printed_json(made)} in list_groups after a removal, and {printed(goes)} not"
    _must(session, {*made} <= {*left} and goes not in left, expected, left)


def updates_replace_permissions(session: Session) -> None:
    """An update takes the permission to make groups from one key, and gives it to another."""
    account, keys = _account(session), UsageKeys(session)
    with set_up():
        loses, gains = (keys.add(account, permissions).key for permissions in (MAKES_GROUPS, Permissions()))
    keys.update(account, loses, Permissions())
    keys.update(account, gains, MAKES_GROUPS)
    Groups(session).add(gains, listed_to=account)
    _must_be_refused(session, loses)


def keys_are_removed(session: Session) -> None:
    """A removed usage key is no longer listed, makes no group and lists none; the one made after it still can."""
    account, keys = _account(session), UsageKeys(session)
    with set_up():
        removed, stays = (keys.add(account, MAKES_GROUPS).key for _ in range(2))
        before = len(keys.list(account))
        read = session.request("list_groups", removed, **one_item_page(session))
        session.send(read)
    keys.remove(account, removed)
    after = keys.list(account)
    _must(session, len(after) == before - 1, f"{before - 1} items in list_api_keys after a removal", after)
    _must_be_refused(session, removed)
    answer = session.send(read)
    if answer.accepted:
        raise NotRefused("a refusal of list_groups", answer.summary, answer.exchange)
    Groups(session).add(stays, listed_to=account)


def scopes_open_their_operations(session: Session) -> None:
    """A key with one scope does the operations of that scope, and none of another."""
    account, keys = _account(session), UsageKeys(session)
    with set_up():
        trial = ScopeTrial(session, account)
    for scope in SCOPES:
        with set_up():
            key = keys.add(account, scope).key
        opened = trial.opens(key)
        _must(session, opened == opened_by(scope), f"a key that opens {printed_json(opened_by(scope))}", opened)


def unknown_keys_are_refused(session: Session) -> None:
    """A key that was never issued cannot make a group."""
    _must_be_refused(session, random_key(session.random))


def _must_be_refused(session: Session, key: str) -> None:
    """The key cannot make a group. The form of the refusal is not judged."""
    answer = session.send(Groups(session).creation(key))
    if answer.accepted:
        raise NotRefused("a refusal of add_group", answer.summary, answer.exchange)


def actions_are_deleted(session: Session) -> None:
    """After the second of three registered actions is deleted, only the others are listed."""
    key, actions = _account(session), Actions(session)
    made = [actions.sample_cid(name) for name in ("first", "second", "third")]
    for cid in made:
        actions.add(key, cid)
    with set_up():
        _hashes(session, "list_actions", actions.list(key), made)
    actions.delete(key, hashed_cid(made.pop(1)))
    _hashes(session, "list_actions", actions.list(key), made)


def successful_runs_are_not_marked(session: Session) -> None:
    """The run of a code that returns a number is not marked as failed."""
    account, runs = _account(session), Runs(session)
    with set_up():
        wallet, groups = Pkps(session).create(account), Groups(session)
        group = groups.add(account, pkp_ids=[wallet.id], cid_hashes=[groups.all_actions])
        key = UsageKeys(session).executing_in(account, group.id)
    runs.must_succeed(runs.request(key, "async function main() { return 1; }"))


def permitted_runs_sign(session: Session) -> None:
    """A usage key runs the action of its group, and the group's wallet signs."""
    SigningRuns(session).must_sign(*_permitted_run(session))


def runs_take_keys_in_x_api_key(session: Session) -> None:
    """A run that Bearer opens is accepted with the key in X-Api-Key."""
    request = SigningRuns(session).request(*_permitted_run(session))
    with set_up():
        session.accept(replace(request, via="bearer"))
    session.accept(request)


def _permitted_run(session: Session) -> tuple[str, ActionCode, Pkp]:
    """A usage key, the action of its group and the group's wallet."""
    account = _account(session)
    with set_up():
        action, wallet = Actions(session).prepared(), Pkps(session).create(account)
        group = Groups(session).add(account, pkp_ids=[wallet.id], cid_hashes=[action.hash])
        return UsageKeys(session).executing_in(account, group.id), action, wallet


def looks_are_free(session: Session) -> None:
    """A balance is the same when it is asked for again."""
    payments = Payments(session)
    with set_up():
        key = Accounts(session).new(spends=False).key
        before = payments.balance(key)
    again = payments.balance(key)
    _must(session, again == before, f"the balance as before: {before}", again)


def balances_follow(session: Session) -> None:
    """A balance rises by a payment or, where payments bring nothing, falls by a write."""
    if not session.profile.offers("payment_sandbox"):
        return
    payments = Payments(session)
    with set_up():
        key = Accounts(session).new(spends=False).key
        before = payments.balance(key)
        payments.buy(key)
        after = payments.balance(key)
        if after <= before:
            Groups(session).add(key)
            after = payments.balance(key)
    _must(session, after != before, f"another balance than {before} after a payment and a write", after)


def each_call_makes_an_intent(session: Session) -> None:
    """Intents of two amounts are not the same one."""
    payments = Payments(session)
    with set_up():
        key = Accounts(session).new(spends=False).key
        one, other = (payments.intend(key, Cents(amount)).id for amount in (600, 700))
    _must(session, one != other, "two intents for two amounts", one)


def conversions_end_the_key(session: Session) -> None:
    """After a conversion the account key cannot make a group."""
    account = _account(session)
    with set_up():
        Accounts(session).convert(account, Wallets(session).new("admin"))
    _must_be_refused(session, account)


def refusals_are_json(session: Session) -> None:
    """The body of a refusal is empty or JSON."""
    answer = session.send(Pkps(session).creation(random_key(session.random)))
    if not answer.accepted:
        _ = answer.value


def refusals_are_recognisable(session: Session) -> None:
    """The refusal of an unknown key has a status of 4xx and no member of a success."""
    answer = session.send(Pkps(session).creation(random_key(session.random)))
    if not answer.accepted or member(answer.value, "wallet_address") is MISSING:
        check_refusal(answer, ExpectedRefusal.of(["any"], session.profile), session.secrets)
