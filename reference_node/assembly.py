"""How a node is put together from its settings."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial

from reference_node.app import build_app
from reference_node.billing.in_memory import InMemoryBilling
from reference_node.chain.evm import EvmChain
from reference_node.chain.external import ExternalChain
from reference_node.chain.interface import Chain
from reference_node.chain.rpc import JsonRpc
from reference_node.clock import Clock
from reference_node.deployment import Payers, obtain_contract
from reference_node.keys import KeyDerivation
from reference_node.node import Node, Renewable
from reference_node.sandbox import Sandbox
from reference_node.settings import Settings

GAS_MONEY = 10**30
"""Wei of each payer on the in-memory chain: more than it can ever spend."""


def build_node(settings: Settings, clock: Clock | None = None) -> Node:
    """Put a node together, with its contract on its chain. Raises `DeploymentError` and what `Chain` raises."""
    clock = clock or Clock()
    keys = KeyDerivation(settings.root_secret)
    renew = partial(_renewable, settings, clock, keys)
    node = Node(**vars(renew()), settings=settings, clock=clock, keys=keys, app=build_app(settings), renew=renew)
    node.app.state.node = node
    return node


def _renewable(settings: Settings, clock: Clock, keys: KeyDerivation) -> Renewable:
    payers = Payers.derived(keys, settings.payers)
    with ExitStack() as outside:
        chain, rpc = _chain(settings, clock, payers, outside)
        accounts = obtain_contract(chain, payers, settings.contract)
        disconnect = outside.pop_all().close
    return Renewable(
        chain=chain,
        accounts=accounts,
        billing=InMemoryBilling(settings.starter_credits),
        sandbox=Sandbox(title=settings.title, preload=settings.preload, insecure=settings.insecure_sandbox),
        rpc=rpc,
        disconnect=disconnect,
    )


def _chain(settings: Settings, clock: Clock, payers: Payers, outside: ExitStack) -> tuple[Chain, JsonRpc | None]:
    if settings.rpc_url is not None:
        external = ExternalChain(settings.rpc_url)
        outside.callback(external.close)
        return external, None
    chain = EvmChain(settings.chain_id, clock.now, dict.fromkeys((payers.admin, *payers.api), GAS_MONEY))
    return chain, JsonRpc(chain)
