"""The four wallet-signed flows: on whose account each is tried, and how it is asked ("Wallet-signed endpoints")."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field

from conformance.drivers.envelopes.forms import BILLING, CONVERSION, PRIMARY_TYPES, EnvelopeRow, Flow
from conformance.drivers.envelopes.requests import Changes, Proof, Signers, proofs
from conformance.drivers.envelopes.time import NodeTime
from conformance.drivers.steps.caserun import CaseRun
from conformance.drivers.steps.lists import read_pages
from conformance.drivers.steps.refusals import must_accept
from conformance.endpoints.requests import OutgoingRequest
from conformance.language.wallets import in_header
from conformance.values.json_values import member, printed
from conformance.values.typed_data import Wallet

HEADER = "X-Wallet-Auth"
LISTS = ("list_wallets", "list_api_keys")
"""Where whatever is minted into an account shows, and what only a key that counts may read."""
VALID = EnvelopeRow(id="valid", accepted=True)


@dataclass(frozen=True)
class Party:
    """Who signs, and the account that it is about."""

    signers: Signers
    account: str | None
    """Its key; None where the node makes no accounts, and once it is ChainSecured."""


def makes_accounts(run: CaseRun) -> bool:
    """Whether the suite can have accounts on this node."""
    profile = run.target.profile
    return profile.offers("managed_accounts") and profile.accounts.credits is not None


def offered(flow: Flow, run: CaseRun) -> bool:
    """Whether the node has the flow, and the accounts that trying it takes."""
    profile = run.target.profile
    if flow == BILLING:
        return makes_accounts(run) and profile.offers("billing") and profile.wire.x_wallet_auth.encoding is not None
    return makes_accounts(run) if flow == CONVERSION else True


@dataclass
class Parties:
    """The accounts and wallets of a case; no wallet becomes the admin of two accounts."""

    run: CaseRun
    domain_name: str
    chain_id: int
    clock: NodeTime
    _shared: dict[bool, Party] = field(default_factory=dict)

    def of(self, flow: Flow) -> Party:
        """The party that a flow's rows share: of a converted account for billing, else of one that stays managed."""
        converted = flow == BILLING
        if converted not in self._shared:
            self._shared[converted] = self._chain_secured() if converted else self.fresh()
        return self._shared[converted]

    def fresh(self) -> Party:
        """A new account, where the node makes any, and wallets that nobody has seen yet."""
        key = _new_account(self.run) if makes_accounts(self.run) else None
        seed = f"{self.run.scope.seed}|{key or ''}"
        wallets = Wallet(f"{seed}|holder"), Wallet(f"{seed}|other")
        return Party(Signers(self.domain_name, self.chain_id, *wallets), key)

    def listed(self, flow: Flow) -> list[list[object]]:
        """What the lists of the party's account show."""
        key = self.of(flow).account
        if key is None:
            return []
        return [read_pages(self.run, OutgoingRequest(self.run.target.operation(name), key)) for name in LISTS]

    def _chain_secured(self) -> Party:
        """The wallet of a converted account: billing knows it, and no key speaks for it any more."""
        party = self.fresh()
        envelope = party.signers.valid(PRIMARY_TYPES[CONVERSION], self.clock.now())
        form = forms(self.run)[0]
        for proof in proofs(VALID, Changes([], None), envelope, party.signers, form):
            must_accept(self.run.send(request(CONVERSION, VALID, proof, party, self.run)))
        return Party(party.signers, None)


def forms(run: CaseRun) -> tuple[str, ...]:
    """The forms of `typed_data` that the node takes."""
    return run.target.profile.wire.typed_data.form or ("object",)


def _new_account(run: CaseRun) -> str:
    members = {"account_name": run.scope.variables["label"], "account_description": "for signed envelopes"}
    answer = run.send(OutgoingRequest(run.target.operation("new_account"), members=members))
    must_accept(answer)
    return printed(member(answer.value, "api_key"))


# --------------------------------------------------------------------------------------------------------- requests


def request(flow: Flow, row: EnvelopeRow, proof: Proof, party: Party, run: CaseRun) -> OutgoingRequest:
    """A row's request with this proof."""
    operation = run.target.operation(flow)
    key = _key(flow, row, party, run)
    if flow == BILLING:
        encoding = run.target.profile.wire.x_wallet_auth.encoding
        value = in_header(proof.text(row, {}), encoding) if row.raw is None else row.raw
        return OutgoingRequest(operation, key, headers={HEADER: value}, method=row.method)
    more = {"new_admin_wallet_address": row.new_admin or _new_admin(proof, party)} if flow == CONVERSION else {}
    body = proof.text(row, more) if row.raw is None else row.raw
    return OutgoingRequest(operation, key, body=body, method=row.method)


def _new_admin(proof: Proof, party: Party) -> str:
    """The signer that the envelope names, so that nothing is at fault but what the row changes."""
    named = member(proof.document.get("message"), "address")
    own = party.signers.wallet.address
    return named if isinstance(named, str) and len(named) == len(own) else own


def _key(flow: Flow, row: EnvelopeRow, party: Party, run: CaseRun) -> str | None:
    match row.key or ("account" if flow == CONVERSION else "none"):
        case "account":
            return party.account
        case "unknown":
            return base64.b64encode(run.scope.random.randbytes(32)).decode()
        case "malformed":
            return "no key"
        case _:
            return None
