"""Observes what the specification leaves open about requests: classes of refusal, duplicates, unknown ids."""

from __future__ import annotations

from contextlib import suppress

from eth_utils.crypto import keccak
from pydantic import JsonValue

from conformance.endpoints.canonical import number_of
from conformance.endpoints.messages import Answer
from conformance.service.derivations import hashed_cid
from conformance.survey.asking import items_of, object_of
from conformance.survey.trial import ALL_PERMISSIONS, Trial
from conformance.values.ids import Cid
from conformance.values.key_text import key_bytes

LEAST_ENTRIES, MOST_ENTRIES = 6, 100
"""The fewest and the most entries that cases name in one write."""
ABSENT = 999_999_999
ALL_WALLETS = "0x" + 64 * "0"
NO_HASH = "0x" + 64 * "0"
UNKNOWN_WALLET = "0x" + 64 * "7"
STATUSES = "errors.status_codes"
USUAL = {400: "malformed", 401: "unauthenticated", 403: "forbidden", 404: "not_found", 409: "conflict", 422: "invalid"}


def refusals(trial: Trial) -> None:
    """Observe the status of each class by a request that can be refused for one reason only."""
    name, description = trial.group_names
    lists: dict[str, JsonValue] = {"pkp_ids_permitted": [], "cid_hashes_permitted": []}
    labels: dict[str, JsonValue] = {"name": trial.label, "description": trial.label}
    wrong: dict[str, JsonValue] = {**lists, name: [7], description: trial.label}
    absent: dict[str, JsonValue] = {"group_id": ABSENT, **labels, **lists}
    _note_status(trial, "invalid", trial.post("add_group", wrong), "add_group with a name that is no text")
    _note_status(trial, "not_found", trial.post("update_group", absent), "update_group of no group")
    _note_status(trial, "malformed", trial.ask.send("POST", "add_group", trial.key, "{"), "a body that is no JSON")
    if trial.plain_key:
        refused = trial.add_group(f"{trial.label} no", trial.plain_key)
        _note_status(trial, "forbidden", refused, "add_group with a key without permissions")
        for key, operation in (("lists", "list_groups"), ("list_api_keys", "list_api_keys")):
            listed = trial.ask.get(operation, trial.plain_key)
            if listed.accepted or listed.status == refused.status:
                who = "any_key" if listed.accepted else "account_key"
                how = f"{operation} with such a key: {listed.status}"
                trial.notes.see(f"auth.usage_key_permission.{key}", who, how)


def _note_status(trial: Trial, kind: str, answer: Answer, how: str) -> None:
    if 400 <= answer.status < 500:
        trial.notes.see(f"{STATUSES}.{kind}", [answer.status], f"{how}: {answer.status}")


def outcome(trial: Trial, key: str, answer: Answer, how: str) -> None:
    """Note `accepted`, or the only class of refusal with this status."""
    if answer.accepted:
        trial.notes.see(key, "accepted", how)
        return
    seen = {kind: trial.notes.seen.get(f"{STATUSES}.{kind}") for kind in USUAL.values()}
    by_status = [
        kind
        for kind, observation in seen.items()
        if observation is not None and isinstance(observation.value, list) and answer.status in observation.value
    ]
    if len(by_status) > 1:  # what was sent is JSON, and no typed data
        by_status = [kind for kind in by_status if kind != "malformed"]
    usual = USUAL.get(answer.status)
    if not by_status and usual and seen[usual] is None:
        by_status = [usual]
    if len(by_status) == 1:
        trial.notes.see(key, by_status[0], f"{how}: {answer.status}")
    else:
        trial.notes.doubt(key, f"{how}: {answer.status}, which could be {' or '.join(by_status) or 'any class'}")


def duplicates(trial: Trial) -> None:
    """Observe duplicate additions, removals of what is absent, and unknown ids."""
    group = number_of(trial.groups[0]) if trial.groups else None
    if group is None:
        return
    _lists_of_no_group(trial)
    outcome(
        trial, "semantics.delete_absent", trial.post("remove_group", {"group_id": str(ABSENT)}), "removing no group"
    )
    _key_choices(trial, group)
    _wildcards(trial, group)
    _wildcard_lists(trial)
    if trial.plain_key:
        _references(trial)
    if trial.action:
        _most_entries(trial, group)
        _actions(trial, group)
    if trial.pkp:
        _wallets(trial, group)


def _lists_of_no_group(trial: Trial) -> None:
    answer = trial.page("list_wallets_in_group", group_id=ABSENT)
    if answer.accepted and not items_of(answer):
        trial.notes.see("semantics.list_unknown_group", "empty", "list_wallets_in_group of no group")
    elif not answer.accepted:
        outcome(trial, "semantics.list_unknown_group", answer, "list_wallets_in_group of no group")


