"""`reference-node serve --seed-accounts FILE`: accounts that are there from the start, the same on every node."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest
from actions import KEY, ran, run
from nodes import Running, refused, serving

from reference_node.assembly import build_node
from reference_node.chain.account_config import AccountConfig
from reference_node.keeping import seed_file
from reference_node.keeping.seed_file import SeedError, read_seeds
from reference_node.serving.listening import write_atomically
from reference_node.settings import Settings

GIVEN = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
SECRET = bytes(range(32))

FILE = f"""
seed: tests of seeds
accounts:
  - name: alice
    description: the first
    credits: 50
    wallets: [signing, idle]
    groups:
      - {{name: signers, wallets: [signing], actions: any}}
      - {{name: everything, description: d, wallets: any, actions: [QmbWqxBEKC3P8tqsKc98xmWNzrzDtRLMiMPL8wBuTGsMnR]}}
    usage_keys:
      - {{name: runner, execute_in_groups: [signers], can_create_groups: true}}
      - {{name: adder, key: "{GIVEN}", add_pkp_to_groups: any, remove_pkp_from_groups: [everything, signers]}}
  - name: bob
"""


def written(folder: Path, text: str = FILE) -> Path:
    file = folder / "accounts.yaml"
    file.write_text(text, encoding="utf-8")
    return file


def seeded(folder: Path, **more: Any) -> Settings:
    return Settings(
        port=0, starter_credits=7, control=True, seed_accounts=written(folder), root_secret=SECRET, payers=1, **more
    )


def seen(running: Running) -> Any:
    accounts = running.ready["accounts"]
    return accounts, [running.everything(account["api_key"]) for account in accounts.values()]


def test_accounts_are_as_the_file_says(tmp_path: Path) -> None:
    with serving(seeded(tmp_path)) as running:
        alice, bob = running.ready["accounts"]["alice"], running.ready["accounts"]["bob"]
        key, runner = alice["api_key"], alice["usage_keys"]["runner"]
        everything = running.everything(key)
        assert [(wallet["name"], wallet["id"]) for wallet in everything["wallets"]] == [
            (name, wallet["pkp_id"]) for name, wallet in alice["wallets"].items()
        ]
        assert [group["id"] for group in everything["groups"]] == [*alice["groups"].values()] == [1, 2]
        (signing,), (wildcard,) = everything["in groups"][0]
        assert (signing["id"], wildcard["hashed_cid"]) == (alice["wallets"]["signing"]["pkp_id"], "0x" + "00" * 32)
        (any_wallet,), (action,) = everything["in groups"][1]
        assert any_wallet["id"] == "0x" + "00" * 32 != action["hashed_cid"]
        permissions = {item["name"]: item for item in everything["keys"]}
        assert (permissions["runner"]["execute_in_groups"], permissions["runner"]["can_create_groups"]) == ([1], True)
        assert permissions["adder"]["add_pkp_to_groups"] == [0]
        assert permissions["adder"]["remove_pkp_from_groups"] == [1, 2]
        assert alice["usage_keys"]["adder"] == GIVEN
        balances = [running.balance(account["api_key"]) for account in (alice, bob)]
        assert balances == [50, 7]
        assert ran(running, runner, KEY, pkpId=alice["wallets"]["signing"]["pkp_id"])
        refused(run(running, runner, KEY, pkpId=alice["wallets"]["idle"]["pkp_id"]), 403)


def test_two_nodes_and_a_reset_have_the_same_accounts(tmp_path: Path) -> None:
    with serving(seeded(tmp_path)) as running:
        first = seen(running)
        running.done("remove_group", first[0]["alice"]["api_key"], group_id="1")
        running.http.post("/control/reset", json={}).raise_for_status()
        assert seen(running) == first
    with serving(seeded(tmp_path)) as running:
        assert seen(running) == first


def test_state_has_the_accounts_once_and_leaves_them_as_they_are(tmp_path: Path) -> None:
    state = tmp_path / "state"
    with serving(seeded(tmp_path, state=state)) as running:
        key = running.ready["accounts"]["alice"]["api_key"]
        running.done("remove_group", key, group_id="1")
        running.done("create_wallet", key)
        changed = seen(running)
    with serving(seeded(tmp_path, state=state)) as running:
        assert seen(running) == changed
        assert running.balance(key) == 48
        running.http.post("/control/reset", json={}).raise_for_status()
        assert len(running.everything(key)["groups"]) == 2


@pytest.mark.parametrize("stopped_at", ["new_account", "create_wallet", "add_group", "set_usage_key"])
def test_start_that_died_amid_an_account_is_finished_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stopped_at: str
) -> None:
    with serving(seeded(tmp_path)) as running:
        whole = seen(running)
    write = getattr(AccountConfig, stopped_at)

    def dies(*values: object) -> None:
        write(*values)
        raise KeyboardInterrupt

    state = tmp_path / "state"
    with monkeypatch.context() as dying:
        dying.setattr(AccountConfig, stopped_at, dies)
        with pytest.raises(KeyboardInterrupt):
            build_node(seeded(tmp_path, state=state))
    with serving(seeded(tmp_path, state=state)) as running:
        assert seen(running) == whole


def test_account_added_to_the_file_is_made_at_the_next_start(tmp_path: Path) -> None:
    state = tmp_path / "state"
    build_node(seeded(tmp_path, state=state)).close()
    more = Settings(port=0, seed_accounts=written(tmp_path, FILE + "  - name: carol\n"), state=state)
    with serving(more) as running:
        assert [*running.ready["accounts"]] == ["alice", "bob", "carol"]
        for account in running.ready["accounts"].values():
            running.everything(account["api_key"])


def test_json_is_taken_too(tmp_path: Path) -> None:
    file = written(tmp_path, json.dumps({"accounts": [{"name": "alice", "key": GIVEN}]}, indent=2))
    assert read_seeds(file).accounts[0].key == GIVEN


BAD = {
    "seed: short\naccounts: [{name: a}]": "line 1: seed: String should have at least 8 characters",
    "seed: long enough\naccounts: []": "line 2: accounts: List should have at least 1 item",
    "seed: long enough\naccounts:\n- name: a\n  wallet: [b]": (
        "line 4: accounts.0.wallet: no member of this part, which takes name, description, key"
    ),
    "seed: long enough\naccounts:\n- name: a\n- name: a": "line 4: accounts.1: 'a' comes twice",
    "seed: long enough\naccounts:\n- name: a\n  name: b": ":4: 'name' comes twice",
    "accounts:\n- name: a": "line 2: accounts.0: it has no key: give it one, or the file a seed",
    f"accounts:\n- name: a\n  key: {GIVEN}\n  wallets: [w]": "line 4: accounts.0.wallets: wallets follow from a seed",
    f"accounts:\n- {{name: a, key: {GIVEN}}}\n- {{name: b, key: {GIVEN}}}": "line 3: accounts.1: another has the same",
    f"accounts:\n- name: a\n  key: {'A' * 43}=": "line 3: accounts.0.key: write base64 of 32 bytes",
    "seed: long enough\naccounts:\n- name: a\n  groups:\n  - name: g\n    wallets: [w]": (
        "line 6: accounts.0.groups.0.wallets.0: the account has no 'w', only none at all"
    ),
    "seed: long enough\naccounts:\n- name: a\n  groups:\n  - name: g\n    actions: all": (
        "line 6: accounts.0.groups.0.actions: Input should be 'any'"
    ),
    "seed: long enough\naccounts:\n- name: a\n  groups:\n  - name: g\n    actions:\n    - Qm": (
        "line 7: accounts.0.groups.0.actions.0: write a CID"
    ),
    "seed: long enough\naccounts:\n- name: a\n  usage_keys:\n  - name: k\n    execute_in_groups: [g]": (
        "line 6: accounts.0.usage_keys.0.execute_in_groups.0: the account has no 'g'"
    ),
    "seed: long enough\naccounts:\n- name: 7": "line 3: accounts.0.name: Input should be a valid string",
    "accounts: [": ":1: expected the node content",
    "": "line 1: the file: Input should be",
    "[]": "line 1: the file: Input should be",
    "accounts: &a [*a]\n": ":1: its aliases make more than 1000000 values",
    "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 40)): ":1: its aliases make",
    "seed: 12345678\naccounts: 2020-99-99\n": ":2: the value can't be read",
    "accounts:\n- {name: a, credits: " + "9" * 5000 + "}\n": ":2: the value can't be read",
    "seed: 12345678\naccounts:\n" + "- " * 300 + "x": ":3: is nested too deeply",
    "seed: 12345678\naccounts: " + "[" * 50 + "]" * 50: ":2: is nested too deeply",
    "seed: 12345678\naccounts: \x07": ":2: special characters are not allowed: #x0007",
    "seed: long enough\naccounts:\n- name: a\n  wallets: [" + ",".join(f"w{n}" for n in range(99)) + "]\n  groups:\n"
    "  - {name: g, wallets: [w]}\n": "'w8', 'w9', …",
    "accounts: !!bool perhaps\n": ":1: the value can't be read",
}


@pytest.mark.parametrize("text", BAD)
def test_fault_of_the_file_is_told_with_its_line(tmp_path: Path, text: str) -> None:
    file = written(tmp_path, text)
    with pytest.raises(SeedError) as refusal:
        read_seeds(file)
    assert str(refusal.value).startswith(str(file))
    assert BAD[text] in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_names_of_many_accounts_are_compared_at_once() -> None:
    class Counted(str):
        compared = 0

        def __eq__(self, other: object) -> bool:
            Counted.compared += 1
            return str.__eq__(self, other)  # type: ignore[arg-type]

        __hash__ = str.__hash__

    names = [Counted(f"name{index}") for index in range(2_000)]
    assert list(seed_file._repeated(("accounts",), [*names, Counted("name7")])) == [
        (("accounts", 2_000), "'name7' comes twice")
    ]
    assert Counted.compared < 100


def test_ready_file_with_keys_is_for_its_owner_alone(tmp_path: Path) -> None:
    write_atomically(tmp_path / "ready.json", "{}", private=True)
    assert stat.S_IMODE((tmp_path / "ready.json").stat().st_mode) == 0o600
