"""The command `verify`: what it takes, what it prints, how it ends."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from made_evidence import AT, DOMAIN, HONEST, MADE, POLICY, in_json, observed
from served_evidence import Service

from conformance.cli import main
from conformance.selftest.attestation.sound_evidence import COMPOSE
from conformance.verify import Evidence, Outcome, Rule, load_folder, save_folder, verify
from conformance.verify.evidence import MOST_BYTES
from reference_node.tee.event_log import replay

PRINTED = {
    "mrtd": MADE.report.mr_td.hex(),
    **{f"rtmr{index}": value.hex() for index, value in enumerate(replay(MADE.events)[:3])},
}
"""The measurements of the machine, as `dstack-mr` prints them."""

STATED = ["--evidence", "EVIDENCE", "--statement", "EVIDENCE/info.json"]
IDENTITY = ["--certificate-identity", "a", "--certificate-oidc-issuer", "b"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save_folder(HONEST, tmp_path / "evidence")
    return tmp_path / "evidence"


Options = tuple[object, ...]
Run = Callable[..., tuple[int, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs the command; gives its exit code, and its output or, where it ends with 2, what it says is wrong."""

    def run(*arguments: object) -> tuple[int, str]:
        try:
            code = main(["verify", *map(str, arguments)])
        except SystemExit as ended:
            code = int(ended.code or 0)
        written = capsys.readouterr()
        return code, written.err if code == 2 else written.out

    return run


@pytest.fixture
def trusted(folder: Path) -> Options:
    """The options that judge the evidence by its own root."""
    return ("--evidence", folder, "--root", folder / "root.pem")


def test_folder_is_verified_under_the_root_that_is_named(run: Run, trusted: Options) -> None:
    code, text = run(*trusted)
    assert code == 0
    assert "VERIFIED under a SIMULATED root, the boot is not judged: 16 of 16 rules hold" in text
    rules = [line for line in text.splitlines() if " holds " in line]
    assert [line[:1] for line in rules[:8]] == list("12345678")
    assert len(rules) == 16


def test_folder_is_refused_under_intels_root(run: Run, folder: Path) -> None:
    code, text = run("--evidence", folder)
    assert code == 1
    assert "refused ATT-140 root-simulated" in text
    assert "a simulated quote, no hardware" in text
    assert "REFUSED: 2 of 16 rules do not hold" in text


def test_service_is_fetched_and_kept(run: Run, service: Service, tmp_path: Path) -> None:
    root, collateral, kept = tmp_path / "root.pem", tmp_path / "collateral.json", tmp_path / "kept"
    root.write_bytes(HONEST["root.pem"])
    collateral.write_bytes(HONEST["collateral.json"])
    options = ("--root", root, "--at", AT, "--json")
    code, live = run(service.url, "--collateral", collateral, "--save", kept, *options)
    assert code == 0, live
    assert run("--evidence", kept, *options[:2], "--json") == (0, live)
    assert json.loads(live)["verdict"] == "verified"


def test_plain_http_is_said_loudly(run: Run, folder: Path, trusted: Options) -> None:
    (folder / "observed.json").write_bytes(observed(tls_certificate=None).as_json())
    code, text = run(*trusted)
    assert code == 0
    assert "NOT PROVEN: nothing shows that your connection ends in the TEE" in text
    assert "without TLS certificate, connection of the API" in text


def test_refusal_names_code_requirement_and_place(run: Run, folder: Path, trusted: Options) -> None:
    (folder / "info.json").write_bytes(in_json(HONEST, "info.json", compose_hash="ab" * 32)["info.json"])
    code, text = run(*trusted)
    assert code == 1
    assert "refused ATT-150 compose-hash-differs info.json: SHA-256 of app_compose is" in text


def test_quote_alone(run: Run, folder: Path, tmp_path: Path) -> None:
    quote = tmp_path / "quote.hex"
    quote.write_text(f"0x{MADE.quote_over(bytes(64)).hex()}\n")
    options = ("--quote", quote, "--collateral", folder / "collateral.json", "--root", folder / "root.pem")
    assert run(*options, "--at", AT)[0] == 0
    assert run(*options, "--at", "2026-03-01T00:00:00Z")[0] == 0
    assert run(*options, "--at", "2027-03-01T00:00:00")[0] == 1


