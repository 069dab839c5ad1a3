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
from pages import PAGES, blocks
from programs import absent

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

NOT_RUN = {
    "names machines that are not there; tests do the same on loopback": {
        "service-conformance doctor --node-url https://node.internal --ca-file ca.pem",
        "pytest --conformance-node-url https://node.internal --conformance-ca-file ca.pem",
        "service-conformance statement reports --evidence run-evidence --root root.pem --keyless -o statement.json",
        "service-conformance verify http://127.0.0.1:8000 --policy judged.yaml --statement statement.json "
        "--certificate-identity https://github.com/laboratory/judge/.github/workflows/judge.yml@refs/heads/main "
        "--certificate-oidc-issuer https://token.actions.githubusercontent.com",
        "service-conformance load --profile my-node.yaml --users 400 --workers 8 --master 10.0.0.1 --output out",
        "service-conformance load --profile my-node.yaml --worker 10.0.0.1",
    },
    "minutes; tests do the same with less": {
        "service-conformance run --node-url http://127.0.0.1:8000 --pack hostile --case hostile::breakouts",
        "service-conformance load --chaos --pack groups,usage_keys --users 4 --minutes 2 --output reports",
        "python tests/node/campaign.py",
        'service-conformance vectors attestation --kind quote --against "python '
        'examples/attestation-adapters/dcap-qvl/adapter.py"',
        "service-conformance selftest --seeds 20",
        "service-conformance selftest --overlap",
        "service-conformance selftest --overlap --mutant 'page-*'",
        "service-conformance selftest --precision 60 --seed 1",
        "python -m conformance.selftest.attestation.fuzzing --inputs 200000 --seed 0",
    },
    "minutes; tests compare what it writes": {
        "service-conformance vectors attestation --check",
        "service-conformance vectors attestation --output my-vectors",
    },
    "minutes; .ci/run runs all of it": {
        "pip install tox && tox run -e conformance",
        "tox run -e tests",
        "tox run -e lint,types",
        "pytest tests/suite",
        "pytest tests/contracts",
        "pytest examples/client-python",
        "service-conformance selftest",
        "service-conformance selftest --rest",
        "service-conformance selftest --rest 2/3",
        "service-conformance selftest --full",
        "service-conformance selftest --automatic 8 --seed 1",
        "service-conformance selftest --load",
        "service-conformance selftest --load --mutant 'nonce-*'",
    },
    "installs from the network": {
        'pip install -e ".[dev]"',
        'pip install ".[load]"',
        'pip install "service-conformance[allure]"',
        "pip install '.[sigstore]'",
        "pip install build twine",
        "npx allure@3.18.0 awesome allure-results --single-file --group-by suite --output allure-report",
        "sed -i 's|<script[^>]*googletagmanager[^>]*></script>||' allure-report/index.html",
        "npm --prefix examples/client-typescript ci",
        "READY_FILE=$PWD/ready.json npm --prefix examples/client-typescript test",
        "npm --prefix contracts ci --ignore-scripts",
    },
    "rewrites the repository": {
        "python -m build",
        "twine check --strict dist/*",
        "python contracts/build.py",
        "python contracts/build.py --check",
        "python tests/contracts/gas.py",
    },
}
"""Commands that are shown and not run here, by the reason."""
LEFT_OUT: set[str] = set().union(*NOT_RUN.values())

ONE_CASE = "--pack versioning --case versioning::viewer"
SHORTER = {
    "service-conformance run --profile my-node.yaml --max-spend 5000 --rate 50 --output reports": ONE_CASE,
    "service-conformance run --node-url http://127.0.0.1:8000 --output reports": ONE_CASE,
    "service-conformance run --node-url http://127.0.0.1:8000 --output reports --html reports/report.html": ONE_CASE,
    "service-conformance run --node-url http://127.0.0.1:8000 --output board/our-node/1.0": ONE_CASE,
    "service-conformance run --node-url http://127.0.0.1:8000 --alluredir allure-results --allure-link-pattern "
    "'requirement:https://ci.example/report.html#{}'": ONE_CASE,
    "service-conformance run --node-url http://127.0.0.1:8000 --output reports --replay replays": ONE_CASE,
    "service-conformance run --profile node.yaml --output reports --evidence run-evidence": ONE_CASE,
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
        commands = [command for command in block.commands() if command not in LEFT_OUT]
        script = "".join(_line(command, ready) for command in commands)
        done = _shell(script.replace(SHOWN_SIMULATOR, simulator_url), tmp_path)
        assert done.returncode == 0, done.stdout
        for command in commands:
            assert ENDS_WITH.get(command, (0, ""))[1] in done.stdout


def test_tables_name_commands_that_are_shown() -> None:
    shown = {command for page in PAGES for block in blocks(page) for command in block.commands()}
    assert {*LEFT_OUT, *SHORTER, *ENDS_WITH} <= shown


def _need(words: set[str]) -> None:
    """Skip, or in CI fail, where a program that the page uses is not there."""
    wanted = sorted(program for program in words & {"curl", "dig", "jq", "openssl"} if shutil.which(program) is None)
    if wanted:
        packages = ", ".join(PACKAGES.get(program, program) for program in wanted)
        absent(f"install the Debian packages {packages}")


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
