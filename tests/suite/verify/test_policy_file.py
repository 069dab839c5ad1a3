"""Policy files and files of measurements: what they say, what is wrong with one, and which one is written."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator
from made_evidence import ACCOUNT, ATTESTATION, DOMAIN, HONEST, MADE, another, in_json, made, running

from conformance.problems import LoadProblem
from conformance.selftest.attestation.sound_evidence import COMPOSE
from conformance.verify import Expected, Policy, Rule, Signer, Sources, StatementPolicy, TcbStatus, verify
from conformance.verify.policy_file import MOST_BYTES, SECTIONS, load_measurements, load_policy, policy_of
from conformance.verify.policy_form import SCHEMA_FILE, PolicyForm, schema_text
from conformance.verify.policy_writing import policy_text
from conformance.verify.statement import Result
from reference_node.tee.event_log import replay

PEM = MADE.platform.root_pem
REGISTERS = dict(zip(("mrtd", "rtmr0", "rtmr1", "rtmr2"), (MADE.report.mr_td, *replay(MADE.events)), strict=False))
SET = {name: value.hex() for name, value in REGISTERS.items()}

WHOLE = f"""\
root: root.pem
collateral:
  pccs: http://127.0.0.1:8081
  max_age_days: 30
tcb:
  accept: [UpToDate, SWHardeningNeeded]
  max_age_days: 400
td:
  allow_debug: true
  allow_ve_injection: true
boot:
  file: boot.json
app:
  id: "0x{MADE.who.app_id.hex()}"
  instance_id: "{MADE.who.instance_id.hex()}"
  compose_hash: ["{MADE.who.compose_hash.hex().upper()}"]
  compose_file: compose.yaml
  image_digests: ["sha256:{"ab" * 32}"]
  os_image_hash: ["{"cd" * 32}"]
  key_provider: {{name: kms, id: "00ff"}}
contract:
  rpc_url: https://rpc.example
caa:
  resolver: 127.0.0.1:53
  accounts: [{ACCOUNT}]
  allow_other_accounts: true
statement:
  signers: [{{key: signer.pem, name: a laboratory}}]
  max_age_days: 90
  accept: [WARNED]
"""
SIGNER = """\
-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAOYVFevxeA82n1Rs9quWAH/A+wB3AjWo8WEFobQUHaM4=
-----END PUBLIC KEY-----
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "root.pem").write_text(PEM)
    (tmp_path / "compose.yaml").write_text(COMPOSE)
    (tmp_path / "signer.pem").write_text(SIGNER)
    (tmp_path / "boot.json").write_text(json.dumps(SET))
    return tmp_path


def policy_file(folder: Path, text: str) -> Path:
    (folder / "policy.yaml").write_text(text)
    return folder / "policy.yaml"


def unset(value: Policy | Expected) -> set[str]:
    """The fields that have their defaults."""
    default = type(value)()
    return {field.name for field in fields(value) if getattr(value, field.name) == getattr(default, field.name)}


def test_every_key_reaches_the_policy(folder: Path) -> None:
    read = load_policy(policy_file(folder, WHOLE))
    policy = read.policy
    assert unset(policy) == {"at"}
    assert unset(policy.expected) == set()
    assert policy.accepted_statuses == {TcbStatus.UP_TO_DATE, TcbStatus.SW_HARDENING_NEEDED}
    assert policy.expected.compose_hashes == {MADE.who.compose_hash}
    assert [one.name for one in policy.measurements] == ["boot"]
    believed = StatementPolicy((Signer(SIGNER.encode(), "a laboratory"),), 90 * 86400, frozenset({Result.WARNED}))
    assert policy.statement == believed
    assert read.sources == Sources("http://127.0.0.1:8081", None, "127.0.0.1:53", "https://rpc.example")


def test_policy_that_says_nothing_is_the_default(folder: Path) -> None:
    assert load_policy(policy_file(folder, "root: intel\n")).policy == Policy()
    assert policy_of({}).policy == Policy()


def test_every_section_is_read() -> None:
    assert list(SECTIONS) == list(PolicyForm.model_fields)


