"""How requests and answers are written where the specification is silent: paths, member names, forms."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from conformance.profile.section import Section, WireName
from conformance.profile.wire_flows import BillingWire, ChainInfo, Convert, DerivationPath, TypedData, WalletAuth
from conformance.profile.wire_items import ListGroups, ListItems, Paging

Endpoint = Annotated[str, Field(pattern=r"^(GET|POST|PUT|PATCH|DELETE) /[^\s?#]*$")]
"""Method and path, for example `GET /account_exists`; `{slug}` in the path is the brand word."""


class MethodAndPath(Section):
    """The five operations that the specification names without method and path. Paths are relative to `/core/v1`."""

    account_exists: Endpoint | None = "GET /account_exists"
    create_wallet: Endpoint | None = "POST /create_wallet"
    add_action_to_group: Endpoint | None = "POST /add_action_to_group"
    add_pkp_to_group: Endpoint | None = "POST /add_pkp_to_group"
    run_action: Endpoint | None = "POST /{slug}_action"


class Operations(Section):
    """Operations."""

    method_and_path: MethodAndPath = MethodAndPath()
    """EP-390."""


class NewAccountFields(Section):
    """Canonical member to wire name."""

    account_name: WireName = "account_name"
    account_description: WireName = "account_description"
    email: WireName = "email"


class NewAccount(Section):
    """The body of `new_account`."""

    fields: NewAccountFields | None = NewAccountFields()
    """EP-090."""


class AddGroupFields(Section):
    """Canonical member to wire name. The two lists have the names that the specification gives them."""

    group_name: WireName = "group_name"
    group_description: WireName = "group_description"


class AddGroup(Section):
    """The body of `add_group`."""

    fields: AddGroupFields | None = AddGroupFields()
    """EP-170."""


class MissingKeyFields(Section):
    """Fields left out of a usage key's creation or update."""

    permissions: Literal["refused", "empty", "kept"] = "empty"
    """`empty`: false, or an empty array."""
    labels: Literal["refused", "empty", "kept"] = "refused"
    """Name and description."""


class AddUsageApiKey(Section):
    """The body of `add_usage_api_key`."""

    missing_fields: MissingKeyFields | None = MissingKeyFields()
    """UKEY-430."""


class UpdateUsageApiKey(Section):
    """The body of `update_usage_api_key`."""

    missing_fields: MissingKeyFields | None = MissingKeyFields()
    """KEYLIFE-140."""


class MissingGroupFields(Section):
    """Fields left out of `add_group` or `update_group`."""

    lists: Literal["refused", "empty", "kept"] = "empty"
    """The two permitted lists."""
    labels: Literal["refused", "empty", "kept"] = "refused"
    """Name and description."""


class UpdateGroup(Section):
    """The bodies of `add_group` and `update_group`."""

    missing_fields: MissingGroupFields | None = MissingGroupFields()
    """GRPLIFE-210."""


class KeyFormat(Section):
    """How a key value is written."""

    encoding: Literal["base64", "base64url", "hex"] = "base64"
    padded: bool = True
    """Whether base64 ends in `=` where it has to."""
    bytes: Annotated[int, Field(ge=16)] = 32
    """How many random bytes it encodes."""


class UsageApiKey(Section):
    """The value of a usage key."""

    managed_format: KeyFormat | None = KeyFormat()
    """The value that `add_usage_api_key` answers (UKEY-410)."""
    reference_forms: Annotated[tuple[Literal["value", "hash"], ...], Field(min_length=1)] | None = ("value",)
    """What update and remove take as `usage_api_key` (KEYLIFE-170)."""


class PkpIdSource(Section):
    """Where a client learns the id of a wallet that `create_wallet` made."""

    list_member: bool = True
    """Whether wallet items hold it, as `wire.list_items.fields.wallet.id` names it."""
    rule: Literal["keccak256_of_address", "left_padded_address"] | None = "keccak256_of_address"
    """How it follows from the 20 bytes of `wallet_address`. Null: by no rule."""


