"""Decides which requirements a failure breaks, by the act before it and by what went wrong.

A model case watches many requirements, and a failure says nothing about most of them. So each failure names only those
that it contradicts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from conformance.drivers.model.acts import BUYS, CONVERSION, OF_ITSELF, ON_KEYS, RESTART, Act
from conformance.drivers.model.plan import Planned
from conformance.drivers.model.ruling import Reason
from conformance.drivers.model.views import Check, Look
from conformance.service.execution_rule import ANY
from conformance.service.labels import SHOWN_LABELS

Ids = tuple[str, ...]

BY_OWNER: dict[str, Ids] = {
    "create_wallet": ("EP-350",),
    "add_group": ("EP-160",),
    "update_group": ("EP-180",),
    "remove_group": ("EP-190",),
    "add_usage_api_key": ("EP-110",),
    "update_usage_api_key": ("EP-130",),
    "update_usage_api_key_metadata": ("EP-140",),
    "remove_usage_api_key": ("EP-120",),
    "add_pkp_to_group": ("EP-370",),
    "remove_pkp_from_group": ("EP-220",),
    "add_action_to_group": ("EP-360",),
    "remove_action_from_group": ("EP-210",),
    "add_action": ("EP-280",),
    "update_action_metadata": ("EP-300",),
    "delete_action": ("EP-290",),
    "run_action": ("EXEC-020",),
    CONVERSION: ("MODE-010", "WSIG-020"),
    BUYS: ("BILL-070",),
    RESTART: ("LIST-170",),
}
"""Broken when the account key is refused an operation."""
BY_ADMIN: Ids = ("CHAIN-090",)
"""Broken when the contract reverts a transaction of the admin wallet."""
BY_USAGE_KEY: dict[str, Ids] = {
    "create_wallet": ("UKEY-080",),
    "add_group": ("UKEY-040",),
    "remove_group": ("UKEY-060",),
    "add_pkp_to_group": ("UKEY-180",),
    "remove_pkp_from_group": ("UKEY-220",),
    "add_action_to_group": ("UKEY-100",),
    "remove_action_from_group": ("UKEY-140",),
    "run_action": ("EXEC-010",),
}
"""Broken when a usage key is refused what its permissions allow. What only the profile allows is in `BY_PROFILE`."""
OF_OTHERS: Ids = ("CHAIN-110",)
"""Broken when somebody else than the admin wallet writes to a ChainSecured account."""
BY_USAGE = tuple(name for name in BY_OWNER if name not in OF_ITSELF)
"""The operations that usage keys try."""
LACKING: dict[str, Ids] = {
    "create_wallet": ("UKEY-090",),
    "add_group": ("UKEY-050",),
    "remove_group": ("UKEY-070",),
    "add_pkp_to_group": ("UKEY-190",),
    "remove_pkp_from_group": ("UKEY-230",),
    "add_action_to_group": ("UKEY-110",),
    "remove_action_from_group": ("UKEY-150",),
}
OWNER_ONLY: dict[str, Ids] = {
    "add_usage_api_key": ("AUTH-100",),
    "remove_usage_api_key": ("AUTH-110",),
    "update_usage_api_key": ("AUTH-120",),
}
BY_PROFILE: dict[str, Ids] = {
    "update_group": ("SCOPE-140",),
    "add_action": ("SCOPE-150",),
    "update_action_metadata": ("SCOPE-150",),
    "delete_action": ("SCOPE-150",),
    "update_usage_api_key_metadata": ("AUTH-140",),
}
IN_GROUPS = ("add_pkp_to_group", "remove_pkp_from_group", "add_action_to_group", "remove_action_from_group")
BY_KEYS: dict[str, dict[str, Ids]] = {
    "acts with a removed key": dict.fromkeys(BY_USAGE, ("KEYLIFE-080",)),
    "acts with an expired key": dict.fromkeys(BY_USAGE, ("UKEY-390",)),
    "writes to a ChainSecured account": dict.fromkeys((name for name in BY_USAGE if name != "run_action"), OF_OTHERS),
    "lacks the permission": LACKING,
    "is for the account key alone": OWNER_ONLY,
    "is, by the profile, not for this key": BY_PROFILE,
    "may not fill the lists": {"add_group": ("SCOPE-130",)},
}
"""Broken when an act of a usage key is accepted that must be refused for this reason."""
OLD_KEY_WRITES: Ids = ("ERR-080", "MODE-110")
"""Broken when the key of before the conversion still writes."""
BY_ANYBODY: dict[str, dict[str, Ids]] = {
    "acts with the old key": dict.fromkeys((name for name in BY_USAGE if name != "run_action"), OLD_KEY_WRITES),
    "converts again": {CONVERSION: ("ERR-090",)},
    "names a removed group": dict.fromkeys(("update_group", "remove_group", *IN_GROUPS), ("GRPLIFE-150",)),
    "names a removed key": {
        "remove_usage_api_key": ("KEYLIFE-120",),
        "update_usage_api_key": ("KEYLIFE-100",),
        "update_usage_api_key_metadata": ("KEYLIFE-100",),
    },
    "names another account's key": dict.fromkeys(ON_KEYS, ("KEYLIFE-180",)),
    "registers an action again": {"add_action": ("ACT-180",)},
    "names an action that is not registered": dict.fromkeys(("update_action_metadata", "delete_action"), ("EP-310",)),
    "adds or removes the wildcard": dict.fromkeys(IN_GROUPS[:2], ("GRP-210",)),
    "names another account's wallet": {"add_pkp_to_group": ("PKP-160",)},
    "adds what is there": dict.fromkeys(("add_pkp_to_group", "add_action_to_group"), ("GRP-260",)),
    "removes what is not": dict.fromkeys(("remove_pkp_from_group", "remove_action_from_group"), ("GRP-260",)),
    "is not granted by the Execution rule": {"run_action": ("EXEC-090",)},
}
"""Broken when an act of any key is accepted that must be refused for this reason."""
MADE: dict[str, Ids] = {
    "create_wallet": ("EP-350",),
    "add_group": ("GRPLIFE-010",),
    "run_action": ("PKP-170",),
}
"""Broken when the object or answer of an accepted act is missing or wrong."""
ALWAYS: Ids = ("LIST-170",)
"""Broken by every wrong list: its contents follow from the accepted writes alone."""
ANOTHERS: Ids = ("ACC-120",)
"""Broken when objects of another account changed."""
AFTER: dict[tuple[str, str, str], Ids] = {
    **{
        (operation, "groups", label): (SHOWN_LABELS[operation][label],)
        for operation in ("add_group", "update_group")
        for label in ("name", "description")
    },
    **{
        (operation, "keys", "description"): (SHOWN_LABELS[operation]["description"],)
        for operation in ("add_usage_api_key", "update_usage_api_key", "update_usage_api_key_metadata")
    },
    **{
        (operation, "actions", "labels"): (SHOWN_LABELS[operation]["name"],)
        for operation in ("add_action", "update_action_metadata")
    },
    ("create_wallet", "wallets", "existence"): ("EP-350",),
    ("add_group", "groups", "existence"): ("GRPLIFE-010",),
    ("add_group", "groups", "order"): ("LIST-010",),
    ("add_group", "wallets of a group", "members"): ("GRP-040",),
    ("add_group", "actions of a group", "members"): ("GRP-050",),
    ("update_group", "groups", "existence"): ("GRPLIFE-090",),
    ("update_group", "groups", "order"): ("LIST-030",),
    ("update_group", "wallets of a group", "members"): ("GRPLIFE-040",),
    ("update_group", "actions of a group", "members"): ("GRPLIFE-050",),
    ("remove_group", "groups", "existence"): ("GRPLIFE-100",),
    ("remove_group", "groups", "order"): ("LIST-030",),
    ("add_pkp_to_group", "wallets of a group", "members"): ("EP-370",),
    ("remove_pkp_from_group", "wallets of a group", "members"): ("EP-220",),
    ("add_action_to_group", "actions of a group", "members"): ("EP-360",),
    ("remove_action_from_group", "actions of a group", "members"): ("EP-210",),
    ("add_action", "actions", "existence"): ("EP-280",),
    ("delete_action", "actions", "existence"): ("EP-290",),
    ("delete_action", "actions of a group", "members"): ("ACT-200",),
    ("add_usage_api_key", "keys", "existence"): ("KEYLIFE-010",),
    ("add_usage_api_key", "keys", "fields"): ("UKEY-010",),
    ("update_usage_api_key", "keys", "existence"): ("KEYLIFE-130",),
    ("update_usage_api_key", "keys", "fields"): ("KEYLIFE-020", "KEYLIFE-030"),
    ("update_usage_api_key_metadata", "keys", "existence"): ("KEYLIFE-060",),
    ("update_usage_api_key_metadata", "keys", "fields"): ("KEYLIFE-070",),
    ("remove_usage_api_key", "keys", "existence"): ("KEYLIFE-090",),
}
"""Broken when an object of the act is wrong after it: by operation, list and aspect."""
STAYS: dict[str, Ids] = {
    "groups": ("MODE-050",),
    "wallets of a group": ("MODE-050",),
    "actions of a group": ("MODE-050",),
    "wallets": ("MODE-060",),
    "actions": ("MODE-070",),
    "keys": ("MODE-080",),
    "permission": ("MODE-090",),
}
"""Broken when something is not there as before after a conversion: by list or view."""
FOLLOWS: Ids = ("CHAIN-050",)
"""Broken when a list over HTTP does not show what the admin wallet wrote to the contract, and where the contract's view
is wrong of what the list over HTTP, which is compared before, shows as it has to."""
CREDIT: dict[str, Ids] = {BUYS: ("BILL-070",), RESTART: ("BILL-070",)}
"""Broken when the balance is wrong after this operation."""
UNCHARGED, CHARGED = ("BILL-210",), ("BILL-170",)
"""Broken when it is wrong after a refused act, and after any other accepted one."""
BESIDE: dict[tuple[str, str], Ids] = {
    ("update_group", "groups"): ("GRPLIFE-090",),
    ("update_group", "wallets of a group"): ("GRPLIFE-090",),
    ("update_group", "actions of a group"): ("GRPLIFE-090",),
    ("remove_group", "keys"): ("GRPLIFE-130", "GRPLIFE-140"),
    ("remove_group", "wallets"): ("GRPLIFE-140",),
    ("remove_group", "actions"): ("GRPLIFE-140",),
    ("remove_pkp_from_group", "wallets of a group"): ("PKP-070",),
    ("add_action", "actions of a group"): ("ACT-070",),
    ("remove_action_from_group", "actions"): ("ACT-220",),
    ("update_usage_api_key", "keys"): ("KEYLIFE-050",),
    ("remove_usage_api_key", "keys"): ("KEYLIFE-050",),
    ("remove_usage_api_key", "groups"): ("KEYLIFE-210",),
    ("remove_usage_api_key", "wallets"): ("KEYLIFE-210",),
    ("remove_usage_api_key", "actions"): ("KEYLIFE-210",),
    ("run_action", ""): ("EXEC-340",),
}
"""Broken when another object of the account changed: by operation and list, or for every list."""
PERMISSION: dict[str, Ids] = {
    "add_group": ("GRPLIFE-120",),
    "update_group": ("GRPLIFE-040", "GRPLIFE-050"),
    "remove_group": ("GRPLIFE-110", "GRPLIFE-130"),
    "add_pkp_to_group": ("GRP-270",),
    "add_action_to_group": ("GRP-270",),
    "update_usage_api_key": ("KEYLIFE-020", "KEYLIFE-030"),
}
"""Broken when the contract decides otherwise than the Execution rule after this operation."""


ABOUT = {
    "groups": {"add_group", "update_group", "remove_group"},
    "keys": {"add_usage_api_key", "update_usage_api_key", "update_usage_api_key_metadata", "remove_usage_api_key"},
    "wallets": {"create_wallet"},
    "actions": {"add_action", "update_action_metadata", "delete_action"},
}
"""The operations whose effect each list shows as a whole."""


def of_request(planned: Planned) -> Ids:
    """Requirements that a wrong answer to the act breaks."""
    act = planned.act
    if planned.reasons:
        return _once(name for reason in planned.reasons for name in _of_reason(reason, act))
    if planned.sent:
        return BY_ADMIN
    if act.wallet == ANY:
        return BY_ANYBODY["adds or removes the wildcard"][act.operation]
    if act.by_owner:
        return BY_OWNER[act.operation]
    return BY_USAGE_KEY.get(act.operation) or BY_PROFILE[act.operation]


def of_effect(planned: Planned) -> Ids:
    """Requirements broken where the object of an accepted act is missing."""
    return BY_ADMIN if planned.sent else MADE.get(planned.act.operation, BY_OWNER[planned.act.operation])


def of_view(planned: Planned | None, look: Look, check: Check | None) -> Ids:
    """Requirements that a wrong list or view after the act breaks."""
    if planned is not None and look.what == "balance":
        return UNCHARGED if planned.refused else CREDIT.get(planned.act.operation, CHARGED)
    if look.on_chain and look.what != "permission":
        return FOLLOWS
    if planned is None or planned.refused or planned.act.operation == RESTART:
        return ALWAYS
    if look.account != planned.act.account:
        return ANOTHERS
    if planned.sent:
        return BY_ADMIN if look.on_chain else FOLLOWS  # on the chain it is the contract's decision about a run
    return _of_look(planned.act, look, check)


def _of_look(act: Act, look: Look, check: Check | None) -> Ids:
    if act.operation == CONVERSION:
        return STAYS[look.what]
    if check is None:
        return ALWAYS
    if look.what == "permission":
        return PERMISSION.get(act.operation, ALWAYS)
    if is_about(act, look, check):
        return AFTER.get((act.operation, look.what, check.aspect), ALWAYS)
    beside = BESIDE.get((act.operation, look.what)) or BESIDE.get((act.operation, ""))
    return beside or ALWAYS


def is_about(act: Act, look: Look, check: Check) -> bool:
    """Whether the act was about this object."""
    if not check.subject:
        return act.operation in ABOUT[look.what]
    if act.operation == "delete_action" and look.what == "actions of a group":
        return True
    return check.subject in {act.makes, act.group, act.key, act.action}


def _of_reason(reason: Reason, act: Act) -> Ids:
    return {**BY_KEYS, **BY_ANYBODY}[reason.name][act.operation]


def _once(ids: Iterable[str]) -> Ids:
    return tuple(dict.fromkeys(ids))


def watched(operations: Sequence[str], *, chain: bool, credit: bool = False) -> frozenset[str]:
    """Every requirement that a failure of a case with these operations can name."""
    chosen = set(operations)
    converts = CONVERSION in chosen
    unless_converted = {"acts with the old key", "acts with an expired key", "writes to a ChainSecured account"}
    reasons = {**BY_ANYBODY, **BY_KEYS}
    tables = [BY_OWNER, MADE, *(table for name, table in reasons.items() if converts or name not in unless_converted)]
    tables += [BY_USAGE_KEY, *([PERMISSION] if chain else [])]
    names = {*ALWAYS, *ANOTHERS, *(FOLLOWS if chain else ())}
    names |= {name for table in tables for operation in chosen & table.keys() for name in table[operation]}
    names |= {name for table in (AFTER, BESIDE) for key, ids in table.items() if key[0] in chosen for name in ids}
    if converts:
        names |= {*BY_ADMIN, *(name for ids in STAYS.values() for name in ids)}
    if credit:
        names |= {*UNCHARGED, *CHARGED, *CREDIT[BUYS]}
    return frozenset(names)