def test_published_schema_is_that_of_the_form() -> None:
    assert SCHEMA_FILE.read_text(encoding="utf-8") == schema_text()
    schema = json.loads(schema_text())
    Draft202012Validator.check_schema(schema)
    assert Draft202012Validator(schema).is_valid(yaml.safe_load(WHOLE))


EITHER = "signers: name either key, or identity and issuer"
BAD = {
    "": "is empty",
    "[]": ":1: the file: ",
    "root: intel\nroot: intel\n": ":2: the key 'root' stands here twice",
    "root: [\n": "is not YAML",
    "root: intel\nboots: 1\n": ":2: boots: no such key",
    "root: no.pem\n": ":1: root: ",
    "root: compose.yaml\n": ":1: root: no certificate that can be read",
    "root: |\n  -----BEGIN CERTIFICATE-----\n  abc\n": ":1: root: no certificate",
    "tcb:\n  accept: [UpToDate, Fine]\n": ":2: tcb.accept.1: Input should be 'UpToDate'",
    "tcb:\n  accept: []\n": ":2: tcb.accept: ",
    "collateral:\n  max_age_days: 0\n": ":2: collateral.max_age_days: ",
    "collateral:\n  max_age_days: '30'\n": ":2: collateral.max_age_days: ",
    "collateral:\n  max_age_days: 1.5\n": ":2: collateral.max_age_days: ",
    "collateral:\n  pccs: http://x\n  file: y\n": ":1: collateral: name either pccs or file",
    "td:\n  allow_debug: 1\n": ":2: td.allow_debug: ",
    "app:\n  id: 0x00\n": ":2: app.id: Input should be a valid string; write it in quotes",
    "app:\n  id: abcd\n": ":2: app.id: ",
    "app:\n  image_digests:\n    - sha256:AB\n": ":3: app.image_digests.0: ",
    "app:\n  compose_hash: abcd\n": ":2: app.compose_hash: ",
    "app:\n  key_provider:\n    kind: kms\n": ":3: app.key_provider.kind: no such key",
    "app:\n  compose_file: no.yaml\n": ":1: app: ",
    "boot:\n  measurements:\n    - name: x\n": ":3: boot.measurements.0.mrtd: is missing",
    "boot:\n  file: no.yaml\n": "no.yaml: cannot be read",
    "boot:\n  file: root.pem\n": "root.pem:",
    "boot:\n  file: boot.json\n  measurements: [" + json.dumps(SET) + "]\n": "name either measurements or file",
    "contract:\n  rpc_url: ftp://x\n": ":2: contract.rpc_url: ",
    "caa:\n": ":1: caa: Input should be an object",
    "statement:\n  max_age_days: 3\n": ":1: statement: name the signers whose statements are believed",
    "statement:\n  signers:\n    - key: no.pem\n": ":1: statement: ",
    "statement:\n  signers:\n    - key: root.pem\n": ":1: statement: signers: no public key in PEM",
    "statement:\n  signers:\n    - signer.pem\n": ":3: statement.signers.0: ",
    "statement:\n  signers: []\n  signers: []\n": ":3: the key 'signers' stands here twice",
    "statement:\n  signers: [{name: nobody}]\n": f":1: statement: {EITHER}",
    "statement:\n  signers: [{identity: a@b.example}]\n": f":1: statement: {EITHER}",
    "statement:\n  signers: [{key: signer.pem, issuer: https://a.example}]\n": f":1: statement: {EITHER}",
    "statement:\n  signers: [{identity: a, issuer: b}]\n  trusted_root: root.pem\n": (
        ":1: statement: trusted_root: no trusted root of Sigstore"
    ),
    "statement:\n  accept: [FAILED]\n": ":2: statement.accept.0: ",
    "statement:\n  accept: []\n": ":2: statement.accept: ",
    "statement:\n  max_age_days: -1\n": ":2: statement.max_age_days: ",
    "statement:\n  keys: []\n": ":2: statement.keys: no such key",
    "a: &a [*a]\n": "an alias holds itself",
    "x: " + "[" * 300 + "\n": "not YAML",
    "root: " + "x" * (MOST_BYTES + 1): "is longer than",
}


