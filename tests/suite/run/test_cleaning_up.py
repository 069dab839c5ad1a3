"""What a case leaves behind on a node where it gave an account away, or whose clock it moved: nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from conformance.run.runner import Target
from conformance.selftest.tools.serving import target_node
from conformance.verdict import Outcome, Verdict
from reference_node.node import Node

Run = Callable[[str], Outcome]
CASE = """
from conformance.service.envelopes import sign_envelope

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


@pytest.fixture
def target(nodes: tuple[Node, Target]) -> Target:
    return nodes[1]


@pytest.mark.parametrize(("end", "verdict"), [(PASSES, Verdict.PASS), (DEPARTS, Verdict.FAIL)])
def test_account_that_changed_hands_is_emptied_on_the_chain(
    run_python: Run, nodes: tuple[Node, Target], monkeypatch: pytest.MonkeyPatch, end: str, verdict: Verdict
) -> None:
    made: list[int] = []
    accounts = nodes[0].accounts
    new_account = accounts.new_account
    monkeypatch.setattr(accounts, "new_account", lambda *given: (made.append(given[0]), new_account(*given)))

    outcome = run_python(CASE + CONVERSION + end)

    assert outcome.verdict is verdict, outcome.reason
    assert not accounts.account(made[0]).managed
    assert accounts.groups(made[0], 0, 100) == []
    assert accounts.usage_keys(made[0], 0, 100) == []


@pytest.mark.parametrize("ends_with_run", [False, True])
def test_clock_is_put_right_and_envelopes_follow_it(
    run_python: Run, nodes: tuple[Node, Target], target: Target, ends_with_run: bool
) -> None:
    target.ends_with_run = ends_with_run

    outcome = run_python(CASE + CLOCK + DEPARTS)

    assert outcome.failure is not None
    assert outcome.failure.expected == "two to be 2", outcome.reason
    assert nodes[0].clock.offset_seconds == 0
