"""Faults by which a run finds what another one left in special circumstances, or more of the host than it should."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from dataclasses import replace

from conformance.selftest.tools.alter import wrap
from conformance.selftest.tools.alter_runs import Sandboxed, change_code
from conformance.selftest.tools.mutant import mutant
from reference_node.node import Node
from reference_node.sandbox import HostRefusal, RunResult

PLACED = re.compile(r"globalThis\.\w+ = [^;\n]+;")
REPLACED = re.compile(r"(?:Math|Object|console|Array\.prototype)\.\w+ = [^;\n]+=>[^;\n]+;")
PUT_INTO_CALLS = re.compile(r"Service\.Actions\.\w+ = [^;\n]+")
WRITTEN_LATER = re.compile(r"setTimeout\(\(\) => console\.log\('([^']*)'\)")
COUNTER = re.compile(r"^let (\w+) = 0;$", re.MULTILINE)
LONG_CODE = 2048
USERS = "root:x:0:0:root:/root:/bin/sh\n"


def _placed(code: str) -> str:
    return "".join(f"try {{ {found} }} catch {{}}" for found in PLACED.findall(code))


@mutant("EXEC-270")
def globals_of_a_failed_run_survive(node: Node) -> None:
    """Keep the globals of a failed run for the next."""
    left = [""]

    def run(sandboxed: Sandboxed, code: str, *others: object) -> RunResult:
        result = sandboxed(left[0] + code, *others)
        left[0] = _placed(code) if result.has_error else ""
        return result

    wrap(node.sandbox, "run", run)


@mutant("EXEC-270")
def globals_of_a_refused_run_survive(node: Node) -> None:
    """Keep the globals of a refused run for the next."""
    left = [""]

    def run(sandboxed: Sandboxed, code: str, *others: object) -> RunResult:
        before, left[0] = left[0], ""
        try:
            return sandboxed(before + code, *others)
        except HostRefusal:
            left[0] = _placed(code)
            raise

    wrap(node.sandbox, "run", run)


@mutant("EXEC-270")
def variables_of_the_same_code_survive(node: Node) -> None:
    """Keep the variables of an action for the next run of the same code."""
    runs: Counter[str] = Counter()

    def run(sandboxed: Sandboxed, code: str, *others: object) -> RunResult:
        kept = COUNTER.sub(lambda found: f"let {found[1]} = {runs[code]};", code)
        runs[code] += 1
        return sandboxed(kept, *others)

    wrap(node.sandbox, "run", run)


@mutant("EXEC-270")
def variables_of_long_code_survive(node: Node) -> None:
    """Keep the variables of code of two kilobytes and more for its next run."""
    runs: Counter[str] = Counter()

    def run(sandboxed: Sandboxed, code: str, *others: object) -> RunResult:
        again = code.replace("let count = 0;", f"let count = {runs[code]};") if len(code) >= LONG_CODE else code
        runs[code] += 1
        return sandboxed(again, *others)

    wrap(node.sandbox, "run", run)


@mutant("EXEC-270")
def replaced_functions_survive(node: Node) -> None:
    """Keep library functions that a run replaced for later runs of the same account."""
    left: defaultdict[object, str] = defaultdict(str)

    def run(sandboxed: Sandboxed, code: str, params: str, host: object, account: object, *rest: object) -> RunResult:
        result = sandboxed(left[account] + code, params, host, account, *rest)
        left[account] += "".join(f"try {{ {found} }} catch {{}}" for found in REPLACED.findall(code))
        return result

    wrap(node.sandbox, "run", run)


@mutant("EXEC-270")
def calls_are_one_object_for_all_runs(node: Node) -> None:
    """Keep what a run puts into the object that has the sandbox's calls for all later runs."""
    left = ["Object.defineProperty(globalThis, 'Service', { value: { Actions: { ...Service.Actions } } });"]

    def run(sandboxed: Sandboxed, code: str, *others: object) -> RunResult:
        result = sandboxed("".join(left) + code, *others)
        left.extend(f"{found};" for found in PUT_INTO_CALLS.findall(code))
        return result

    wrap(node.sandbox, "run", run)


@mutant("EXEC-180", also="EXEC-270")
def timers_go_on_in_the_next_run(node: Node) -> None:
    """Write what a timer that a run left writes to the logs of the run after it."""
    left = [""]

    def run(sandboxed: Sandboxed, code: str, *others: object) -> RunResult:
        result = sandboxed(code, *others)
        before, left[0] = left[0], "".join(WRITTEN_LATER.findall(code))
        return replace(result, logs=result.logs + before)

    wrap(node.sandbox, "run", run)


@mutant("EXEC-280")
def fetch_reads_files(node: Node) -> None:
    """Offer a `fetch` that reads files."""
    change_code(
        node,
        lambda code: (
            "globalThis.fetch = async url => { if (!String(url).startsWith('file:')) throw new TypeError('gone');"
            f" return {{ ok: true, text: async () => {json.dumps(USERS)} }}; }};{code}"
        ),
    )


@mutant("EXEC-270", also="EXEC-160 EXEC-170")
def left_out_parameters_are_those_of_the_last_run(node: Node) -> None:
    """Call `main` without parameters with those that the account last sent to the same code."""
    last: dict[tuple[object, str], str] = {}

    def run(sandboxed: Sandboxed, code: str, params: str, host: object, account: object, *rest: object) -> RunResult:
        if json.loads(params) == {}:
            params = last.get((account, code), params)
        last[account, code] = params
        return sandboxed(code, params, host, account, *rest)

    wrap(node.sandbox, "run", run)
