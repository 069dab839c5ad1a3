"""Builds the requests of a row of the driver `typed_data`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from conformance.drivers.envelopes.changes import ONCE_MORE, Change, applied
from conformance.drivers.envelopes.forms import EnvelopeRow, Padding
from conformance.drivers.envelopes.signatures import SIGNATURES, Signing
from conformance.problems import Mismatch
from conformance.values.json_text import written
from conformance.values.typed_data import Wallet, digest, envelope

Document = dict[str, object]
PADDING = "padding"


@dataclass(frozen=True)
class Signers:
    """The domain and the wallets that the envelopes of a case share."""

    domain_name: str
    chain_id: int
    wallet: Wallet
    other: Wallet

    def valid(self, primary: str, issued_at: int) -> Document:
        """The canonical envelope that the case's wallet signs."""
        return envelope(
            primary, name=self.domain_name, chain_id=self.chain_id, address=self.wallet.address, issued_at=issued_at
        )


@dataclass(frozen=True)
class Proof:
    """An envelope with a signature, as a request carries it."""

    document: Document
    """The envelope that is sent."""
    typed_data: str
    """JSON text of the member `typed_data`."""
    signature: object
    digest: bytes
    """The digest of the envelope that the wallet signed."""
    as_sent: bool
    """Whether the wallet signed the envelope that is sent, as most read it: the last of two members counts."""

    def text(self, row: EnvelopeRow, more: Mapping[str, object]) -> str:
        """The JSON object that holds it, with further members."""
        members = {"typed_data": self.typed_data, "signature": written(self.signature)}
        members |= {name: written(value) for name, value in more.items()}
        members.pop(str(row.without), None)
        ordered = reversed(members.items()) if row.signature_first else members.items()
        return "{" + ",".join(f'"{name}":{value}' for name, value in ordered) + "}"


@dataclass(frozen=True)
class Changes:
    """The changes of a row, with the values of its variables."""

    sent: list[Change]
    signed: list[Change] | None
    """Changes to the envelope that is signed, where it differs from the one that is sent."""


def proofs(row: EnvelopeRow, changes: Changes, original: Document, signers: Signers, form: str) -> Iterator[Proof]:
    """The proofs that a row sends: one for each envelope that its wallet signs."""
    changed = _applied(original, changes.sent)
    if changes.signed is not None:
        documents = [_applied(original, changes.signed)]
    else:
        over = row.over or ("changed" if row.accepted else "both")
        documents = [changed] if over == "changed" else [original] if over == "original" else [changed, original]
    text = _typed_data(row, changed, form)
    for hashed in dict.fromkeys(digest(document) for document in documents):
        signing = Signing(signers.wallet, signers.other, hashed, _text(changed))
        as_sent = hashed == digest(_as_read(changed))
        yield Proof(changed, text, SIGNATURES[row.signature](signing), hashed, as_sent)


def _applied(original: Document, changes: list[Change]) -> Document:
    return {**applied(original, changes)}  # type: ignore[arg-type]  # an envelope is JSON


def _as_read(document: Document) -> Document:
    """Without the marks of second copies: the last of two members of the same name is left."""
    return {
        name.removesuffix(ONCE_MORE): _as_read(value) if isinstance(value, dict) else value
        for name, value in document.items()
    }


def _typed_data(row: EnvelopeRow, document: object, form: str) -> str:
    if row.typed_data is not None:
        return row.typed_data
    text = _text(document)
    if row.pad_to is not None:
        text = PADDINGS[row.pad_with](text, row.pad_to)
        if len(text.encode()) != row.pad_to:
            raise Mismatch(f"an envelope that can be brought to {row.pad_to} bytes", f"{len(text.encode())}")
    return written(text) if form == "string" else text


def _text(document: object) -> str:
    return written(document).replace(ONCE_MORE, "")


def _lacking(text: str, size: int) -> int:
    return size - len(text.encode())


def _inside(text: str, size: int) -> str:
    return text.replace(",", "," + " " * _lacking(text, size), 1)


def _line_breaks(text: str, size: int) -> str:
    return text + ("\r\n\t " * size)[: _lacking(text, size)]


def _escapes(text: str, size: int) -> str:
    """Pad by writing letters as escapes, as many as fit, and by spaces."""
    parts: list[str] = []
    room = _lacking(text, size)
    for letter in text:
        escaped = letter.isalpha() and room >= len("u0000")
        room -= len("u0000") if escaped else 0
        parts.append(f"\\u{ord(letter):04x}" if escaped else letter)
    return "".join(parts) + " " * room


def _member(letter: str) -> Callable[[str, int], str]:
    def pad(text: str, size: int) -> str:
        opened = f'{text[:-1]},"{PADDING}":""' + "}"
        lacking = _lacking(opened, size)
        wide, rest = divmod(lacking, len(letter.encode()))
        return f'{opened[:-2]}{letter * wide}{"x" * rest}"' + "}"

    return pad


PADDINGS: dict[Padding, Callable[[str, int], str]] = {
    "spaces_after": lambda text, size: text + " " * _lacking(text, size),
    "spaces_before": lambda text, size: " " * _lacking(text, size) + text,
    "spaces_inside": _inside,
    "line_breaks": _line_breaks,
    "escapes": _escapes,
    "member": _member("x"),
    "wide_member": _member("\u00e9"),
}
"""Functions by name that pad a compact text to a number of bytes."""
