"""The node: its services side by side, and how they are put together."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fastapi import FastAPI

from reference_node.billing import Billing, charged
from reference_node.billing.handover import Handovers
from reference_node.billing.in_memory import InMemoryBilling
from reference_node.chain.account_config import AccountConfig
from reference_node.chain.interface import Address, Chain
from reference_node.clock import Clock
from reference_node.deployment import Payers, obtain_contract
from reference_node.keys import KeyDerivation
from reference_node.runs import Runs
from reference_node.sandbox import Sandbox
from reference_node.settings import Settings
from reference_node.typed_data import Envelopes, Flow

if TYPE_CHECKING:
    from reference_node.chain.rpc import JsonRpc

GAS_MONEY = 10**30
"""Wei of each payer on the in-memory chain: more than it can ever spend."""


@dataclass
class Node:
    """Every service of a running node. Endpoints look them up at each request, so each may be replaced at any time."""

    settings: Settings
    clock: Clock
    chain: Chain
    accounts: AccountConfig
    keys: KeyDerivation
    billing: Billing
    handovers: Handovers
    envelopes: Envelopes
    sandbox: Sandbox
    """Where actions run; it starts with the first of them, unless it is told to before."""
    rpc: JsonRpc | None
    """The JSON-RPC interface of the in-memory chain; `None` where the chain is external and has its own."""
    app: FastAPI
    disconnect: Callable[[], None]
    """Lets go of the chain, where it is external."""
    runs: Runs = field(init=False)

    def __post_init__(self) -> None:
        self.runs = Runs(self)

    def close(self) -> None:
        """Let go of what the node holds outside this process; what runs is ended."""
        self.sandbox.close()
        self.disconnect()

    @contextmanager
    def charged(self, account_hash: int, cents: int) -> Iterator[None]:
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


def build_node(settings: Settings, clock: Clock | None = None) -> Node:
    """Put a node together, with its contract on its chain. Raises `DeploymentError` and what `Chain` raises."""
    from reference_node.app import build_app  # noqa: PLC0415 - the endpoints are typed by Node

    node = _assemble(settings, clock or Clock(), build_app(settings))
    node.app.state.node = node
    return node


def reset(node: Node) -> None:
    """Put the node back to how it started: a new chain, no accounts, no credits, the clock right."""
    node.clock.offset_seconds = 0
    fresh = _assemble(node.settings, node.clock, node.app)
    former = node.sandbox
    node.chain, node.rpc, node.accounts, node.billing = fresh.chain, fresh.rpc, fresh.accounts, fresh.billing
    node.sandbox = fresh.sandbox
    former.close()


def _assemble(settings: Settings, clock: Clock, app: FastAPI) -> Node:
    keys = KeyDerivation(settings.root_secret)
    payers = Payers.derived(keys, settings.payers)
    with ExitStack() as outside:
        chain, rpc = _chain(settings, clock, payers, outside)
        accounts = obtain_contract(chain, payers, settings.contract)
        disconnect = outside.pop_all().close
    return Node(
        settings=settings,
        clock=clock,
        chain=chain,
        accounts=accounts,
        keys=keys,
        billing=InMemoryBilling(settings.starter_credits),
        handovers=Handovers(),
        envelopes=Envelopes(),
        sandbox=Sandbox(title=settings.title, preload=settings.preload, insecure=settings.insecure_sandbox),
        rpc=rpc,
        app=app,
        disconnect=disconnect,
    )


def _chain(settings: Settings, clock: Clock, payers: Payers, outside: ExitStack) -> tuple[Chain, JsonRpc | None]:
    if settings.rpc_url is not None:
        from reference_node.chain.external import ExternalChain  # noqa: PLC0415 - only one kind of chain is loaded

        external = ExternalChain(settings.rpc_url)
        outside.callback(external.close)
        return external, None
    from reference_node.chain.evm import EvmChain  # noqa: PLC0415
    from reference_node.chain.rpc import JsonRpc  # noqa: PLC0415

    chain = EvmChain(settings.chain_id, clock.now, dict.fromkeys((payers.admin, *payers.api), GAS_MONEY))
    return chain, JsonRpc(chain)
