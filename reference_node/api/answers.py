"""The shapes of answers (specification, "Endpoints"): the named members and no others."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from reference_node.fields import U64, Address, ApiKey, DerivationPath, Hash


class Answer(BaseModel):
    """An answer: the named members and no others."""

    model_config = ConfigDict(extra="forbid")


class Success(Answer):
    """The answer of a write without a result."""

    success: Literal[True]


class CreatedAccount(Answer):
    """The answer of `new_account`: the only time the key is shown."""

    api_key: ApiKey
    wallet_address: Address


class CreatedUsageKey(Success):
    """The answer of `add_usage_api_key`: the only time the key is shown."""

    usage_api_key: ApiKey


class CreatedGroup(Success):
    """The answer of `add_group`."""

    group_id: Annotated[U64, Field(ge=1)]


class CreatedWallet(Answer):
    """The answer of `create_wallet`."""

    wallet_address: Address


class GroupItem(Answer):
    """An item of `list_groups`."""

    id: Annotated[U64, Field(ge=1)]
    name: str
    description: str


class WalletItem(Answer):
    """An item of `list_wallets` and `list_wallets_in_group`; all zeros for a group's wildcard."""

    id: Hash
    name: str
    description: str
    wallet_address: Address


class ActionItem(Answer):
    """An item of `list_actions`; all zeros for a group's wildcard."""

    hashed_cid: Hash
    name: str
    description: str


class UsageKeyItem(Answer):
    """An item of `list_api_keys`: metadata, never the key."""

    api_key_hash: Hash
    name: str
    description: str
    expiration: Annotated[int, Field(ge=0, description="Unix seconds; 0 is never.")]
    balance: Annotated[int, Field(ge=0)]
    can_create_groups: bool
    can_delete_groups: bool
    can_create_pkps: bool
    manage_ipfs_ids_in_groups: list[U64]
    add_pkp_to_groups: list[U64]
    remove_pkp_from_groups: list[U64]
    execute_in_groups: list[U64]


class MintedWallet(CreatedWallet):
    """The answer of `create_wallet_with_signature`: a wallet that belongs to no account until it is registered."""

    derivation_path: DerivationPath


class MintedUsageKey(MintedWallet):
    """The answer of `add_usage_api_key_with_signature`: the only time the key is shown."""

    usage_api_key: ApiKey


class RunOutcome(Answer):
    """The answer of `run_action`."""

    response: Annotated[object, Field(description="What `main` resolved with; null after an error.")]
    logs: Annotated[str, Field(description="What the action wrote to its console; after an error its message is last.")]
    has_error: Annotated[bool, Field(description="Whether the action threw, did not parse or went over a limit.")]


class Balance(Answer):
    """The answer of `billing/balance`."""

    balance_cents: Annotated[int, Field(ge=0, description="The credit left.")]
    balance_display: Annotated[str, Field(pattern=r"^\$[0-9]+\.[0-9]{2}$")]


class StripeConfig(Answer):
    """The answer of `billing/stripe_config`."""

    publishable_key: Annotated[str, Field(pattern=r"^pk_test_", description="The payment provider's publishable key.")]


class PaymentSecret(Answer):
    """The answer of `billing/create_payment_intent`."""

    client_secret: Annotated[
        str, Field(pattern=r"^pi_.+_secret_.+", description="The intent's id stands before `_secret_`.")
    ]


class ChainConfig(Answer):
    """The answer of `get_node_chain_config`."""

    chain_name: str
    chain_id: Annotated[int, Field(ge=1)]
    is_evm: bool
    testnet: bool
    token: str
    contract_address: Address


class TcbInfo(Answer):
    """The part of the TCB information that `/info` shows."""

    app_compose: Annotated[str, Field(description="JSON text with `docker_compose_file`; the compose hash is of it.")]


class MachineInfo(Answer):
    """The answer of `/info`."""

    app_id: Annotated[str, Field(pattern=r"^[0-9a-f]{40}$", description="Address of the authorisation contract.")]
    compose_hash: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$", description="SHA-256 of `tcb_info.app_compose`.")]
    tcb_info: TcbInfo


class AttestationQuote(Answer):
    """The answer of `/attestation`."""

    quote: Annotated[str, Field(pattern=r"^([0-9a-f]{2})+$", description="A TDX quote.")]
    event_log: Annotated[str, Field(description="JSON text: what the machine measured, in order.")]
    vm_config: Annotated[str, Field(description="JSON text: the machine's hardware and image.")]


class EvidenceQuote(AttestationQuote):
    """The answer of `/evidences/quote.json`."""

    report_data: Annotated[str, Field(pattern=r"^[0-9a-f]{128}$", description="What the quote was made over.")]


class AcmeAccount(Answer):
    """The answer of `/evidences/acme-account.json`."""

    uri: Annotated[str, Field(pattern=r"^https://")]


class ProblemDocument(BaseModel):
    """Every refusal and failure (RFC 9457, `application/problem+json`)."""

    type: str
    title: str
    status: Annotated[int, Field(ge=400, le=599)]
    detail: Annotated[str, Field(description="What was wrong, where, and how to mend it.")]
    code: Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", description="What went wrong, for programs.")]
    instance: Annotated[str, Field(description="The request's id, also in the header X-Request-Id.")]
