"""Which case judges an operation: what a blocked case tells its reader to look at."""

from __future__ import annotations

from collections.abc import Mapping

JUDGED_BY: Mapping[str, str] = {
    operation: case
    for case, operations in {
        "endpoints::new-account": "new_account",
        "endpoints::account-exists": "account_exists",
        "endpoints::usage-key-operations": (
            "add_usage_api_key remove_usage_api_key update_usage_api_key update_usage_api_key_metadata"
        ),
        "endpoints::list-api-keys": "list_api_keys",
        "endpoints::add-group": "add_group",
        "endpoints::update-group": "update_group",
        "endpoints::remove-group": "remove_group",
        "endpoints::list-groups": "list_groups",
        "endpoints::actions-join-and-leave-groups": "add_action_to_group remove_action_from_group",
        "endpoints::wallets-join-and-leave-groups": "add_pkp_to_group remove_pkp_from_group list_wallets_in_group",
        "endpoints::create-wallet": "create_wallet list_wallets",
        "endpoints::action-metadata": "list_actions add_action delete_action update_action_metadata",
        "endpoints::action-cid": "get_action_ipfs_id",
        "actions_run::answers-response-and-logs": "run_action",
        "endpoints::addresses-of-the-chain": "get_node_chain_config get_api_payers get_admin_api_payer",
        "versioning::description": "openapi",
        "versioning::viewer": "swagger_ui",
        "envelopes::valid": (
            "create_wallet_with_signature add_usage_api_key_with_signature convert_to_chain_secured_account"
        ),
        "payment_endpoints::balance-is-current": "balance",
        "payment_intents::publishable-key": "stripe_config",
        "payment_intents::amounts-from-the-minimum": "create_payment_intent",
        "payments::payment-becomes-credit": "confirm_payment",
        "attestation::info": "info",
        "attestation::attestation": "attestation",
        "attestation::listing": "evidences",
        "attestation::checksum-file": "evidence_checksums",
        "attestation::evidence-quote": "evidence_quote",
        "attestation::acme-account": "evidence_acme_account",
        "design_flows::actions-are-added-and-removed": "flow_group_actions",
        "design_flows::wallets-are-created-and-added": "flow_create_pkp flow_group_pkps",
    }.items()
    for operation in operations.split()
}
"""The case that judges each operation of the catalogue."""
