"""Decides whether an act must be accepted or refused, by the specification and by what the profile states.

Where neither decides, the act is left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from conformance.drivers.model.acts import CONVERSION, OF_ITSELF, OWNERS_ALONE, Act
from conformance.drivers.model.world import Account, Key, Permissions, World, holds
from conformance.profile import Profile
from conformance.profile.operations import PERMISSION_FLAGS
from conformance.service.execution_rule import ANY
from conformance.service.refusal import REFUSAL_CLASSES

SWITCH = {
    "add_group": "can_create_groups",
    "remove_group": "can_delete_groups",
    "create_wallet": "can_create_pkps",
}
ARRAY = {
    "add_action_to_group": "manage_ipfs_ids_in_groups",
    "remove_action_from_group": "manage_ipfs_ids_in_groups",
    "add_pkp_to_group": "add_pkp_to_groups",
    "remove_pkp_from_group": "remove_pkp_from_groups",
}
"""The permission array that each operation needs ("Scopes (access model)")."""
FORBIDDEN = ("forbidden",)
ANY_REFUSAL = ("any",)
NO_SUCH_GROUP = ("not_found", "forbidden")
"""Reasons to refuse a removed group: it is gone, and a usage key lost its access when it was removed."""


@dataclass(frozen=True)
class Reason:
    """A reason to refuse an act, with the classes that the refusal may have."""

    name: str
    classes: tuple[str, ...]


class NotStated(Exception):  # noqa: N818 - nothing is wrong
    """Neither the specification nor the profile decides about the act."""


class ExpectedOutcomeRules:
    """The rules of acceptance, with the values that the profile states."""

    def __init__(self, profile: Profile) -> None:
        self._semantics = profile.semantics
        self._access = profile.auth

    def reasons(self, act: Act, world: World) -> tuple[Reason, ...] | None:
        """Every reason to refuse the act. Empty: it must be accepted. None: neither source decides."""
        try:
            return tuple(self._reasons(act, world))
        except NotStated:
            return None

    def _reasons(self, act: Act, world: World) -> Iterator[Reason]:
        account = world.accounts[act.account]
        if account.managed:
            yield from self._by_the_state(act, account, world)
        elif act.by == account.old_key:
            yield self._of_old_key(act)
        elif act.by_owner:
            self._by_admin(act, account, world)
        else:
            yield from self._by_usage_key(act, account, world)

    def _of_old_key(self, act: Act) -> Reason:
        """What the key of before the conversion gets for a write; what it may run or read is silent (MODE-280)."""
        if act.operation == "run_action":
            raise NotStated
        return Reason("converts again" if act.operation == CONVERSION else "acts with the old key", ANY_REFUSAL)

    def _by_admin(self, act: Act, account: Account, world: World) -> None:
        """A transaction of the admin wallet goes through. What the contract does where HTTP has a choice is silent."""
        if act.operation in OF_ITSELF:
            return
        if (
            act.operation == "run_action"
            or self._has_a_choice(act, account)
            or any(self._by_the_state(act, account, world))
        ):
            raise NotStated

    def _has_a_choice(self, act: Act, account: Account) -> bool:
        """Whether the profile says what the same request of a key does, since the specification does not."""
        group = account.groups.get(act.group)
        match act.operation:
            case "update_usage_api_key":
                return self._semantics.update_usage_key_labels != "replaced"
            case "add_action":
                return act.action in account.actions
            case "delete_action":
                return any(act.action in group.actions for group in account.groups.values())
            case operation if "_group" in operation and group is not None and (act.wallet or act.action):
                items = group.wallets if act.wallet else group.actions
                return act.wallet == ANY or ((act.wallet or act.action) in items) == operation.startswith("add")
        return False

    def _by_usage_key(self, act: Act, account: Account, world: World) -> Iterator[Reason]:
        """A usage key of a ChainSecured account runs as before; whether it writes over HTTP is the profile's."""
        key = world.key(act.by)
        if key is not None and key.expired:
            yield from self._of_expired_key()
        elif act.operation != "run_action":
            stated = self._access.chain_secured_usage_key_writes
            yield from _refused_as("writes to a ChainSecured account", stated, ())
        yield from self._by_the_state(act, account, world)

    def _of_expired_key(self) -> Iterator[Reason]:
        expiration = self._semantics.usage_key_expiration
        yield from _refused_as("acts with an expired key", None if expiration is None else expiration.expired_key, ())

    def _by_the_state(self, act: Act, account: Account, world: World) -> Iterator[Reason]:
        """The reasons that the keys and things of the account give."""
        key = world.key(act.by)
        if key is not None and key.removed:
            yield Reason("acts with a removed key", ("unauthenticated",))
        if key is not None:
            yield from self._lacking(act, key)
        if act.group and act.group not in account.groups:
            yield Reason("names a removed group", ("not_found",) if act.by_owner else NO_SUCH_GROUP)
        if act.key:
            yield from _of_named_key(act, world)
        yield from self._of_items(act, account)
        if act.operation == "run_action" and not world.decide(act.by, act.account, act.action, act.wallet).granted:
            yield Reason("is not granted by the Execution rule", FORBIDDEN)

    def _lacking(self, act: Act, key: Key) -> Iterator[Reason]:
        """The reasons why the usage key lacks permission for the act."""
        operation, permissions = act.operation, key.permissions
        if operation in OWNERS_ALONE:
            yield Reason("is for the account key alone", FORBIDDEN)
        elif not _holds(permissions, operation, act.group):
            yield Reason("lacks the permission", FORBIDDEN)
        elif operation == "add_group" and not self._may_fill(act, key):
            yield Reason("may not fill the lists", FORBIDDEN)
        elif not self._may_by_profile(act, key):
            yield Reason("is, by the profile, not for this key", FORBIDDEN)

    def _may_fill(self, act: Act, key: Key) -> bool:
        """SCOPE-130."""
        if not act.wallets and not act.actions:
            return True
        stated = self._access.add_group_prefill_by_usage_key
        if stated is None:
            raise NotStated
        if stated == "wildcard_needed":
            wallets = not act.wallets or ANY in key.permissions.groups("add_pkp_to_groups")
            return wallets and (not act.actions or ANY in key.permissions.groups("manage_ipfs_ids_in_groups"))
        return stated == "accepted"

    def _may_by_profile(self, act: Act, key: Key) -> bool:
        """SCOPE-140, SCOPE-150, AUTH-140."""
        who = self._access.usage_key_permission
        match act.operation:
            case "update_group":
                needed = who.update_group
            case "add_action" | "update_action_metadata" | "delete_action":
                needed = who.action_metadata
            case "update_usage_api_key_metadata":
                needed = who.key_metadata
            case _:
                return True
        if needed in (None, *PERMISSION_FLAGS):
            return needed in key.permissions.switches if needed else _not_stated()
        if needed in {"account_key", "any_key"}:
            return needed == "any_key"
        return holds(key.permissions, str(needed), act.group) if act.group else _not_stated()

    def _of_items(self, act: Act, account: Account) -> Iterator[Reason]:
        match act.operation:
            case "add_pkp_to_group" | "remove_pkp_from_group" | "add_action_to_group" | "remove_action_from_group":
                yield from self._of_membership(act, account)
            case "add_action" if act.action in account.actions:
                stated = self._semantics.add_action_duplicate
                yield from _refused_as("registers an action again", stated, accepted=("overwrites", "keeps_first"))
            case "update_action_metadata" | "delete_action" if act.action not in account.actions:
                listing = self._semantics.list_actions_unregistered
                if act.action in account.ever_listed and (listing is None or listing.account_list != "absent"):
                    raise NotStated
                yield Reason("names an action that is not registered", ("not_found",))
            case "delete_action" if any(act.action in group.actions for group in account.groups.values()):
                if self._semantics.delete_action_group_membership is None:
                    raise NotStated
            case "update_usage_api_key" if self._semantics.update_usage_key_labels is None:
                raise NotStated

    def _of_membership(self, act: Act, account: Account) -> Iterator[Reason]:
        foreign = bool(act.wallet) and act.wallet != ANY and act.wallet not in account.wallets
        if act.wallet == ANY:
            wildcard = self._semantics.pkp_wildcard_by_add_remove
            adds = act.operation.startswith("add")
            stated = None if wildcard is None else wildcard.add if adds else wildcard.remove
            yield from _refused_as("adds or removes the wildcard", stated, accepted=("accepted",))
        if foreign:
            if act.operation == "remove_pkp_from_group":
                raise NotStated
            unknown = self._semantics.unknown_pkp_id_in_group
            yield from _refused_as("names another account's wallet", None if unknown is None else unknown.added, ())
        group = account.groups.get(act.group)
        if group is None or foreign:
            return
        listed = act.wallet in group.wallets if act.wallet else act.action in group.actions
        idempotence = self._semantics.group_membership_idempotence
        if idempotence is None:
            if listed == act.operation.startswith("add"):
                raise NotStated
            return
        if listed and act.operation.startswith("add"):
            yield from _refused_as("adds what is there", idempotence.add_present, ("accepted",))
        if not listed and act.operation.startswith("remove"):
            yield from _refused_as("removes what is not", idempotence.remove_absent, ("accepted",))

    def keeps_first(self) -> bool:
        """Whether a second registration of an action changes nothing (ACT-180)."""
        return self._semantics.add_action_duplicate == "keeps_first"

    def keeps_labels(self) -> bool:
        """Whether the update of a usage key leaves its labels (KEYLIFE-130)."""
        return self._semantics.update_usage_key_labels == "kept"

    def keeps_membership(self) -> bool:
        """Whether a deleted action stays in groups (ACT-200)."""
        return self._semantics.delete_action_group_membership == "kept"


def _holds(permissions: Permissions, operation: str, group: str) -> bool:
    if operation in SWITCH:
        return SWITCH[operation] in permissions.switches
    return operation not in ARRAY or holds(permissions, ARRAY[operation], group)


def _not_stated() -> bool:
    raise NotStated


def _of_named_key(act: Act, world: World) -> Iterator[Reason]:
    named = world.key(act.key)
    if named is None or named.account != act.account:
        yield Reason("names another account's key", ("not_found", "forbidden"))
    elif named.removed:
        yield Reason("names a removed key", ("not_found",))


def _refused_as(name: str, stated: str | None, accepted: tuple[str, ...]) -> Iterator[Reason]:
    if stated is None:
        raise NotStated
    if stated not in accepted:
        if stated not in REFUSAL_CLASSES:
            raise NotStated
        yield Reason(name, (stated,))
