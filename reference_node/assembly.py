"""Builds a node from its settings."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
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
from reference_node.keeping.generation import Generation
from reference_node.keeping.seed_file import read_seeds
from reference_node.keeping.state_folder import StateFolder
from reference_node.kept_file import StateError
from reference_node.node import Node, Renewable
from reference_node.permission.keys import KeyDerivation
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

    Raises `DeploymentError`, `LedgerError`, `StateError`, `StateUnavailable`, `SeedError`, `ComposeError`,
    `CertificateError` and what `Chain` raises.
    """
    seeds = read_seeds(settings.seed_accounts) if settings.seed_accounts else None
    with ExitStack() as outside:
        state = _state(settings, outside)
        if state:
            settings = replace(settings, root_secret=state.root_secret)
            clock = clock or Clock(state.began, state.clock_offset)
        clock = clock or Clock()
        keys = KeyDerivation(settings.root_secret)
        ledger = Ledger(settings.ledger) if settings.ledger else None
        if ledger:
            outside.callback(ledger.close)
        build = partial(_renewable, settings, clock, keys, ledger)
        services = build(state.generation, state.certificate) if state else build()
        outside.callback(services.disconnect)
        node = Node(
            **vars(services),
            settings=settings,
            clock=clock,
            keys=keys,
            app=build_app(settings),
            renew=partial(_renewed, build, state),
            ledger=ledger,
            state=state,
            seeds=seeds,
        )
        if state:
            state.keep_certificate(*node.attestation.certificate)
        node.billing.recover()
        node.seed()
        if node.payments:
            node.payments.recover()
        if state:
            state.opened()
        outside.pop_all()
    node.app.state.node = node
    return node


def _state(settings: Settings, outside: ExitStack) -> StateFolder | None:
    if settings.state is None:
        return None
    state = StateFolder(settings.state, root_secret=settings.root_secret, chain_id=settings.chain_id)
    outside.callback(state.abandon)
    if settings.root_secret_given and state.root_secret != settings.root_secret:
        raise StateError(f"the state in {settings.state} has another root secret: leave yours out, it keeps its own")
    if state.chain_id != settings.chain_id:
        raise StateError(f"the state in {settings.state} is of chain {state.chain_id}: start with that --chain-id")
    return state


def _renewed(build: Callable[..., Renewable], state: StateFolder | None) -> Renewable:
    """The services of a reset."""
    if state is None:
        return build()
    with state.new_generation() as generation:
        return build(generation)


def _renewable(
    settings: Settings,
    clock: Clock,
    keys: KeyDerivation,
    ledger: Ledger | None,
    kept: Generation | None = None,
    certificate: tuple[int, int] | None = None,
) -> Renewable:
    """Create the renewable services, in their initial state or as they are kept. A ledger keeps its content."""
    payers = Payers.derived(keys, settings.payers)
    application = app_compose(read_compose(settings.compose))
    with ExitStack() as outside:
        chain, rpc = _chain(settings, clock, payers, kept, outside)
        accounts = obtain_contract(chain, payers, settings.contract)
        authorisation = obtain_authorisation(chain, payers.owner_key, compose_hash(application))
        identity = identity_of(settings.root_secret, authorisation.address, application)
        attestation = Attestation(settings, clock, identity, authorisation, certificate)
        simulator = _simulator(kept, outside) if settings.payments == "simulator" else None
        credits_ = ledger or _ledger(kept, outside)
        disconnect = outside.pop_all().close
    return Renewable(
        chain=chain,
        accounts=accounts,
        billing=_billing(settings, accounts, credits_, kept),
        payments=_payments(settings, credits_, simulator),
        simulator=simulator,
        sandbox=Sandbox(title=settings.title, preload=settings.preload, insecure=settings.insecure_sandbox),
        attestation=attestation,
        rpc=rpc,
        disconnect=disconnect,
    )


def _ledger(kept: Generation | None, outside: ExitStack) -> Ledger:
    if kept is None:
        return Ledger()
    ledger = kept.ledger()
    outside.callback(ledger.close)
    return ledger


def _simulator(kept: Generation | None, outside: ExitStack) -> StripeSimulator:
    if kept is None:
        return StripeSimulator()
    payments = kept.payments()
    outside.callback(payments.close)
    return StripeSimulator(kept=payments)


def _billing(settings: Settings, accounts: AccountConfig, ledger: Ledger, kept: Generation | None) -> Credits:
    """The billing service. Each in-memory chain gets a new name, so that the ledger reads its events from the start."""
    chain_id = accounts.chain.chain_id
    own_chain = f"memory {kept.name if kept else uuid.uuid4().hex}"
    return Credits(
        ledger,
        accounts,
        starter_credits=Cents(settings.starter_credits),
        how_to_buy=NO_SALE if settings.payments == "none" else "buy credits with billing/create_payment_intent",
        chain_name=f"chain {chain_id}" if settings.rpc_url else own_chain,
    )


def _payments(settings: Settings, ledger: Ledger, simulator: StripeSimulator | None) -> Payments | None:
    if simulator:
        keys = StripeKeys(simulator.keys.secret, simulator.keys.publishable)
        return Payments(ledger, PaymentProvider(keys, http_client=InProcessClient(simulator)))
    if settings.stripe_keys:
        return Payments(ledger, PaymentProvider(settings.stripe_keys, settings.stripe_api_base or STRIPE_URL))
    return None


def _chain(
    settings: Settings, clock: Clock, payers: Payers, kept: Generation | None, outside: ExitStack
) -> tuple[Chain, JsonRpc | None]:
    if settings.rpc_url is not None:
        external = ExternalChain(settings.rpc_url)
        outside.callback(external.close)
        return external, None
    store = kept.chain() if kept else None
    if store:
        outside.callback(store.close)
    chain = EvmChain(settings.chain_id, clock.now, dict.fromkeys(payers.addresses, GAS_MONEY), store)
    return chain, JsonRpc(chain)
