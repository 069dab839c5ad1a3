"""A correct node that makes other choices about runs wherever the specification leaves one."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace

from pydantic import JsonValue

from conformance.selftest.tools.alter import Answered, Forward, Received, answer, intercept, wrap
from conformance.selftest.tools.alter_runs import RUN, change_input, change_response, own_groups
from conformance.selftest.variants.variant import EVERYTHING, PAID_FOR, Members, choices
from reference_node.node import Node
from reference_node.permission.runs import Caller, Run
from reference_node.problems import Forbidden
from reference_node.sandbox import RunResult

MEMBER = "wallet"
PKP_ID = re.compile(r"0x[0-9a-fA-F]{64}")
BOX = """globalThis.Box = (actions => {
  const wallet = %s;
  const sign = call => actions.signMessage({ ...call, pkpId: wallet });
  const key = () => actions.getPrivateKey({ pkpId: wallet });
  return { sign, key };
})(Service.Actions); delete globalThis.Service;
"""
"""Replaces the node's calls with ones that know the wallet."""
Running = Callable[[Caller, str, str], RunResult]


@choices(
    {
        # Not `openapi`: the description would still be the reference node's.
        "capabilities": ["managed_accounts", "wallet_signed", "chain_rpc", "clock_control", "funded_wallet", "billing"],
        "errors": {"status_codes": {"forbidden": [404]}},
        "exec": {
            "pkp_selection": {"named_by": "js_params_member", "member": MEMBER, "decided": "before_run"},
            "run_without_pkp": "group_needs_a_pkp",
            "sandbox_api": {"namespace": "Box", "get_private_key": "key", "sign_message": "sign", "sign_digest": None},
            "failure_and_limits": {"status": 422, "error_member": None, "message_in_logs": False},
            "response_form": "text",
        },
    }
)
def other_run_choices(node: Node) -> None:
    """Make other choices about runs.

    A run names its wallet in `jsParams`, and is refused before the code begins. A run without a wallet needs a group
    that lists some wallet. The sandbox's calls have other names, and one is missing. `response` is a text. Code that
    fails is answered with 422, and what is not permitted with 404.
    """
    wrap(node.runs, "run", _decided_before(node))
    change_input(node, lambda code, params: (BOX % json.dumps(json.loads(params).get(MEMBER)) + code, params))
    change_response(node, lambda value: value if isinstance(value, str) else json.dumps(value))
    intercept(node, RUN, _plain)
    intercept(node, (*EVERYTHING, *PAID_FOR, RUN), _not_there)


def _decided_before(node: Node) -> Callable[..., RunResult]:
    def run(running: Running, caller: Caller, code: str, params: str) -> RunResult:
        begun = Run(caller, node.runs.action(code))
        named = json.loads(params).get(MEMBER)
        if named is None:
            groups = own_groups(node, caller.key_hash)
            permitted = any(group.has_action(begun.action) and group.wallets for group in groups)
        else:
            permitted = PKP_ID.fullmatch(str(named)) is not None and node.runs.may_use(begun, bytes.fromhex(named[2:]))
        if not permitted:
            raise Forbidden("execution-not-permitted", "no group permits this")
        return running(caller, code, params)

    return run


async def _plain(request: Received, forward: Forward) -> Answered:
    given = await forward(request)
    if not given.accepted:
        return given
    told: Members = json.loads(given.body)
    if told.pop("has_error"):
        error: JsonValue = {"error": "the code failed", "logs": told["logs"], "response": None}
        return answer(422, error)
    return answer(200, {name: value for name, value in told.items() if value is not None})


async def _not_there(request: Received, forward: Forward) -> Answered:
    given = await forward(request)
    return replace(given, status=404) if given.status == 403 else given
