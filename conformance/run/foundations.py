"""The behaviour that most cases build on: accepted writes are listed, permitted runs sign, refusals look like refusals.

Where one of these does not hold, the failure of a case about something else says nothing about that case's own
requirements.
"""

from __future__ import annotations

from collections.abc import Callable, Set
from dataclasses import dataclass

from conformance.problems import ChainReverted, Departure, LeakyRefusal, Mismatch, NotAccepted, NotRefused
from conformance.run import foundation_trials as trials
from conformance.service.session import Session


@dataclass(frozen=True)
class Foundation:
    """One behaviour that cases build on without judging it."""

    name: str
    operations: str
    """Only the failure of a case that called one of these may come from the foundation; empty: that of any case."""
    holds: Callable[[Session], None] | None
    """Raises a Departure where it does not hold. None: the case in `judged_by` tells."""
    judged_by: str
    """The case that judges the foundation, and fails where it does not hold."""
    about: str
    """The requirements that state it, separated by spaces. A case that fails on one of them keeps its failure."""
    upon: tuple[str, ...] = ()
    """The names of the foundations that this one needs: it is not tried where one of them does not hold."""
    departures: tuple[type[Departure], ...] = (Departure,)
    """The kinds of failure that a broken foundation can cause."""
    shown_by: type[Departure] | None = None
    """The kind of failure with which the case in `judged_by` shows that it is broken. None: one of `departures`."""

    def bears(self, called: Set[str]) -> bool:
        """Whether a case that called these operations builds on it."""
        return not self.operations or not called.isdisjoint(self.operations.split())

    @property
    def requirements(self) -> frozenset[str]:
        """The ids in `about`."""
        return frozenset(self.about.split())