def _key_choices(trial: Trial, group: int) -> None:
    """Observe usage keys with an unknown group or missing members, and groups with missing lists."""
    labels: dict[str, JsonValue] = {"name": f"{trial.label} x", "description": trial.label}
    unknown: dict[str, JsonValue] = {**labels, **ALL_PERMISSIONS, "execute_in_groups": [ABSENT]}
    answers = {"unknown": trial.post("add_usage_api_key", unknown), "short": trial.post("add_usage_api_key", labels)}
    for answer in answers.values():
        if isinstance(value := object_of(answer).get("usage_api_key"), str):
            trial.usage_keys.append(value)
    outcome(trial, "semantics.usage_key_unknown_group_id", answers["unknown"], "a usage key for no group")
    _left_out(
        trial, "wire.add_usage_api_key.missing_fields.permissions", answers["short"], "a usage key without permissions"
    )
    if trial.plain_key:
        update = trial.post("update_usage_api_key", {"usage_api_key": trial.plain_key, **labels})
        _left_out(
            trial, "wire.update_usage_api_key.missing_fields.permissions", update, "an update without permissions"
        )
        new = f"{trial.label} y"
        trial.post("update_usage_api_key", {"usage_api_key": trial.plain_key, **labels, **ALL_PERMISSIONS, "name": new})
        shown = [new in item.values() for item in items_of(trial.page("list_api_keys"))]
        if (
            "wire.list_items.fields.usage_key.name" in trial.notes.seen
            and trial.notes.seen["wire.list_items.fields.usage_key.name"].value
        ):
            trial.notes.see(
                "semantics.update_usage_key_labels", "replaced" if any(shown) else "kept", "an update with another name"
            )
    groups = trial.post("update_group", {"group_id": group, "name": trial.label, "description": trial.label})
    _left_out(trial, "wire.update_group.missing_fields.lists", groups, "update_group without its lists")


def _wildcards(trial: Trial, group: int) -> None:
    """Observe which forms of the wildcard a group takes among its actions."""
    labels: dict[str, JsonValue] = {"name": trial.label, "description": trial.label}

    def takes(*hashes: JsonValue) -> bool:
        lists: dict[str, JsonValue] = {"pkp_ids_permitted": [], "cid_hashes_permitted": [*hashes]}
        return trial.post("update_group", {"group_id": group, **labels, **lists}).accepted

    if forms := [form for form in (0, "0", "0x0", NO_HASH) if takes(form)]:
        trial.notes.see("wire.group.cid_wildcard_form", [*forms], f"update_group takes {forms} as an action")
        takes()


def _wildcard_lists(trial: Trial) -> None:
    """Observe what the lists of a group show that permits everything, in an account with a wallet and an action."""
    if not trial.pkp or not trial.hashed:
        return
    trial.add_group(f"{trial.label} all", pkp_ids_permitted=[ALL_WALLETS], cid_hashes_permitted=[trial.all_actions()])
    group = trial.newest_group()
    for kind, operation in (("wallets", "list_wallets_in_group"), ("actions", "list_actions")):
        answer = trial.page(operation, group_id=group)
        items = items_of(answer)
        zeros = [item for item in items if NO_HASH in item.values()]
        told = "nothing" if not items else "zero_entry" if len(zeros) == len(items) == 1 else None
        if told is None and not zeros:
            told = "all_items"
        if answer.accepted and told:
            trial.notes.see(f"semantics.list_wildcard_group.{kind}", told, f"{operation} of a group of everything")
    trial.post("remove_group", {"group_id": str(group)})


def _references(trial: Trial) -> None:
    """Observe whether a usage key may be named by its hash."""
    labels: dict[str, JsonValue] = {"name": trial.label, "description": trial.label}
    hashes = [keccak(text=trial.plain_key)]
    with suppress(ValueError):
        hashes.append(keccak(key_bytes(trial.plain_key)))
    answers = [
        trial.post("update_usage_api_key_metadata", {"usage_api_key": f"0x{hashed.hex()}", **labels})
        for hashed in hashes
    ]
    if any(answer.accepted for answer in answers):
        trial.notes.see("wire.usage_api_key.reference_forms", ["value", "hash"], "a new name by the hash of a key")
    elif all(400 <= answer.status < 500 for answer in answers):
        trial.notes.see("wire.usage_api_key.reference_forms", ["value"], f"by a hash: {answers[0].status}")


def _most_entries(trial: Trial, group: int) -> None:
    """Observe how many actions one write may name, where that is fewer than cases name."""
    labels: dict[str, JsonValue] = {"name": trial.label, "description": trial.label, "pkp_ids_permitted": []}

    def takes(number: int) -> bool:
        hashes: list[JsonValue] = [f"0x{keccak(text=f'{trial.label} {entry}').hex()}" for entry in range(number)]
        return trial.post("update_group", {"group_id": group, **labels, "cid_hashes_permitted": hashes}).accepted

    low, high = LEAST_ENTRIES, MOST_ENTRIES
    if takes(low) and not takes(high):
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if takes(middle) else (low, middle)
        trial.notes.see("limits.entries_per_write", low, f"update_group takes {low} actions, and not {high}")
    takes(0)


