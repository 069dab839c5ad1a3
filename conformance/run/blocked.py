"""Names the case that judges each operation: the verdict of a case that an operation blocks refers to that case."""

from __future__ import annotations

from collections.abc import Mapping

KEYS = "endpoints::usage-key-operations"
ACTIONS = "endpoints::action-metadata"
ACTIONS_IN_GROUPS = "endpoints::actions-join-and-leave-groups"
WALLETS_IN_GROUPS = "endpoints::wallets-join-and-leave-groups"
ENVELOPES = "envelopes::valid"

JUDGED_BY: Mapping[str, str] = {
    "new_account": "endpoints::new-account",
    "account_exists": "endpoints::account-exists",
    "add_usage_api_key": KEYS,
    "remove_usage_api_key": KEYS,
    "update_usage_api_key": KEYS,
    "update_usage_api_key_metadata": KEYS,
    "list_api_keys": "endpoints::list-api-keys",
    "add_group": "endpoints::add-group",
    "update_group": "endpoints::update-group",
    "remove_group": "endpoints::remove-group",
    "list_groups": "endpoints::list-groups",
    "add_action_to_group": ACTIONS_IN_GROUPS,
    "remove_action_from_group": ACTIONS_IN_GROUPS,
    "add_pkp_to_group": WALLETS_IN_GROUPS,
    "remove_pkp_from_group": WALLETS_IN_GROUPS,
    "create_wallet": "endpoints::create-wallet",
    "list_wallets": "endpoints::create-wallet",
    "list_wallets_in_group": WALLETS_IN_GROUPS,
    "list_actions": ACTIONS,
    "add_action": ACTIONS,
    "delete_action": ACTIONS,
    "update_action_metadata": ACTIONS,
    "get_action_ipfs_id": "endpoints::action-cid",
    "run_action": "actions_run::answers-response-and-logs",
    "get_node_chain_config": "endpoints::addresses-of-the-chain",
    "get_api_payers": "endpoints::addresses-of-the-chain",
    "get_admin_api_payer": "endpoints::addresses-of-the-chain",
    "openapi": "versioning::description",
    "swagger_ui": "versioning::viewer",
    "create_wallet_with_signature": ENVELOPES,
    "add_usage_api_key_with_signature": ENVELOPES,
    "convert_to_chain_secured_account": ENVELOPES,
    "balance": "payment_endpoints::balance-is-current",
    "stripe_config": "payment_intents::publishable-key",
    "create_payment_intent": "payment_intents::amounts-from-the-minimum",
    "confirm_payment": "payments::payment-becomes-credit",
    "info": "attestation::info",
    "attestation": "attestation::attestation",
    "evidences": "attestation::listing",
    "evidence_checksums": "attestation::checksum-file",
    "evidence_quote": "attestation::evidence-quote",
    "evidence_acme_account": "attestation::acme-account",
    "flow_group_actions": "design_flows::actions-are-added-and-removed",
    "flow_create_pkp": "design_flows::wallets-are-created-and-added",
    "flow_group_pkps": "design_flows::wallets-are-created-and-added",
}
"""The case that judges each operation of the catalogue."""


def hint(operation: str, usual: str) -> str:
    """Where a user should look when this operation blocked a case; `usual` where no case judges the operation."""
    judge = JUDGED_BY.get(operation)
    return f"{operation} is judged by {judge}" if judge else usual
