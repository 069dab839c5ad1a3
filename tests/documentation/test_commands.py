"""Every command that the documentation shows, run as it stands there against a running node."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pages import PAGES, ROOT, blocks

SHOWN_NODE = "http://127.0.0.1:8000"
SHOWN_CHAIN = "http://127.0.0.1:8545"
SHOWN_HTTPS = "127.0.0.1:8443"
SHOWN_DNS = "-p 5353"
SHOWN_RESOLVER = "127.0.0.1:5353"

PACKAGES = {"dig": "bind9-dnsutils"}
"""Where a program's Debian package is called otherwise."""
SHOWN_SIMULATOR = "http://127.0.0.1:12111"

SERVERS = {
    "reference-node serve": "--port 0 --tls-port 0 --dns-port 0 --stripe-port 0",
    "reference-node stripe-simulator": "--port 0",
}
"""Commands that run until they are stopped, with what has them listen at free ports."""

IN_CI = {
    "service-conformance doctor --node-url https://node.internal --ca-file ca.pem": (
        "tests/suite/transport/test_private_ca.py",
        'main(["doctor", "--node-url", secure.url, "--ca-file", str(certificate)])',
    ),
    "pytest --conformance-node-url https://node.internal --conformance-ca-file ca.pem": (
        "tests/suite/transport/test_private_ca.py",
        '"--conformance-ca-file=ca.pem"',
    ),
    "service-conformance run --node-url http://127.0.0.1:8000 --pack hostile --case hostile::breakouts": (
        "tests/suite/run/test_hostile.py",
        "def test_every_family_passes_on_the_bundled_node(",
    ),  # its actions run to the limit of 30 s, which is a shorter one there
    "pip install tox && tox run -e conformance": (".ci/run", "-e conformance\n"),
    "tox run -e tests": (".ci/run", "-e tests "),
    "tox run -e lint,types": (".ci/run", "-e lint,types,"),
    'pip install -e ".[dev]"': ("pyproject.toml", 'dev = ["service-conformance[load,tests,lint]", "tox'),
    'pip install ".[load]"': ("tox.ini", "extras = load, tests"),
    'pip install "service-conformance[allure]"': ("pyproject.toml", "service-conformance[allure,"),
    "pip install '.[sigstore]'": ("pyproject.toml", "sigstore = ["),
    "service-conformance statement reports --evidence run-evidence --root root.pem --keyless -o statement.json": (
        "tests/suite/verify/test_keyless.py",
        '"--keyless", "--identity-token", token()',
    ),
    (
        "service-conformance verify http://127.0.0.1:8000 --policy judged.yaml --statement statement.json "
        "--certificate-identity https://github.com/laboratory/judge/.github/workflows/judge.yml@refs/heads/main "
        "--certificate-oidc-issuer https://token.actions.githubusercontent.com"
    ): ("tests/suite/verify/test_keyless.py", '"--certificate-identity", IDENTITY'),
    "npx allure@3.18.0 awesome allure-results --single-file --group-by suite --output allure-report": (
        "tests/js/package.json",
        '"allure": "3.18.0"',
    ),
    "sed -i 's|<script[^>]*googletagmanager[^>]*></script>||' allure-report/index.html": (
        "tests/suite/plugin/test_allure.py",
        "<script[^>]*googletagmanager[^>]*></script>",
    ),
    "service-conformance load --profile my-node.yaml --users 400 --workers 8 --master 10.0.0.1 --output out": (
        "tests/suite/load/test_load_campaign.py",
        '"--master", where',
    ),
    "service-conformance load --chaos --pack groups,usage_keys --users 4 --minutes 2 --output reports": (
        "tests/suite/load/test_chaos.py",
        "chaos=True",
    ),
    "service-conformance load --profile my-node.yaml --worker 10.0.0.1": (
        "tests/suite/load/test_load_campaign.py",
        '"--worker", where',
    ),
    "pytest examples/client-python": ("tests/examples/test_client_examples.py", '"client-python"'),
    "npm --prefix examples/client-typescript ci": (".ci/run", 'npm --prefix "$(dirname "$manifest")" ci'),
    "READY_FILE=$PWD/ready.json npm --prefix examples/client-typescript test": (
        "tests/examples/test_client_examples.py",
        '"READY_FILE"',
    ),
    "pip install build twine": ("tox.ini", "    twine>="),
    "python -m build": ("tox.ini", "python -m build "),
    "twine check --strict dist/*": ("tox.ini", "twine check --strict "),
    "pytest tests/suite": ("pyproject.toml", 'testpaths = ["tests"]'),
    "pytest tests/contracts": ("pyproject.toml", 'testpaths = ["tests"]'),
    "npm --prefix contracts ci --ignore-scripts": ("tox.ini", "npm --prefix contracts ci --ignore-scripts"),
    "python contracts/build.py --check": ("tox.ini", "python contracts/build.py --check"),
    "python contracts/build.py": ("tox.ini", "python contracts/build.py --check"),  # rewrites what --check compares
    "python tests/contracts/gas.py": (
        "tests/contracts/test_contract_gas.py",
        "gas",
    ),  # rewrites what that test compares
    "python tests/node/campaign.py": ("tests/node/billing/test_campaign.py", "Campaign(Goals("),
    "service-conformance vectors attestation --check": ("tests/attestation/test_vectors.py", 'vector_files("0")'),
    "service-conformance vectors attestation --output my-vectors": (
        "tests/attestation/test_vectors.py",
        'vector_files("0")',
    ),
    (
        "service-conformance vectors attestation --kind quote "
        '--against "python examples/attestation-adapters/dcap-qvl/adapter.py"'
    ): ("tests/attestation/test_oracles.py", "compare(command, quotes"),
    "service-conformance selftest": (".ci/run", "-e selftest\n"),
    "service-conformance selftest --rest": (".ci/run", "-e selftest -- --rest"),
    "service-conformance selftest --rest 2/3": (".ci/run", "-e selftest -- --rest"),
    # Tier one and the rest, which continuous integration runs one after the other.
    "service-conformance selftest --full": (".ci/run", "-e selftest -- --rest"),
    "service-conformance selftest --automatic 8 --seed 1": (".ci/run", "-e selftest -- --automatic 8"),
    "service-conformance selftest --load": (".ci/run", "-e selftest -- --load"),
    "service-conformance selftest --load --mutant 'nonce-*'": (".ci/run", "-e selftest -- --load"),
    "service-conformance selftest --seeds 20": ("tests/suite/selftest/test_seeds.py", "try_seeds("),
    "service-conformance selftest --overlap": ("tests/suite/selftest/test_overlap.py", '"--overlap"'),
    "service-conformance selftest --overlap --mutant 'page-*'": ("tests/suite/selftest/test_overlap.py", '"--overlap"'),
    "service-conformance selftest --precision 60 --seed 1": (
        "tests/suite/selftest/test_precision.py",
        "kept=KeptOutcomes(",
    ),
    "python -m conformance.selftest.attestation.fuzzing --inputs 200000 --seed 0": (
        "tests/attestation/test_fuzzing.py",
        "fuzzing.campaign(1_000",
    ),
}
"""Commands that are not run here: they take long or rewrite the repository. Where CI does what they do."""

