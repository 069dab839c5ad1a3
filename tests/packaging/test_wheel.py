"""The wheel, built from this source and installed apart from it: complete, and working in an empty folder."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from conformance.endpoints.bundled import BundledNode
from conformance.profile import load_ready_file
from conformance.report import ExitCode

ROOT = Path(__file__).resolve().parents[2]
INSTALLED_AS = {
    "conformance": "conformance",
    "reference_node": "reference_node",
    "scenarios": "conformance/data/scenarios",
    "fixtures": "conformance/data/fixtures",
    "contracts/artifacts": "reference_node/data/artifacts",
}
"""Folders of the source, and what they are called in the wheel."""
MOST_PACKAGES, MOST_MEGABYTES = 52, 64
"""Of the suite alone, without bytecode: 51 packages of 60 MB, and room for newer versions of them."""
NO_VERIFIER = "the libraries of the attestation verifier are not installed"


@dataclass(frozen=True)
class Installed:
    """A virtual environment with the wheel, and an empty folder to work in."""

    folder: Path
    empty: Path

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run a program of the environment, with nothing of the source within its reach."""
        outside = {
            name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYTEST", "COV"))
        }
        return subprocess.run(  # noqa: S603 - our own programs
            [str(self.folder / "bin" / command[0]), *command[1:]],
            cwd=self.empty,
            env=outside | {"PATH": f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}"},
            capture_output=True,
            text=True,
            timeout=900,
            check=False,
        )


def pip(*arguments: str | Path) -> None:
    command = [sys.executable, "-m", "pip", "--quiet", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - pip
    assert done.returncode == 0, done.stderr


def environment(folder: Path, *installs: str | Path) -> Installed:
    """A new virtual environment in which pip has installed this."""
    venv.create(folder / "venv", with_pip=False, symlinks=True)
    pip("--python", folder / "venv", "install", "--no-compile", *installs)
    (folder / "empty").mkdir()
    return Installed(folder / "venv", folder / "empty")


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of a copy of the source, so that a build folder left here has no say."""
    folder = tmp_path_factory.mktemp("wheel")
    without = shutil.ignore_patterns("node_modules", ".*", "__pycache__")
    pip("wheel", "--no-deps", "--wheel-dir", folder, shutil.copytree(ROOT, folder / "source", ignore=without))
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """An environment that has this wheel, and shares what it depends on with the environment of the tests."""
    made = environment(tmp_path_factory.mktemp("installed"), "--no-deps", wheel)
    base = str(made.folder)
    packages = Path(sysconfig.get_path("purelib", vars={"base": base, "platbase": base}))
    (packages / "shared.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return made


@pytest.fixture(scope="session")
def node_url() -> Iterator[str]:
    """A reference node in the environment of the tests."""
    with BundledNode() as node:
        node.wait_until_ready()
        yield str(load_ready_file(node.ready_file).base_url)


@pytest.fixture(scope="session")
def alone(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """An environment with the wheel and what it depends on without any extra."""
    return environment(tmp_path_factory.mktemp("alone"), wheel)


def test_wheel_holds_every_file_of_the_source(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    expected = {
        f"{inside}/{path.relative_to(ROOT / folder).as_posix()}"
        for folder, inside in INSTALLED_AS.items()
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    alone = {"conformance/data/specification.md", "conformance/data/artifacts/ContractWallet.json"}
    assert expected | alone <= names
    assert {name.partition("/")[0] for name in names if ".dist-info/" not in name} == {"conformance", "reference_node"}


def test_programs_come_from_the_wheel(installed: Installed) -> None:
    code = "import conformance, reference_node; print(conformance.__file__, reference_node.__file__)"
    places = installed.run("python", "-c", code).stdout.split()
    assert [installed.folder in Path(place).parents for place in places] == [True, True]


def test_run_judges_the_bundled_node(installed: Installed) -> None:
    done = installed.run("service-conformance", "run", "--pack", "versioning", "--output", "reports")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "The node conforms as far as these cases tell" in done.stdout
    assert {path.name for path in (installed.empty / "reports").iterdir()} == {"results.json", "junit.xml"}


def test_requirements_name_their_checks(installed: Installed) -> None:
    done = installed.run("service-conformance", "requirements", "--family", "VER")
    assert done.returncode == 0, done.stderr
    assert "checks: versioning::path-prefix" in done.stdout


@pytest.mark.parametrize("words", [("service-conformance", "profile", "schema"), ("reference-node", "serve", "--help")])
def test_other_commands_work(installed: Installed, words: tuple[str, ...]) -> None:
    done = installed.run(*words)
    assert done.returncode == 0, done.stderr


def test_suite_alone_brings_nothing_of_the_node(alone: Installed) -> None:
    code = (
        "import importlib.util as u; print([m for m in {'eth', '_quickjs', 'pyseccomp', 'stripe'} if u.find_spec(m)])"
    )
    assert alone.run("python", "-c", code).stdout.strip() == "[]"


def test_suite_alone_stays_small(alone: Installed) -> None:
    (packages,) = (alone.folder / "lib").glob("python*/site-packages")
    size = sum(path.stat().st_size for path in packages.rglob("*") if path.is_file() and path.suffix != ".pyc")
    names = sorted(path.name for path in packages.glob("*.dist-info"))
    assert len(names) <= MOST_PACKAGES, names
    assert size / 1e6 <= MOST_MEGABYTES


@pytest.mark.parametrize("words", [("--help",), ("packs", "--json"), ("vectors", "attestation")])
def test_suite_alone_lists_what_needs_the_verifier(alone: Installed, words: tuple[str, ...]) -> None:
    done = alone.run("service-conformance", *words)
    assert done.returncode == 0, done.stderr
    assert "attestation" in done.stdout


@pytest.mark.parametrize("words", [("verify", "https://node.example"), ("vectors", "attestation", "--answer")])
def test_command_that_needs_the_verifier_says_how_to_install_it(alone: Installed, words: tuple[str, ...]) -> None:
    done = alone.run("service-conformance", *words)
    assert done.returncode == 2
    assert done.stderr == f"service-conformance: {NO_VERIFIER}: pip install 'service-conformance[attestation]'\n"


def test_suite_alone_leaves_evidence_unjudged(alone: Installed, node_url: str) -> None:
    profile = alone.empty / "attests.yaml"
    profile.write_text(f"base_url: {node_url}\ncapabilities: [managed_accounts, attestation]\n", encoding="utf-8")
    done = alone.run("service-conformance", "run", "--profile", str(profile), "--pack", "attestation*")
    assert done.returncode == ExitCode.INCONCLUSIVE, done.stdout + done.stderr
    assert NO_VERIFIER in done.stdout
    assert "pip install 'service-conformance[attestation]'" in done.stdout


def test_suite_alone_judges_a_node(alone: Installed, node_url: str) -> None:
    done = alone.run("service-conformance", "run", "--node-url", node_url, "--pack", "versioning")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("service-conformance", "run"), "run without --profile or --node-url starts the bundled node"),
        (("service-conformance", "selftest"), "the self-test plants faults in the bundled node"),
        (("reference-node", "serve"), "the module uvicorn is missing"),
    ],
)
def test_command_that_needs_the_node_says_how_to_install_it(
    alone: Installed, words: tuple[str, ...], told: str
) -> None:
    done = alone.run(*words)
    assert done.returncode != 0
    assert f"{told}: pip install 'service-conformance[node]'" in done.stderr
    assert "Traceback" not in done.stderr
