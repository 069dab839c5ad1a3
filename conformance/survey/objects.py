"""Observes how lists show the survey's own wallets, actions and usage keys."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence

from pydantic import JsonValue

from conformance.endpoints.canonical import number_of
from conformance.profile.operations import PERMISSION_ARRAYS, PERMISSION_FLAGS
from conformance.service.derivations import ID_RULE, hashed_cid, pkp_id
from conformance.service.wallet_names import FORM, WalletNames
from conformance.survey.asking import flat, items_of, name_of, object_of
from conformance.survey.described import LABELS
from conformance.survey.trial import ALL_PERMISSIONS, DESCRIPTIONS, NAMES, NO_PERMISSIONS, Trial
from conformance.values.ids import Cid

ITEM = "wire.list_items.fields"


def wallets(trial: Trial) -> None:
    """Create two wallets, one with labels, and observe how lists show them."""
    if not trial.offers("create_wallet"):
        return
    listed = items_of(trial.page("list_wallets"))
    if trial.wallet and not any("wallet" in str(value).lower() for item in listed for value in item.values()):
        shown = any(trial.wallet.lower() == str(value).lower() for item in listed for value in item.values())
        trial.notes.see("semantics.account_wallet_listed", shown, "list_wallets of a new account")
    made = [_created(trial, None), _created(trial, _labels(trial))]
    if takes_none := not made[1]:
        made[1] = _created(trial, None)
    items = items_of(trial.page("list_wallets"))
    mine = [item for item in items if any(str(value).lower() == made[0] for value in item.values())]
    if len(mine) != 1 or not made[0]:
        return
    item = mine[0]
    trial.notes.see(
        f"{ITEM}.wallet.wallet_address", next(n for n, v in item.items() if str(v).lower() == made[0]), "list_wallets"
    )
    ids = [
        name for name, value in item.items() if isinstance(value, str) and len(value) == 66 and value.startswith("0x")
    ]
    rules = [
        rule for rule in ("keccak256_of_address", "left_padded_address") if pkp_id(made[0], rule) in _lowered(item)
    ]
    if len(rules) == 1:
        trial.pkp = str(pkp_id(made[0], rules[0]))
        trial.notes.see("wire.pkp.id_source.rule", rules[0], "the id in list_wallets")
        ids = [name for name in ids if str(item[name]).lower() == trial.pkp]
    if len(ids) == 1:
        trial.notes.see(f"{ITEM}.wallet.id", ids[0], "list_wallets")
        trial.pkp = str(item[ids[0]])
    _wallet_labels(trial, next((one for one in items if made[1] in _lowered(one)), item), takes_none)
    paths = [name for name in item if "path" in name]
    if len(paths) == 1:
        trial.notes.see(f"{ITEM}.wallet.derivation_path", paths[0], "list_wallets")
    elif not paths and len(item) <= 4:
        trial.notes.see(f"{ITEM}.wallet.derivation_path", None, f"a wallet has {sorted(item)}")
    _orders(trial, items, made, ids)
    trial.address = made[0]


def _labels(trial: Trial) -> dict[str, JsonValue]:
    """A text for each member that may be a label of a wallet: those that the node describes, or else the usual ones."""
    described = trial.described("create_wallet")
    names = () if described is None else (*described.body, *described.query)
    return {name: f"{trial.label} {name}" for name in names or (*NAMES, *DESCRIPTIONS)}


def _created(trial: Trial, body: dict[str, JsonValue] | None) -> str:
    """The address of a new wallet; empty where none was made."""
    made = object_of(trial.call("create_wallet", body)) if body is None or body else {}
    return str(made.get("wallet_address", "")).lower()


def _orders(trial: Trial, items: Sequence[dict[str, JsonValue]], made: Sequence[str], ids: Sequence[str]) -> None:
    """Observe the order of the account's wallets, and of a group's, where one member alone can be their id."""
    places = [index for index, one in enumerate(items) for address in made if address and address in _lowered(one)]
    if len(places) == 2:
        order = "newest_first" if _place(items, made[0]) > _place(items, made[1]) else "creation"
        trial.notes.see("semantics.list_order_other", order, "two wallets in list_wallets")
        if len(ids) == 1:
            trial.other_pkp = str(items[_place(items, made[1])][ids[0]])
            _order_in_groups(trial, ids[0], {address: items[_place(items, address)][ids[0]] for address in made})


def _wallets_by_address(trial: Trial, update: dict[str, JsonValue], made: Sequence[str]) -> None:
    """Observe whether a write that is refused with the ids of wallets is accepted with their addresses."""
    rule = trial.notes.seen.get(ID_RULE)
    if rule is None or trial.wallet_names is not None:
        return
    trial.wallet_names = WalletNames(set(made), str(rule.value))
    if trial.post("update_group", update).accepted:
        trial.notes.see(FORM, "address", "update_group refuses the ids of list_wallets, and takes addresses")
    else:
        trial.wallet_names = None


def _order_in_groups(trial: Trial, member: str, made: dict[str, JsonValue]) -> None:
    """Observe how two groups list the same two wallets, which were put into them in opposite orders."""
    ids = [*made.values()]
    both = [ids, ids[::-1]]
    listed: list[list[JsonValue]] = []
    for group, given in zip(trial.groups[1:], both, strict=False):
        labels: dict[str, JsonValue] = {"name": trial.label, "description": trial.label, "cid_hashes_permitted": []}
        number = number_of(group)
        update: dict[str, JsonValue] = {"group_id": number, **labels, "pkp_ids_permitted": given}
        if not trial.post("update_group", update).accepted:
            _wallets_by_address(trial, update, [*made])
        listed.append([item.get(member) for item in items_of(trial.page("list_wallets_in_group", group_id=number))])
    if [sorted(map(str, one)) for one in listed] != [sorted(map(str, one)) for one in both]:
        return
    order = "adding" if listed == both else "newest_first" if listed == both[::-1] else "account"
    trial.notes.see("semantics.list_order_in_group", order, "two wallets in list_wallets_in_group of two groups")


def _wallet_labels(trial: Trial, item: dict[str, JsonValue], takes_none: bool) -> None:
    """Observe under which member the item shows a label of the request, or which it calls as list_groups does."""
    sent = _labels(trial)
    for kind in ("name", "description"):
        found = [(name, shown) for name, text in sent.items() if (shown := name_of(item, text)) and _is(kind, name)]
        usual = trial.notes.seen.get(f"wire.list_groups.item_fields.{kind}")
        if len(found) == 1:
            trial.notes.see(f"wire.create_wallet.fields.{kind}", found[0][0], "list_wallets shows what was sent in it")
            trial.notes.see(f"{ITEM}.wallet.{kind}", found[0][1], "list_wallets shows what was sent")
        elif takes_none:
            trial.notes.see(f"wire.create_wallet.fields.{kind}", None, "a wallet with labels is refused")
            if usual and isinstance(item.get(str(usual.value)), str):
                trial.notes.see(f"{ITEM}.wallet.{kind}", usual.value, "a wallet has the member that a group has")


def _is(kind: str, name: str) -> bool:
    return (kind == "description") == (name in DESCRIPTIONS or LABELS.search(name) is not None)


def _lowered(item: dict[str, JsonValue]) -> list[str]:
    return [str(value).lower() for value in item.values()]


def _place(items: Sequence[dict[str, JsonValue]], address: str) -> int:
    return next(index for index, item in enumerate(items) if address in _lowered(item))


def actions(trial: Trial) -> None:
    """Register an action, and observe how lists show it."""
    cid = trial.cid("async function main() { return 'survey'; }")
    if not cid:
        return
    labels: dict[str, JsonValue] = {"name": f"{trial.label} action", "description": f"{trial.label} about"}
    if not trial.post("add_action", {"action_ipfs_cid": cid, **labels}).accepted:
        return
    items = items_of(trial.page("list_actions"))
    item = next((entry for entry in items if "hashed_cid" in entry), items[0] if items else None)
    if item is None:
        return
    trial.action, trial.hashed = cid, str(item.get("hashed_cid", hashed_cid(Cid(cid))))
    for member, label in labels.items():
        name = name_of(item, label)
        if name or set(item) == {"hashed_cid"}:
            trial.notes.see(f"{ITEM}.action.{member}", name, f"an action has {sorted(item)}")


def usage_keys(trial: Trial) -> None:
    """Create a usage key with all permissions and one with none, and observe how lists show them."""
    labels: dict[str, JsonValue] = {"name": f"{trial.label} key", "description": f"{trial.label} all"}
    wallets_before = len(items_of(trial.page("list_wallets")))
    made = object_of(trial.post("add_usage_api_key", {**labels, **ALL_PERMISSIONS}))
    value = made.get("usage_api_key")
    if not isinstance(value, str):
        return
    more = len(items_of(trial.page("list_wallets"))) - wallets_before
    trial.notes.see("semantics.managed_key_wallet_listed", more > 0, f"{more} more in list_wallets after a usage key")
    trial.usage_keys.append(value)
    _key_format(trial, value)
    plain = object_of(trial.post("add_usage_api_key", {**labels, **NO_PERMISSIONS})).get("usage_api_key")
    if isinstance(plain, str):
        trial.usage_keys.append(plain)
        trial.plain_key = plain
    _key_items(trial, labels)


def _key_items(trial: Trial, labels: dict[str, JsonValue]) -> None:
    """Observe how the list shows the key with all permissions, and what tells it from the one with none."""
    items = [flat(item) for item in items_of(trial.page("list_api_keys"))]
    shown = [item for item in items if labels["name"] in item.values()] or items
    if not shown:
        return
    first = [item for item in shown if any(item.get(name) is True for name in _named(item, PERMISSION_FLAGS[0]))]
    item = first[0] if len(first) == 1 else shown[0]
    given = {**labels, **ALL_PERMISSIONS}
    names = {member: _member(item, member, given.get(member)) for member in (*given, "expiration", "balance")}
    of_key = [
        name
        for name, value in item.items()
        if isinstance(value, str) and name not in names.values() and [one.get(name) for one in items].count(value) == 1
    ]
    hashes = [name for name in of_key if name.endswith("hash")] or of_key
    if len(hashes) == 1 and len(items) > 1:
        names["api_key_hash"] = hashes[0]
    is_all = {name for name in names.values() if name} >= item.keys()
    for member, name in names.items():
        if name or is_all or len(item) <= 2:
            trial.notes.see(f"{ITEM}.usage_key.{member}", name, f"a key has {sorted(item)}")
    array = names[PERMISSION_ARRAYS[0]]
    forms: dict[str, JsonValue] = {"integer": [0], "decimal_string": ["0"], "hex": ["0x0"]}
    if array and (form := [name for name, wildcard in forms.items() if item[array] == wildcard]):
        trial.notes.see("wire.list_items.group_ids_form", form[0], f"a key shows {item[array]!r}")


def _named(item: dict[str, JsonValue], member: str) -> list[str]:
    """The names, at any depth, that end in the member's own."""
    return [name for name in item if name.rpartition(".")[2] == member]


def _member(item: dict[str, JsonValue], member: str, value: JsonValue) -> str | None:
    """The name of a member: its own, at any depth, or the one that alone holds the value."""
    own = _named(item, member)
    if len(own) == 1:
        return own[0]
    return name_of(item, value) if isinstance(value, str) else None


def _key_format(trial: Trial, value: str) -> None:
    key = "wire.usage_api_key.managed_format"
    how = f"a usage key of {len(value)} characters"
    try:
        raw = bytes.fromhex(value)
        trial.notes.see(f"{key}.encoding", "hex", how)
    except ValueError:
        try:
            raw = base64.b64decode(value + "=" * (-len(value) % 4), altchars=b"-_", validate=True)
        except binascii.Error:
            return
        if {"-", "_"} & set(value) or {"+", "/"} & set(value):
            trial.notes.see(f"{key}.encoding", "base64url" if {"-", "_"} & set(value) else "base64", how)
        if len(raw) % 3:
            trial.notes.see(f"{key}.padded", value.endswith("="), how)
    trial.notes.see(f"{key}.bytes", len(raw), how)