SHORTER = {
    "service-conformance run --profile my-node.yaml --max-spend 5000 --rate 50 --output reports": "--pack versioning",
    "service-conformance run --node-url http://127.0.0.1:8000 --output reports": "--pack versioning",
    "service-conformance run --node-url http://127.0.0.1:8000 --output reports --html reports/report.html": (
        "--pack versioning"
    ),
    "service-conformance run --node-url http://127.0.0.1:8000 --output board/our-node/1.0": "--pack versioning",
    "service-conformance run --node-url http://127.0.0.1:8000 --alluredir allure-results --allure-link-pattern "
    "'requirement:https://ci.example/report.html#{}'": "--pack versioning",
    "service-conformance run --node-url http://127.0.0.1:8000 --output reports --replay replays": "--pack versioning",
    "service-conformance run --profile node.yaml --output reports --evidence run-evidence": "--pack versioning",
    "service-conformance run --node-url http://127.0.0.1:8000 --pack usage_keys": "--case '*::may-create-*'",
    "service-conformance run --node-url http://127.0.0.1:8000 --pack execution_rule --full": (
        "--case execution_rule::matrix --cell usage-this/this/none/1"
    ),
    'service-conformance vectors attestation --against "service-conformance vectors attestation --answer"': (
        "--kind quote"
    ),
    "service-conformance load --pack groups,usage_keys --users 4 --minutes 0.2 --output reports": "--minutes 0.1",
    "service-conformance run --pack model --budget 4 --seed 1": "--budget 1 --case model::runs",
    "pytest --conformance-node-url http://127.0.0.1:8000 --conformance-pack 'usage_*'": (
        "--conformance-case '*::may-create-*'"
    ),
}
"""What is added to long runs so that they run a few cases only."""