class Pkp(Section):
    """PKP ids."""

    id_source: PkpIdSource | None = PkpIdSource()
    """PKP-120."""


ZERO_HASH: Literal["0x0000000000000000000000000000000000000000000000000000000000000000"] = (
    "0x0000000000000000000000000000000000000000000000000000000000000000"
)
CidWildcard = Literal[0, "0", "0x0", "0x0000000000000000000000000000000000000000000000000000000000000000"]


class Group(Section):
    """Entries of a group's lists."""

    cid_wildcard_form: Annotated[tuple[CidWildcard, ...], Field(min_length=1)] | None = (0, "0", "0x0", ZERO_HASH)
    """The accepted forms of the `0` in `cid_hashes_permitted`; the suite sends the first (GRP-160)."""


class CreateWalletFields(Section):
    """Request members of `create_wallet`. Null: the request has no such member."""

    name: WireName | None = None
    description: WireName | None = None


class CreateWallet(Section):
    """The body of `create_wallet`."""

    fields: CreateWalletFields = CreateWalletFields()
    """EP-400."""


class AccountExistsForm(Section):
    """How `account_exists` is asked and answers."""

    key_in: Literal["header", "body", "query"] = "header"
    key_member: WireName = "api_key"
    """The member that holds the key; of no effect when it is in the header."""
    answer_member: WireName | None = None
    """The member that is true or false. Null: the whole answer is."""
    unknown_key: Literal["answers_false", "unauthenticated", "not_found"] = "answers_false"
    """What a well-formed key that nobody owns gets."""


class AccountExists(Section):
    """The operation `account_exists`."""

    request_response: AccountExistsForm | None = AccountExistsForm()
    """EP-400."""


class ActionIpfsId(Section):
    """The operation that computes an action's CID."""

    answer_member: WireName | None = None
    """The member that holds the CID. Null: the whole answer is (EP-320)."""


class MutatingResponses(Section):
    """Members of the answers of accepted management writes. Null: there is no such member."""

    success: WireName | None = "success"
    """True in every one of them."""
    group_id: WireName | None = "group_id"
    """The id of the new group, in the answer of `add_group`."""


class Requests(Section):
    """Bodies of requests."""

    group_id_form: Literal["integer", "decimal_string"] = "integer"
    """The JSON form of the member `group_id` in bodies. `remove_group` takes a text, as the specification shows it, and
    permission arrays hold integers."""
    pkp_id_form: Literal["pkp_id", "address"] = "pkp_id"
    """What the members `pkp_id` and `pkp_ids_permitted` of bodies hold. `address` contradicts PKP-010: one case charges
    that, and with the key the others can go on."""


class Wire(Section):
    """Paths, names and forms on the wire."""

    operations: Operations = Operations()
    requests: Requests = Requests()
    new_account: NewAccount = NewAccount()
    account_exists: AccountExists = AccountExists()
    create_wallet: CreateWallet = CreateWallet()
    add_group: AddGroup = AddGroup()
    update_group: UpdateGroup = UpdateGroup()
    group: Group = Group()
    add_usage_api_key: AddUsageApiKey = AddUsageApiKey()
    update_usage_api_key: UpdateUsageApiKey = UpdateUsageApiKey()
    usage_api_key: UsageApiKey = UsageApiKey()
    pkp: Pkp = Pkp()
    get_action_ipfs_id: ActionIpfsId = ActionIpfsId()
    mutating_responses: MutatingResponses | None = MutatingResponses()
    """EP-410."""
    paging: Paging = Paging()
    list_groups: ListGroups = ListGroups()
    list_items: ListItems = ListItems()
    chain_info: ChainInfo | None = ChainInfo()
    """CHAIN-150."""
    typed_data: TypedData = TypedData()
    convert: Convert = Convert()
    derivation_path: DerivationPath = DerivationPath()
    x_wallet_auth: WalletAuth = WalletAuth()
    billing: BillingWire = BillingWire()
