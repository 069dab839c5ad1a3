"""The vendor profile: one node's answers to every question that the specification leaves open."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, PrivateAttr, model_validator

from conformance.profile.abi_names import translation
from conformance.profile.attestation import Attestation
from conformance.profile.auth import Access
from conformance.profile.billing import Billing
from conformance.profile.brand import Brand
from conformance.profile.chain import FUNCTION_KEYS, SUITE_SIGNATURES, Chain, NodeUrl, Url, VariableName
from conformance.profile.crypto import Crypto
from conformance.profile.env import Envelope
from conformance.profile.errors import Errors
from conformance.profile.events import Events
from conformance.profile.exec import Execution
from conformance.profile.flows import Flows
from conformance.profile.limits import Limits
from conformance.profile.mode import Mode
from conformance.profile.operations import OPERATIONS
from conformance.profile.payments import Payments
from conformance.profile.restart import Restart
from conformance.profile.section import Section
from conformance.profile.semantics import Semantics
from conformance.profile.wire import Wire
from conformance.values.addresses import CORE
from conformance.values.capability import Capability


def _once(capabilities: tuple[str, ...]) -> tuple[str, ...]:
    for name in capabilities:
        if capabilities.count(name) > 1:
            raise ValueError(f"{name} is listed twice")
    return capabilities


NO_CHOICES = (
    "extends",
    "base_url",
    "control_url",
    "control_token_variable",
    "ca_file",
    "capabilities",
    "accounts.",
    "payments.provider_url",
    "payments.control_url",
    "payments.most_cents",
    "payments.methods.",
    "payments.currency",
    "chain.rpc_url",
    "chain.id",
    "chain.funder_key_variable",
    "restart.",
    "limits.rate",
    "attestation.base_url",
    "attestation.gateway_domain",
    "attestation.resolver",
    "attestation.pccs_url",
    "attestation.root_certificate",
)
"""How the keys begin that say where things are and what is offered, and nothing about what the node does."""


class Accounts(Section):
    """How the accounts that the suite makes come to credits."""

    credits: Literal["granted", "bought"] | None = "granted"
    """`granted`: what `new_account` makes can pay for its writes, because it starts with credits or nothing is charged.
    `bought`: the suite buys credits in the payment provider's test mode (`payments.provider_url`) for each account.
    Null: it cannot, and every case that makes an account is not offered."""


class Profile(Section):
    """What the suite knows about a node.

    Of a key left out the reference node's value is assumed: a departure from it is inconclusive. A key set to null says
    that the vendor states nothing, and checks that need it report `not offered`. The profile that the code makes, of
    which no file left anything out, assumes nothing.
    """

    extends: Literal["reference"] | None = None
    """`reference`: what the profile leaves out is stated, too, as the reference node does it."""
    base_url: NodeUrl | None = None
    """Where the node answers, without `/core/v1`; `--node-url` on the command line goes before it."""
    control_url: Url | None = None
    """Where tests set the clock, spend credit and renew certificates; needed by the capabilities `clock_control`,
    `credit_control` and `certificate_control`."""
    control_token_variable: VariableName | None = None
    """The environment variable that holds the token which `control_url` and `payments.control_url` take as
    `Authorization: Bearer`. Null: they take none."""
    ca_file: str | None = None
    """A PEM file with certificates that are trusted beside this machine's, such as a private CA's; from the profile's
    folder. `--ca-file` on the command line goes before it."""
    capabilities: Annotated[tuple[Capability, ...], AfterValidator(_once)] = (
        "managed_accounts",
        "openapi",
        "wallet_signed",
    )
    """What the node offers; cases that need anything else report `not offered`.

    - `managed_accounts`: API-mode accounts
    - `openapi`: the OpenAPI description and its viewer
    - `wallet_signed`: the wallet-signed flows: mints and conversion by signature, and billing with `X-Wallet-Auth`
    - `chain_rpc`: the settlement chain's JSON-RPC answers the suite
    - `funded_wallet`: the suite's wallets come by gas there: from the test control, or `chain.funder_key_variable`
    - `clock_control`: the node's clock can be set
    - `credit_control`, `certificate_control`: an account's credit can be spent at once; the certificate can be renewed
    - `restart`: the node can be stopped, or killed, and started again, and goes on with what it has acknowledged
    - `billing`, `payment_sandbox`: the balance of credits; payments in the payment provider's test mode
    - `attestation`, `tls`, `app_authorisation_contract`, `caa_dns`: what the attestation rules look at
    - `design_flows`: the design-level paths are served
    """
    brand: Brand = Brand()
    accounts: Accounts = Accounts()
    restart: Restart = Restart()
    wire: Wire = Wire()
    semantics: Semantics = Semantics()
    limits: Limits = Limits()
    errors: Errors = Errors()
    auth: Access = Access()
    chain: Chain = Chain()
    crypto: Crypto = Crypto()
    env: Envelope = Envelope()
    mode: Mode = Mode()
    billing: Billing = Billing()
    payments: Payments = Payments()
    exec: Execution = Execution()
    attestation: Attestation = Attestation()
    events: Events = Events()
    flows: Flows = Flows()
    _folder: Path = PrivateAttr(default=Path())
    _trusted: Path | None = PrivateAttr(default=None)
    _assumed: frozenset[str] = PrivateAttr(default=frozenset())

    @property
    def assumed(self) -> frozenset[str]:
        """The keys whose value nobody stated, by their dotted names; sections are none."""
        return self._assumed

    @property
    def trusted_file(self) -> Path | None:
        """The file with certificates to trust beside this machine's, as the working folder reaches it."""
        return self._trusted or (None if self.ca_file is None else self._folder / self.ca_file)

    @property
    def folder(self) -> Path:
        """The folder of the file in which the profile stands; the working folder where it stands in none."""
        return self._folder

    def offering(self, capability: Capability) -> Self:
        """The same profile of a node that offers this, too."""
        return self.model_copy(update={"capabilities": (*self.capabilities, capability)})

    def beside(self, file: Path) -> Self:
        """The same profile, which stands in this file."""
        same = self.model_copy()
        same._folder = file.parent
        return same

    def trusting(self, ca_file: Path | None) -> Self:
        """The same profile with another file in place of `ca_file`; None: with its own."""
        same = self.model_copy()
        same._trusted = ca_file
        return same

    def assuming(self, keys: frozenset[str]) -> Self:
        """The same profile, of which these keys are assumed."""
        same = self.model_copy()
        same._assumed = keys
        return same

    def left_out(self) -> frozenset[str]:
        """The keys that whoever made the profile did not give, but for those that say where things are."""
        return frozenset(key for key in _left_out(self, "") if not key.startswith(NO_CHOICES))

    @model_validator(mode="after")
    def _sections_know_their_names(self) -> Self:
        self.name_sections()
        return self

    @model_validator(mode="after")
    def _capabilities_have_what_they_need(self) -> Self:
        gas = self.chain.funder_key_variable or self.control_url
        lacking = [
            f"the capability {capability} needs {key}"
            for capability, value, key in (
                ("chain_rpc", self.chain.rpc_url, "chain.rpc_url"),
                ("clock_control", self.control_url, "control_url"),
                ("credit_control", self.control_url, "control_url"),
                ("certificate_control", self.control_url, "control_url"),
                ("restart", self.restart.command, "restart.command"),
                ("funded_wallet", self.chain.rpc_url, "chain.rpc_url"),
                ("payment_sandbox", self.payments.provider_url, "payments.provider_url"),
                ("funded_wallet", gas, "chain.funder_key_variable, or control_url"),
            )
            if capability in self.capabilities and value is None
        ]
        if lacking:
            raise ValueError("; ".join(lacking))
        return self

    @model_validator(mode="after")
    def _no_two_members_have_one_name(self) -> Self:
        for place, section, given in _named_members(self):
            names = [*given, *(wire for _, wire in section or () if isinstance(wire, str))]
            if twice := sorted({wire for wire in names if names.count(wire) > 1}):
                raise ValueError(f"{place}: two members are called {', '.join(twice)}")
        return self

    @model_validator(mode="after")
    def _no_two_operations_are_one_endpoint(self) -> Self:
        called = {spec.endpoint.replace("{slug}", self.brand.slug): name for name, spec in OPERATIONS.items()}
        for name, stated in self.wire.operations.method_and_path:
            method, _, path = str(stated).partition(" ")
            endpoint = f"{method} {CORE}{path}".replace("{slug}", self.brand.slug)
            if stated is not None and called.setdefault(endpoint, name) != name:
                raise ValueError(f"wire.operations.method_and_path.{name}: {endpoint} is {called[endpoint]} already")
        return self

    @model_validator(mode="after")
    def _pages_are_no_larger_than_the_largest(self) -> Self:
        default, most = self.limits.page_size_default, self.limits.page_size_max
        stated = "page_size_default" in self.limits.model_fields_set
        if stated and default is not None and most is not None and default > most:
            raise ValueError(f"limits.page_size_default: {default} is more than limits.page_size_max, {most}")
        return self

    @model_validator(mode="after")
    def _pkp_ids_fit_the_contract(self) -> Self:
        source = self.wire.pkp.id_source
        if source is None or source.rule != "keccak256_of_address":
            return self
        for section in (self.chain.abi.account, self.chain.abi.attach, self.chain.abi.writes):
            for name, signature in section or ():
                own = translation(SUITE_SIGNATURES[name], signature).own.inputs if signature else ()
                if any(one.name in {"pkpId", "pkpIds"} and one.type.startswith("address") for one in own):
                    raise ValueError(
                        f"{FUNCTION_KEYS[name]}: takes PKP ids of 20 bytes, but by wire.pkp.id_source.rule, "
                        f"{source.rule}, they have 32: state left_padded_address, or null for no rule"
                    )
        return self

    def offers(self, need: str) -> bool:
        """Whether a check with this need can run; ``http`` is always there."""
        return need == "http" or need in self.capabilities


