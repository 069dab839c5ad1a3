"""The plugin beside the most-used plugins of pytest, installed from PyPI: together, and some of them alone."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
from collections import deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from plugin_project import ONE_CASE
from tiny_node import TinyNode

TOGETHER = (
    "pytest-asyncio", "pytest-bdd", "pytest-benchmark", "pytest-check", "pytest-clarity", "pytest-django", "pytest-env",
    "pytest-forked", "pytest-freezer", "pytest-github-actions-annotate-failures", "pytest-html", "pytest-httpx",
    "pytest-instafail", "pytest-json-report", "pytest-level", "pytest-metadata", "pytest-mock", "pytest-order",
    "pytest-picked", "pytest-profiles", "pytest-randomly", "pytest-recording", "pytest-repeat", "pytest-replay",
    "pytest-reportlog", "pytest-rerunfailures", "pytest-socket", "pytest-split", "pytest-sugar", "pytest-timeout",
)  # fmt: skip
"""Beside these stand pytest-cov and pytest-xdist, which the project's own tests use."""
ALONE = ("pytest-profiling",)
"""Its `--profile` is that of pytest-profiles, too."""
AT_ONCE = 2
"""Processes that try a plugin alone."""
MODULES = """
from importlib.metadata import entry_points
print(*(f"{entry.name}={entry.value}" for entry in entry_points(group="pytest11")))
"""
CLIENT = """
import httpx

def test_balance_of_a_new_account(conformance_node, conformance_account):
    url = f"{conformance_node.api_url}/billing/balance"
    assert httpx.get(url, headers={"X-Api-Key": conformance_account.api_key}).json()["balance_cents"] > 0
"""


@pytest.fixture
def python(tmp_path: Path) -> Path:
    """An environment with the plugins, over the one that runs this test."""
    folder = tmp_path / "environment"
    venv.create(folder, with_pip=True)
    parent = sysconfig.get_path("purelib")
    site = Path(sysconfig.get_path("purelib", vars={"base": str(folder)}))
    (site / "parent.pth").write_text(f"import site; site.addsitedir({parent!r})\n", encoding="utf-8")
    asked = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check", *TOGETHER, *ALONE)
    installed = ended(folder / "bin" / "python", folder, asked)
    if installed.returncode and "CI" not in os.environ:
        pytest.skip(f"pip installs no plugins here: {installed.stderr[-200:]}")
    assert installed.returncode == 0, installed.stderr
    return folder / "bin" / "python"


def ended(python: Path, folder: Path, arguments: Sequence[str], **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 - an interpreter of the test's own
        [python, *arguments], cwd=folder, env=os.environ | environment, capture_output=True, text=True, check=False
    )


def runs(python: Path, folder: Path, arguments: Sequence[str], **environment: str) -> str:
    """Run pytest, which has to pass. What it printed."""
    run = ended(python, folder, ["-m", "pytest", "-p", "no:cacheprovider", *arguments], **environment)
    assert run.returncode == 0, f"{' '.join(arguments)}\n{run.stdout}\n{run.stderr}"
    return run.stdout


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "test_plain.py").write_text("def test_one(): pass\n", encoding="utf-8")
    (tmp_path / "test_client.py").write_text(CLIENT, encoding="utf-8")
    (tmp_path / "trial.yaml").write_text(ONE_CASE, encoding="utf-8")
    return tmp_path


def test_all_plugins_together_and_each_alone(python: Path, project: Path, node: TinyNode) -> None:
    files = ("test_plain.py", "test_client.py", "trial.yaml")
    told = runs(python, project, ["-p", "no:profiling", "--conformance-node-url", node.url, *files])
    assert "3 passed" in told, told

    listed = ended(python, project, ["-c", MODULES]).stdout.split()
    plugins = dict(entry.partition("=")[::2] for entry in listed)
    assert len(plugins) > len(TOGETHER)
    needs = {"pytest_html.plugin": ["pytest_metadata.plugin"], "xdist.looponfail": ["xdist.plugin"]}
    others = sorted({*plugins.values()} - {"conformance.run.plugin"})

    def alone(module: str) -> None:
        chosen = [*needs.get(module, []), module, "conformance.run.plugin"]
        arguments = [argument for one in chosen for argument in ("-p", one)]
        runs(python, project, [*arguments, "test_plain.py"], PYTEST_DISABLE_PLUGIN_AUTOLOAD="1")

    with ThreadPoolExecutor(AT_ONCE) as pool:
        deque(pool.map(alone, others), maxlen=0)


def test_options_and_fixtures_begin_with_the_prefix(project: Path) -> None:
    said = runs(
        Path(sys.executable), project, ["-p", "conformance.run.plugin", "--help"], PYTEST_DISABLE_PLUGIN_AUTOLOAD="1"
    )
    group = said.partition("conformance of a node of the service:")[2].partition("\n\n")[0]
    flags = [line.split()[0] for line in group.splitlines() if line.strip().startswith("--")]
    assert len(flags) > 20
    assert all(flag.partition("=")[0].startswith("--conformance") for flag in flags)
