"""The trials of foundations that no case judges alone: each tests one of them, with as few requests as possible.

A trial raises a Departure where its foundation does not hold. What fails while `set_up` prepares it leaves that open.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

from conformance.drivers.sections import set_up
from conformance.problems import Mismatch, NotAccepted, NotRefused, StateChanged
from conformance.service.accounts import Accounts
from conformance.service.actions import Actions
from conformance.service.derivations import hashed_cid, random_key
from conformance.service.groups import Groups
from conformance.service.lists import read_pages
from conformance.service.minting import ENVELOPES, Minting
from conformance.service.payments import Payments
from conformance.service.pkps import Pkps
from conformance.service.refusal import ExpectedRefusal, check_refusal
from conformance.service.session import Session
from conformance.service.usage_keys import UsageKeys
from conformance.service.wallets import Wallets
from conformance.values.json_values import MISSING, member, printed, printed_json, same, same_hex

SHOWN = 200


def _must(session: Session, holds: bool, expected: str, got: object) -> None:
    if not holds:
        raise Mismatch(expected, printed_json(got)[:SHOWN], session.last_exchange)


def _account(session: Session) -> str:
    """The key of a new account, after one call with it."""
    with set_up():
        key = Accounts(session).new().key
        Groups(session).list(key)
    return key


def account_keys_open_something(session: Session) -> None:
    """The key of a new account lists or makes groups, in one of the two headers."""
    with set_up():
        key = Accounts(session).new().key
    asked = (session.request("list_groups", key), Groups(session).creation(key))
    answers = [session.send(replace(request, via=via)) for request in asked for via in ("x-api-key", "bearer")]
    if not any(answer.accepted for answer in answers):
        expected = "acceptance (2xx) of list_groups or add_group with the key of a new account"
        raise NotAccepted(expected, answers[0].summary, answers[0].exchange)


def refused_writes_change_nothing(session: Session) -> None:
    """A group that an unknown key shall make, or one that may not, after the owner made one, is not listed."""
    groups, key = Groups(session), _account(session)
    with set_up():
        groups.add(key, "one")
        weak = UsageKeys(session).add(key).key
        before = groups.list(key)
        _must_be_refused(session, random_key(session.random))
        _must_be_refused(session, weak)
        exchange = session.last_exchange
        after = groups.list(key)
    if not same(before, after):
        raise StateChanged(f"list_groups as before: {printed(before)[:SHOWN]}", printed(after)[:SHOWN], exchange)


def _additions(session: Session, key: str) -> Mapping[str, Callable[[str], object]]:
    """By list, what adds an item to it without reading it."""
    actions, groups, pkps, keys = Actions(session), Groups(session), Pkps(session), UsageKeys(session)
    return {
        "list_groups": lambda _: session.accept(groups.creation(key)),
        "list_api_keys": lambda _: keys.add(key),
        "list_wallets": lambda _: session.accept(pkps.creation(key)),
        "list_actions": lambda mark: actions.add(key, actions.sample_cid(mark)),
    }


def actions_are_listed_by_hashes(session: Session) -> None:
    """An item of the account's list of actions has a `hashed_cid`, and none by which a write would not know it."""
    key, actions = _account(session), Actions(session)
    cid = actions.sample_cid("listed")
    own = hashed_cid(cid)
    with set_up():
        actions.add(key, cid)
        listed = actions.list(key)
        _must(session, bool(listed), "an item in list_actions", listed)
    hashes = [member(item, "hashed_cid") for item in listed]
    _must(session, MISSING not in hashes, "a `hashed_cid` of each item of list_actions", listed)
    if not any(same_hex(shown, own) for shown in hashes):
        labels = {"name": "n", "description": "d"}
        renamed = session.send(session.request("update_action_metadata", key, hashed_cid=own, **labels))
        _must(session, not renamed.accepted, f"the hash that update_action_metadata takes, {own}", hashes)


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


def unknown_keys_are_refused(session: Session) -> None:
    """A key that was never issued cannot make a group."""
    _must_be_refused(session, random_key(session.random))


def _must_be_refused(session: Session, key: str) -> None:
    """The key cannot make a group. The form of the refusal is not judged."""
    answer = session.send(Groups(session).creation(key))
    if answer.accepted:
        raise NotRefused("a refusal of add_group", answer.summary, answer.exchange)


def looks_are_free(session: Session) -> None:
    """A balance is the same when it is asked for again."""
    payments = Payments(session)
    with set_up():
        key = Accounts(session).new(spends=False).key
        before = payments.balance(key)
    again = payments.balance(key)
    _must(session, again == before, f"the balance as before: {before}", again)


def refusals_are_json(session: Session) -> None:
    """The body of a refusal is empty, JSON, or does not call itself JSON."""
    answer = session.send(Pkps(session).creation(random_key(session.random)))
    if not answer.accepted:
        _ = answer.value


def refusals_are_recognisable(session: Session) -> None:
    """The refusal of an unknown key has a status of 4xx and no member of a success."""
    answer = session.send(Pkps(session).creation(random_key(session.random)))
    if not answer.accepted or member(answer.value, "wallet_address") is MISSING:
        check_refusal(answer, ExpectedRefusal.of(["any"], session.profile), session.secrets)


def mints_need_no_key(session: Session) -> None:
    """A mint that is refused without a key is refused with the key of an account, too."""
    minting = Minting(session)
    with set_up():
        key, admin = Accounts(session).new().key, Wallets(session).new("minter")
    for operation in ENVELOPES:
        request = minting.request(operation, admin)
        answer = session.send(request)
        if not answer.accepted and session.send(replace(request, credential=key)).accepted:
            raise NotAccepted(f"acceptance (2xx) of {operation} without a key", answer.summary, answer.exchange)


def envelopes_are_taken(session: Session) -> None:
    """A mint with a valid envelope is accepted. Where one operation alone refuses it, that is not about envelopes."""
    minting = Minting(session)
    with set_up():
        admin = Wallets(session).new("minter")
    answers = [session.send(minting.request(operation, admin)) for operation in ENVELOPES]
    if not any(answer.accepted for answer in answers):
        raise NotAccepted("acceptance (2xx) of a mint with a valid envelope", answers[0].summary, answers[0].exchange)


TRIALS: Mapping[str, Callable[[Session], None]] = {
    "the keys of accounts": account_keys_open_something,
    "refusals in JSON": refusals_are_json,
    "refusals": refusals_are_recognisable,
    "what refusals tell": refusals_are_recognisable,
    "what refused writes leave": refused_writes_change_nothing,
    "refusals of unknown keys": unknown_keys_are_refused,
    "hashes in lists of actions": actions_are_listed_by_hashes,
    "looks at the balance": looks_are_free,
    "mints without a key": mints_need_no_key,
    "envelopes": envelopes_are_taken,
    **{
        f"{operation} after additions": partial(lists_follow_additions, operation=operation)
        for operation in ("list_groups", "list_api_keys", "list_wallets", "list_actions")
    },
}
"""By the name of the foundation: the case that judges it looks at more, and fails also where the foundation holds."""
