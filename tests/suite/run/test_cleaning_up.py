"""What a case leaves behind on a node where it gave an account away, or whose clock it moved: nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.run.loader import load_pack
from conformance.run.runner import Target, run_case
from conformance.selftest.tools.serving import target_node
from conformance.verdict import Outcome, Verdict
from reference_node.node import Node

CASE = """\
from conformance.cases import Judge, case
from conformance.service.envelopes import sign_envelope
from conformance.service.node import Node


@case("trial", requirements=["GRP-010"])
def trial(judge: Judge, node: Node) -> None:
    '''It ends as it should, or departs.'''
    with judge():
"""
CONVERSION = """\
        alice, carol = node.accounts.new().key, node.wallets.new("carol")
        node.groups.add(alice)
        node.usage_keys.add(alice)
        node.accounts.convert(alice, carol)
"""
CLOCK = """\
        node.clock.move(4000)
        proof = sign_envelope(node.session, "CreateWallet", node.wallets.new("carol")).members
        node.session.call("create_wallet_with_signature", **proof)
"""
PASSES, DEPARTS = "        judge.same(1, 1, 'one')\n", "        judge.same(1, 2, 'two')\n"


@pytest.fixture(scope="module")
def nodes() -> Iterator[tuple[Node, Target]]:
    """A reference node, and what a case speaks to."""
    taken: list[Node] = []
    with target_node(taken.append, "7") as target:
        yield taken[0], target


def ended(folder: Path, body: str, target: Target) -> Outcome:
    path = folder / "mine.py"
    path.write_text(CASE + body, encoding="utf-8")
    (case,) = load_pack(path)
    return run_case(case, target)


@pytest.mark.parametrize(("end", "verdict"), [(PASSES, Verdict.PASS), (DEPARTS, Verdict.FAIL)])
def test_account_that_changed_hands_is_emptied_on_the_chain(
    tmp_path: Path, nodes: tuple[Node, Target], end: str, verdict: Verdict
) -> None:
    made: list[int] = []
    accounts = nodes[0].accounts
    new_account = accounts.new_account
    accounts.new_account = lambda *given: (made.append(given[0]), new_account(*given))  # type: ignore[method-assign,func-returns-value]
    try:
        outcome = ended(tmp_path, CONVERSION + end, nodes[1])
    finally:
        accounts.new_account = new_account  # type: ignore[method-assign]

    assert outcome.verdict is verdict, outcome.reason
    assert not accounts.account(made[0]).managed
    assert accounts.groups(made[0], 0, 100) == []
    assert accounts.usage_keys(made[0], 0, 100) == []


@pytest.mark.parametrize("ends_with_run", [False, True])
def test_clock_is_put_right_and_envelopes_follow_it(
    tmp_path: Path, nodes: tuple[Node, Target], ends_with_run: bool
) -> None:
    nodes[1].ends_with_run = ends_with_run

    outcome = ended(tmp_path, CLOCK + DEPARTS, nodes[1])

    assert outcome.failure is not None
    assert outcome.failure.expected == "two to be 2", outcome.reason
    assert nodes[0].clock.offset_seconds == 0
