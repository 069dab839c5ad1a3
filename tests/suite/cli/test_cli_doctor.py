"""``service-conformance doctor``, and the quick part of it that ``run`` begins with."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tiny_node import Asked, TinyNode, Told, always

from conformance.cli import main
from conformance.doctor import Finding, State, first_look
from conformance.doctor.everything import examine
from conformance.endpoints.client import Target
from conformance.endpoints.patience import Patience
from conformance.problems import inconclusive
from conformance.profile import Profile, load_profile

HTML = "<!doctype html><html><title>Not here</title></html>"


def findings(node: TinyNode, profile: Profile | None = None, *, spends: bool = True) -> dict[str, Finding]:
    with Target(node.url, profile or Profile(), patience=Patience(5.0)) as target:
        return {found.check: found for found in first_look(target, spends=spends)}


def examined(node: TinyNode, profile: Profile | None = None) -> dict[str, Finding]:
    """What the whole of `doctor` finds, by its checks."""
    with Target(node.url, profile or Profile(), patience=Patience(5.0)) as target:
        return {found.check: found for found in examine(target)}


def profile(text: str) -> Profile:
    return Profile.model_validate_json(text)


ASKED_FIRST = ("get_node_chain_config", "get_api_payers", "list_groups", "openapi.json")


def test_node_that_a_run_can_judge_is_well(node: TinyNode) -> None:
    states = {name: one.state for name, one in findings(node).items()}

    assert states == dict.fromkeys(("address", "brand word", "credit"), State.WELL)
    assert "remove_group" in node.paths(), "what the look made is gone"


def test_member_that_is_missing_is_told_with_its_operation(node: TinyNode, capsys: pytest.CaptureFixture[str]) -> None:
    node.faults["new_account"] = always(200, {"apiKey": "k" * 300})

    assert main(["doctor", "--node-url", node.url]) == 1

    told = "".join(capsys.readouterr().out.split())
    assert "new_account:" in told
    assert "api_key" in told
    assert "…" not in told


def test_answer_that_repeats_a_key_is_told_without_it(node: TinyNode) -> None:
    node.faults["add_group"] = lambda asked: Told(402, {"detail": f"{asked.key} has no credit"})

    assert "$API_KEY_1 has no credit" in findings(node)["credit"].found


def test_look_that_may_not_spend_makes_nothing(node: TinyNode) -> None:
    assert "credit" not in findings(node, spends=False)
    assert "new_account" not in node.paths()


@pytest.mark.parametrize(
    ("told", "said"),
    [
        (Told(404, {"title": "no such path"}), "is not this service: /core/v1/get_node_chain_config 404"),
        (Told(200, HTML), "is not this service"),
        (Told(502, HTML), "from a gateway"),
        (Told(301, None, {"Location": "https://elsewhere.example"}), "sends elsewhere: https://elsewhere.example"),
    ],
)
def test_address_of_another_service_ends_the_run(node: TinyNode, told: Told, said: str) -> None:
    node.faults |= dict.fromkeys(ASKED_FIRST, lambda _: told)

    (found,) = findings(node).values()

    assert (found.state, found.ends_run) == (State.WRONG, True)
    assert said in found.found


def test_brand_word_that_the_description_contradicts_ends_the_run(node: TinyNode) -> None:
    node.faults["get_service_action_ipfs_id"] = always(404)
    node.faults["openapi.json"] = always(200, {"openapi": "3.1.0", "paths": {"/core/v1/get_acme_action_ipfs_id": {}}})

    found = findings(node)["brand word"]

    assert (found.ends_run, found.found) == (True, "the profile says 'service', the node's description 'acme'")
    assert "slug: acme" in found.mend


@pytest.mark.parametrize(
    ("faults", "check", "state", "ends"),
    [
        (dict.fromkeys(ASKED_FIRST, always(401, {"title": "no key"})), "address", State.DOUBTFUL, False),
        ({"get_node_chain_config": always(500), "get_api_payers": always(200, [])}, "address", State.WELL, False),
        ({"get_service_action_ipfs_id": always(404), "openapi.json": always(404)}, "brand word", State.WRONG, False),
        ({"add_group": always(402, {"title": "no credit"})}, "credit", State.WRONG, True),
        ({"add_group": always(500)}, "credit", State.WRONG, False),
    ],
    ids=["keys asked for everywhere", "one endpoint fails", "no brand path and no description", "no credit",
         "write fails otherwise"],
)  # fmt: skip
def test_only_what_leaves_nothing_to_judge_ends_the_run(
    node: TinyNode, faults: dict[str, Callable[[Asked], Told]], check: str, state: State, *, ends: bool
) -> None:
    node.faults |= faults

    found = findings(node)[check]

    assert (found.state, found.ends_run) == (state, ends)


def test_credit_is_not_looked_at_where_the_node_has_none(node: TinyNode) -> None:
    assert "credit" not in findings(node, profile('{"accounts": {"credits": null}}'))


@pytest.mark.parametrize(
    ("chain_id", "code", "state", "ends"),
    [
        ("0x7a69", "0x60", State.WELL, False),
        ("0x7a69", "0x", State.WRONG, False),
        ("0x1", "0x60", State.WRONG, False),
        ("0x1", "0x", State.WRONG, True),
    ],
)
def test_chain_of_another_id_without_the_contract_ends_the_run(
    node: TinyNode, chain_id: str, code: str, state: State, ends: bool
) -> None:
    def rpc(asked: Asked) -> Told:
        result = {"eth_chainId": chain_id, "eth_getCode": code}[str(asked.body["method"])]
        return Told(body={"jsonrpc": "2.0", "id": asked.body["id"], "result": result})

    node.faults["/rpc"] = rpc
    on_chain = profile(f'{{"capabilities": ["chain_rpc"], "chain": {{"rpc_url": "{node.url}/rpc"}}}}')

    found = findings(node, on_chain)["chain"]

    assert (found.state, found.ends_run) == (state, ends)


def test_paths_that_are_not_there_are_named(node: TinyNode) -> None:
    node.faults["create_wallet"] = always(404)
    node.faults["add_action"] = always(405)

    found = examined(node)["paths"]

    assert found.state is State.WRONG
    assert found.found.startswith("2 of ")
    assert "POST /core/v1/create_wallet (404)" in found.found
    assert "POST /core/v1/add_action (405)" in found.found


@pytest.mark.parametrize(
    ("date", "state"), [("Thu, 01 Jan 1970 00:00:00 GMT", State.DOUBTFUL), ("yesterday", State.WRONG)]
)
def test_date_that_is_not_this_machines_is_told(node: TinyNode, date: str, state: State) -> None:
    node.faults["get_node_chain_config"] = always(200, {"chain_id": 1, "contract_address": "0x"}, Date=date)

    assert examined(node)["Date header"].state is state


@pytest.mark.parametrize(("module", "state"), [("json", State.WELL), ("no_such_module", State.WRONG)])
def test_verifier_that_is_not_installed_is_told(
    node: TinyNode, monkeypatch: pytest.MonkeyPatch, module: str, state: State
) -> None:
    monkeypatch.setattr(inconclusive, "VERIFIER_LIBRARIES", (module,))
    found = examined(node, profile('{"capabilities": ["attestation"]}'))["verifier"]
    assert found.state is state
    assert ("service-conformance[attestation]" in found.mend) is (state is State.WRONG)


@pytest.fixture
def funded(node: TinyNode) -> dict[str, object]:
    """The chain of a node that offers one, for its profile, and the variable that holds the funder's key."""
    node.faults["/rpc"] = lambda asked: Told(body={"jsonrpc": "2.0", "id": asked.body["id"], "result": "0x7a69"})
    return {"rpc_url": f"{node.url}/rpc", "funder_key_variable": "SUITE_FUNDER"}


