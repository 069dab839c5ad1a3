"""An operation as one node serves it: the specification's table with the profile's paths and member names filled in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from conformance.problems import Problem
from conformance.profile.model import Profile
from conformance.profile.operations import FLOW_PATHS, OPERATIONS, WALLET_SIGNED, Auth, Effect, OperationSpec, Place
from conformance.profile.reading import read_aside
from conformance.profile.section import Section
from conformance.profile.wire import MutatingResponses
from conformance.profile.wire_flows import ConvertResponse
from conformance.values.addresses import CORE

T = TypeVar("T")

WHOLE = ""
"""The wire name of a canonical member that is the whole answer."""


class NotStated(Problem):
    """The profile leaves out a key that an operation needs. Cases that use the operation are not offered."""

    code = "not-stated"
    cause = "the profile leaves out what is needed"

    def __init__(self, path: str) -> None:
        super().__init__(f"the profile states nothing about {path}")
        self.path = path
        """The key, for example ``wire.new_account.fields``."""


class NotClaimed(NotStated):
    """The profile does not claim the capability that an operation belongs to."""

    def __init__(self, capability: str) -> None:
        super().__init__(f"the capability {capability}")


@dataclass(frozen=True)
class Operation:
    """All that a caller needs to know to send a request and read its answer."""

    name: str
    method: str
    path: str
    """Under the base URL; ``{group_id}`` remains in the design-level paths."""
    auth: Auth
    effect: Effect
    billed: bool
    place: Place
    request: Mapping[str, str]
    """Canonical request member to wire name."""
    response: Mapping[str, str]
    """Canonical answer member to wire name; `WHOLE` for the whole answer."""
    items: Mapping[str, str] | None
    """Canonical member of a list item to wire name; None when the operation is no list."""
    page_member: str | None
    """The member that holds a list's items; None when the whole answer is the array, or it is no list."""
    group_ids_form: str | None = "integer"
    """The JSON form of the group ids in its items; `integer` for lists without group ids."""
    group_id_sent: str = "integer"
    """The JSON form of `group_id` in its body."""
    absent: frozenset[str] = frozenset()
    """Canonical members that the profile says the node's answer does not have, whatever it shows under these names."""
    keys: Mapping[str, object] = field(default_factory=dict, compare=False)
    """The keys of the profile that say how it is served, with their values."""

    @property
    def is_list(self) -> bool:
        """Whether it answers a page of items."""
        return self.items is not None


def resolve(profile: Profile, name: str) -> Operation:
    """Return the operation ``name`` as the profile's node serves it. Raises KeyError and NotStated."""
    with read_aside() as keys:
        return replace(_resolved(profile, name), keys=keys)


def _resolved(profile: Profile, name: str) -> Operation:
    fixed = OPERATIONS[name]
    if name in WALLET_SIGNED and not profile.offers("wallet_signed"):
        raise NotClaimed("wallet_signed")
    method, path = _endpoint(profile, name, fixed)
    request = {member: member for member in fixed.request} | _request_names(profile, name)
    response = _response_names(profile, name, fixed)
    return Operation(
        name=name,
        method=method,
        path=path,
        auth=fixed.auth,
        effect=fixed.effect,
        billed=fixed.billed,
        place=_place(profile, name, method, request),
        request=request,
        response={member: member for member in fixed.response}
        | {member: wire for member, wire in response.items() if wire is not None},
        items=_item_names(profile, fixed.items) if fixed.items else None,
        absent=frozenset(member for member, wire in response.items() if wire is None),
        page_member=_page_member(profile, name, fixed),
        group_ids_form=_group_ids_form(profile, fixed.items),
        group_id_sent=_group_id_sent(profile, name, fixed),
    )


def _endpoint(profile: Profile, name: str, fixed: OperationSpec) -> tuple[str, str]:
    if name in FLOW_PATHS:
        prefix = needed(profile.flows.relationship, "flows.relationship").prefix
        return "POST", prefix + FLOW_PATHS[name]
    if fixed.endpoint:
        method, _, path = fixed.endpoint.partition(" ")
    else:
        stated: str | None = getattr(profile.wire.operations.method_and_path, name)
        method, _, path = needed(stated, f"wire.operations.method_and_path.{name}").partition(" ")
        path = CORE + path
    return method, path.replace("{slug}", profile.brand.slug) if "{slug}" in path else path


def needed(value: T | None, path: str) -> T:
    """Return the value of a profile key. Raises NotStated for None."""
    if value is None:
        raise NotStated(path)
    return value


