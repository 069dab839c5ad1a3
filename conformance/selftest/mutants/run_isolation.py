"""Faults about what a run sees and leaves behind."""

from __future__ import annotations

import json
import threading

from conformance.selftest.tools.alter import Answered, Forward, Received, intercept, wrap
from conformance.selftest.tools.alter_execution import RUN, Sandboxed, change_code, change_input
from conformance.selftest.tools.alter_keys import presented
from conformance.selftest.tools.mutant import mutant
from conformance.selftest.tools.permissions import account_of
from reference_node.access import Caller
from reference_node.node import Node
from reference_node.sandbox import RunResult

Running = object


def _left_behind(node: Node, name: str, leaves: str) -> None:
    """Once a code has named `name`, every later run begins with `leaves`."""
    named: list[str] = []

    def begin(code: str) -> str:
        before = leaves if named else ""
        if name in code:
            named.append(code)
        return before + code

    change_code(node, begin)


@mutant("EXEC-270")
def globals_survive_a_run(node: Node) -> None:
    """What a run sets in the global object is there in the next."""
    _left_behind(node, "globalThis.left", 'globalThis.left = "left";')


@mutant("EXEC-270")
def declarations_survive_a_run(node: Node) -> None:
    """A variable that a run declares is there in the next."""
    _left_behind(node, "var declared", 'var declared = "left";')


@mutant("EXEC-270")
def prototypes_survive_a_run(node: Node) -> None:
    """What a run puts into a prototype is there in the next."""
    _left_behind(node, "Promise.prototype.left", 'Promise.prototype.left = "left";')


@mutant("EXEC-270")
def library_functions_survive_a_run(node: Node) -> None:
    """What a run puts into an object of the library is there in the next."""
    _left_behind(node, "Math.left", 'Math.left = "left";')


@mutant("EXEC-270")
def parameters_survive_a_run(node: Node) -> None:
    """The parameters of a run are a global of the next."""
    last = ["{}"]

    def begin(code: str, params: str) -> tuple[str, str]:
        before, last[0] = last[0], params
        return f"globalThis.parameters = {before};{code}" if before != "{}" else code, params

    change_input(node, begin)


@mutant("EXEC-270")
def runs_at_once_share_their_globals(node: Node) -> None:
    """Runs under way at the same time have one global object."""
    lock = threading.Lock()
    under_way: list[str] = []

    def run(sandboxed: Sandboxed, code: str, params: str, *others: object) -> RunResult:
        with lock:
            seen = [json.loads(text).get("n") for text in under_way]
            under_way.append(params)
        try:
            return sandboxed(f"globalThis.seen = {json.dumps(seen)};{code}" if seen else code, params, *others)
        finally:
            with lock:
                under_way.remove(params)

    wrap(node.sandbox, "run", run)


@mutant("EXEC-270")
def parameters_of_runs_at_once_are_mixed(node: Node) -> None:
    """A run that begins while another is under way gets that one's parameters."""
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


@mutant("EXEC-280")
def the_environment_is_within_reach(node: Node) -> None:
    """The sandbox shows the environment of the process, the root secret in it."""
    change_code(node, lambda code: f'globalThis.process = {{ env: {{ ROOT_SECRET: "0011" }} }};{code}')


@mutant("EXEC-280")
def files_are_within_reach(node: Node) -> None:
    """The sandbox offers `require`, and with it the files of the host."""
    change_code(node, lambda code: f'var require = () => ({{ readFileSync: () => "root:x:0:0" }});{code}')


@mutant("EXEC-280")
def engine_library_is_within_reach(node: Node) -> None:
    """The engine's own library for files stands in the global object."""
    change_code(node, lambda code: f'globalThis.std = {{ loadFile: () => "root:x:0:0" }};{code}')


@mutant("EXEC-280")
def commands_are_within_reach(node: Node) -> None:
    """An action can have commands run."""
    change_code(
        node,
        lambda code: (
            f'var require = name => {{ if (name === "child_process") return {{ execSync: () => "uid=0" }}; }};{code}'
        ),
    )


def _after_each_run(node: Node, then: object) -> None:
    def run(running: object, caller: Caller, *given: object) -> object:
        try:
            return running(caller, *given)  # type: ignore[operator]  # the method as it was
        finally:
            then(caller)  # type: ignore[operator]  # what the mutant does

    wrap(node.runs, "run", run)


@mutant("EXEC-340")
def runs_register_their_action(node: Node) -> None:
    """A run enters its action among those of the account."""

    def run(running: object, caller: Caller, code: str, params: str) -> object:
        result = running(caller, code, params)  # type: ignore[operator]  # the method as it was
        action = node.runs.action(code)
        if all(known.cid_hash != action for known in node.accounts.actions(caller.account_hash, 0, 100)):
            node.accounts.add_action(caller.account_hash, action, "run", "by a run")
        return result

    wrap(node.runs, "run", run)


@mutant("EXEC-340")
def runs_make_a_group(node: Node) -> None:
    """Each run, also one that is refused, notes itself in a group of its own."""
    _after_each_run(node, lambda caller: node.accounts.add_group(account_of(node, caller.key_hash), "run", "", [], []))


@mutant("EXEC-340")
def failed_runs_empty_the_groups(node: Node) -> None:
    """A run that ends with an error takes the wallets out of the account's groups."""

    def run(running: object, caller: Caller, *given: object) -> RunResult:
        result: RunResult = running(caller, *given)  # type: ignore[operator]  # the method as it was
        if result.has_error:
            for group in node.accounts.groups(caller.account_hash, 0, 100):
                for wallet in node.accounts.wallets_in_group(caller.account_hash, group.id, 0, 100):
                    node.accounts.remove_pkp_from_group(caller.account_hash, group.id, wallet.id)
        return result

    wrap(node.runs, "run", run)


@mutant("AKEY-050", "UKEY-360")
def the_key_is_a_global(node: Node) -> None:
    """The key that a run was called with stands in its global object."""
    keys: list[str] = []

    async def remember(request: Received, forward: Forward) -> Answered:
        keys.append(presented(request))
        return await forward(request)

    intercept(node, RUN, remember)
    change_code(node, lambda code: f"globalThis.apiKey = {json.dumps(keys[-1])};{code}")