def ether_of(node: TinyNode, chain: dict[str, object]) -> Finding:
    on_chain = {"capabilities": ["chain_rpc", "funded_wallet"], "chain": chain}
    return examined(node, profile(json.dumps(on_chain)))["ether"]


def test_missing_key_of_the_funder_is_told(
    node: TinyNode, funded: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SUITE_FUNDER", raising=False)
    assert "SUITE_FUNDER" in ether_of(node, funded).found


@pytest.mark.parametrize(("stated", "state"), [(None, State.DOUBTFUL), (31337, State.WELL)])
def test_funder_that_would_pay_on_any_chain_is_told(
    node: TinyNode, funded: dict[str, object], monkeypatch: pytest.MonkeyPatch, stated: int | None, state: State
) -> None:
    monkeypatch.setenv("SUITE_FUNDER", "0x" + "1" * 64)
    found = ether_of(node, {**funded, "id": stated})
    assert found.state is state
    assert ("chain.id" in found.mend) is (state is State.DOUBTFUL)


@pytest.mark.parametrize(
    ("command", "state", "said"),
    [
        ("./again.sh", State.WELL, "this does not"),
        ("sh", State.WELL, "this does not"),
        ("./missing.sh", State.WRONG, "no program ./missing.sh"),
        ("no-such-program", State.WRONG, "no program no-such-program"),
    ],
)
def test_programs_that_restart_the_node_are_looked_for_and_not_run(
    node: TinyNode, tmp_path: Path, command: str, state: State, said: str
) -> None:
    (tmp_path / "again.sh").write_text("#!/bin/sh\ntouch done\n", encoding="utf-8")
    (tmp_path / "again.sh").chmod(0o700)
    commands = {"command": ["sh"], "kill_command": [command, "-c", "touch done"]}
    stated = {"capabilities": ["restart"], "restart": commands}
    (tmp_path / "node.yaml").write_text(json.dumps(stated), encoding="utf-8")
    found = examined(node, load_profile(tmp_path / "node.yaml"))["restart"]
    assert found.state is state
    assert said in found.found
    assert not (tmp_path / "done").exists()


def test_doctor_prints_a_table_and_its_exit_code_tells(
    node: TinyNode, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "250")
    path = tmp_path / "node.yaml"
    path.write_text(f"base_url: {node.url}\ncapabilities: [managed_accounts]\n", encoding="utf-8")
    node.faults["create_wallet"] = always(404)
    assert main(["doctor", "--profile", str(path)]) == 1
    assert "POST /core/v1/create_wallet" in " ".join(capsys.readouterr().out.split())
    assert main(["doctor"]) == 2
    assert capsys.readouterr().err == (
        "service-conformance: which node? name it with --node-url, or in base_url of the profile\n"
    )


def test_run_ends_in_one_line_where_nothing_could_come_of_it(
    node: TinyNode, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    node.faults["add_group"] = always(402, {"title": "no credit"})

    assert main(["run", "--node-url", node.url, "--output", "out"]) == 2

    printed = capsys.readouterr()
    assert printed.err.strip().count("\n") == 0
    assert "a new account cannot pay: status 402" in printed.err
    assert not Path("out/results.json").exists()


def signing_node(node: TinyNode, apart: int, window: int = 300) -> None:
    """Let the node take envelopes that are at most `window` seconds from a time that is `apart` from ours."""

    def judge(asked: Asked) -> Told:
        typed = asked.body["typed_data"]
        assert isinstance(typed, dict)
        in_window = abs(int(typed["message"]["issuedAt"]) - time.time() - apart) <= window
        return Told(200, {"wallet_address": "0x" + "ab" * 20, "derivation_path": "1"}) if in_window else Told(401, {})

    node.faults["create_wallet_with_signature"] = judge


@pytest.mark.parametrize(
    ("apart", "state"),
    [(0, State.WELL), (-20, State.WELL), (120, State.DOUBTFUL), (-290, State.DOUBTFUL), (400, State.WRONG),
     (-1900, State.WRONG), (7200, State.WRONG), (-36_000, State.WRONG)],
)  # fmt: skip
@pytest.mark.parametrize("window", [300, 290])
def test_clock_is_measured_by_envelopes_whatever_the_date_says(
    node: TinyNode, apart: int, window: int, state: State
) -> None:
    signing_node(node, apart, window)

    found = examined(node)["clock"]

    assert found.state is state, found.found
    said = re.match(r"(\d+) s (from|ahead of|behind) this machine's: signed envelopes count from", found.found)
    assert said, found.found
    assert abs(int(said[1]) - abs(apart)) <= 8, found.found
    if state is not State.WELL:
        assert said[2] == ("ahead of" if apart > 0 else "behind")


@pytest.mark.parametrize(("window", "said"), [(-1, "whenever it was issued"), (10**9, "600 s from others")])
def test_clock_of_a_node_that_takes_no_envelope_or_every_one_is_open(node: TinyNode, window: int, said: str) -> None:
    signing_node(node, 0, window)
    found = examined(node)["clock"]
    assert (found.state, said in found.found) == (State.DOUBTFUL, True)


def test_clock_is_not_tried_where_mints_are_no_answer(node: TinyNode) -> None:
    node.faults["create_wallet_with_signature"] = always(503)
    found = examined(node)["clock"]
    assert (found.state, "503" in found.found) == (State.NOT_TRIED, True)