def _left_out(trial: Trial, key: str, answer: Answer, how: str) -> None:
    """Observe a missing member: whether it is refused, counts as empty, or keeps its value."""
    if answer.accepted:
        trial.notes.see(key, "empty", f"{how} is accepted") if "add_" in key else trial.notes.doubt(
            key, f"{how} is accepted: empty or kept?"
        )
    elif 400 <= answer.status < 500:
        trial.notes.see(key, "refused", f"{how}: {answer.status}")


def _actions(trial: Trial, group: int) -> None:
    again = trial.post("add_action", {"action_ipfs_cid": trial.action, "name": "again", "description": "again"})
    labelled = any("again" in item.values() for item in items_of(trial.page("list_actions")))
    if not again.accepted:
        outcome(trial, "semantics.add_action_duplicate", again, "a second add_action of one CID")
    elif "wire.list_items.fields.action.name" in trial.notes.seen:
        trial.notes.see(
            "semantics.add_action_duplicate", "overwrites" if labelled else "keeps_first", "a second add_action"
        )
    member: dict[str, JsonValue] = {"group_id": group, "action_ipfs_cid": trial.action}
    if not trial.offers("add_action_to_group") or not trial.call("add_action_to_group", member).accepted:
        return
    trial.post("delete_action", {"hashed_cid": trial.hashed})
    left = [item.get("hashed_cid") for item in items_of(trial.page("list_actions", group_id=group))]
    kept = "kept" if trial.hashed in left else "removed"
    trial.notes.see("semantics.delete_action_group_membership", kept, "list_actions of the group after delete_action")
    _unregistered(trial, group)


def _unregistered(trial: Trial, group: int) -> None:
    """Observe how lists show an action that is in a group but not registered."""
    cid = trial.cid("async function main() { return 'unregistered'; }")
    if not cid or not trial.call("add_action_to_group", {"group_id": group, "action_ipfs_cid": cid}).accepted:
        return
    key, mine = "semantics.list_actions_unregistered", hashed_cid(Cid(cid))
    everywhere = any(item.get("hashed_cid") == mine for item in items_of(trial.page("list_actions")))
    trial.notes.see(f"{key}.account_list", "present" if everywhere else "absent", "list_actions")
    inside = [item for item in items_of(trial.page("list_actions", group_id=group)) if item.get("hashed_cid") == mine]
    label = trial.notes.seen.get("wire.list_items.fields.action.name")
    if inside and label and label.value:
        how = f"list_actions of the group: {sorted(inside[0])}"
        if label.value not in inside[0]:
            trial.notes.see(f"{key}.labels_in_group_list", "absent", how)
        elif inside[0][str(label.value)] == "":
            trial.notes.see(f"{key}.labels_in_group_list", "empty", how)


def _wallets(trial: Trial, group: int) -> None:
    add = "add_pkp_to_group"
    if not trial.offers(add):
        return
    key = "semantics.group_membership_idempotence"
    member: dict[str, JsonValue] = {"group_id": group, "pkp_id": trial.pkp}
    is_padded = trial.notes.value("wire.pkp.id_source.rule", "") == "left_padded_address"
    unknown_id = f"0x{UNKNOWN_WALLET[-40:]:0>64}" if is_padded else UNKNOWN_WALLET
    unknown = trial.call(add, {"group_id": group, "pkp_id": unknown_id})
    outcome(trial, "semantics.unknown_pkp_id_in_group.added", unknown, "add_pkp_to_group of no wallet")
    listed = trial.add_group(f"{trial.label} unknown", pkp_ids_permitted=[unknown_id])
    outcome(trial, "semantics.unknown_pkp_id_in_group.listed", listed, "add_group with no wallet's id")
    if trial.call(add, member).accepted:
        if "wire.pkp.id_source.rule" not in trial.notes.seen and not unknown.accepted:
            how = "add_pkp_to_group takes an id that follows from the address by none of them"
            trial.notes.see("wire.pkp.id_source.rule", None, how)
        outcome(trial, f"{key}.add_present", trial.call(add, member), "add_pkp_to_group of a member")
        trial.post("remove_pkp_from_group", member)
        outcome(
            trial, f"{key}.remove_absent", trial.post("remove_pkp_from_group", member), "removing what is not there"
        )
    _wallet_wildcard(trial, group)


def _wallet_wildcard(trial: Trial, group: int) -> None:
    """Observe the wildcard as the one wallet that is added to a group, and removed from a group that has it."""
    key = "semantics.pkp_wildcard_by_add_remove"
    wildcard: dict[str, JsonValue] = {"group_id": group, "pkp_id": ALL_WALLETS}
    added = trial.call("add_pkp_to_group", wildcard)
    outcome(trial, f"{key}.add", added, "add_pkp_to_group of the wildcard")
    labels: dict[str, JsonValue] = {"name": trial.label, "description": trial.label}
    lists: dict[str, JsonValue] = {"pkp_ids_permitted": [ALL_WALLETS], "cid_hashes_permitted": []}
    if added.accepted or trial.post("update_group", {"group_id": group, **labels, **lists}).accepted:
        removed = trial.post("remove_pkp_from_group", wildcard)
        outcome(trial, f"{key}.remove", removed, "remove_pkp_from_group of the wildcard that the group has")
