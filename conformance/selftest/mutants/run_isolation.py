"""Faults about what a run sees and leaves behind."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable

from conformance.selftest.tools.accounts import whole
from conformance.selftest.tools.alter import Answered, Forward, Received, intercept, wrap
from conformance.selftest.tools.alter_runs import RUN, Sandboxed, change_code, change_input
from conformance.selftest.tools.api_keys import presented
from conformance.selftest.tools.mutant import mutant
from reference_node.node import Node
from reference_node.permission.runs import Caller
from reference_node.sandbox import RunResult

Running = object


@mutant("EXEC-270")
def parameters_survive_a_run(node: Node) -> None:
    """Set the parameters of a run as a global of the next."""
    last = ["{}"]

    def begin(code: str, params: str) -> tuple[str, str]:
        before, last[0] = last[0], params
        return f"globalThis.parameters = {before};{code}" if before != "{}" else code, params

    change_input(node, begin)


@mutant("EXEC-270", also="EXEC-150 EXEC-160")
def parameters_of_runs_at_once_are_mixed(node: Node) -> None:
    """Run with the parameters of another run that is under way."""
    lock = threading.Lock()
    under_way: list[str] = []

    def run(sandboxed: Sandboxed, code: str, params: str, *others: object) -> RunResult:
        with lock:
            under_way.append(params)
            first = under_way[0]
        try:
            return sandboxed(code, first, *others)
        finally:
            with lock:
                under_way.remove(params)

    wrap(node.sandbox, "run", run)


CALLS = "Service.Actions"


@mutant("EXEC-280")
def host_is_behind_errors(node: Node) -> None:
    """Let errors of the sandbox's calls lead to the host's `Function`."""
    offered = f"""
        const {{ stringify }} = JSON;
        const host = text => () => ({{ env: {{ ROOT_SECRET: "0011" }} }});
        const leaky = Object.fromEntries(Object.entries({CALLS}).map(([name, call]) => [name, async argument => {{
          try {{ return await call(argument); }} catch (error) {{
            Object.defineProperty(error, "constructor", {{ value: {{ constructor: host }} }});
            throw error;
          }}
        }}]));
    """
    change_code(node, lambda code: offered + code.replace(CALLS, "leaky") if CALLS in code else code)


def _is_managed(node: Node, caller: Caller) -> bool:
    """Whether the payer may write for the caller's account."""
    return node.accounts.account(caller.account_hash).managed


@mutant("EXEC-340")
def runs_register_their_action(node: Node) -> None:
    """Register the action of each run."""

    def run(running: object, caller: Caller, code: str, params: str) -> object:
        result = running(caller, code, params)  # type: ignore[operator]  # the method as it was
        action = node.runs.action(code)
        if _is_managed(node, caller) and all(
            known.cid_hash != action for known in whole(node.accounts.actions, caller.account_hash)
        ):
            node.accounts.add_action(caller.account_hash, action, "run", "by a run")
        return result

    wrap(node.runs, "run", run)


@mutant("EXEC-340", also="ERR-150 LIST-170")
def runs_make_a_group(node: Node) -> None:
    """Create a group in each run, also in a refused one."""

    def run(running: Callable[..., object], caller: Caller, *given: object) -> object:
        try:
            return running(caller, *given)
        finally:
            if _is_managed(node, caller):
                node.accounts.add_group(caller.account_hash, "run", "", [], [])

    wrap(node.runs, "run", run)


@mutant("EXEC-340")
def failed_runs_empty_the_groups(node: Node) -> None:
    """Remove the wallets from the account's groups after a run that fails."""

    def run(running: object, caller: Caller, *given: object) -> RunResult:
        result: RunResult = running(caller, *given)  # type: ignore[operator]  # the method as it was
        if result.has_error and _is_managed(node, caller):
            for group in whole(node.accounts.groups, caller.account_hash):
                for wallet in whole(node.accounts.wallets_in_group, caller.account_hash, group.id):
                    node.accounts.remove_pkp_from_group(caller.account_hash, group.id, wallet.id)
        return result

    wrap(node.runs, "run", run)


@mutant("UKEY-360", also="AKEY-050")
def the_key_is_a_global(node: Node) -> None:
    """Set the key of a run's request as a global."""
    keys: list[str] = []

    async def remember(request: Received, forward: Forward) -> Answered:
        keys.append(presented(request))
        return await forward(request)

    intercept(node, RUN, remember)
    change_code(node, lambda code: f"globalThis.apiKey = {json.dumps(keys[-1])};{code}")
