"""Faults that show only after several things have happened, one after the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from conformance.selftest.mutants.conversion_old_key import GROUP_WRITES
from conformance.selftest.tools.accounts import Write, account_of, permissions_of, whole
from conformance.selftest.tools.alter import Answered, Received, wrap
from conformance.selftest.tools.alter_payments import CONFIRM, charge_otherwise
from conformance.selftest.tools.alter_permissions import acts_as_owner
from conformance.selftest.tools.mutant import mutant
from reference_node.chain.account_config import Group, Permissions
from reference_node.chain.contract_abi import event_topic
from reference_node.node import Node
from reference_node.permission.runs import Run
from reference_node.problems import Forbidden, NotFound

ZERO = bytes(32)
Hashes = Sequence[bytes]


@mutant("KEYLIFE-050")
def third_key_is_updated_with_the_first(node: Node) -> None:
    """Update the oldest of three or more usage keys with any other."""

    def update(write: Write, acting_key: int, key: int, name: str, description: str, sent: Permissions) -> None:
        write(acting_key, key, name, description, sent)
        keys = whole(node.accounts.usage_keys, account_of(node, acting_key))
        if len(keys) > 2 and keys[0].key_hash != key:
            write(acting_key, keys[0].key_hash, keys[0].name, keys[0].description, sent)

    wrap(node.accounts, "update_usage_key", update)


def _ids(value: object) -> Sequence[int]:
    return value if isinstance(value, Sequence) else []


@mutant("KEYLIFE-070", also="KEYLIFE-150")
def labels_bring_back_first_permissions(node: Node) -> None:
    """Restore a key's first permissions in a metadata update."""
    first: dict[int, Permissions] = {}

    def update(write: Write, acting_key: int, key: int, name: str, description: str, sent: Permissions) -> None:
        first.setdefault(key, node.accounts.usage_key(account_of(node, acting_key), key).permissions)
        write(acting_key, key, name, description, sent)

    def update_labels(write: Write, acting_key: int, key: int, name: str, description: str) -> None:
        write(acting_key, key, name, description)
        if key in first:
            record = node.accounts.usage_key(account_of(node, acting_key), key)
            standing = {group.id for group in whole(node.accounts.groups, account_of(node, acting_key))} | {0}
            node.accounts.set_usage_key(acting_key, replace(record, permissions=_only(first[key], standing)))

    wrap(node.accounts, "update_usage_key", update)
    wrap(node.accounts, "update_usage_key_metadata", update_labels)


def _only(given: Permissions, groups: set[int]) -> Permissions:
    arrays = ([one for one in _ids(array) if one in groups] for array in given.arguments()[3:])
    return Permissions(given.can_create_groups, given.can_delete_groups, given.can_create_pkps, *arrays)


@mutant("GRPLIFE-140", also="EP-230 LIST-170")
def second_removal_takes_a_wallet(node: Node) -> None:
    """Hide the account's first wallet when its second group is removed."""
    removals: Counter[int] = Counter()
    hidden: set[bytes] = set()

    def remove(write: Write, acting_key: int, group: int) -> None:
        write(acting_key, group)
        account = account_of(node, acting_key)
        removals[account] += 1
        if removals[account] == 2:
            hidden.update(wallet.id for wallet in node.accounts.wallets(account, 0, 1))

    wrap(node.accounts, "remove_group", remove)
    wrap(node.accounts, "wallets", lambda view, *page: [one for one in view(*page) if one.id not in hidden])


@mutant(
    "EXEC-090",
    also=(
        "AUTH-080 CHAIN-050 EP-210 EP-220 EP-360 EP-370 ERR-100 EXEC-010 EXEC-020 EXEC-030 EXEC-040 EXEC-050 "
        "EXEC-120 EXEC-230 EXEC-350 GRP-140 GRP-270 GRPLIFE-040 GRPLIFE-050 GRPLIFE-060 GRPLIFE-070 "
        "GRPLIFE-080 GRPLIFE-110 GRPLIFE-160 KEYLIFE-020 KEYLIFE-030 KEYLIFE-150 UKEY-260 UKEY-270 UKEY-300"
    ),
)
def second_question_gets_the_first_answer(node: Node) -> None:
    """Cache for good what a key was told of an action and a wallet."""
    answers: dict[tuple[int, bytes, bytes], bool] = {}

    def told(decide: Callable[..., bool], run: Run, wallet: bytes = b"") -> bool:
        asked = (run.caller.key_hash, run.action, wallet)
        return answers.setdefault(asked, decide(run, wallet) if wallet else decide(run))

    wrap(node.runs, "may_run", told)
    wrap(node.runs, "may_use", told)


@mutant("GRP-210")
def zero_id_is_no_wallet_to_add(node: Node) -> None:
    """Refuse the all-zero id in `add_pkp_to_group`."""

    def add(write: Write, acting_key: int, group: int, wallet: bytes) -> None:
        if wallet == ZERO:
            raise NotFound("wallet-unknown", "there is no such wallet")
        write(acting_key, group, wallet)

    wrap(node.accounts, "add_pkp_to_group", add)


