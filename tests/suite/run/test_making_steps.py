"""The steps `new_wallet`, `new_group` and `new_key`: what they send, what they give, and that they judge nothing."""

from __future__ import annotations

from collections.abc import Callable

from tiny_node import TinyNode, always

from conformance.verdict import Outcome, Verdict

Run = Callable[[str], Outcome]
ADDRESS = "0x" + "ab" * 20
PKP = "0x" + "cd" * 32


def asked(node: TinyNode, path: str) -> list[dict[str, object]]:
    return [request.body for request in node.asked if request.path == path]


def test_new_key_sends_all_permission_fields(run: Run, node: TinyNode) -> None:
    node.faults |= {
        "add_usage_api_key": always(200, {"usage_api_key": "a-key-of-some-length"}),
        "list_groups": always(200, []),
    }

    outcome = run("""\
        steps:
          - account: alice
          - new_key: key
            with: {can_create_groups: true, execute_in_groups: [3]}
          - {call: list_groups, as: "${key}"}
        """)

    assert outcome.verdict is Verdict.PASS, outcome.reason
    assert "a-key-of-some-length" in [request.key for request in node.asked if request.path == "list_groups"]
    (sent,) = asked(node, "add_usage_api_key")
    assert str(sent.pop("name")).endswith(" key")
    sent.pop("description")
    assert sent == {
        "can_create_groups": True,
        "can_delete_groups": False,
        "can_create_pkps": False,
        "manage_ipfs_ids_in_groups": [],
        "add_pkp_to_groups": [],
        "remove_pkp_from_groups": [],
        "execute_in_groups": [3],
    }


def test_new_group_takes_its_id_from_the_answer(run: Run, node: TinyNode) -> None:
    node.faults |= {
        "add_group": always(200, {"success": True, "group_id": 7}),
        "remove_group": always(200, {"success": True}),
    }

    outcome = run("""\
        steps:
          - account: alice
          - new_group: team
            with: {pkp_ids_permitted: [x], cid_hashes_permitted: [y, z]}
          - {call: remove_group, with: {group_id: "${team.id}"}}
        """)

    assert outcome.verdict is Verdict.PASS, outcome.reason
    assert asked(node, "remove_group")[0] == {"group_id": "7"}
    (sent,) = asked(node, "add_group")
    assert (sent["pkp_ids_permitted"], sent["cid_hashes_permitted"]) == (["x"], ["y", "z"])


def test_new_wallet_takes_its_id_from_the_list(run: Run, node: TinyNode) -> None:
    node.faults["create_wallet"] = always(200, {"wallet_address": ADDRESS})
    node.faults["list_wallets"] = always(200, [{"id": PKP, "wallet_address": ADDRESS}])

    outcome = run("""\
        steps:
          - account: alice
          - new_wallet: p
          - {call: add_group, with: {group_name: "${p.id} ${p.address}"}}
        """)

    assert outcome.verdict is Verdict.PASS, outcome.reason
    assert asked(node, "add_group")[0]["group_name"] == f"{PKP} {ADDRESS}"


def test_what_makes_the_setting_judges_nothing(run: Run, node: TinyNode) -> None:
    node.faults["add_group"] = always(403)

    outcome = run("steps: [{account: alice}, {new_group: team}, {list: list_groups}]")

    assert outcome.verdict is Verdict.INCONCLUSIVE
