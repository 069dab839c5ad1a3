"""Faults about refused runs: what is done, told or given before and in spite of the refusal, and with whose key."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import NoReturn

from conformance.selftest.tools.alter import wrap
from conformance.selftest.tools.alter_runs import own_groups
from conformance.selftest.tools.mutant import mutant, row
from reference_node.node import Node
from reference_node.permission.runs import REFUSED, Caller, Run
from reference_node.problems import Forbidden
from reference_node.sandbox import HostError, HostRefusal, RunResult

Ran = Callable[[Caller, str, str], RunResult]
Called = Callable[[Run, str, Mapping[str, object]], object]
SIGNING = ("signMessage", "signDigest")
WALLET_ID = re.compile("0x[0-9a-fA-F]{64}")


@mutant("EXEC-210", each=[row("silently", lambda _: ""), row("with-its-logs", lambda result: result.logs)])
def code_runs_before_it_is_refused(node: Node, told: Callable[[RunResult], str]) -> None:
    """Run code, with no wallet at hand, before it is decided whether it may run; the refusal may tell its logs."""

    def refuse(*_: object) -> NoReturn:
        raise HostError("not yet decided")

    def run(original: Ran, caller: Caller, code: str, params: str) -> RunResult:
        result = node.sandbox.run(code, params, refuse, caller.account_hash, None)
        try:
            return original(caller, code, params)
        except Forbidden as refusal:
            raise Forbidden(REFUSED, f"{refusal.detail} {told(result)}".strip()) from None

    wrap(node.runs, "run", run)


@mutant("EXEC-040")
def code_is_compiled_before_it_is_decided(node: Node) -> None:
    """Answer a failed run where code does not parse, whether or not it may run."""

    def refuse(*_: object) -> NoReturn:
        raise HostError("nothing is run here")

    def run(original: Ran, caller: Caller, code: str, params: str) -> RunResult:
        try:
            return original(caller, code, params)
        except Forbidden:
            compiled = f"function main() {{ new Function({json.dumps(code)}); }}"
            result = node.sandbox.run(compiled, "{}", refuse, caller.account_hash, None)
            if "SyntaxError" in result.logs:
                return result
            raise

    wrap(node.runs, "run", run)


def _rejecting(original: Called, run: Run, name: str, arguments: Mapping[str, object]) -> object:
    try:
        return original(run, name, arguments)
    except HostRefusal as refusal:
        raise HostError(str(refusal)) from None


@mutant("EXEC-050", "EXEC-200", "EXEC-090", also="ERR-140 EXEC-060 EXEC-070 EXEC-080 EXEC-120 EXEC-380")
def refusal_is_an_exception_of_the_script(node: Node) -> None:
    """Reject the script's promise when a wallet is refused, and let it go on."""
    wrap(node.runs, "host_call", _rejecting)


# ------------------------------------------------------------------------------------------ what is given away


@mutant("EXEC-050", "EXEC-200", also="EXEC-060 EXEC-070 EXEC-080 EXEC-090 EXEC-120 EXEC-230 GRP-140 GRPLIFE-040")
def signatures_are_not_guarded(node: Node) -> None:
    """Sign for an action without asking whether it may use the wallet."""
    asked: list[str] = [""]

    def host_call(original: Called, run: Run, name: str, arguments: Mapping[str, object]) -> object:
        asked[0] = name
        return original(run, name, arguments)

    wrap(node.runs, "host_call", host_call)
    wrap(node.runs, "may_use", lambda original, *question: asked[0] in SIGNING or original(*question))


# ------------------------------------------------------------------------------------------ with whose key


@mutant("EXEC-110", "PKP-170", also="EXEC-200 MINT-040")
def runs_sign_with_the_oldest_wallet(node: Node) -> None:
    """Sign with the account's oldest wallet, whichever a run names."""

    def wallet_key(original: Callable[[Run, bytes], bytes], run: Run, _: bytes) -> bytes:
        return original(run, node.accounts.wallets(run.caller.account_hash, 0, 1)[0].id)

    wrap(node.runs, "wallet_key", wallet_key)


@mutant("EXEC-010", "EXEC-020", also="EXEC-280 MINT-040 PKP-170")
def runs_sign_with_a_payers_key(node: Node) -> None:
    """Sign with the payer's key, whichever wallet a run names."""
    wrap(node.runs, "wallet_key", lambda *_: node.keys.payer_key(0))


# ------------------------------------------------------------------------------------------ what the text leaves open


@mutant("EXEC-290")
def named_wallet_is_decided_before_the_run(node: Node) -> None:
    """Refuse a run that names a wallet which it may not use, even if it does not use it."""

    def run(original: Ran, caller: Caller, code: str, params: str) -> RunResult:
        named = str(json.loads(params).get("pkpId"))
        if WALLET_ID.fullmatch(named) and not node.runs.may_use(
            Run(caller, node.runs.action(code)), bytes.fromhex(named[2:])
        ):
            raise Forbidden(REFUSED, "this key may not use this wallet in this action")
        return original(caller, code, params)

    wrap(node.runs, "run", run)


@mutant("EXEC-300")
def every_run_needs_a_listed_wallet(node: Node) -> None:
    """Refuse runs in groups that list no wallet, even those that use none."""

    def may_run(original: Callable[[Run], bool], run: Run) -> bool:
        groups = own_groups(node, run.caller.key_hash)
        return original(run) and any(one.wallets and one.has_action(run.action) for one in groups)

    wrap(node.runs, "may_run", may_run)