ENDS_WITH = {
    "service-conformance verify http://127.0.0.1:8000": (1, "a simulated quote, no hardware"),
    "service-conformance known from reports --link https://tracker.example/1234 --expires 2027-01-31 > known.yaml": (
        2,
        "no case failed in reports",
    ),
    "service-conformance profile check faulty.yaml": (2, "group_id_scop: there is no such key"),
    "reference-node serve --rpc-url http://127.0.0.1:8545 --root-secret-file root-secret": (1, "fund with gas money"),
}
"""Commands that are shown because they fail: their exit code and something that they say."""

PAGES_WITH_COMMANDS = [page for page in PAGES if any(list(block.commands()) for block in blocks(page))]


@pytest.mark.parametrize("page", PAGES_WITH_COMMANDS)
def test_commands_of_a_page_do_what_it_says(
    page: str, ready: dict[str, Any], simulator_url: str, tmp_path: Path
) -> None:
    _need({word for block in blocks(page) for command in block.commands() for word in command.split()})
    (tmp_path / "node.json").write_text(json.dumps(ready), encoding="utf-8")
    for block in blocks(page):
        if block.file:
            (tmp_path / block.file).parent.mkdir(exist_ok=True)
            (tmp_path / block.file).write_text(_on(ready, block.text), encoding="utf-8")
        commands = [command for command in block.commands() if command not in IN_CI]
        script = "".join(_line(command, ready) for command in commands)
        done = _shell(script.replace(SHOWN_SIMULATOR, simulator_url), tmp_path)
        assert done.returncode == 0, done.stdout
        for command in commands:
            assert ENDS_WITH.get(command, (0, ""))[1] in done.stdout


@pytest.mark.parametrize("command", IN_CI)
def test_command_that_is_not_run_here_is_run_by_ci(command: str) -> None:
    file, text = IN_CI[command]
    assert text in (ROOT / file).read_text(encoding="utf-8")


def test_tables_name_commands_that_are_shown() -> None:
    shown = {command for page in PAGES for block in blocks(page) for command in block.commands()}
    assert {*IN_CI, *SHORTER, *ENDS_WITH} <= shown


def _need(words: set[str]) -> None:
    """Skip, or in CI fail, where a program that the page uses is not there."""
    absent = sorted(program for program in words & {"curl", "dig", "jq", "openssl"} if shutil.which(program) is None)
    if absent:
        packages = ", ".join(PACKAGES.get(program, program) for program in absent)
        (pytest.fail if os.environ.get("CI") else pytest.skip)(f"install the Debian packages {packages}")


def _on(ready: dict[str, Any], text: str) -> str:
    """The text with the addresses of the running node and what stands around it."""
    for shown, running in (
        (SHOWN_NODE, ready["base_url"]),
        (SHOWN_CHAIN, ready["rpc_url"]),
        (SHOWN_HTTPS, ready["https_url"].removeprefix("https://")),
        (SHOWN_RESOLVER, ready["profile"]["attestation"]["resolver"]),
        (SHOWN_DNS, f"-p {ready['profile']['attestation']['resolver'].rpartition(':')[2]}"),
    ):
        text = text.replace(shown, running)
    return text


def _line(command: str, ready: dict[str, Any]) -> str:
    """Lines of shell that run a command and end the shell when its exit code is another than expected."""
    expected, _ = ENDS_WITH.get(command, (0, ""))
    typed = _on(ready, f"{command} {SHORTER.get(command, '')}")
    if command.startswith(tuple(SERVERS)) and not expected:
        ports = next(ports for server, ports in SERVERS.items() if command.startswith(server))
        typed = f"""{typed} {ports} --ready-file ready.json & server=$!
until [ -e ready.json ]; do kill -0 $server || exit 1; sleep 0.1; done
rm ready.json; kill $server; wait $server"""
    return f'{typed}\nstatus=$?; [ $status -eq {expected} ] || {{ echo "exit code $status"; exit 1; }}\n'


def _shell(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    own = Path(sys.executable).parent
    return subprocess.run(  # noqa: S603 - the project's own documentation
        ["/usr/bin/env", "bash", "-o", "pipefail", "-c", script],
        cwd=folder,
        env=os.environ | {"PATH": f"{own}{os.pathsep}{os.environ['PATH']}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=900,
        check=False,
    )
