"""The wire names of list items ("Resources and their fields"); the specification gives only some of them."""

from __future__ import annotations

from typing import Literal

from conformance.profile.section import Section, WireName


class GroupItem(Section):
    """An item of `list_groups`. Its `id` is given by the specification."""

    name: WireName | None = "name"
    description: WireName | None = "description"


class WalletItem(Section):
    """An item of `list_wallets` and `list_wallets_in_group`. Null: the item has no such member."""

    id: WireName | None = "id"
    """The PKP id."""
    name: WireName | None = "name"
    description: WireName | None = "description"
    wallet_address: WireName | None = "wallet_address"
    derivation_path: WireName | None = None


class ActionItem(Section):
    """An item of `list_actions`. Its `hashed_cid` is implied by the specification."""

    name: WireName | None = "name"
    description: WireName | None = "description"


class UsageKeyItem(Section):
    """An item of `list_api_keys`. Null: the item has no such member."""

    api_key_hash: WireName | None = "api_key_hash"
    """What tells one key from another without its value."""
    name: WireName | None = "name"
    description: WireName | None = "description"
    expiration: WireName | None = "expiration"
    balance: WireName | None = "balance"
    can_create_groups: WireName | None = "can_create_groups"
    can_delete_groups: WireName | None = "can_delete_groups"
    can_create_pkps: WireName | None = "can_create_pkps"
    manage_ipfs_ids_in_groups: WireName | None = "manage_ipfs_ids_in_groups"
    add_pkp_to_groups: WireName | None = "add_pkp_to_groups"
    remove_pkp_from_groups: WireName | None = "remove_pkp_from_groups"
    execute_in_groups: WireName | None = "execute_in_groups"


class ItemFields(Section):
    """Canonical member to wire name, for each kind of item but groups."""

    wallet: WalletItem = WalletItem()
    action: ActionItem = ActionItem()
    usage_key: UsageKeyItem = UsageKeyItem()


class ListItems(Section):
    """Items of the lists other than `list_groups`."""

    fields: ItemFields | None = ItemFields()
    """LIST-130."""
    group_ids_form: Literal["integer", "decimal_string", "hex"] | None = "integer"
    """The JSON form of group ids in the permission arrays of a usage key; hex is a text, as `0x1f`."""


class ListGroups(Section):
    """Items of `list_groups`."""

    item_fields: GroupItem | None = GroupItem()
    """GRP-170."""
    id_form: Literal["integer", "decimal_string", "hex"] | None = "integer"
    """The JSON form of a group's `id`; hex is a text, as `0x1f` or with zeros. `add_group` may answer another form."""


class Container(Section):
    """Where the items of a page stand."""

    form: Literal["array", "object"] = "array"
    """The whole answer is the array of items, or an object holds it."""
    items_member: WireName = "items"
    """The member of that object; of no effect with the form `array`."""


class Paging(Section):
    """The two query fields and the page."""

    first_page_number: Literal[0, 1] | None = 0
    """LIST-070."""
    container: Container | None = Container()
    """LIST-140. `list_groups` answers an array in any case."""