def test_expected_compose_file(run: Run, trusted: Options, tmp_path: Path) -> None:
    expected = tmp_path / "compose.yaml"
    expected.write_text(COMPOSE)
    assert run(*trusted, "--expect-compose", expected)[0] == 0
    expected.write_text(COMPOSE + "#")
    assert run(*trusted, "--expect-compose", expected)[0] == 1


def test_boot_is_judged_by_measurements(run: Run, trusted: Options, tmp_path: Path) -> None:
    file = tmp_path / "image-1.json"
    file.write_text(json.dumps(PRINTED))
    code, text = run(*trusted, "--measurements", file)
    assert (code, "root: 17 of 17 rules hold" in text, "measurements image-1" in text) == (0, True, True)
    file.write_text(json.dumps(PRINTED | {"rtmr1": "00" * 48}))
    code, text = run(*trusted, "--measurements", file)
    assert (code, "refused boot-unexpected attestation.json: event_log: RTMR1 is" in text) == (1, True)


def test_policy_is_written_and_taken_and_options_win(run: Run, folder: Path, trusted: Options, tmp_path: Path) -> None:
    policy, other = tmp_path / "policy.yaml", tmp_path / "other.json"
    code, text = run(*trusted, "--write-policy", policy)
    assert (code, f"Policy written to {policy}" in text) == (0, True)
    code, text = run("--evidence", folder, "--policy", policy)
    assert (code, "root: 18 of 18 rules hold" in text) == (0, True)
    other.write_text(json.dumps(dict.fromkeys(("mrtd", "rtmr0", "rtmr1", "rtmr2"), "00" * 48)))
    assert run("--evidence", folder, "--policy", policy, "--measurements", other)[0] == 1
    assert run("--evidence", folder, "--policy", policy, "--accept", "OutOfDate")[0] == 0
    code, text = run("--evidence", folder, "--policy", policy, "--write-policy", policy)
    assert (code, "is there already" in text) == (2, True)


def test_no_policy_is_written_of_what_is_refused(run: Run, folder: Path, tmp_path: Path) -> None:
    code, text = run("--evidence", folder, "--write-policy", tmp_path / "policy.yaml")
    assert (code, "No policy is written" in text, (tmp_path / "policy.yaml").exists()) == (1, True, False)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--evidence", "EVIDENCE", "--policy", "absent.yaml"], "absent.yaml: cannot be read"),
        (["--evidence", "EVIDENCE", "--policy", "EVIDENCE/root.pem"], "root.pem:1: the file: "),
        (["--evidence", "EVIDENCE", "--measurements", "absent.json"], "absent.json: cannot be read"),
        (["--quote", "x", "--collateral", "y", "--at", "1", "--write-policy", "z"], "--write-policy needs a URL"),
        ([], "name one thing to judge"),
        (["http://x", "--evidence", "y"], "name one thing to judge"),
        (["service.example"], "begins with http:// or https://, unlike service.example"),
        (["http://127.0.0.1:1"], "cannot be fetched"),
        (["--evidence", "absent"], "absent: is not a folder"),
        (["--evidence", "EVIDENCE", "--pccs", "http://x"], "--pccs needs a URL"),
        (["--evidence", "EVIDENCE", "--rpc-url", "http://x"], "--rpc-url needs a URL"),
        (["--evidence", "EVIDENCE", "--save", "x"], "--save needs a URL"),
        (["--evidence", "EVIDENCE", "--root", "absent.pem"], "absent.pem: cannot be read"),
        (["--evidence", "EVIDENCE", "--root", "EVIDENCE/info.json"], "no certificate that can be read"),
        (["--evidence", "EVIDENCE", "--at", "noon"], "is no time"),
        (["--evidence", "EVIDENCE", "--accept", "Fine"], "invalid choice"),
        (["--quote", "EVIDENCE/info.json"], "needs --collateral FILE and --at TIME"),
        (["--quote", "EVIDENCE/info.json", "--collateral", "EVIDENCE/info.json", "--at", "1"], "not a text of hex"),
        (["http://x", "--save", "EVIDENCE"], "is not empty"),
        (["http://127.0.0.1:1", "--save", "EVIDENCE/info.json"], "info.json: cannot be written"),
        (["http://x", "--pccs", "http://y", "--collateral", "z"], "not allowed with"),
        (STATED, "--statement needs somebody to believe: --signer PEM, --certificate-identity"),
        ([*STATED, "--signer", "EVIDENCE/root.pem"], "root.pem: no public key in PEM"),
        ([*STATED, "--certificate-identity", "a"], "--certificate-oidc-issuer need each other"),
        ([*STATED, "--certificate-identity", "a", "--certificate-oidc-issuer", ""], "need each other, and a value"),
        ([*STATED, "--certificate-oidc-issuer", "b"], "need each other"),
        ([*STATED, *IDENTITY, "--trusted-root", "EVIDENCE/root.pem"], "root.pem: no trusted root of Sigstore"),
        (
            [*STATED, "--trusted-root", "EVIDENCE/info.json"],
            "--trusted-root is for identities: add --certificate-identity",
        ),
    ],
)
def test_command_line_at_fault_ends_with_2_and_one_line(
    run: Run, folder: Path, arguments: list[str], said: str
) -> None:
    code, text = run(*(argument.replace("EVIDENCE", str(folder)) for argument in arguments))
    assert (code, said in text, text.count("\n")) == (2, True, 1), text


