"""Foundations about who may do what: accounts, the chain, the permissions of usage keys, and envelopes."""

from __future__ import annotations

from conformance.problems import ChainReverted, Mismatch, NotAccepted, NotRefused, StateChanged, WrongRefusal
from conformance.run.foundations import trials
from conformance.run.foundations.foundation import Foundation

FLAGS = "may-create-and-delete-as-its-flags-say"
MINTS_WALLETS, MINTS_KEYS = "create_wallet_with_signature", "add_usage_api_key_with_signature"

ACCESS = (
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
        "the payers",
        "get_api_payers",
        None,
        "chain_information::api-payers",
        "CHAIN-060 CHAIN-080 EP-430",
        departures=(Mismatch,),
    ),
    Foundation(
        "conversions",
        "convert_to_chain_secured_account",
        trials.conversions_end_the_key,
        "conversion::converts",
        "AUTH-180 ERR-080 MODE-010 MODE-020 MODE-030 MODE-110 WSIG-020",
    ),
    Foundation(
        "what refused conversions leave",
        "convert_to_chain_secured_account",
        None,
        "conversion::refusals-leave-the-record",
        "ERR-150 MODE-240",
        departures=(NotAccepted,),
        refused_as="unauthenticated",
        shown_by=StateChanged,
    ),
    Foundation(
        "refusals of unknown keys",
        "",
        trials.unknown_keys_are_refused,
        "authentication::every-endpoint-needs-a-known-key",
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
            ("can_create_groups", "add_group", FLAGS, "UKEY-040"),
            ("the lack of can_create_groups", "add_group", FLAGS, "UKEY-050 AUTH-080 SCOPE-090"),
            ("can_delete_groups", "remove_group", FLAGS, "UKEY-060"),
            ("the lack of can_delete_groups", "remove_group", FLAGS, "UKEY-070 AUTH-080 SCOPE-090"),
            ("can_create_pkps", "create_wallet", FLAGS, "UKEY-080"),
            ("the lack of can_create_pkps", "create_wallet", FLAGS, "UKEY-090 AUTH-080 SCOPE-090"),
            (
                "manage_ipfs_ids_in_groups",
                "add_action_to_group",
                "actions-in-named-groups",
                "UKEY-100 UKEY-110 UKEY-290",
            ),
            (
                "manage_ipfs_ids_in_groups for removals",
                "remove_action_from_group",
                "actions-in-named-groups",
                "UKEY-140 UKEY-150 UKEY-290",
            ),
            ("add_pkp_to_groups", "add_pkp_to_group", "wallets-in-named-groups", "UKEY-180 UKEY-190 UKEY-290"),
            (
                "remove_pkp_from_groups",
                "remove_pkp_from_group",
                "wallets-in-named-groups",
                "UKEY-220 UKEY-230 UKEY-290",
            ),
        )
    ),
    Foundation(
        "the wildcard of groups",
        "add_action_to_group remove_action_from_group add_pkp_to_group remove_pkp_from_group",
        None,
        "usage_keys::actions-in-all-groups",
        "UKEY-120 UKEY-160 UKEY-200 UKEY-240 UKEY-280 UKEY-320",
        upon=("usage keys",),
    ),
    Foundation(
        "the operations of each scope",
        "add_usage_api_key update_usage_api_key",
        trials.scopes_open_their_operations,
        "scopes::each-scope-can-be-granted",
        "SCOPE-010 SCOPE-090 AUTH-080 AUTH-090 UKEY-040 UKEY-050 UKEY-060 UKEY-070 UKEY-080 UKEY-090 UKEY-100 UKEY-110 "
        "UKEY-120 UKEY-140 UKEY-150 UKEY-160 UKEY-180 UKEY-190 UKEY-200 UKEY-220 UKEY-230 UKEY-240 UKEY-280 UKEY-290 "
        "UKEY-320",
        upon=("groups", "wallets", "usage keys"),
        departures=(NotAccepted, NotRefused, Mismatch),
    ),
    Foundation(
        "zero beside other group ids",
        "add_usage_api_key",
        None,
        "usage_keys::actions-in-all-groups",
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
        "signers of envelopes",
        "create_wallet_with_signature add_usage_api_key_with_signature convert_to_chain_secured_account balance",
        None,
        "envelopes::signer-is-another",
        "BILL-240 BILL-260 ENV-210 ENV-220 ERR-060 MINT-020 MINT-080 WSIG-100",
        upon=("envelopes",),
        departures=(NotRefused,),
    ),
    Foundation(
        "proofs that count again",
        "balance create_payment_intent confirm_payment",
        None,
        "wallet_auth::again",
        "BILL-300 ENV-460",
        upon=("envelopes",),
        departures=(NotAccepted,),
    ),
    *(
        Foundation(
            name, operation, None, case, about, upon=("envelopes",), departures=(NotAccepted, WrongRefusal, Mismatch)
        )
        for name, operation, case, about in (
            ("mints of wallets", MINTS_WALLETS, "mint_wallet::mints", "MINT-010 MINT-180 MINT-210"),
            ("mints of usage keys", MINTS_KEYS, "mint_usage_key::mints", "MINT-080 MINT-090 MINT-100 MINT-210"),
        )
    ),
    Foundation(
        "minted keys that differ",
        MINTS_KEYS,
        None,
        "mint_usage_key::again",
        "MINT-100 MINT-190",
        upon=("mints of usage keys",),
        departures=(NotAccepted, NotRefused, Mismatch),
        shown_by=Mismatch,
    ),
    Foundation(
        "wallets of minted usage keys",
        MINTS_KEYS,
        None,
        "mint_usage_key::wallet-of-the-secret",
        "MINT-080 MINT-100",
        upon=("mints of usage keys",),
        departures=(NotAccepted, WrongRefusal, Mismatch),
    ),
    *(
        Foundation(
            f"the admin wallet's writes about {things}",
            "",
            None,
            judging,
            "CHAIN-090",
            departures=(ChainReverted,),
        )
        for things, judging in (
            ("wallets, groups and actions", "chain_secured::admin-writes"),
            ("usage keys", "chain_secured::admin-writes-usage-keys"),
        )
    ),
    Foundation(
        "registered wallets",
        MINTS_WALLETS,
        None,
        "mint_wallet::registered-by-the-admin",
        "MINT-030 MINT-070 PKP-080",
        upon=("mints of wallets", "the admin wallet's writes about wallets, groups and actions"),
        departures=(NotAccepted, Mismatch),
    ),
    Foundation(
        "attached usage keys",
        MINTS_KEYS,
        None,
        "mint_usage_key::attached-by-two-calls",
        "MINT-110 MINT-120 MINT-130",
        upon=("wallets of minted usage keys", "the admin wallet's writes about usage keys"),
        departures=(NotAccepted, WrongRefusal),
    ),
)
