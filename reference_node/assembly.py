"""Builds a node from its settings."""

from __future__ import annotations

import uuid
from contextlib import ExitStack
from functools import partial

from reference_node.app import build_app
from reference_node.billing import Cents
from reference_node.billing.credits import Credits
from reference_node.billing.ledger import Ledger
from reference_node.billing.payments import Payments
from reference_node.billing.provider import STRIPE_URL, PaymentProvider
from reference_node.chain.account_config import AccountConfig
from reference_node.chain.evm import EvmChain
from reference_node.chain.external import ExternalChain
from reference_node.chain.interface import Chain
from reference_node.chain.rpc import JsonRpc
from reference_node.clock import Clock
from reference_node.deployment import Payers, obtain_contract
from reference_node.keys import KeyDerivation
from reference_node.node import Node, Renewable
from reference_node.sandbox import Sandbox
from reference_node.settings import Settings, StripeKeys
from reference_node.stripe_simulator.in_process import InProcessClient
from reference_node.stripe_simulator.simulator import StripeSimulator
from reference_node.tee.attestation import Attestation
from reference_node.tee.authorisation import obtain_authorisation
from reference_node.tee.compose import app_compose, compose_hash, read_compose
from reference_node.tee.identity import identity_of

NO_SALE = "no credits are sold here, new accounts begin with those of the node's option --starter-credits"
"""The hint for a caller without credit when the node sells none."""

GAS_MONEY = 10**30
"""Wei of each payer on the in-memory chain, more than it can ever spend."""


def build_node(settings: Settings, clock: Clock | None = None) -> Node:
    """Build a node and deploy or find its contracts.

    Raises `DeploymentError`, `LedgerError`, `ComposeError`, `CertificateError` and what `Chain` raises.
    """
    clock = clock or Clock()
    keys = KeyDerivation(settings.root_secret)
    with ExitStack() as outside:
        ledger = Ledger(settings.ledger) if settings.ledger else None
        if ledger:
            outside.callback(ledger.close)
        renew = partial(_renewable, settings, clock, keys, ledger)
        services = vars(renew())
        node = Node(
            **services, settings=settings, clock=clock, keys=keys, app=build_app(settings), renew=renew, ledger=ledger
        )
        node.billing.recover()
        if node.payments:
            node.payments.recover()
        outside.pop_all()
    node.app.state.node = node
    return node


def _renewable(settings: Settings, clock: Clock, keys: KeyDerivation, ledger: Ledger | None) -> Renewable:
    """Create the renewable services in their initial state. A ledger in a file keeps its content."""
    payers = Payers.derived(keys, settings.payers)
    application = app_compose(read_compose(settings.compose))
    with ExitStack() as outside:
        chain, rpc = _chain(settings, clock, payers, outside)
        accounts = obtain_contract(chain, payers, settings.contract)
        authorisation = obtain_authorisation(chain, payers.owner_key, compose_hash(application))
        identity = identity_of(settings.root_secret, authorisation.address, application)
        attestation = Attestation(settings, clock, identity, authorisation)
        disconnect = outside.pop_all().close
    kept = ledger or Ledger()
    simulator = StripeSimulator() if settings.payments == "simulator" else None
    return Renewable(
        chain=chain,
        accounts=accounts,
        billing=_billing(settings, accounts, kept),
        payments=_payments(settings, kept, simulator),
        simulator=simulator,
        sandbox=Sandbox(title=settings.title, preload=settings.preload, insecure=settings.insecure_sandbox),
        attestation=attestation,
        rpc=rpc,
        disconnect=disconnect,
    )


def _billing(settings: Settings, accounts: AccountConfig, ledger: Ledger) -> Credits:
    """The billing service. Each in-memory chain gets a new name, so that the ledger reads its events from the start."""
    chain_id = accounts.chain.chain_id
    return Credits(
        ledger,
        accounts,
        starter_credits=Cents(settings.starter_credits),
        how_to_buy=NO_SALE if settings.payments == "none" else "buy credits with billing/create_payment_intent",
        chain_name=f"chain {chain_id}" if settings.rpc_url else f"memory {uuid.uuid4().hex}",
    )


def _payments(settings: Settings, ledger: Ledger, simulator: StripeSimulator | None) -> Payments | None:
    if simulator:
        keys = StripeKeys(simulator.keys.secret, simulator.keys.publishable)
        return Payments(ledger, PaymentProvider(keys, http_client=InProcessClient(simulator)))
    if settings.stripe_keys:
        return Payments(ledger, PaymentProvider(settings.stripe_keys, settings.stripe_api_base or STRIPE_URL))
    return None


def _chain(settings: Settings, clock: Clock, payers: Payers, outside: ExitStack) -> tuple[Chain, JsonRpc | None]:
    if settings.rpc_url is not None:
        external = ExternalChain(settings.rpc_url)
        outside.callback(external.close)
        return external, None
    chain = EvmChain(settings.chain_id, clock.now, dict.fromkeys(payers.addresses, GAS_MONEY))
    return chain, JsonRpc(chain)
