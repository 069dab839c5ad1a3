"""Cases that restart the node: when they run, and what a node that does not come back means for the others."""

from __future__ import annotations

import sys

import pytest
from plugin_project import cases, run, verdicts
from tiny_node import TinyNode

from conformance.endpoints.restart import STEADY

pytest_plugins = ["pytester"]

RESTARTING = '''
from conformance.cases import Judge, case
from conformance.service.accounts import Accounts
from conformance.service.groups import Groups
from conformance.service.restarts import Restarts


@case("restarts", requirements=["GRP-010"], needs=["restart"])
def restarts(judge: Judge, accounts: Accounts, groups: Groups, restarts: Restarts) -> None:
    """An account is the same after a restart."""
    alice = accounts.new().key
    restarts.stop()
    with judge():
        judge.same(groups.list(alice), [], "the groups of the account")
'''
SAYS_NO = "import sys; sys.exit('no such unit')"
OF_PROFILE = ("--conformance", "--profile", "profile.yaml", "--output", "out")
BOTH = ("--case", "again::restarts", "--case", "*::passes")


def given(project: pytest.Pytester, node: TinyNode, program: str) -> None:
    """A pack, before the others by its name, that restarts the node by this program."""
    (project.path / "packs" / "again.py").write_text(RESTARTING, encoding="utf-8")
    (project.path / "profile.yaml").write_text(
        f"base_url: {node.url}\ncapabilities: [managed_accounts, restart]\n"
        f"restart: {{command: [{sys.executable}, -c, {program!r}]}}\n",
        encoding="utf-8",
    )


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_node_that_is_not_restarted_makes_the_last_case_inconclusive(
    project: pytest.Pytester, node: TinyNode, jobs: str
) -> None:
    given(project, node, SAYS_NO)

    run(project, *OF_PROFILE, "--restart", *BOTH, "--jobs", jobs)

    assert verdicts(project) == {"passes": "pass", "restarts": "inconclusive"}
    (told,) = [case["reason"] for case in cases(project) if case["verdict"] == "inconclusive"]
    assert "the node did not come back from a restart" in told
    assert "no such unit" in told
    assert [asked.path for asked in node.asked][-1] == "new_account", "the case that restarts is the last one"


def test_case_that_restarts_is_not_offered_unless_the_profile_says_how(
    project: pytest.Pytester, node: TinyNode
) -> None:
    given(project, node, SAYS_NO)

    run(project, "--node-url", node.url, "--output", "out", *BOTH)

    assert verdicts(project) == {"passes": "pass", "restarts": "not offered"}


def test_case_goes_on_with_the_node_that_came_back(project: pytest.Pytester, node: TinyNode) -> None:
    given(project, node, "")

    run(project, *OF_PROFILE, "--restart", "--case", "again::restarts")

    assert verdicts(project) == {"restarts": "pass"}
    assert node.paths() == ["new_account", *["get_node_chain_config"] * STEADY, "list_groups"]


def test_quick_run_restarts_nothing(project: pytest.Pytester, node: TinyNode) -> None:
    given(project, node, SAYS_NO)

    run(project, *OF_PROFILE, "--restart", "--quick", *BOTH)

    assert verdicts(project) == {"passes": "pass"}


def test_profile_alone_has_no_program_run(project: pytest.Pytester, node: TinyNode) -> None:
    given(project, node, "open('ran', 'w')")

    run(project, *OF_PROFILE, "--case", "again::restarts")

    assert verdicts(project) == {"restarts": "not offered"}
    assert "which --restart permits" in cases(project)[0]["reason"]
    assert not (project.path / "ran").exists()
