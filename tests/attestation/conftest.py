"""Commands that answer the vectors' protocol with others' verifiers. Without them tests skip, but never in CI."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from programs import absent

ADAPTERS = Path(__file__).resolve().parents[2] / "examples" / "attestation-adapters"
GO_FOLDERS = ("/usr/local/go/bin", "/usr/lib/go/bin")


@pytest.fixture(scope="session")
def dcap_qvl() -> str:
    """The Rust library, through its Python package."""
    if find_spec("dcap_qvl") is None:
        absent("dcap-qvl is missing: run `pip install dcap-qvl`")
    return f"{sys.executable} {ADAPTERS / 'dcap-qvl' / 'adapter.py'}"


@pytest.fixture(scope="session")
def phala_dcap_qvl() -> str:
    """The JavaScript library."""
    node = shutil.which("node")
    if node is None or not (ADAPTERS / "phala-dcap-qvl" / "node_modules").is_dir():
        absent(
            "Node.js or @phala/dcap-qvl is missing: run `npm --prefix examples/attestation-adapters/phala-dcap-qvl ci`"
        )
    return f"{node} {ADAPTERS / 'phala-dcap-qvl' / 'adapter.mjs'}"


@pytest.fixture(scope="session")
def go_tdx_guest(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The Go library, compiled; its modules come through the Go module proxy."""
    command = shutil.which("go") or shutil.which("go", path=os.pathsep.join(GO_FOLDERS))
    if command is None:
        absent("Go is missing: install it, for example the Debian package golang-go")
    built = str(tmp_path_factory.mktemp("go-tdx-guest") / "adapter")
    build = [command, "build", "-mod=readonly", "-buildvcs=false", "-o", built, "."]
    folder = ADAPTERS / "go-tdx-guest"
    done = subprocess.run(build, cwd=folder, capture_output=True, text=True, timeout=600, check=False)  # noqa: S603
    assert done.returncode == 0, done.stderr
    return built