@pytest.mark.parametrize("text", BAD, ids=lambda text: repr(text[:40]))
def test_bad_policy_is_told_with_file_line_and_key(folder: Path, text: str) -> None:
    with pytest.raises(LoadProblem) as told:
        load_policy(policy_file(folder, text))
    assert str(told.value).startswith(str(folder))
    assert BAD[text] in str(told.value)
    assert str(told.value).count("\n") < 8


PRINTED = {
    "json": json.dumps(SET),
    "yaml": "".join(f"{name}: {value}\n" for name, value in SET.items()),
    "older": json.dumps(SET | {"mr_aggregated": "ab" * 32, "mr_image": "cd" * 32}),
    "oldest": json.dumps(SET | {"mr_enclave": "ab" * 32, "mr_image": "cd" * 32}),
    "upper": json.dumps({name: f"0x{value.upper()}" for name, value in SET.items()}),
    "named": json.dumps(SET | {"name": "image 1", "source": "built from source"}),
    "list": json.dumps([SET | {"name": "other", "rtmr0": "00" * 48}, SET]),
}


@pytest.mark.parametrize("text", PRINTED.values(), ids=PRINTED)
def test_measurements_are_read_as_dstack_mr_prints_them(tmp_path: Path, text: str) -> None:
    (tmp_path / "image.json").write_text(text)
    *_, one = load_measurements(tmp_path / "image.json")
    assert {name: getattr(one, name) for name in REGISTERS} == REGISTERS
    assert verify(HONEST, Policy(root=PEM.encode(), measurements=(one,))).accepted


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ([], "no measurements"),
        ("x", "image.json:1: "),
        (SET | {"mrtd": "00"}, "mrtd: "),
        (SET | {"rtmr3": "00" * 48}, "rtmr3: no such key"),
        ([SET, {"mrtd": SET["mrtd"]}], "1.rtmr0: is missing"),
        (SET | {"events": {"rtmr2": ["00" * 48]}}, "the events of rtmr2 do not replay to its value"),
    ],
)
def test_bad_measurements_are_told(tmp_path: Path, document: object, said: str) -> None:
    (tmp_path / "image.json").write_text(json.dumps(document))
    with pytest.raises(LoadProblem) as told:
        load_measurements(tmp_path / "image.json")
    assert said in str(told.value)


@pytest.mark.parametrize("generous", [False, True])
def test_written_policy_accepts_what_it_was_written_from_and_nothing_else(tmp_path: Path, generous: bool) -> None:
    policy = Policy(root=PEM.encode(), allow_debug=generous, allow_other_accounts=generous)
    sources = Sources(pccs="http://127.0.0.1:8081", rpc_url="http://127.0.0.1:8545")
    text = policy_text(f"https://{DOMAIN}", HONEST, verify(HONEST, policy), policy, sources)
    read = load_policy(policy_file(tmp_path, text))
    verified = verify(HONEST, read.policy)
    assert verified.accepted, verified.findings
    assert {Rule.BOOT_MEASUREMENTS, Rule.EXPECTED_IDENTITY} <= {result.rule for result in verified.rules}
    assert (read.sources, read.policy.allow_debug) == (sources, policy.allow_debug)
    for other in (another(instance_id=b"other"), another(app_id=bytes(20)), running(COMPOSE + "#")):
        assert not verify(made(who=other), read.policy).accepted


def test_hostile_names_stay_in_comments_of_a_written_policy(tmp_path: Path) -> None:
    policy = Policy(root=PEM.encode())
    log = json.loads(json.loads(HONEST[ATTESTATION])["event_log"])
    hostile = "x\nroot: intel\u2028#"
    log[0] |= {"event_type": 0x80000007, "event_payload": hostile.encode().hex()}
    changed = in_json(HONEST, ATTESTATION, event_log=json.dumps(log))
    text = policy_text("https://x\nroot: intel", changed, verify(changed, policy), policy, Sources())
    assert load_policy(policy_file(tmp_path, text)).policy.root is not None
