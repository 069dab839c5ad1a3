"""Quotes of real hardware under Intel's root, at their time and one day outside of their collateral.

They come out of the source distribution of dcap-qvl (MIT), Intel's root also out of the Go module go-tdx-guest
(Apache-2.0). Both are downloaded by their ordinary clients, and nothing of theirs is kept here. Without network or
`go`, tests skip; in CI that is a failure.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from pathlib import Path

import pytest
from cryptography import x509
from programs import absent

from conformance.verify import Policy, Verified, intel_root, verify_quote
from conformance.verify.certificates import read_root

DAY = 86400
INTEL_ROOT_SHA256 = "44a0196b2b99f889b8e149e95b807a350e7424964399e885a7cbb8ccfab674d3"
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


def _run(command: list[str], **environment: str) -> str:
    done = subprocess.run(  # noqa: S603 - commands of this module
        command, capture_output=True, text=True, timeout=300, check=False, env=os.environ | environment
    )
    if done.returncode:
        absent(f"{' '.join(command[:3])}: {(done.stderr or done.stdout).strip()[-300:]}")
    return done.stdout


@pytest.fixture(scope="session")
def dcap_qvl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The unpacked source distribution of dcap-qvl."""
    folder = tmp_path_factory.mktemp("dcap-qvl")
    (folder / "maturin.py").write_text(BACKEND)
    (folder / "wanted.txt").write_text(f"dcap-qvl=={DCAP_QVL} --hash=sha256:{DCAP_QVL_SHA256}\n")
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"]
    options = ["--no-build-isolation", "--require-hashes", "--dest", str(folder), "-r", str(folder / "wanted.txt")]
    _run([*pip, *options], PYTHONPATH=str(folder))
    with tarfile.open(folder / f"dcap_qvl-{DCAP_QVL}.tar.gz") as archive:
        archive.extractall(folder, filter="data")
    return folder / f"dcap_qvl-{DCAP_QVL}"


@dataclass(frozen=True)
class RealQuote:
    """A quote and its collateral, as in `collateral.json`."""

    quote: bytes
    collateral: bytes

    @classmethod
    def of(cls, source: Path, name: str) -> RealQuote:
        """A sample of dcap-qvl."""
        sample = source / "sample"
        return cls((sample / name).read_bytes(), (sample / f"{name}_collateral.json").read_bytes())

    def validity(self) -> tuple[int, int]:
        """First and last second for which every part of the collateral is valid."""
        members = json.loads(self.collateral)
        documents = [json.loads(members[name]) for name in ("tcb_info", "qe_identity")]
        spans = [(_seconds(document["issueDate"]), _seconds(document["nextUpdate"])) for document in documents]
        for name in ("root_ca_crl", "pck_crl"):
            revocations = x509.load_der_x509_crl(bytes.fromhex(members[name]))
            assert revocations.next_update_utc is not None
            spans.append((int(revocations.last_update_utc.timestamp()), int(revocations.next_update_utc.timestamp())))
        return max(begin for begin, _ in spans), min(end for _, end in spans)

    def judged(self, at: int) -> Verified:
        """What the verifier says of it under Intel's root."""
        return verify_quote(self.quote, self.collateral, Policy(at=at))


def _seconds(text: str) -> int:
    return int(datetime.fromisoformat(text).timestamp())


@pytest.mark.parametrize("name", ["tdx_quote", "tdx_quote_td15ex"])
def test_real_quote_is_accepted_while_its_collateral_is_valid(dcap_qvl: Path, name: str) -> None:
    real = RealQuote.of(dcap_qvl, name)
    begin, end = real.validity()
    for at in (begin, end - 1):
        verified = real.judged(at)
        assert verified.accepted, verified.findings
        assert verified.root_sha256 == INTEL_ROOT_SHA256
    for at in (begin - DAY, begin - 1, end, end + DAY):
        assert real.judged(at).codes == {"collateral-date"}


def test_quote_of_a_platform_below_every_level(dcap_qvl: Path) -> None:
    real = RealQuote.of(dcap_qvl, "tdx_quote_outdated")
    assert real.judged(real.validity()[0]).codes == {"tcb-unmatched"}


def test_changed_byte_of_a_real_quote_is_refused(dcap_qvl: Path) -> None:
    real = RealQuote.of(dcap_qvl, "tdx_quote")
    begin, _ = real.validity()
    for place in (100, 300, 600, 640, 700, 800, 1100):
        changed = real.quote[:place] + bytes([real.quote[place] ^ 1]) + real.quote[place + 1 :]
        assert not RealQuote(changed, real.collateral).judged(begin).accepted, place


def test_intels_root_is_the_one_that_two_packages_ship(dcap_qvl: Path) -> None:
    go = shutil.which("go")
    if go is None:
        absent("go is not installed: it downloads go-tdx-guest, which ships Intel's root")
    module = Path(json.loads(_run([go, "mod", "download", "-json", GO_MODULE], GOFLAGS="-mod=mod"))["Dir"])
    ours = read_root(intel_root()).der
    assert sha256(ours).hexdigest() == INTEL_ROOT_SHA256
    assert read_root((module / "verify" / "trusted_root.pem").read_bytes()).der == ours
    assert (dcap_qvl / "src" / "TrustedRootCA.der").read_bytes() == ours
