"""The evidence of one service: every body as served, in a folder's layout that other programs can write too."""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator, Mapping
from hashlib import sha256
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType

INFO = "info.json"
ATTESTATION = "attestation.json"
LISTING = "evidences/index.html"
CHECKSUMS = "evidences/sha256sum.txt"
EVIDENCE_QUOTE = "evidences/quote.json"
ACME_ACCOUNT = "evidences/acme-account.json"
COLLATERAL = "collateral.json"
ROOT = "root.pem"
OBSERVED = "observed.json"
API_CERTIFICATE = "api-certificate.der"
"""The certificate of the connection that served `/core/v1`; optional."""
STATEMENT = "statement.json"
"""The statement of a verdict that a caller adds; optional."""
CHAIN_CONFIG = "node-chain-config.json"
"""The answer of `/core/v1/get_node_chain_config`; optional. Statements name the contract in it."""

MOST_BYTES = 4 * 1024 * 1024
"""No file of evidence is longer."""
MOST_FILES = 64
"""No evidence has more files."""
FILE_NAME = re.compile(r"[A-Za-z0-9_*][A-Za-z0-9._*+-]{0,199}")
"""A file of `/evidences/`: no separators, no leading dot."""
_PATH = re.compile(rf"(evidences/)?{FILE_NAME.pattern}")


def certificate_file(domain: str) -> str:
    """The name of the evidence file with a domain's certificate."""
    return f"evidences/cert-{domain}.pem"


class Evidence(Mapping[str, bytes]):
    """File name, as in the folder, to body. Immutable; what is absent was not served."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self._files = MappingProxyType({name: bytes(files[name]) for name in sorted(files)})

    def __getitem__(self, name: str) -> bytes:
        return self._files[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Evidence) and dict(self._files) == dict(other._files)

    def __hash__(self) -> int:
        return hash(tuple(self._files.items()))

    def __repr__(self) -> str:
        return f"Evidence({', '.join(f'{name}: {len(body)} bytes' for name, body in self._files.items())})"

    def with_file(self, name: str, body: bytes | None) -> Evidence:
        """The same evidence with one body replaced, or taken away with None."""
        rest = {key: value for key, value in self._files.items() if key != name}
        return Evidence(rest if body is None else rest | {name: body})


def digest_of(evidence: Evidence) -> str:
    """SHA-256 of the lines that `sha256sum` prints for all files, sorted by name, hex."""
    lines = [f"{sha256(body).hexdigest()}  {name}\n" for name, body in evidence.items()]
    return sha256("".join(lines).encode()).hexdigest()


def load_folder(folder: Path) -> Evidence:
    """The evidence in a folder. OSError: it cannot be read. ValueError: it holds too much, or a link."""
    if not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, "is not a folder", str(folder))
    names = list(islice(_files(folder), MOST_FILES + 1))
    if len(names) > MOST_FILES:
        raise ValueError(f"{folder}: more than {MOST_FILES} files; this is no folder of evidence")
    return Evidence({path.relative_to(folder).as_posix(): _read(path) for path in names})


def _files(folder: Path) -> Iterator[Path]:
    """What is in the folder and in those directly inside: evidence is no deeper."""
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            yield from path.iterdir()
        else:
            yield path


def _read(path: Path) -> bytes:
    if path.is_symlink() or not path.is_file():
        raise ValueError(f"{path}: is no plain file")
    return read_file(path)


def read_file(path: Path) -> bytes:
    """The bytes of a file. OSError: it cannot be read. ValueError: it is too long for one of evidence."""
    with path.open("rb") as file:
        body = file.read(MOST_BYTES + 1)
    if len(body) > MOST_BYTES:
        raise ValueError(f"{path}: longer than {MOST_BYTES} bytes")
    return body


def save_folder(evidence: Evidence, folder: Path) -> None:
    """Write evidence into a new or empty folder, all of it or nothing.

    OSError: it cannot be written. ValueError: it is not empty, or evidence has a name that no file of a folder has.
    """
    if folder.exists() and any(folder.iterdir()):
        raise ValueError(f"{folder}: is not empty; name a new folder, so that no old evidence mixes with the new")
    for name in evidence:
        if not _PATH.fullmatch(name):
            raise ValueError(f"{name!r} is no name of a file of evidence")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as beside:
        whole = Path(beside) / "evidence"
        whole.mkdir()
        for name, body in evidence.items():
            path = whole / name
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(body)
        if folder.exists():
            folder.rmdir()
        whole.rename(folder)
