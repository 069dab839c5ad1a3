"""Quotes of real hardware with their collateral, out of packages that ship them; nothing of theirs is kept here.

The Go module go-tdx-guest (Apache-2.0) and the source distribution of dcap-qvl (MIT) are downloaded by their ordinary
clients into a folder for the session. Without network or `go`, tests skip; in CI that is a failure.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path

import pytest

GO_MODULE = "github.com/google/go-tdx-guest@v0.3.1"
DCAP_QVL = "0.7.0"
DCAP_QVL_SHA256 = "f1c442dc494a6a3ccfff587dfa22ea3a7459c90d940a3dd20d234332a025ed03"
BACKEND = f'''\
"""Answers pip's question for metadata, so that it downloads the source distribution without building it."""
from pathlib import Path

def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    folder = Path(metadata_directory, "dcap_qvl-{DCAP_QVL}.dist-info")
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\\nName: dcap-qvl\\nVersion: {DCAP_QVL}\\n")
    (folder / "WHEEL").write_text("Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    return folder.name
'''


@dataclass(frozen=True)
class RealQuote:
    """A quote and its collateral."""

    quote: bytes
    collateral: bytes
    """As in `collateral.json`."""


def missing(what: str) -> None:
    """Skip, or in CI fail, because something cannot be downloaded."""
    (pytest.fail if os.environ.get("CI") else pytest.skip)(what)


def _run(command: list[str], **environment: str) -> str:
    done = subprocess.run(  # noqa: S603 - commands of this module
        command, capture_output=True, text=True, timeout=300, check=False, env=os.environ | environment
    )
    if done.returncode:
        missing(f"{' '.join(command[:3])}: {(done.stderr or done.stdout).strip()[-300:]}")
    return done.stdout


def go_test_data() -> Path:
    """The folder of go-tdx-guest's test data."""
    go = shutil.which("go")
    if go is None:
        missing("go is not installed: it downloads go-tdx-guest, which holds a production quote")
    return Path(json.loads(_run([str(go), "mod", "download", "-json", GO_MODULE], GOFLAGS="-mod=mod"))["Dir"])


def dcap_qvl_source(folder: Path) -> Path:
    """The unpacked source distribution of dcap-qvl."""
    (folder / "maturin.py").write_text(BACKEND)
    (folder / "wanted.txt").write_text(f"dcap-qvl=={DCAP_QVL} --hash=sha256:{DCAP_QVL_SHA256}\n")
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"]
    options = ["--no-build-isolation", "--require-hashes", "--dest", str(folder), "-r", str(folder / "wanted.txt")]
    _run([*pip, *options], PYTHONPATH=str(folder))
    with tarfile.open(folder / f"dcap_qvl-{DCAP_QVL}.tar.gz") as archive:
        archive.extractall(folder, filter="data")
    return folder / f"dcap_qvl-{DCAP_QVL}"
