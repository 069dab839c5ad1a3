"""The step kinds that make wallets of the suite's own: `wallet`, `contract_wallet`, and accounts that a wallet makes.

Specification: "What the service does" 4, "States and transitions / Account mode".
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache

from eth_abi.abi import encode
from eth_utils.crypto import keccak

from conformance.drivers.envelopes.time import NodeTime
from conformance.drivers.steps.caserun import CaseRun
from conformance.drivers.steps.onchain import compile_signature, contract_address
from conformance.drivers.steps.refusals import must_accept
from conformance.endpoints.chain import encoded, selector
from conformance.endpoints.requests import OutgoingRequest
from conformance.endpoints.sending import Receipt, as_trouble
from conformance.endpoints.signing import Transaction
from conformance.language.derivations import account_private_key
from conformance.language.models import AccountStep, ContractWalletStep, WalletStep
from conformance.language.scope import ChainAccount
from conformance.language.templates import CompileContext, compile_value
from conformance.language.vocabulary import CREATION
from conformance.language.wallets import CaseWallet, wallet_of
from conformance.problems import BadShape, ChainTrouble, DuplicateId, Malformed, NotAccepted, UnknownName
from conformance.profile import Function
from conformance.resources import artifacts
from conformance.values.json_values import member, printed
from conformance.values.typed_data import Wallet

WhichWallet = Callable[[CaseRun], CaseWallet]
MOST_WALLETS = 50
"""So often the same case is run with the same seed on one chain."""
EXECUTE = Function.parse("execute(address target, bytes data)")
"""Of the contract wallet: a call that its owner has it send."""


def compile_wallet(step: WalletStep, site: CompileContext) -> Callable[[CaseRun], None]:
    """A fresh wallet, decided by the run's seed; on a chain where its nonce is no longer zero, the next one.

    Or the wallet of an account, which signs, and gets and gives back no gas.
    """
    account_key = None if step.of_account_key is None else compile_value(step.of_account_key, site.at("of_account_key"))
    if account_key is not None:
        site.facts.uses.add("crypto.account_wallet_derivation")
    _define(step.wallet, site.at("wallet"))
    site.facts.operations.add("get_node_chain_config")

    def act(run: CaseRun) -> None:
        answer = run.send(OutgoingRequest(run.target.operation("get_node_chain_config")))
        must_accept(answer)
        stated = printed(member(answer.value, "chain_id"))
        if not stated.isdecimal():
            raise Malformed("a chain id", stated[:300], answer.exchange)
        clock = NodeTime(answer)

        def now() -> int:
            return clock.now() + run.clock.offset

        if account_key is None:
            _keep(run, step.wallet, _fresh(run, step.wallet), int(stated), now)
        else:
            wallet = Wallet.of_key(account_private_key(run.scope, account_key(run.scope)).to_bytes())
            run.scope.variables[step.wallet] = CaseWallet(wallet.address, wallet, int(stated), now, contract=False)

    return act


def _fresh(run: CaseRun, name: str) -> Wallet:
    salt = "" if run.target.funder is None else run.target.funder.salt
    for number in range(MOST_WALLETS):
        wallet = Wallet(f"{run.scope.seed}|{name}|{number}{salt}")
        if run.target.funder is None:
            return wallet
        with as_trouble():
            if run.chain.next_nonce(wallet.address) == 0:
                return wallet
    raise ChainTrouble("a wallet that has sent nothing", f"{MOST_WALLETS} of this seed that have")


def _keep(run: CaseRun, name: str, wallet: Wallet, chain_id: int, now: Callable[[], int], address: str = "") -> None:
    made = CaseWallet(address or wallet.address, wallet, chain_id, now, contract=bool(address))
    run.wallets.append(made)
    run.scope.variables[name] = made


def compile_contract_wallet(step: ContractWalletStep, site: CompileContext) -> Callable[[CaseRun], None]:
    """A contract whose signatures are its owner's (ERC-1271), and which sends what its owner has it send."""
    site.facts.needs.update({"chain_rpc", "funded_wallet"})
    owner = compile_who_sends(step.owner, site.at("owner"))
    _define(step.contract_wallet, site.at("contract_wallet"))

    def act(run: CaseRun) -> None:
        owned_by = owner(run)
        creation = _bytecode() + encode(["address"], [owned_by.value])
        receipt = run.transact(owned_by.signer, Transaction(None, creation))
        if not receipt.succeeded or receipt.contract_address is None:
            raise ChainTrouble("a contract wallet on the chain", f"the transaction {receipt.hash} made none")
        address = receipt.contract_address
        _keep(run, step.contract_wallet, owned_by.signer, owned_by.chain_id, owned_by.now, address)

    return act


@cache
def _bytecode() -> bytes:
    artifact = json.loads((artifacts() / "ContractWallet.json").read_text(encoding="utf-8"))
    return bytes.fromhex(str(artifact["bytecode"]).removeprefix("0x"))


def compile_chain_account(step: AccountStep, site: CompileContext) -> Callable[[CaseRun], None]:
    """An account that a wallet makes on the chain; it has no key."""
    if step.chain_secured is None or step.with_:
        raise site.at("with").problem(BadShape, "a ChainSecured account is made by a wallet; it takes no `with`")
    admin = compile_who_sends(step.chain_secured.admin, site.at("chain_secured", "admin"))
    signature = compile_signature(CREATION, site)
    labels = compile_value(["${label}", f"{step.account} of a conformance case"], site)
    site.facts.needs.update({"chain_rpc", "funded_wallet"})
    site.names.add(step.account)

    def act(run: CaseRun) -> None:
        wallet = admin(run)
        arguments = labels(run.scope)
        receipt = write_to_contract(run, wallet, signature(run), arguments if isinstance(arguments, list) else [])
        if not receipt.succeeded:
            raise NotAccepted("a new ChainSecured account", f"the transaction {receipt.hash} was reverted")
        address = printed(wallet.value)
        account_hash = f"0x{keccak(bytes.fromhex(address.removeprefix('0x'))).hex()}"
        run.scope.variables[step.account] = ChainAccount(account_hash=account_hash, admin_wallet_address=address)
        run.belongings.note_admin(account_hash, address)

    return act


def compile_who_sends(raw: str, site: CompileContext) -> WhichWallet:
    """The wallet of this name, or the one whose address a `${variable}` holds."""
    if raw in site.facts.wallets:
        raw = f"${{{raw}}}"
    if "${" not in raw:
        known = ", ".join(site.facts.wallets) or "none"
        raise site.problem(
            UnknownName, f"no wallet is called {raw!r}; there are {known}, and addresses in ${{variables}}"
        )
    template = compile_value(raw, site)
    return lambda run: wallet_of(run.scope, template(run.scope))


def write_to_contract(
    run: CaseRun, wallet: CaseWallet, signature: str, arguments: list[object], *, to_be_reverted: bool = False
) -> Receipt:
    """A transaction of the wallet to the account contract; a contract wallet's is sent by its owner, through it."""
    function = Function.parse(signature)
    to, data = contract_address(run), selector(function) + encoded(function.inputs, arguments)
    if wallet.contract:
        data = selector(EXECUTE) + encoded(EXECUTE.inputs, [to, f"0x{data.hex()}"])
        to = printed(wallet.value)
    return run.transact(wallet.signer, Transaction(to, data), to_be_reverted=to_be_reverted)


def _define(name: str, site: CompileContext) -> None:
    if name in site.names:
        raise site.problem(DuplicateId, f"the name {name!r} is taken")
    site.names.add(name)
    site.facts.wallets.append(name)
