"""The ChainSecured account of an execution matrix: converted, then written by its admin wallet, with keys that expire.

Specification, "States and transitions / Account mode", "Resources and their fields / Usage API key". An account that a
wallet makes has no credits to run anything with; those of a managed account follow it when it is converted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from conformance.drivers.matrix.owner import DESCRIPTION, Lists, Owner
from conformance.drivers.steps.calls import Action
from conformance.drivers.steps.caserun import CaseRun
from conformance.drivers.steps.clock import compile_clock
from conformance.drivers.steps.onchain import compile_signature
from conformance.drivers.steps.wallets import compile_wallet, write_to_contract
from conformance.language.derivations import account_hash, usage_key_hash
from conformance.language.models import ClockAt, ClockStep, WalletStep
from conformance.language.templates import CompileContext
from conformance.language.wallets import CaseWallet, envelope
from conformance.problems import NotAccepted
from conformance.values.json_values import printed

ADMIN, EXPIRED = "admin_of_cells", "keys_have_expired"
"""The variables that hold the wallet, and a time when the keys have expired."""
CONVERSION = "convert_to_chain_secured_account"
ZERO_HASH = f"0x{'00' * 32}"
LIFETIME_SECONDS = 1_000
"""Long enough for what the keys have to do before they expire."""
MARGIN_SECONDS = 5


@dataclass(frozen=True)
class Means:
    """What the admin of a ChainSecured account needs, compiled."""

    wallet: Action
    clock: Action
    """Sets the clock to where the keys have expired."""
    signatures: Mapping[str, Callable[[CaseRun], str]]


def compile_means(site: CompileContext) -> Means:
    """Notes what the case needs of a profile."""
    site.facts.needs.update({"chain_rpc", "funded_wallet"})
    site.facts.operations.add(CONVERSION)
    site.facts.uses.update({"crypto.api_key_hash_preimage", "crypto.usage_key_hash_preimage", "wire.typed_data.form"})
    wallet = compile_wallet(WalletStep(wallet=ADMIN), site)
    site.names.add(EXPIRED)
    return Means(
        wallet,
        compile_clock(ClockStep(clock=ClockAt(at=f"${{{EXPIRED}}}")), site),
        {name: compile_signature(name, site) for name in ("update_group", "set_usage_api_key")},
    )


class ConvertedOwner(Owner):
    """An account that is made over HTTP, and goes over to a wallet before its keys are used."""

    def __init__(self, run: CaseRun, means: Means) -> None:
        super().__init__(run)
        self._means = means
        self._hash = account_hash(run.scope, self.key)

    def begin(self, ending: Mapping[str, Sequence[object]]) -> None:
        """Convert the account; the keys that are to end get an expiration."""
        run = self._run
        self._means.wallet(run)
        admin = printed(self._admin().value)
        self._send(CONVERSION, **envelope(run.scope, "ConvertAccount", admin), new_admin_wallet_address=admin)
        self.key = ""
        if not ending:
            return
        expiration = run.chain.timestamp() + LIFETIME_SECONDS
        run.scope.variables[EXPIRED] = expiration + MARGIN_SECONDS
        for key, groups in ending.items():
            given = [usage_key_hash(run.scope, key), expiration, 0, self._label, DESCRIPTION]
            self._write("set_usage_api_key", *given, *[False] * 3, [], [], [], [_number(group) for group in groups])

    def end(self, keys: Sequence[str]) -> None:
        """The keys have expired."""
        if keys:
            self._means.clock(self._run)

    def rewrite(self, group: object, name: str, lists: Lists) -> None:
        """Other lists for a group."""
        given = [_number(group), f"{self._label} {name}", DESCRIPTION, list(lists.pkp_ids)]
        self._write("update_group", *given, [_hash(entry) for entry in lists.cid_hashes])

    def _admin(self) -> CaseWallet:
        wallet = self._run.scope.variables[ADMIN]
        if not isinstance(wallet, CaseWallet):
            raise TypeError(f"{ADMIN} is no wallet")
        return wallet

    def _write(self, function: str, *arguments: object) -> None:
        signature = self._means.signatures[function](self._run)
        receipt = write_to_contract(self._run, self._admin(), signature, [self._hash, *arguments])
        if not receipt.succeeded:
            raise NotAccepted(f"a {function} that the contract takes", f"{receipt.hash} was reverted")


def _number(group: object) -> int:
    """A group's id, in whichever form lists show it."""
    return int(printed(group))


def _hash(entry: object) -> object:
    """An entry of a group's actions as the contract takes it; the wildcard has other forms in requests."""
    return entry if isinstance(entry, str) and len(entry) == len(ZERO_HASH) else ZERO_HASH
