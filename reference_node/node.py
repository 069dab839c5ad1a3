"""The node: an object that holds its services."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, fields
from threading import Lock

from fastapi import FastAPI

from reference_node.billing import Billing, Cents, charged
from reference_node.billing.handover import Handovers
from reference_node.billing.ledger import Ledger
from reference_node.billing.payments import Payments
from reference_node.chain.account_config import AccountConfig
from reference_node.chain.interface import Address, Chain
from reference_node.chain.rpc import JsonRpc
from reference_node.clock import Clock
from reference_node.keeping.seed_file import SeedFile
from reference_node.keeping.seeding import seed_accounts
from reference_node.keeping.state_folder import StateFolder
from reference_node.permission.keys import KeyDerivation
from reference_node.permission.runs import Runs
from reference_node.permission.typed_data import Envelopes, Flow
from reference_node.sandbox import Sandbox
from reference_node.settings import Settings
from reference_node.stripe_simulator.simulator import StripeSimulator
from reference_node.tee.attestation import Attestation


@dataclass
class Renewable:
    """The services that hold state of accounts, which a reset replaces."""

    chain: Chain
    accounts: AccountConfig
    billing: Billing
    payments: Payments | None
    """Sells credits; `None` when the node sells none."""
    simulator: StripeSimulator | None
    """The embedded payment provider; `None` without one."""
    sandbox: Sandbox
    """Runs actions. It starts with the first run unless it is started earlier."""
    attestation: Attestation
    """The simulated TEE in which the node claims to run."""
    rpc: JsonRpc | None
    """The JSON-RPC interface of the in-memory chain; `None` with an external chain."""
    disconnect: Callable[[], None]
    """Closes the connection to an external chain, or the files of the state."""

    def end(self) -> None:
        """Stop runs and background work."""
        self.sandbox.close()
        if self.payments:
            self.payments.close()
        self.billing.close()


@dataclass
class Node(Renewable):
    """Every service of a running node. Endpoints look services up at each request, so they may be replaced."""

    settings: Settings
    clock: Clock
    keys: KeyDerivation
    app: FastAPI
    ledger: Ledger | None
    """The ledger in a file; `None` when credits are kept in memory only."""
    renew: Callable[[], Renewable]
    """Creates the renewable services in their initial state."""
    state: StateFolder | None = None
    """What is kept over restarts; `None` without `--state`."""
    seeds: SeedFile | None = None
    """The accounts that the node begins with, also after a reset; `None` without `--seed-accounts`."""
    handovers: Handovers = field(default_factory=Handovers)
    envelopes: Envelopes = field(default_factory=Envelopes)
    runs: Runs = field(init=False)
    _changing: Lock = field(init=False, default_factory=Lock)
    """Held by whoever changes what the state keeps of the node as a whole: memory and file agree then."""

    def __post_init__(self) -> None:
        self.runs = Runs(self)

    def close(self) -> None:
        """Stop the node and release its external resources."""
        self.end()
        if self.state:
            self.state.closing()
        if self.ledger:
            self.ledger.close()
        self.disconnect()
        if self.state:
            self.state.close()

    def reset(self) -> None:
        """Return to the initial state: a new chain, no accounts, no credits, no clock offset. Runs are stopped.

        Raises `StateUnavailable`, with which nothing has changed, and what `seed` raises.
        """
        with self._changing, ExitStack() as ending:
            fresh = self._renewed()
            former = Renewable(**{service.name: getattr(self, service.name) for service in fields(Renewable)})
            ending.callback(former.disconnect)
            ending.callback(former.end)
            for service in fields(Renewable):
                setattr(self, service.name, getattr(fresh, service.name))
            self.seed()

    def _renewed(self) -> Renewable:
        """The services of a reset, which begin without an offset of the clock."""
        offset, self.clock.offset_seconds = self.clock.offset_seconds, 0
        try:
            return self.renew()
        except BaseException:
            self.clock.offset_seconds = offset
            raise

    def seed(self) -> None:
        """Make the accounts of `--seed-accounts` that are not made yet. Raises `SeedError`."""
        if self.seeds:
            seed_accounts(self.accounts, self.billing, self.keys, self.seeds, self.state)

    def move_clock(self, offset_seconds: int) -> None:
        """Set the clock's offset from the system time."""
        with self._changing:
            if self.state:
                self.state.keep_clock_offset(offset_seconds)
            self.clock.offset_seconds = offset_seconds

    def rotate_certificate(self) -> None:
        """Take a new TLS certificate. Raises `CertificateError`, and `StateUnavailable`: nothing has changed."""
        with self._changing:
            if self.state:
                self.attestation.rotate(self.state.keep_certificate)
            else:
                self.attestation.rotate()

    @contextmanager
    def charged(self, account_hash: int, cents: Cents) -> Iterator[None]:
        """Charge this account for the block, unless the block raises.

        If the account is converted meanwhile, the hold moves with its record. Raises `PaymentRequired`.
        """
        with ExitStack() as charge:
            with self.handovers.of(account_hash):
                wallet = self.accounts.account(account_hash).admin_wallet
                charge.enter_context(charged(self.billing, wallet, cents))
            yield

    def signer(self, typed_data: object, signature: object, flow: Flow) -> Address:
        """Verify an envelope for this flow, node and time, and return its signer. Raises `BadRequest`."""
        return self.envelopes.verify(
            typed_data,
            signature,
            flow=flow,
            chain_id=self.chain.chain_id,
            now=self.clock.now(),
            title=self.settings.title,
        )