def _named_members(profile: Profile) -> Iterator[tuple[str, Section | None, list[str]]]:
    """Sections that name the members of one object, each with the names that the specification gives beside."""
    wire, items = profile.wire, profile.wire.list_items.fields
    yield "wire.new_account.fields", wire.new_account.fields, []
    yield "wire.add_group.fields", wire.add_group.fields, ["pkp_ids_permitted", "cid_hashes_permitted"]
    yield "wire.create_wallet.fields", wire.create_wallet.fields, []
    yield "wire.mutating_responses", wire.mutating_responses, []
    shape, failure, billing = profile.errors.body_shape, profile.exec.failure_and_limits, wire.billing.fields
    yield "errors.body_shape", None, _names(shape, "code_member", "status_member")
    yield "exec.failure_and_limits", None, ["response", "logs", *_names(failure, "error_member")]
    yield "wire.billing.fields", None, _names(billing, "balance_cents", "balance_display")
    further = dict(wire.chain_info or ()).get("further_members", ())
    yield "wire.chain_info", None, ["chain_id", "contract_address", *further]
    yield "wire.list_groups.item_fields", wire.list_groups.item_fields, ["id"]
    if items is not None:
        yield "wire.list_items.fields.wallet", items.wallet, []
        yield "wire.list_items.fields.action", items.action, ["hashed_cid"]
        yield "wire.list_items.fields.usage_key", items.usage_key, []


def _names(section: Section | None, *members: str) -> list[str]:
    """The names that a section gives to these members."""
    return [wire for member, wire in section or () if member in members and isinstance(wire, str)]


def _left_out(section: Section, above: str) -> Iterator[str]:
    given = section.model_fields_set
    for name, value in section:
        key = above + name
        if isinstance(value, Section):
            yield from _left_out(value, f"{key}.")
        elif name not in given:
            yield key
