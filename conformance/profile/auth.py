"""Who may do what where the specification leaves it open ("Authentication")."""

from __future__ import annotations

from typing import Literal

from conformance.profile.section import AcceptedOrRefused, Permission, Section

WhoMay = Literal["account_key", "any_key", Permission]
"""The account key alone, every usage key of the account too, or those that hold one permission."""


class UsageKeyPermission(Section):
    """Which usage keys may make the calls for which no permission field exists."""

    update_group: WhoMay | None = "account_key"
    """`update_group` (SCOPE-140)."""
    action_metadata: WhoMay | None = "account_key"
    """`add_action`, `delete_action` and `update_action_metadata` (SCOPE-150)."""
    lists: WhoMay | None = "any_key"
    """The lists but `list_api_keys`; each key sees its own account alone (SCOPE-160)."""
    list_api_keys: WhoMay | None = "any_key"
    """`list_api_keys`, apart from the other lists (SCOPE-160)."""
    key_metadata: WhoMay | None = "account_key"
    """`update_usage_api_key_metadata` (AUTH-140)."""


class BillingCredentials(Section):
    """What counts as auth `account` on the billing endpoints, beside the account key."""

    usage_key: Literal["accepted", "forbidden", "unauthenticated"] = "forbidden"
    """A usage key of the account."""
    wallet_of_managed_account: bool = True
    """Whether `X-Wallet-Auth` of an API-mode account's own wallet is accepted."""


class Access(Section):
    """Credentials and permissions."""

    usage_key_permission: UsageKeyPermission = UsageKeyPermission()
    add_group_prefill_by_usage_key: Literal["wildcard_needed", "accepted", "refused"] | None = "wildcard_needed"
    """Whether a usage key with `can_create_groups` may fill the lists of the group it creates: only when the matching
    array holds the wildcard 0, always, or never (SCOPE-130)."""
    conflicting_headers: Literal["refused", "x_api_key_wins", "bearer_wins"] | None = "refused"
    """What happens when the two headers carry different keys (AUTH-190)."""
    chain_secured_usage_key_writes: AcceptedOrRefused | None = "forbidden"
    """A management write over HTTP by a permitted usage key of a ChainSecured account (AUTH-220)."""
    billing_credentials: BillingCredentials | None = BillingCredentials()
    """BILL-280."""
    openapi_public: bool | None = True
    """Whether openapi.json and swagger-ui answer without a key (VER-080)."""
