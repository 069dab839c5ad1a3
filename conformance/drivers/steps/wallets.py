"""The step kind `wallet`, and `account` with `chain_secured`: the suite's own wallets.

Specification: "What the service does" 4, "States and transitions / Account mode".
"""

from __future__ import annotations

from collections.abc import Callable

from conformance.drivers.steps.caserun import CaseRun
from conformance.drivers.steps.onchain import name_write
from conformance.language.making_steps import AccountStep, WalletStep
from conformance.language.scope import ChainAccount
from conformance.language.templates import CompileContext, compile_value
from conformance.language.wallets import CaseWallet, wallet_of
from conformance.problems import BadShape, DuplicateId, UnknownName
from conformance.profile.chain import CREATION
from conformance.service.accounts import Accounts
from conformance.service.suite_wallet import SuiteWallet
from conformance.service.wallets import Wallets
from conformance.values.json_values import printed

WhichWallet = Callable[[CaseRun], SuiteWallet]


def compile_wallet(step: WalletStep, context: CompileContext) -> Callable[[CaseRun], None]:
    """Compile a fresh wallet, or the wallet of an account key, which only signs."""
    account_key = (
        None if step.of_account_key is None else compile_value(step.of_account_key, context.at("of_account_key"))
    )
    if account_key is not None:
        context.info.uses.add("crypto.account_wallet_derivation")
    _define(step.wallet, context.at("wallet"))
    context.info.operations.add("get_node_chain_config")

    def act(run: CaseRun) -> None:
        wallets = Wallets(run)
        if account_key is None:
            wallet = wallets.new(step.wallet)
        else:
            wallet = wallets.of_account_key(printed(account_key(run.scope)))
        run.scope.variables[step.wallet] = CaseWallet(wallet, run)

    return act


def compile_chain_account(step: AccountStep, context: CompileContext) -> Callable[[CaseRun], None]:
    """Compile an account that a wallet makes on the chain. It has no key."""
    if step.chain_secured is None or step.with_:
        raise context.at("with").problem(BadShape, "a ChainSecured account is made by a wallet; it takes no `with`")
    admin = compile_who_sends(step.chain_secured.admin, context.at("chain_secured", "admin"))
    name_write(CREATION, context)
    context.info.needs.update({"chain_rpc", "funded_wallet"})
    context.define(step.account)

    def act(run: CaseRun) -> None:
        made = Accounts(run).by_wallet(admin(run), f"{step.account} of a conformance case")
        run.scope.variables[step.account] = ChainAccount(
            account_hash=made.hash, admin_wallet_address=made.admin.address
        )

    return act


def compile_who_sends(raw: str, context: CompileContext) -> WhichWallet:
    """The wallet of this name, or the one whose address a `${variable}` holds."""
    if raw in context.info.wallets:
        raw = f"${{{raw}}}"
    if "${" not in raw:
        known = ", ".join(context.info.wallets) or "none"
        raise context.problem(
            UnknownName, f"no wallet is called {raw!r}; there are {known}, and addresses in ${{variables}}"
        )
    template = compile_value(raw, context)
    return lambda run: wallet_of(run.scope, template(run.scope)).wallet


def _define(name: str, context: CompileContext) -> None:
    if name in context.names:
        raise context.problem(DuplicateId, f"the name {name!r} is taken")
    context.define(name)
    context.info.wallets.append(name)
