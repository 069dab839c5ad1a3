"""Runs of actions: permissions, wallets and price.

Specification: "What the service does" 2, "Execution rule", "Billing". The contract alone decides about permissions. The
node asks it before a run and at every use of a wallet, and caches no answer. Each decision is a method.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from anyio import CapacityLimiter

from reference_node.billing import RUN_SECOND_CENTS, Billing, Cents
from reference_node.billing.payments import Payments
from reference_node.chain.account_config import AccountConfig
from reference_node.chain.contract_abi import ContractRefusal
from reference_node.chain.interface import Hash
from reference_node.permission.cid import cid_hash, cid_of
from reference_node.permission.keys import KeyDerivation, address_of
from reference_node.permission.signatures import message_digest, sign
from reference_node.problems import Busy, Forbidden, PaymentRequired, Unavailable
from reference_node.sandbox import (
    HostError,
    HostRefusal,
    Limits,
    RunResult,
    Sandbox,
    SandboxBroken,
    SandboxBusy,
    SandboxUnavailable,
)
from reference_node.strict_json import Json

REFUSED = "execution-not-permitted"

THREADS = 2 * Limits.queued_runs
"""More than the runs that the sandbox queues, so that it refuses the excess. Other requests use other threads."""

_HASH = re.compile(r"0x[0-9a-fA-F]{64}")


@dataclass(frozen=True, slots=True)
class Caller:
    """The holder of a valid key."""

    key_hash: int
    account_hash: int
    is_account_key: bool
    managed: bool


class Services(Protocol):
    """What runs need of the node. A reset replaces the services, so they are looked up at each use."""

    accounts: AccountConfig
    billing: Billing
    keys: KeyDerivation
    payments: Payments | None
    sandbox: Sandbox

    def charged(self, account_hash: int, cents: Cents) -> AbstractContextManager[None]:
        """Charge this account for the block, unless the block raises. Raises `PaymentRequired`."""


@dataclass(frozen=True, slots=True)
class Run:
    """A run in progress."""

    caller: Caller
    action: Hash
    """The hashed CID of the code."""


class Runs:
    """Every decision about runs on one node."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self.threads = CapacityLimiter(THREADS)
        """The threads of runs, separate from those of other requests."""

    def run(self, caller: Caller, code: str, params: str) -> RunResult:
        """Run this code and charge the caller's account. `main` receives `params`, the JSON text of an object.

        Raises `Forbidden`, `PaymentRequired`, `Busy`, `Unavailable` and the contract's errors; then nothing is charged.
        """
        run = Run(caller, self.action(code))
        if not self.may_run(run):
            cid = cid_of(code.encode())
            raise Forbidden(
                REFUSED,
                f"no group of this account lets this key run this action: list its CID {cid} (hashed: "
                f"0x{run.action.hex()}) in a group, and the group in the key's execute_in_groups",
            )
        with _as_problems(), self._charged(run) as next_second:
            host = partial(self.host_call, run)
            paying = self.has_paid(caller)
            return self._services.sandbox.run(code, params, host, caller.account_hash, next_second, paying)

    def action(self, code: str) -> Hash:
        """The hashed CID by which the contract identifies this code."""
        return cid_hash(cid_of(code.encode()))

    def may_run(self, run: Run) -> bool:
        """Whether conditions 1 and 2 of the execution rule hold now."""
        return self._services.accounts.can_run(run.caller.key_hash, run.action)

    def has_paid(self, caller: Caller) -> bool:
        """Whether the account has bought credit, or the node sells none. Its runs have priority in the sandbox."""
        if self._services.payments is None:
            return True
        return self._services.billing.has_paid(self._services.accounts.account(caller.account_hash).admin_wallet)

    def price(self) -> Cents:
        """The price of each second that starts."""
        return RUN_SECOND_CENTS

    def host_call(self, run: Run, name: str, arguments: Mapping[str, Json]) -> Json:
        """Answer an action's call to the node. Raises `HostError` and `HostRefusal`."""
        pkp_id = _hash(arguments, "pkpId")
        if not self.may_use(run, pkp_id):
            raise HostRefusal(f"no group of this account lets this key use the wallet 0x{pkp_id.hex()} in this action")
        private_key = self.wallet_key(run, pkp_id)
        match name:
            case "getPrivateKey":
                return f"0x{private_key.hex()}"
            case "signMessage":
                return sign(private_key, message_digest(_text(arguments, "message")))
            case "signDigest":
                return sign(private_key, _hash(arguments, "digest"))
        raise HostError(f"there is no call of the name {name}")

    def may_use(self, run: Run, pkp_id: Hash) -> bool:
        """Whether the whole execution rule holds now and the key is still valid."""
        return self.still_counts(run) and self._services.accounts.can_execute(run.caller.key_hash, run.action, pkp_id)

    def still_counts(self, run: Run) -> bool:
        """Whether the caller's key would still authenticate a request. The contract alone does not check that."""
        info = self._services.accounts.key_info(run.caller.key_hash)
        return info.account_hash == run.caller.account_hash and (info.managed or not info.is_account_key)

    def wallet_key(self, run: Run, pkp_id: Hash) -> bytes:
        """The private key of a wallet of the caller's account.

        Registered paths are public. A path is therefore valid only for the account that registered it first, and only
        with the address derived from it. Raises `HostRefusal`.
        """
        account_hash, accounts = run.caller.account_hash, self._services.accounts
        try:
            wallet = accounts.wallet(account_hash, pkp_id)
        except ContractRefusal as refusal:
            if refusal.error != "WalletUnknown":
                raise
            raise HostRefusal(f"this account has no wallet 0x{pkp_id.hex()}") from None
        if accounts.derivation_owner(wallet.derivation_path) != account_hash:
            raise HostRefusal(f"the derivation path of the wallet 0x{pkp_id.hex()} is another account's")
        private_key = self._services.keys.wallet_key(wallet.derivation_path)
        if address_of(private_key) != wallet.address:
            raise HostRefusal(f"the wallet 0x{pkp_id.hex()} is registered with a path that leads to another wallet")
        return private_key

    @contextmanager
    def _charged(self, run: Run) -> Iterator[Callable[[int], bool]]:
        """Charge for the block unless it raises: the first second now, others through the yielded function."""
        with ExitStack() as seconds:

            def start_second(_number: int) -> bool:
                try:
                    seconds.enter_context(self._services.charged(run.caller.account_hash, self.price()))
                except PaymentRequired:
                    return False
                return True

            seconds.enter_context(self._services.charged(run.caller.account_hash, self.price()))
            yield start_second


@contextmanager
def _as_problems() -> Iterator[None]:
    """Turn the sandbox's exceptions into problems for the client."""
    try:
        yield
    except HostRefusal as refusal:
        raise Forbidden(REFUSED, str(refusal)) from None
    except SandboxBusy:
        raise Busy("sandbox-busy", "too many runs are waiting, so this one was not begun: try again soon") from None
    except SandboxUnavailable:
        raise Unavailable("sandbox-unavailable", "this node can't lock actions up, so it runs none") from None
    except SandboxBroken:
        raise Unavailable("sandbox-failed", "the sandbox failed, not the action; nothing was charged") from None


def _hash(arguments: Mapping[str, Json], name: str) -> Hash:
    value = arguments.get(name)
    if not isinstance(value, str) or not _HASH.fullmatch(value):
        raise HostError(f"{name} has to be 0x and 64 hex characters")
    return bytes.fromhex(value[2:])


def _text(arguments: Mapping[str, Json], name: str) -> bytes:
    value = arguments.get(name)
    if not isinstance(value, str):
        raise HostError(f"{name} has to be a string")
    try:
        return value.encode()
    except UnicodeEncodeError:
        raise HostError(f"{name} holds half of a surrogate pair, which is no Unicode text") from None
