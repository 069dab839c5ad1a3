"""Observes how lists show the survey's own wallets, actions and usage keys."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence

from pydantic import JsonValue

from conformance.endpoints.canonical import number_of
from conformance.profile.operations import PERMISSION_ARRAYS
from conformance.service.derivations import pkp_id
from conformance.survey.asking import items_of, name_of, object_of
from conformance.survey.reading import METHOD_AND_PATH
from conformance.survey.trial import ALL_PERMISSIONS, DESCRIPTIONS, NAMES, NO_PERMISSIONS, Trial
from conformance.values.json_text import written

ITEM = "wire.list_items.fields"


def wallets(trial: Trial) -> None:
    """Create two wallets, one with labels, and observe how lists show them."""
    endpoint = trial.notes.seen.get(f"{METHOD_AND_PATH}.create_wallet")
    if endpoint is None:
        return
    method, _, path = str(endpoint.value).partition(" ")
    listed = items_of(trial.page("list_wallets"))
    if trial.wallet and not any("wallet" in str(value).lower() for item in listed for value in item.values()):
        shown = any(trial.wallet.lower() == str(value).lower() for item in listed for value in item.values())
        trial.notes.see("semantics.account_wallet_listed", shown, "list_wallets of a new account")
    made = []
    labels: dict[str, JsonValue] = {name: f"{trial.label} {name}" for name in (*NAMES, *DESCRIPTIONS)}
    for body in (None, labels):
        sent = written(body) if body and method != "GET" else None
        answer = object_of(trial.ask.send(method, path.removeprefix("/"), trial.key, sent))
        made.append(str(answer.get("wallet_address", "")).lower())
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
    rules = [rule for rule in ("keccak256_of_address", "left_padded_address") if pkp_id(made[0], rule) in item.values()]
    if len(rules) == 1:
        trial.pkp = str(pkp_id(made[0], rules[0]))
        trial.notes.see("wire.pkp.id_source.rule", rules[0], "the id in list_wallets")
        ids = [name for name in ids if item[name] == trial.pkp]
    if len(ids) == 1:
        trial.notes.see(f"{ITEM}.wallet.id", ids[0], "list_wallets")
        trial.pkp = str(item[ids[0]])
    _wallet_labels(trial, items[_place(items, made[1])])
    paths = [name for name in item if "path" in name]
    if len(paths) == 1:
        trial.notes.see(f"{ITEM}.wallet.derivation_path", paths[0], "list_wallets")
    elif not paths and len(item) <= 4:
        trial.notes.see(f"{ITEM}.wallet.derivation_path", None, f"a wallet has {sorted(item)}")
    _orders(trial, items, made, ids)
    trial.address = made[0]


def _orders(trial: Trial, items: Sequence[dict[str, JsonValue]], made: Sequence[str], ids: Sequence[str]) -> None:
    """Observe the order of the account's wallets, and of a group's, where one member alone can be their id."""
    places = [index for index, one in enumerate(items) for m in made if m in [str(v).lower() for v in one.values()]]
    if len(places) == 2:
        order = "newest_first" if _place(items, made[0]) > _place(items, made[1]) else "creation"
        trial.notes.see("semantics.list_order_other", order, "two wallets in list_wallets")
        if len(ids) == 1:
            _order_in_groups(trial, ids[0], [items[_place(items, address)][ids[0]] for address in made])


def _order_in_groups(trial: Trial, member: str, ids: list[JsonValue]) -> None:
    """Observe how two groups list the same two wallets, which were put into them in opposite orders."""
    both = [ids, ids[::-1]]
    listed: list[list[JsonValue]] = []
    for group, given in zip(trial.groups[1:], both, strict=False):
        labels: dict[str, JsonValue] = {"name": trial.label, "description": trial.label, "cid_hashes_permitted": []}
        number = number_of(group)
        trial.post("update_group", {"group_id": number, **labels, "pkp_ids_permitted": given})
        listed.append([item.get(member) for item in items_of(trial.page("list_wallets_in_group", group_id=number))])
    if [sorted(map(str, one)) for one in listed] != [sorted(map(str, one)) for one in both]:
        return
    order = "adding" if listed == both else "newest_first" if listed == both[::-1] else "account"
    trial.notes.see("semantics.list_order_in_group", order, "two wallets in list_wallets_in_group of two groups")


def _wallet_labels(trial: Trial, item: dict[str, JsonValue]) -> None:
    """Observe under which member the item shows a label of the request."""
    for kind, names in (("name", NAMES), ("description", DESCRIPTIONS)):
        for sent in names:
            if shown := name_of(item, f"{trial.label} {sent}"):
                trial.notes.see(f"wire.create_wallet.fields.{kind}", sent, "list_wallets shows what was sent in it")
                trial.notes.see(f"{ITEM}.wallet.{kind}", shown, "list_wallets shows what was sent")


def _place(items: Sequence[dict[str, JsonValue]], address: str) -> int:
    return next(index for index, item in enumerate(items) if address in [str(v).lower() for v in item.values()])


def actions(trial: Trial) -> None:
    """Register an action, and observe how lists show it."""
    cid = trial.cid("async function main() { return 'survey'; }")
    if not cid:
        return
    labels: dict[str, JsonValue] = {"name": f"{trial.label} action", "description": f"{trial.label} about"}
    if not trial.post("add_action", {"action_ipfs_cid": cid, **labels}).accepted:
        return
    item = next((entry for entry in items_of(trial.page("list_actions")) if "hashed_cid" in entry), None)
    if item is None:
        return
    trial.action, trial.hashed = cid, str(item["hashed_cid"])
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
    items = items_of(trial.page("list_api_keys"))
    item = next((entry for entry in items if labels["name"] in entry.values()), items[0] if len(items) == 1 else None)
    if item is not None:
        for member in (*labels, *ALL_PERMISSIONS, "expiration", "balance"):
            _note_member(trial, item, member, {**labels, **ALL_PERMISSIONS}.get(member))
        forms: dict[str, JsonValue] = {"integer": [0], "decimal_string": ["0"], "hex": ["0x0"]}
        if form := [name for name, wildcard in forms.items() if item.get(PERMISSION_ARRAYS[0]) == wildcard]:
            trial.notes.see("wire.list_items.group_ids_form", form[0], f"a key shows {item[PERMISSION_ARRAYS[0]]!r}")
        hashes = [name for name in item if name.endswith("hash")]
        if len(hashes) == 1:
            trial.notes.see(f"{ITEM}.usage_key.api_key_hash", hashes[0], f"a key has {sorted(item)}")
    plain = object_of(trial.post("add_usage_api_key", {**labels, **NO_PERMISSIONS})).get("usage_api_key")
    if isinstance(plain, str):
        trial.usage_keys.append(plain)
        trial.plain_key = plain


def _note_member(trial: Trial, item: dict[str, JsonValue], member: str, value: JsonValue) -> None:
    """Note whether a member has its own name, is absent, or has the name that alone holds the value."""
    if member in item:
        trial.notes.see(f"{ITEM}.usage_key.{member}", member, f"a key has {sorted(item)}")
    elif isinstance(value, str) and (name := name_of(item, value)):
        trial.notes.see(f"{ITEM}.usage_key.{member}", name, f"a key has {sorted(item)}")
    elif len(item) <= 2:
        trial.notes.see(f"{ITEM}.usage_key.{member}", None, f"a key has {sorted(item)}")


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