def test_folder_with_a_link_is_refused(run: Run, folder: Path) -> None:
    (folder / "link").symlink_to("/etc/passwd")
    refused = f"service-conformance verify: --evidence {folder}/link: is no plain file\n"
    assert run("--evidence", folder) == (2, refused)


def test_folder_with_too_many_files_is_refused(run: Run, folder: Path) -> None:
    for number in range(70):
        (folder / str(number)).touch()
    assert "more than 64 files" in run("--evidence", folder)[1]


def test_folder_that_is_nested_without_end_is_refused(run: Run, folder: Path) -> None:
    (folder / "evidences" / "a" / "b").mkdir(parents=True)
    (folder / "evidences" / "a" / "b" / "loop").symlink_to(folder)
    assert "a: is no plain file" in run("--evidence", folder)[1]


def test_file_without_an_end_is_refused(run: Run, folder: Path, tmp_path: Path) -> None:
    long = tmp_path / "long.pem"
    long.write_bytes(b"x" * (MOST_BYTES + 1))
    code, text = run("--evidence", folder, "--root", long)
    assert (code, "longer than" in text) == (2, True)


@pytest.mark.parametrize("name", ["../x", "/x", "a/b", "evidences/../x", ".x", "evidences/", ""])
def test_name_that_leads_out_of_the_folder_is_not_written(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="no name of a file of evidence"):
        save_folder(Evidence({name: b""}), tmp_path / "new")


def test_folder_is_read_as_it_was_written(folder: Path) -> None:
    assert load_folder(folder) == HONEST
    with pytest.raises(ValueError, match="is not empty"):
        save_folder(HONEST, folder)


def test_terminal_shows_no_control_characters(run: Run, folder: Path) -> None:
    hostile = in_json(
        HONEST, "info.json", tcb_info={"app_compose": '{"docker_compose_file": "services: {\\"\\u001b[31m\\": 1}"}'}
    )
    (folder / "info.json").write_bytes(hostile["info.json"])
    code, text = run("--evidence", folder)
    assert code == 1
    assert "\x1b" not in text


def test_rule_that_holds_shows_no_control_characters() -> None:
    wildcard = {
        "evidences/index.html": b"<a href='cert-*.example.pem'>x</a>",
        "evidences/cert-*.example.pem": HONEST[f"evidences/cert-{DOMAIN}.pem"],
        "observed.json": observed(gateway_domain="\x1b[2Kx.example").as_json(),
    }
    result = verify(Evidence(dict(HONEST) | wildcard), POLICY).result(Rule.CAA_ACCOUNT)
    assert result.outcome is Outcome.HOLDS
    assert "\x1b" not in result.compared
