"""The prefix of the paths, and requests and answers beside the OpenAPI description ("Versioning").

The library that reads descriptions is imported where a case needs it.
"""
# ruff: noqa: PLC0415

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from conformance.cases import Judge, case
from conformance.problems import Mismatch, NotJson
from conformance.service.acceptance import Accepted
from conformance.service.bindings import bound
from conformance.service.derivations import hashed_cid, random_key
from conformance.service.lists import unchanged_list
from conformance.service.node import Node
from conformance.service.reads import Read
from conformance.service.refusal import ILL_FORMED, Refusals
from conformance.service.session import Session
from conformance.service.usage_keys import Permissions
from conformance.values.json_values import member, printed

OTHER_PREFIXES = ("/", "/core/", "/v1/", "/core/v2/")


@case("description", requirements=["VER-020"], needs=["openapi"], uses=["auth.openapi_public"])
def description(judge: Judge, session: Session) -> None:
    """The OpenAPI description is at /core/v1/openapi.json, also for a client that would take a page in its place."""
    from conformance.drivers.openapi.description import reader_key

    request = session.request("openapi", reader_key(session))
    for accepts in ("application/json", "application/json, text/html;q=0.1"):
        with judge.apart():
            try:
                document = session.accept(replace(request, headers={"Accept": accepts}))[0].value
            except NotJson as problem:  # what is there is no description, whatever else it is
                raise Mismatch("a description in JSON", problem.got, problem.exchange) from None
            version = printed(member(document, "openapi"))
            judge.that(bool(re.match(r"3\.\d+\.\d+", version)), "a version of OpenAPI like 3.1.0", version)
            objects = [name for name in ("info", "paths") if isinstance(member(document, name), dict)]
            judge.same(objects, ["info", "paths"], "the objects of the description")


@case("path-prefix", requirements=["VER-010"])
def path_prefix(judge: Judge, session: Session) -> None:
    """The open endpoints live under /core/v1, and neither without the prefix nor under another version."""
    requests = [
        session.request("get_node_chain_config"),
        session.request("get_api_payers"),
        session.request("get_action_ipfs_id", code="main()"),
    ]
    with judge():
        served = [session.accept(request)[1] for request in requests]
    must_live_nowhere_else(judge, session, served, unchanged=[])


@case("path-prefix-of-accounts", requirements=["VER-010"], needs=["managed_accounts"])
def path_prefix_of_accounts(judge: Judge, node: Node) -> None:
    """The endpoints of accounts live under /core/v1, and neither without the prefix nor under another version."""
    # A node may ask for a key before it looks at the path; with the owner's key, only the path is wrong.
    alice = node.accounts.new().key
    lists = node.session.request("list_groups", alice)
    with judge():
        served = [node.session.accept(request)[1] for request in (lists, node.groups.creation(alice))]
    groups = unchanged_list(node.session, "list_groups", alice)
    must_live_nowhere_else(judge, node.session, served, unchanged=[groups])


def must_live_nowhere_else(
    judge: Judge, session: Session, served: Sequence[Accepted], *, unchanged: Sequence[Read]
) -> None:
    """The same requests are refused below every other prefix."""
    with judge(), Refusals(session, control=served, unchanged=unchanged) as refusals:
        for prefix in OTHER_PREFIXES:
            for request in (accepted.changed() for accepted in served):
                name = request.operation.path.rpartition("/")[2]
                refusals.send(replace(request, path=f"{prefix}{name}"), ["any"])


# ------------------------------------------------------------------------------------------------- answers as described


@case("open-answers-as-described", requirements=["VER-050"], needs=["openapi"])
def open_answers_as_described(judge: Judge, session: Session) -> None:
    """The answers of the open endpoints are as the OpenAPI description says."""
    from conformance.drivers.openapi.answers import DescribedAnswers

    answers = DescribedAnswers(session)
    for name in ("get_node_chain_config", "get_api_payers", "get_admin_api_payer"):
        session.call(name)
    asks = session.accept(session.request("get_action_ipfs_id", code="main()"))[1]
    with Refusals(session, control=asks, unchanged=[]) as refusals:
        refusals.send(replace(asks.changed(), body="main()"), ILL_FORMED)
    with judge():
        answers.must_be_as_described()


@case("answers-as-described", requirements=["VER-050"], needs=["openapi", "managed_accounts"])
def answers_as_described(judge: Judge, node: Node) -> None:
    """The answers of the account endpoints, refusals too, are as the OpenAPI description says."""
    from conformance.drivers.openapi.answers import DescribedAnswers

    answers = DescribedAnswers(node.session)
    account = node.accounts.new()
    node.session.call("account_exists", account.key)
    usage_key = change_usage_keys(node, account.key)
    controls = [account.accepted, *change_groups(node, account.key)]
    change_actions(node, account.key)
    refuse(node, account.key, usage_key, controls)
    node.usage_keys.remove(account.key, usage_key)
    with judge():
        answers.must_be_as_described()