@mutant("SCOPE-140", also="AUTH-080 AUTH-090 SCOPE-090 UKEY-110 UKEY-150 UKEY-190 UKEY-230")
def keys_that_create_groups_update_them(node: Node) -> None:
    """Let `can_create_groups` suffice for `update_group`, though the profile says otherwise."""
    acts_as_owner(node, "update_group", lambda given: given.can_create_groups)


@mutant("SCOPE-150", also="AUTH-080 AUTH-090")
def keys_register_actions(node: Node) -> None:
    """Let usage keys register actions, though the profile says otherwise."""
    for method in ("add_action", "update_action_metadata", "delete_action"):
        acts_as_owner(node, method)


LATE = 9
"""Writes of an account: more than most cases that somebody thought of have behind them."""


def _late(node: Node) -> Callable[[int], bool]:
    """Return whether the account of a key has had more than nine writes."""
    writes: Counter[int] = Counter()

    def write(original: Callable[..., object], function: str, acting_key: int, *arguments: object) -> object:
        receipt = original(function, acting_key, *arguments)
        writes[account_of(node, acting_key)] += 1
        return receipt

    wrap(node.accounts, "_write", write)
    return lambda acting_key: writes[account_of(node, acting_key)] > LATE


@mutant("GRPLIFE-030", also="EP-180 GRPLIFE-230 LIST-170")
def late_descriptions_are_lost(node: Node) -> None:
    """Keep the description in `update_group` after nine writes of the account."""
    late = _late(node)

    def update(write: Write, acting_key: int, group: Group, *lists: Sequence[bytes]) -> None:
        if late(acting_key):
            standing = whole(node.accounts.groups, account_of(node, acting_key))
            kept = next((one.description for one in standing if one.id == group.id), group.description)
            group = group._replace(description=kept)
        write(acting_key, group, *lists)

    wrap(node.accounts, "update_group", update)


@mutant("UKEY-100", also="AUTH-150 AUTH-160 SCOPE-010 SCOPE-060 SCOPE-090 UKEY-120 UKEY-290")
def late_keys_manage_no_actions(node: Node) -> None:
    """Refuse usage keys to add actions after nine writes of the account."""
    late = _late(node)

    def add(write: Write, acting_key: int, group: int, action: bytes) -> None:
        if permissions_of(node, acting_key) is not None and late(acting_key):
            raise Forbidden("scope-missing", "this usage key lacks the scope")
        write(acting_key, group, action)

    wrap(node.accounts, "add_action_to_group", add)


@mutant(
    "EXEC-010",
    also="AUTH-150 AUTH-160 EXEC-090 EXEC-240 EXEC-250 EXEC-350 PKP-060 SCOPE-020 SCOPE-090 UKEY-260 UKEY-280",
)
def late_keys_run_nothing(node: Node) -> None:
    """Refuse usage keys to run after nine writes of the account."""
    late = _late(node)

    def may_run(decide: Callable[[Run], bool], run: Run) -> bool:
        return decide(run) and (run.caller.is_account_key or not late(run.caller.key_hash))

    wrap(node.runs, "may_run", may_run)


@mutant("CHAIN-050", also="GRPLIFE-040 GRPLIFE-050 LIST-170")
def group_lists_outlive_updates_on_the_chain(node: Node) -> None:
    """List what a group held when its list was read, if only the admin wallet's `updateGroup` changed it since then."""
    contract, read, over_http = node.accounts, dict[object, list[object]](), list[object]()

    def writes(account: int) -> int:
        logs = node.chain.logs(contract.address, 0, node.chain.block_number())
        topics = [log.topics for log in logs if log.topics[1:2] == (account.to_bytes(32),)]
        return sum(kind != event_topic("GroupUpdated") for kind, *_ in topics)

    def listing(name: str) -> Callable[..., list[object]]:
        def items(original: Callable[..., list[object]], account: int, *asked: int) -> list[object]:
            seen = (name, account, writes(account), len(over_http), *asked)
            return read.setdefault(seen, original(account, *asked))

        return items

    def update(write: Write, *arguments: object) -> None:
        write(*arguments)
        over_http.append(arguments)

    for name in ("wallets_in_group", "actions_in_group"):
        wrap(contract, name, listing(name))
    wrap(contract, "update_group", update)


@mutant("BILL-070", also="BILL-140 BILL-170 BILL-220 LIM-050")
def purchase_after_two_writes_brings_back_a_price(node: Node) -> None:
    """Give back what the last write cost when credit is bought after two accepted writes in a row."""
    in_a_row: Counter[bytes] = Counter()

    def more(request: Received, given: Answered, wallet: bytes) -> int:
        if request.operation != CONFIRM:
            in_a_row[wallet] = in_a_row[wallet] + 1 if given.accepted else 0
            return 0
        return -1 if in_a_row.pop(wallet, 0) >= 2 and given.accepted else 0

    charge_otherwise(node, [CONFIRM, *GROUP_WRITES], more)
