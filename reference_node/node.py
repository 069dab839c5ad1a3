"""The node: its services side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, fields

from fastapi import FastAPI

from reference_node.billing import Billing, Cents, charged
from reference_node.billing.handover import Handovers
from reference_node.billing.ledger import Ledger
from reference_node.billing.payments import Payments
from reference_node.chain.account_config import AccountConfig
from reference_node.chain.interface import Address, Chain
from reference_node.chain.rpc import JsonRpc
from reference_node.clock import Clock
from reference_node.keys import KeyDerivation
from reference_node.runs import Runs
from reference_node.sandbox import Sandbox
from reference_node.settings import Settings
from reference_node.stripe_simulator.simulator import StripeSimulator
from reference_node.tee.attestation import Attestation
from reference_node.typed_data import Envelopes, Flow


@dataclass
class Renewable:
    """The services that a reset replaces: what accounts leave traces in."""

    chain: Chain
    accounts: AccountConfig
    billing: Billing
    payments: Payments | None
    """How credits are bought; `None` where they are not."""
    simulator: StripeSimulator | None
    """The embedded payment provider, where there is one."""
    sandbox: Sandbox
    """Where actions run; it starts with the first of them, unless it is told to before."""
    attestation: Attestation
    """The machine that the node says it runs on."""
    rpc: JsonRpc | None
    """The JSON-RPC interface of the in-memory chain; `None` where the chain is external and has its own."""
    disconnect: Callable[[], None]
    """Lets go of the chain, where it is external."""

    def end(self) -> None:
        """End what runs, and what goes on beside the requests."""
        self.sandbox.close()
        if self.payments:
            self.payments.close()
        self.billing.close()


@dataclass
class Node(Renewable):
    """Every service of a running node. Endpoints look them up at each request, so each may be replaced at any time."""

    settings: Settings
    clock: Clock
    keys: KeyDerivation
    app: FastAPI
    ledger: Ledger | None
    """The credits' file; `None` where they end with the process."""
    renew: Callable[[], Renewable]
    """Makes the renewable services as they are when a node starts."""
    handovers: Handovers = field(default_factory=Handovers)
    envelopes: Envelopes = field(default_factory=Envelopes)
    runs: Runs = field(init=False)

    def __post_init__(self) -> None:
        self.runs = Runs(self)

    def close(self) -> None:
        """Let go of what the node holds outside this process; what runs is ended."""
        self.end()
        if self.ledger:
            self.ledger.close()
        self.disconnect()

    def reset(self) -> None:
        """Start afresh: a new chain, no accounts, no credits, the clock right; what runs is ended."""
        self.clock.offset_seconds = 0
        fresh = self.renew()
        former = Renewable(**{service.name: getattr(self, service.name) for service in fields(Renewable)})
        for service in fields(Renewable):
            setattr(self, service.name, getattr(fresh, service.name))
        former.end()

    @contextmanager
    def charged(self, account_hash: int, cents: Cents) -> Iterator[None]:
        """Charge this account for what happens inside, unless that fails.

        The credit held follows the account when it changes hands meanwhile. Raises `PaymentRequired`.
        """
        with ExitStack() as charge:
            with self.handovers.of(account_hash):
                wallet = self.accounts.account(account_hash).admin_wallet
                charge.enter_context(charged(self.billing, wallet, cents))
            yield

    def signer(self, typed_data: object, signature: object, flow: Flow) -> Address:
        """The wallet that signed this envelope for this flow, on this node and now. Raises `BadRequest`."""
        return self.envelopes.verify(
            typed_data,
            signature,
            flow=flow,
            chain_id=self.chain.chain_id,
            now=self.clock.now(),
            title=self.settings.title,
        )
