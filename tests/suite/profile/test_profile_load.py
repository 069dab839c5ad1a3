"""Faults of a profile file, and ready files."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from conformance.problems import DuplicateKey, LoadProblem, Unreadable
from conformance.profile import BadProfile, Profile, load_profile, load_ready_file


def write(folder: Path, text: str) -> Path:
    path = folder / "node.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def load(folder: Path, text: str) -> Profile:
    return load_profile(write(folder, text))


def faults(folder: Path, text: str) -> list[str]:
    """What is told of a text that is no profile, in lines without the name of the file."""
    path = write(folder, text)
    with pytest.raises(BadProfile) as caught:
        load_profile(path)
    lines = str(caught.value).splitlines()
    assert all(line.startswith(f"{path}:") for line in lines)
    return [line.removeprefix(f"{path}:") for line in lines]


def test_largest_page_may_be_smaller_than_a_size_that_is_left_out(tmp_path: Path) -> None:
    assert load(tmp_path, "limits: {page_size_max: 10}\n").limits.page_size_max == 10


def test_profile_of_differences_keeps_the_other_defaults(tmp_path: Path) -> None:
    profile = load(tmp_path, "limits: {page_size_default: 50}\nsemantics: {list_order_other: null}\n")
    assert profile.limits.page_size_default == 50
    assert profile.limits.page_size_max == Profile().limits.page_size_max
    assert profile.semantics.list_order_other is None
    assert profile.wire == Profile().wire


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("limits:\n  page_size: 3\n", "2: limits.page_size: there is no such key; did you mean page_size_max?"),
        ("limts: {}\n", "1: limts: there is no such key; did you mean limits? allowed here: accounts, attestation"),
        ("limits:\n  page_size_max: 0\n", "2: limits.page_size_max: input should be greater than or equal to 1; got 0"),
        ("limits:\n  page_size_max: '100'\n", '2: limits.page_size_max: input should be a valid integer; got "100"'),
        (
            "limits: {rate: slow}\n",
            "1: limits.rate: must be 'unlimited'; got \"slow\", or input should be a valid number",
        ),
        ("semantics: {group_id_scope: all}\n", "must be 'account' or 'global'; got \"all\""),
        ("semantics: {account_wallet_listed: 0}\n", "semantics.account_wallet_listed: input should be a valid boolean"),
        ("wire: {paging: 3}\n", "wire.paging: must be a mapping with keys of: container, first_page_number; got 3"),
        ("errors: {status_codes: {invalid: []}}\n", "errors.status_codes.invalid: "),
        ("errors: {status_codes: {invalid: [1000]}}\n", "errors.status_codes.invalid.0: input should be less than"),
        ("errors: {status_codes: {forbidden: [500]}}\n", "errors.status_codes.forbidden.0: input should be less than"),
        ("errors: {status_codes: {not_found: [200]}}\n", "errors.status_codes.not_found.0: input should be greater"),
        ("limits: {entries_per_write: 2}\n", "limits.entries_per_write: input should be greater than or equal to 6"),
        ("capabilities: [http]\n", "capabilities.0: must be 'managed_accounts', "),
        ("capabilities: [openapi, openapi]\n", "capabilities: openapi is listed twice"),
        ("capabilities: [chain_rpc]\n", "the capability chain_rpc needs chain.rpc_url"),
        ("capabilities: [clock_control]\n", "the capability clock_control needs control_url"),
        ("capabilities: [credit_control]\n", "the capability credit_control needs control_url"),
        ("capabilities: [certificate_control]\n", "the capability certificate_control needs control_url"),
        ("capabilities: [restart]\n", "the capability restart needs restart.command"),
        ("restart: {command: []}\n", "restart.command: "),
        ('restart: {command: ["a\\0b"]}\n', "restart.command.0: string should match"),
        ("restart: {command: [a], within_seconds: 0}\n", "restart.within_seconds: input should be greater than 0"),
        (
            "capabilities: [clock_control, funded_wallet]\n",
            "needs control_url; the capability funded_wallet needs chain.rpc_url; the capability funded_wallet needs",
        ),
        ("base_url: ftp://x\n", "base_url: string should match pattern"),
        ("base_url: http://n/core/v1/\n", "1: base_url: is the address without /core/v1"),
        (
            "wire: {operations: {method_and_path: {run_action: /run}}}\n",
            "method_and_path.run_action: string should match",
        ),
        (
            "wire: {operations: {method_and_path: {add_group: POST /g}}}\n",
            "method_and_path.add_group: there is no such",
        ),
        ("chain: {abi: {attach: {set_usage_api_key: 'set(uint)'}}}\n", "expected a type such as uint256"),
        (
            "chain:\n abi:\n  account: {can_execute: 'may(uint256 who)'}\n",
            "3: chain.abi.account.can_execute: nothing is known for the argument who; known here: keyHash",
        ),
        (
            "wire: {list_items: {fields: {action: {name: hashed_cid}}}}\n",
            "wire.list_items.fields.action: two members are called hashed_cid",
        ),
        (
            "wire: {operations: {method_and_path: {run_action: POST /create_wallet}}}\n",
            "method_and_path.run_action: POST /core/v1/create_wallet is create_wallet already",
        ),
        (
            "wire: {operations: {method_and_path: {account_exists: GET /list_groups}}}\n",
            "method_and_path.account_exists: GET /core/v1/list_groups is list_groups already",
        ),
        (
            "limits: {page_size_default: 50, page_size_max: 20}\n",
            "limits.page_size_default: 50 is more than limits.page_size_max, 20",
        ),
        ("exec: {sandbox_api: {namespace: a b}}\n", "exec.sandbox_api.namespace: string should match"),
        ("exec: {sandbox_api: {namespace: a.}}\n", "exec.sandbox_api.namespace: string should match"),
        ("exec: {failure_and_limits: {error_member: logs}}\n", "exec.failure_and_limits: two members are called logs"),
        ("errors: {body_shape: {code_member: status}}\n", "errors.body_shape: two members are called status"),
        (
            "wire: {chain_info: {further_members: [a, a, chain_id]}}\n",
            "wire.chain_info: two members are called a, chain_id",
        ),
        (
            "wire: {billing: {fields: {balance_display: balance_cents}}}\n",
            "wire.billing.fields: two members are called balance_cents",
        ),
        (
            "chain:\n abi:\n  account:\n   can_execute: 'may(uint256 keyHash, bytes32 cidHash, address pkpId)'\n",
            "chain.abi.account.can_execute: takes PKP ids of 20 bytes, but by wire.pkp.id_source.rule",
        ),
        ("- 1\n", "1: profile: must be a mapping with keys of: accounts, "),
    ],
)
def test_fault_is_told_with_line_key_and_what_is_allowed(text: str, said: str, tmp_path: Path) -> None:
    assert said in "\n".join(faults(tmp_path, text))


def test_section_set_to_null_states_nothing_about_its_keys(tmp_path: Path) -> None:
    profile = load(tmp_path, "semantics: null\nwire: {paging: null, list_items: null}\n")
    assert profile.semantics.settle_time_seconds is None
    assert profile.wire.paging.container is None
    assert not {key for key in profile.assumed if key.startswith(("semantics.", "wire.paging.", "wire.list_items."))}


def test_key_left_out_is_assumed(tmp_path: Path) -> None:
    profile = load(tmp_path, "wire: {paging: {container: {form: object}, first_page_number: null}}\n")
    of_paging = {key for key in profile.assumed if key.startswith("wire.paging.")}
    assert of_paging == {"wire.paging.container.items_member"}
    assert "semantics.group_id_scope" in profile.assumed
    assert "base_url" not in profile.assumed


def test_profile_that_extends_the_reference_assumes_nothing(tmp_path: Path) -> None:
    profile = load(tmp_path, "extends: reference\nlimits: {page_size_default: 50}\n")
    assert profile.assumed == frozenset()
    assert profile.limits.page_size_default == 50
    assert profile.limits.page_size_max == Profile().limits.page_size_max


@pytest.mark.parametrize("written", [f"0x{'ab' * 32}", "ab" * 32, f"'0x{'ab' * 32}'", f"'{'12' * 32}'", "12" * 32])
def test_key_in_place_of_its_variable_is_not_repeated(written: str, tmp_path: Path) -> None:
    (told,) = faults(tmp_path, f"chain: {{rpc_url: http://n, funder_key_variable: {written}}}\n")
    assert "has to be the name of an environment variable" in told
    assert told.count("key_variable") == 1
    assert re.search(r"(ab|12){8}|\d{20}", told) is None


def test_all_faults_are_told_in_the_order_of_the_file(tmp_path: Path) -> None:
    lines = faults(tmp_path, "semantics: {group_id_scope: x}\nlimits: {rate: 0}\nbrand: {slug: 'A B'}\n")
    assert [line.partition(": ")[0] for line in lines] == ["1", "2", "3"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [("", Unreadable), ("a: [\n", Unreadable), ("limits: {}\nlimits: {}\n", DuplicateKey)],
)
def test_file_that_is_no_yaml_mapping_is_told(text: str, problem: type[LoadProblem], tmp_path: Path) -> None:
    with pytest.raises(problem):
        load(tmp_path, text)


def test_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match=re.escape("absent.yaml")):
        load_profile(tmp_path / "absent.yaml")


READY = {
    "base_url": "http://127.0.0.1:1",
    "rpc_url": "http://127.0.0.1:1/rpc",
    "control_url": "http://127.0.0.1:1/control",
    "profile": {"capabilities": ["managed_accounts", "chain_rpc", "clock_control"], "brand": {"slug": "acme"}},
}


def test_ready_file_gives_the_profile_with_its_addresses(tmp_path: Path) -> None:
    profile = load_ready_file(write(tmp_path, json.dumps(READY)))
    assert profile.base_url == READY["base_url"]
    assert profile.chain.rpc_url == READY["rpc_url"]
    assert profile.control_url == READY["control_url"]
    assert profile.brand.slug == "acme"
    assert profile.offers("chain_rpc")


def test_ready_file_of_a_node_without_control_offers_no_clock(tmp_path: Path) -> None:
    ready = {**READY, "control_url": None, "profile": {"capabilities": ["chain_rpc"]}}
    assert load_ready_file(write(tmp_path, json.dumps(ready))).control_url is None


@pytest.mark.parametrize("content", ["[]", "{}", '{"profile": 3}'])
def test_file_that_is_no_ready_file_is_told(content: str, tmp_path: Path) -> None:
    with pytest.raises(BadProfile, match="a ready file is an object"):
        load_ready_file(write(tmp_path, content))


HOSTILE_SIGNATURES = {
    "deep": "f" + "(" * 3_000 + "uint8" + ")" * 3_000,
    "deep and short": "f" + "(" * 30 + "uint8" + ")" * 30,
    "many arguments": f"f({','.join(f'uint8 a{index}' for index in range(20_000))})",
    "many structs": f"f({','.join(['(uint8 a)'] * 300)})",
    "one long word": "f(" + "x" * 100_000,
    "control characters": "f(\x1b[31m\u202euint8)\n",
}


@pytest.mark.parametrize("kind", HOSTILE_SIGNATURES)
def test_hostile_signature_is_told_in_one_short_line(tmp_path: Path, kind: str) -> None:
    signature = json.dumps(HOSTILE_SIGNATURES[kind])
    (told,) = faults(tmp_path, f"chain:\n  abi:\n    account:\n      get_account: {signature}\n")
    assert told.startswith("4: chain.abi.account.get_account: ")
    assert told.isprintable()
    assert len(told) < 1_000


def test_faults_of_a_hostile_file_are_told_shortly(tmp_path: Path) -> None:
    keys = "".join(f"x{index}: 1\n" for index in range(1_000))
    lines = faults(tmp_path, f"base_url: {'y' * 100_000}\n? {'k' * 100_000}\n: 1\n{keys}")
    assert len(lines) == 52
    assert lines[-1] == " and 951 more"
    assert max(map(len, lines)) < 2_000


TITLE = 'brand: {title: "Élan ✓"}\n'


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_profile_is_read_in_the_encodings_of_yaml(encoding: str, tmp_path: Path) -> None:
    (tmp_path / "node.yaml").write_bytes(TITLE.encode(encoding))
    assert load_profile(tmp_path / "node.yaml").brand.title == "Élan ✓"


@pytest.mark.parametrize(
    ("text", "encoding", "said"),
    [
        ('# a\nbrand: {title: "Élan"}\n', "latin-1", ":2: the byte 0xc9 is not UTF-8: save the file in UTF-8"),
        ("brand: {title: x}\n", "utf-16-le", ": it holds NUL, as UTF-16 without a byte order mark does: save the file"),
        ("brand: {title: x}\n", "utf-16-be", ": it holds NUL, as UTF-16 without a byte order mark does: save the file"),
    ],
)
def test_profile_in_another_encoding_is_told_in_one_line(text: str, encoding: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "node.yaml").write_bytes(text.encode(encoding))
    with pytest.raises(LoadProblem) as problem:
        load_profile(tmp_path / "node.yaml")
    assert str(problem.value).startswith(f"{tmp_path / 'node.yaml'}{said}")
    assert "\n" not in str(problem.value)