def _names(section: Section) -> dict[str, str]:
    return {member: wire for member, wire in section if isinstance(wire, str)}


def _names_or_none(section: Section | None, kind: type[Section]) -> dict[str, str | None]:
    """The wire's names of a section's members; None for each that the profile says is not there."""
    return dict.fromkeys(kind.model_fields) if section is None else dict(section)


def _request_names(profile: Profile, name: str) -> dict[str, str]:
    match name:
        case "new_account":
            return _names(needed(profile.wire.new_account.fields, "wire.new_account.fields"))
        case "add_group":
            return _names(needed(profile.wire.add_group.fields, "wire.add_group.fields"))
        case "create_wallet":
            return _names(profile.wire.create_wallet.fields)
        case "account_exists":
            form = needed(profile.wire.account_exists.request_response, "wire.account_exists.request_response")
            return {} if form.key_in == "header" else {"api_key": form.key_member}
        case _:
            return {}


def _place(profile: Profile, name: str, method: str, request: Mapping[str, str]) -> Place:
    if name == "get_action_ipfs_id":
        return Place.STRING
    if name == "account_exists":
        form = profile.wire.account_exists.request_response
        if form is not None and form.key_in != "header":
            return Place(form.key_in)
    if not request:
        return Place.NOWHERE
    return Place.QUERY if method == "GET" else Place.BODY


def _response_names(profile: Profile, name: str, fixed: OperationSpec) -> Mapping[str, str | None]:
    """Canonical answer member to wire name; None for each that the profile says is not there."""
    names = _information_names(profile, name) or _billing_names(profile, name)
    if names is not None:
        return names
    return _mutating_names(profile, name) if fixed.effect is Effect.WRITE else {}


def _information_names(profile: Profile, name: str) -> Mapping[str, str | None] | None:
    match name:
        case "get_action_ipfs_id":
            return {"cid": profile.wire.get_action_ipfs_id.answer_member or WHOLE}
        case "get_api_payers":
            return {"addresses": needed(profile.wire.chain_info, "wire.chain_info").api_payers_member or WHOLE}
        case "get_admin_api_payer":
            return {"address": needed(profile.wire.chain_info, "wire.chain_info").admin_api_payer_member or WHOLE}
        case "account_exists":
            exists = profile.wire.account_exists.request_response
            return None if exists is None else {"exists": exists.answer_member or WHOLE}
        case _:
            return None


def _billing_names(profile: Profile, name: str) -> dict[str, str | None] | None:
    fields = profile.wire.billing.fields
    match name:
        case "stripe_config":
            return None if fields is None else {"publishable_key": fields.publishable_key}
        case "balance" if fields is not None:
            return {"balance_cents": fields.balance_cents, "balance_display": fields.balance_display}
        case "confirm_payment" if fields is not None:
            return {"success": fields.confirm_success}
        case _:
            return None


def _mutating_names(profile: Profile, name: str) -> Mapping[str, str | None]:
    if name in {"new_account", "create_wallet"}:
        return {}
    if name == "convert_to_chain_secured_account":
        return _names_or_none(profile.wire.convert.response, ConvertResponse)
    names = _names_or_none(profile.wire.mutating_responses, MutatingResponses)
    return names if name == "add_group" else {member: wire for member, wire in names.items() if member == "success"}


def _item_names(profile: Profile, kind: str) -> dict[str, str]:
    if kind == "group":
        fields = profile.wire.list_groups.item_fields
        return {"id": "id"} | ({} if fields is None else _names(fields))
    fixed = {"hashed_cid": "hashed_cid"} if kind == "action" else {}
    items = profile.wire.list_items.fields
    return fixed if items is None else fixed | _names(getattr(items, kind))


def _group_ids_form(profile: Profile, kind: str) -> str | None:
    if kind == "usage_key":
        return profile.wire.list_items.group_ids_form
    with read_aside():  # the answer itself shows the form, so that nobody relies on an assumption
        return profile.wire.list_groups.id_form if kind == "group" else "integer"


def _group_id_sent(profile: Profile, name: str, fixed: OperationSpec) -> str:
    is_open = "group_id" in fixed.request and fixed.effect is Effect.WRITE and name != "remove_group"
    with read_aside():  # the specification says u64, so that who states nothing relies on nothing
        return profile.wire.requests.group_id_form if is_open else "integer"


def _page_member(profile: Profile, name: str, fixed: OperationSpec) -> str | None:
    if not fixed.items or name == "list_groups":
        return None
    container = needed(profile.wire.paging.container, "wire.paging.container")
    return container.items_member if container.form == "object" else None