def change_usage_keys(node: Node, alice: str) -> str:
    """Call the endpoints that make, list and change a usage key; the key."""
    usage_keys = node.usage_keys
    permissions = Permissions(can_create_groups=True, manage_ipfs_ids_in_groups=[0], execute_in_groups=[0])
    key = usage_keys.add(alice, permissions).key
    usage_keys.list(alice)
    usage_keys.update(alice, key, Permissions(add_pkp_to_groups=[0]))
    usage_keys.rename(alice, key, "renamed")
    return key


def change_groups(node: Node, alice: str) -> list[Accepted]:
    """Call the endpoints of wallets and groups; the calls that made a wallet, made a group and removed it."""
    cid, groups = node.actions.sample_cid("one"), node.groups
    p = node.pkps.create(alice)
    node.pkps.list(alice)
    g = groups.add(alice)
    groups.list(alice)
    groups.add_pkp(alice, g.id, p.id)
    node.pkps.list(alice, g.id)
    groups.remove_pkp(alice, g.id, p.id)
    groups.add_action(alice, g.id, cid)
    node.actions.list(alice, g.id)
    groups.remove_action(alice, g.id, hashed_cid(cid))
    groups.update(alice, g.id, pkp_ids=[p.id], cid_hashes=[hashed_cid(cid)])
    return [p.accepted, g.accepted, groups.remove(alice, g.id)]


def change_actions(node: Node, alice: str) -> None:
    """Call the endpoints of the labels of actions."""
    cid = node.actions.sample_cid("one")
    node.actions.add(alice, cid)
    node.actions.list(alice)
    node.actions.update(alice, hashed_cid(cid), "renamed")
    node.actions.delete(alice, hashed_cid(cid))


def refuse(node: Node, alice: str, usage_key: str, controls: Sequence[Accepted]) -> None:
    """Make a refusal of each class."""
    makes_account, makes_wallet, makes_group, removes_group = (accepted.changed() for accepted in controls)
    unchanged = [unchanged_list(node.session, name, alice) for name in ("list_wallets", "list_groups")]
    unknown = random_key(node.session.random)
    with Refusals(node.session, control=controls, unchanged=unchanged) as refusals:
        refusals.send(replace(makes_account, body="{"), ILL_FORMED)
        refusals.send(replace(makes_wallet, credential=unknown), ["unauthenticated"])
        refusals.send(replace(makes_wallet, credential=usage_key), ["forbidden"])
        for body in ("{", "[]"):
            refusals.send(replace(makes_group, body=body), ILL_FORMED)
        refusals.send(removes_group, ["not_found"])


@case(
    "runs-as-described",
    requirements=["VER-050"],
    needs=["openapi", "managed_accounts"],
    uses=["wire.group.cid_wildcard_form", "exec.failure_and_limits"],
)
def runs_as_described(judge: Judge, node: Node) -> None:
    """The answers to runs, with a result, with an error and refused, are as the OpenAPI description says."""
    from conformance.drivers.openapi.answers import DescribedAnswers

    answers, session = DescribedAnswers(node.session), node.session
    alice, bob = node.accounts.new().key, node.accounts.new().key
    group = bound(node, alice, [node.pkps.create(alice)], [node.groups.all_actions])
    # Requests without `jsParams`, too: the description must not demand them.
    request = session.request("run_action", node.usage_keys.executing_in(alice, group))
    logs = request.changed(code="async function main() { console.log('logged'); return 'returned'; }")
    runs = node.runs.must_succeed(logs).accepted
    echo = request.changed(
        code="async function main(params) { return params; }", jsParams={"a": [1, None, {"b": True}]}
    )
    node.runs.must_succeed(echo)
    node.runs.must_succeed(request.changed(code="async function main() { return null; }"))
    node.runs.must_fail(request.changed(code="async function main() { throw new Error('told'); }"))
    with Refusals(session, control=runs, unchanged=[]) as refusals:
        refusals.send(replace(logs, credential=bob), ["forbidden"])
        refusals.send(replace(logs, credential=None), ["unauthenticated"])
        refusals.send(replace(request, body="{"), ILL_FORMED)
        refusals.send(request.changed(jsParams={}), ILL_FORMED)
    with judge():
        answers.must_be_as_described()
