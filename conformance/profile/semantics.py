"""What calls mean where the specification is silent: ids, duplicates, wildcards in lists, settling."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from conformance.profile.section import AcceptedOrRefused, RefusalClass, Section


class UsageKeyExpiration(Section):
    """The expiration of a usage key attached on-chain."""

    unit: Literal["seconds", "milliseconds"] = "seconds"
    """Since the Unix epoch, by the clock of the chain."""
    never: Annotated[int, Field(ge=0)] = 0
    """The value that means no expiration."""
    expired_key: AcceptedOrRefused = "unauthenticated"
    """What becomes of a request with an expired key."""


class UsageKeyBalance(Section):
    """The balance of a usage key attached on-chain."""

    enforced: bool = False
    """Whether a key without balance is refused."""


class UnregisteredActions(Section):
    """An action that is in a group and was never given to `add_action`."""

    account_list: Literal["absent", "present"] = "absent"
    """In `list_actions` without `group_id`."""
    labels_in_group_list: Literal["empty", "absent"] = "empty"
    """Its name and description in `list_actions` with `group_id`: the empty text, or no such member."""


class MembershipIdempotence(Section):
    """Adding what is there and removing what is not."""

    add_present: AcceptedOrRefused = "conflict"
    """`add_pkp_to_group` and `add_action_to_group` of an item already in the group."""
    remove_absent: AcceptedOrRefused = "not_found"
    """`remove_pkp_from_group` and `remove_action_from_group` of an item not in the group."""


class UnknownPkpId(Section):
    """A PKP id unknown to the account."""

    listed: AcceptedOrRefused = "not_found"
    """In `pkp_ids_permitted` of `add_group` and `update_group`."""
    added: AcceptedOrRefused = "not_found"
    """In `add_pkp_to_group`."""


class PkpWildcard(Section):
    """The all-zero PKP id where one wallet is added or removed."""

    add: AcceptedOrRefused = "accepted"
    """In `add_pkp_to_group`."""
    remove: AcceptedOrRefused = "accepted"
    """In `remove_pkp_from_group`, of a group that has it."""


WildcardShown = Literal["zero_entry", "all_items", "nothing"]
"""What a list shows for a wildcard: its zero entry, all items of the account, or nothing beside what is listed."""


class WildcardGroup(Section):
    """What the lists of a wildcard group show."""

    wallets: WildcardShown = "zero_entry"
    """`list_wallets_in_group`."""
    actions: WildcardShown = "zero_entry"
    """`list_actions` with `group_id`."""


class Semantics(Section):
    """Choices about meaning."""

    group_id_scope: Literal["account", "global"] | None = "account"
    """Whether group ids are numbered per account or over all accounts (ACC-130)."""
    usage_key_expiration: UsageKeyExpiration | None = UsageKeyExpiration()
    """UKEY-390."""
    usage_key_balance: UsageKeyBalance | None = UsageKeyBalance()
    """UKEY-400."""
    usage_key_unknown_group_id: AcceptedOrRefused | None = "not_found"
    """A permission array that names a group that does not exist (UKEY-470)."""
    unknown_pkp_id_in_group: UnknownPkpId | None = UnknownPkpId()
    """PKP-160."""
    add_action_duplicate: Literal["overwrites", "keeps_first", RefusalClass] | None = "conflict"
    """A second `add_action` of one CID (ACT-180)."""
    list_actions_unregistered: UnregisteredActions | None = UnregisteredActions()
    """ACT-190."""
    delete_action_group_membership: Literal["removed", "kept"] | None = "removed"
    """Whether `delete_action` also takes the action out of the account's groups (ACT-200)."""
    pkp_wildcard_by_add_remove: PkpWildcard | None = PkpWildcard()
    """GRP-210."""
    list_wildcard_group: WildcardGroup | None = WildcardGroup()
    """GRP-220."""
    group_membership_idempotence: MembershipIdempotence | None = MembershipIdempotence()
    """GRP-260."""
    delete_absent: AcceptedOrRefused | None = "not_found"
    """`remove_group`, `remove_usage_api_key` and `delete_action` of what the account does not have: the class of the
    refusal, or an acceptance that changes nothing (ERR-170)."""
    managed_key_wallet_listed: bool | None = False
    """Whether each usage key of `add_usage_api_key` has a wallet that `list_wallets` shows (LIST-190)."""
    usage_key_wallet_listed: bool | None = True
    """Whether the wallet of a signature-minted usage key is in `list_wallets` once registered (MINT-250)."""
    update_usage_key_labels: Literal["replaced", "kept"] | None = "replaced"
    """What `update_usage_api_key` does with name and description (KEYLIFE-130)."""
    settle_time_seconds: Annotated[float, Field(ge=0, le=600)] | None = 0
    """How long after a write's answer its effect may take to show (KEYLIFE-160)."""
    list_order_other: Literal["creation", "newest_first"] | None = "creation"
    """The order of the account's lists other than `list_groups` (LIST-110)."""
    list_order_in_group: Literal["adding", "newest_first", "account"] | None = "adding"
    """The order of a group's lists: when each joined the group, oldest or newest first, or as in the list of the
    account (LIST-110)."""
    list_unknown_group: Literal["empty", RefusalClass] | None = "not_found"
    """A list called with a `group_id` that the account does not have (LIST-160)."""
    account_wallet_listed: bool | None = False
    """Whether the account's own wallet is in `list_wallets` (LIST-180)."""