FOUNDATIONS = (
    Foundation(
        "refusals",
        "",
        trials.refusals_are_recognisable,
        "errors::groups-that-are-not-there",
        "ERR-140",
        departures=(NotRefused, Mismatch),
    ),
    Foundation(
        "what refusals tell",
        "",
        trials.refusals_are_recognisable,
        "errors::usage-keys-that-are-not-there",
        "ERR-140 ERR-160",
        departures=(LeakyRefusal,),
    ),
    Foundation(
        "the list of groups",
        "list_groups",
        trials.groups_can_be_listed,
        "endpoints::list-groups",
        "EP-200 LIST-080 LIST-090",
    ),
    Foundation(
        "groups",
        "add_group",
        trials.groups_are_made,
        "group_lifecycle::creation-lists-one-more",
        "EP-160 GRP-180 GRP-190 GRPLIFE-010 GRPLIFE-220 LIST-170",
        upon=("the list of groups",),
    ),
    Foundation(
        "the order of groups",
        "list_groups",
        trials.groups_are_listed_in_order,
        "lists::groups-in-creation-order",
        "EP-200 LIST-010 LIST-020 LIST-030 LIST-170",
        upon=("groups",),
    ),
    Foundation(
        "the pages of groups",
        "list_groups",
        None,
        "lists::pages-of-list-groups",
        "EP-200 LIST-020 LIST-050 LIST-060",
        upon=("groups", "the order of groups"),
        departures=(Mismatch,),
    ),
    Foundation(
        "usage keys",
        "add_usage_api_key",
        trials.keys_are_made,
        "accounts::usage-key-is-a-child",
        "ACC-100 EP-110 EP-150 KEYLIFE-010 LIST-170 UKEY-010 UKEY-040 UKEY-420",
        upon=("groups",),
    ),
    Foundation(
        "wallets",
        "create_wallet",
        trials.wallets_are_made,
        "accounts::wallet-joins-its-account",
        "ACC-010 ACC-080 EP-230 EP-350 EP-430 LIST-170 PKP-010 PKP-030 PKP-110 ACC-110",
    ),
    Foundation(
        "registered actions",
        "add_action",
        trials.actions_are_registered,
        "accounts::action-metadata-is-a-child",
        "ACC-090 ACT-040 ACT-050 ACT-060 ACT-090 EP-260 EP-270 EP-280 LIST-170",
    ),
    Foundation(
        "actions added to groups",
        "add_action_to_group",
        trials.actions_join_groups,
        "endpoints::actions-join-and-leave-groups",
        "ACT-030 ACT-040 ACT-050 ACT-090 EP-360 GRP-270 GRPLIFE-190 LIST-170",
        upon=("groups",),
    ),
    Foundation(
        "wallets added to groups",
        "add_pkp_to_group",
        trials.wallets_join_groups,
        "endpoints::wallets-join-and-leave-groups",
        "EP-240 EP-370 GRP-270 GRPLIFE-190 LIST-170 PKP-060 PKP-010 PKP-020",
        upon=("groups", "wallets"),
    ),
    Foundation(
        "actions that groups are made with",
        "add_group",
        trials.groups_list_the_actions_they_are_made_with,
        "groups::lists-given-at-creation",
        "ACT-130 EP-160 GRP-050 GRP-270",
        upon=("groups", "actions added to groups"),
    ),
    Foundation(
        "wallets that groups are made with",
        "add_group",
        trials.groups_list_the_wallets_they_are_made_with,
        "groups::lists-given-at-creation",
        "EP-160 GRP-040 GRP-270",
        upon=("groups", "wallets", "wallets added to groups"),
    ),
    Foundation(
        "actions removed from groups",
        "remove_action_from_group",
        trials.actions_leave_groups,
        "endpoints::actions-join-and-leave-groups",
        "ACT-100 EP-210 GRPLIFE-190 LIST-170",
        upon=("groups", "actions that groups are made with"),
    ),
    Foundation(
        "wallets removed from groups",
        "remove_pkp_from_group",
        trials.wallets_leave_groups,
        "endpoints::wallets-join-and-leave-groups",
        "EP-220 GRPLIFE-190 LIST-170",
        upon=("groups", "wallets", "wallets that groups are made with"),
    ),
    Foundation(
        "actions of two groups",
        "remove_action_from_group",
        None,
        "actions::action-in-two-groups",
        "ACT-080",
        upon=("actions added to groups", "actions removed from groups"),
    ),
    Foundation(
        "wallets of two groups",
        "remove_pkp_from_group remove_group",
        None,
        "wallets::wallet-in-two-groups",
        "PKP-070 GRPLIFE-170",
        upon=("wallets added to groups", "wallets removed from groups"),
    ),
    Foundation(
        "updates of groups",
        "update_group",
        trials.updates_replace_lists,
        "endpoints::update-group",
        "EP-180 GRPLIFE-040 GRPLIFE-050 GRPLIFE-060 GRPLIFE-070 GRPLIFE-080 GRPLIFE-090 LIST-170 GRP-270",
        upon=("groups", "wallets", "wallets that groups are made with"),
    ),
    Foundation(
        "removals of groups",
        "remove_group",
        trials.groups_are_removed,
        "group_lifecycle::removal-takes-the-group-away",
        "EP-190 GRPLIFE-100 GRPLIFE-150 LIST-170 GRPLIFE-180",
        upon=("groups",),
    ),
    Foundation(
        "updates of usage keys",
        "update_usage_api_key",
        trials.updates_replace_permissions,
        "endpoints::usage-key-operations",
        "EP-130 KEYLIFE-020 KEYLIFE-030 KEYLIFE-040 LIST-170 UKEY-040 UKEY-050 UKEY-440",
        upon=("groups", "usage keys"),
    ),
    Foundation(
        "removals of usage keys",
        "remove_usage_api_key",
        trials.keys_are_removed,
        "endpoints::usage-key-operations",
        "CHAIN-050 EP-120 KEYLIFE-080 KEYLIFE-090 KEYLIFE-100 KEYLIFE-120 KEYLIFE-150 LIST-170",
        upon=("groups", "usage keys"),
    ),
    Foundation(
        "what a removed usage key made",
        "remove_usage_api_key",
        None,
        "key_lifecycle::what-a-removed-key-made-remains",
        "KEYLIFE-210",
        upon=("removals of usage keys",),
        departures=(NotAccepted, Mismatch),
    ),
    Foundation(
        "deletions of actions",
        "delete_action",
        trials.actions_are_deleted,
        "endpoints::action-metadata",
        "ACT-100 EP-290 LIST-170",
        upon=("registered actions",),
    ),
    Foundation(
        "the key of a wallet",
        "run_action",
        None,
        "key_custody::messages-are-signed-with-the-wallets-key",
        "EXEC-190 PKP-170",
        upon=(
            "groups",
            "wallets",
            "usage keys",
            "actions that groups are made with",
            "wallets that groups are made with",
        ),
        departures=(Mismatch,),
    ),
    Foundation(
        "runs",
        "run_action",
        trials.permitted_runs_sign,
        "execution_rule::usage-key",
        "EP-380 EXEC-010 EXEC-020 EXEC-140 EXEC-150 EXEC-190 EXEC-250 EXEC-370 PKP-100 PKP-110 PKP-170 "
        "UKEY-010 UKEY-260",
        upon=(
            "groups",
            "wallets",
            "usage keys",
            "actions that groups are made with",
            "wallets that groups are made with",
        ),
    ),
    Foundation(
        "the admin wallet of an account",
        "new_account",
        None,
        "accounts::admin-wallet-as-stated",
        "ACC-030",
    ),
    Foundation(
        "the chain id",
        "",
        None,
        "chain_information::chain-id-of-the-chain",
        "CHAIN-030",
        departures=(NotAccepted, Mismatch),
    ),
    Foundation(
        "conversions",
        "convert_to_chain_secured_account",
        trials.conversions_end_the_key,
        "conversion::converts",
        "AUTH-180 ERR-080 MODE-010 MODE-020 MODE-030 MODE-110 WSIG-020",
    ),
    Foundation(
        "refusals of unknown keys",
        "",
        trials.unknown_keys_are_refused,
        "authentication::lists-need-a-key",
        "AKEY-060 AUTH-040 AUTH-050 EXEC-260 KEYLIFE-080",
        departures=(NotRefused,),
    ),
    Foundation(
        "hashed CIDs in removals",
        "remove_action_from_group update_action_metadata delete_action",
        None,
        "actions::contract-and-list-agree-on-actions",
        "ACT-100",
        departures=(NotAccepted,),
    ),
    *(
        Foundation(
            f"what {permission} permits",
            operation,
            None,
            f"usage_keys::{case}",
            about,
            upon=("usage keys",),
            departures=(NotAccepted, NotRefused, Mismatch),
        )
        for permission, operation, case, about in (
            ("can_create_groups", "add_group", "may-create-groups", "UKEY-040"),
            ("the lack of can_create_groups", "add_group", "may-not-create-groups", "UKEY-050 AUTH-080 SCOPE-090"),
            ("can_delete_groups", "remove_group", "may-delete-groups", "UKEY-060"),
            ("the lack of can_delete_groups", "remove_group", "may-not-delete-groups", "UKEY-070 AUTH-080 SCOPE-090"),
            ("can_create_pkps", "create_wallet", "may-create-pkps", "UKEY-080"),
            ("the lack of can_create_pkps", "create_wallet", "may-not-create-pkps", "UKEY-090 AUTH-080 SCOPE-090"),
            (
                "manage_ipfs_ids_in_groups",
                "add_action_to_group",
                "may-add-actions-in-named-groups",
                "UKEY-100 UKEY-110 UKEY-290",
            ),
            (
                "manage_ipfs_ids_in_groups for removals",
                "remove_action_from_group",
                "may-remove-actions-in-named-groups",
                "UKEY-140 UKEY-150 UKEY-290",
            ),
            ("add_pkp_to_groups", "add_pkp_to_group", "may-add-pkps-in-named-groups", "UKEY-180 UKEY-190 UKEY-290"),
            (
                "remove_pkp_from_groups",
                "remove_pkp_from_group",
                "may-remove-pkps-in-named-groups",
                "UKEY-220 UKEY-230 UKEY-290",
            ),
        )
    ),
    Foundation(
        "the wildcard of groups",
        "add_action_to_group remove_action_from_group add_pkp_to_group remove_pkp_from_group",
        None,
        "usage_keys::may-add-actions-in-all-groups",
        "UKEY-120 UKEY-160 UKEY-200 UKEY-240 UKEY-280 UKEY-320",
        upon=("usage keys",),
    ),
    Foundation(
        "zero beside other group ids",
        "add_usage_api_key",
        None,
        "usage_keys::zero-beside-other-ids",
        "UKEY-310",
        upon=("groups", "usage keys"),
    ),
    Foundation(
        "envelopes",
        "create_wallet_with_signature add_usage_api_key_with_signature convert_to_chain_secured_account",
        None,
        "envelopes::valid",
        "AUTH-060 ENV-010 ENV-020 ENV-030 ENV-130 ENV-170 ENV-180 ENV-190 ENV-210 ENV-230 ENV-350 WSIG-010 WSIG-030 "
        "WSIG-080",
        departures=(NotAccepted,),
    ),
    Foundation(
        "actions that a group does not list",
        "run_action",
        None,
        "execution_rule::unlisted-action",
        "EXEC-040 EXEC-120",
        upon=("runs",),
        departures=(NotRefused, Mismatch),
    ),
    Foundation(
        "wallets that a group does not list",
        "run_action",
        None,
        "execution_rule::unlisted-wallet",
        "EXEC-050 EXEC-120 EXEC-200",
        upon=("runs",),
        departures=(NotRefused, Mismatch),
    ),
    Foundation(
        "groups that a key does not name",
        "run_action",
        None,
        "execution_rule::key-without-the-group",
        "EXEC-030 UKEY-270 UKEY-300 SCOPE-090 AUTH-080",
        upon=("runs",),
        departures=(NotRefused, Mismatch),
    ),
    Foundation(
        "all actions of a group",
        "run_action",
        None,
        "execution_rule::all-actions",
        "EXEC-100 GRP-110",
        upon=("runs",),
    ),
    Foundation(
        "all wallets of a group",
        "run_action",
        None,
        "execution_rule::all-wallets",
        "EXEC-110 GRP-110",
        upon=("runs",),
    ),
    Foundation(
        "what main returns",
        "run_action",
        None,
        "actions_run::response-carries-every-value",
        "EXEC-140 EXEC-150 EXEC-370",
        upon=("runs",),
        departures=(Mismatch,),
    ),
    Foundation(
        "parameters of main",
        "run_action",
        None,
        "actions_run::parameters-come-unchanged",
        "EXEC-150 EXEC-160",
        upon=("runs",),
        departures=(Mismatch, NotAccepted),
    ),
    Foundation(
        "runs of failing code",
        "run_action",
        None,
        "actions_run::failing-code",
        "EXEC-320",
        upon=("runs",),
    ),
    Foundation(
        "charges of writes",
        "balance",
        None,
        "metering::each-write-is-charged",
        "BILL-140 LIM-050",
        departures=(Mismatch,),
    ),
    Foundation(
        "payments",
        "confirm_payment",
        None,
        "payments::payment-becomes-credit",
        "BILL-020 BILL-030 BILL-070 BILL-130 BILL-160",
    ),
    Foundation(
        "the hash of a converted account",
        "convert_to_chain_secured_account",
        None,
        "conversion::record-of-keys-on-chain",
        "MODE-040",
        departures=(ChainReverted, Mismatch),
    ),
    Foundation(
        "keys of a removed group",
        "remove_group",
        None,
        "group_lifecycle::other-groups-keep-their-runs",
        "GRPLIFE-130 GRPLIFE-170",
        upon=("removals of groups", "runs"),
    ),
    Foundation(
        "what makers of groups may do in them",
        "add_group",
        None,
        "scopes::creator-gains-no-scope",
        "AUTH-210 SCOPE-120",
        upon=("groups", "usage keys"),
    ),
    Foundation(
        "runs after an update of their key",
        "update_usage_api_key",
        None,
        "execution_changes::narrowed-under-way",
        "CHAIN-050 EXEC-230 KEYLIFE-020 KEYLIFE-030 KEYLIFE-150 MINT-150 UKEY-270",
        upon=("updates of usage keys", "runs"),
    ),
    Foundation(
        "runs in groups with empty lists",
        "run_action",
        None,
        "group_runs::empty-lists",
        "EXEC-050 EXEC-230 GRP-140",
        upon=("runs",),
        departures=(NotRefused, Mismatch),
    ),
    Foundation(
        "runs after a change of their group",
        "run_action",
        None,
        "execution_changes::members-of-a-group",
        "EP-210 EP-220 EXEC-230 GRPLIFE-040 GRPLIFE-050 GRPLIFE-060 GRPLIFE-070 GRPLIFE-080 GRPLIFE-110 GRPLIFE-160 "
        "KEYLIFE-030 KEYLIFE-150",
        upon=("runs", "actions that a group does not list", "wallets that a group does not list"),
        departures=(NotRefused, Mismatch),
    ),
    Foundation(
        "what runs tell",
        "run_action",
        None,
        "key_custody::runs-reveal-no-key-material",
        "ERR-160 PKP-090",
        departures=(LeakyRefusal,),
        shown_by=Mismatch,
    ),
    Foundation(
        "logs of runs",
        "run_action",
        None,
        "actions_run::answers-response-and-logs",
        "EXEC-140 EXEC-180 EXEC-320",
        upon=("runs",),
    ),
)
"""In the order in which they are tried: the first that does not hold explains the failure of a case."""
