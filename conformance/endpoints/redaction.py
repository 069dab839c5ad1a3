"""Redacts credentials and private keys, in every encoding, from all that the suite writes.

Credentials are replaced by the names of shell variables. A private key is known by the address of its wallet.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from functools import lru_cache
from itertools import takewhile

from eth_keys.datatypes import PrivateKey

from conformance.values.key_text import key_bytes, spellings
from conformance.values.secret_text import Candidate, candidates
from conformance.values.typed_data import CURVE_ORDER

SECRET_MEMBERS = frozenset({"api_key", "usage_api_key", "client_secret"})
"""Canonical members whose values are credentials."""
SECRET_HEADERS = frozenset({"x-api-key", "authorization", "x-wallet-auth"})
SHORTEST = 16
"""Shorter values are not redacted: a test's key `x` must not blacken every x of a report."""
SEARCHED = 100_000
"""The number of characters of a text that are searched for unknown keys. Reports show much less of a text."""
ADDRESS = re.compile(r"(?:0x|(?<![0-9a-fA-F]))(?:0{24})?([0-9a-fA-F]{40})(?![0-9a-fA-F])")
BY_NAME = re.compile(
    r'("(?:[a-z_]*api_key|client_secret|private_key|secret|signature)"\s*:\s*")((?:[^"\\]|\\.){16,})(")'
)
USER = re.compile(r"(https?://)[^/\s@'\"]+@")
PRIVATE_KEY, OTHER_KEY = "[private key]", "[key of another case]"
"""The marks in place of keys that have no name."""


class SeenKeys:
    """The keys of all cases of a run: an answer may reveal the key of another case."""

    def __init__(self) -> None:
        self.secrets: set[bytes] = set()
        """The 32 bytes that credentials encode."""
        self.addresses: set[str] = set()
        """Addresses of wallets, in lower case."""

    def note_addresses(self, text: str) -> None:
        """Treat the private keys of the addresses in this text as secrets."""
        self.addresses.update(address.lower() for address in ADDRESS.findall(text))


class Secrets:
    """The keys that a case has seen: its credentials by name, and private keys of wallets that any case has seen."""

    def __init__(self, seen: SeenKeys | None = None) -> None:
        self.seen = seen or SeenKeys()
        self._names: dict[str, str] = {}
        """The replacement of each credential."""
        self._spellings: dict[str, str] = {}
        """The replacement of each spelling of a credential."""
        self._secrets: dict[bytes, str] = {}
        """The replacement of the bytes that credentials encode."""
        self._leaked: dict[str, str] = {}
        """The replacement of spellings of private keys that occurred in a text."""

    def learn(self, value: object) -> None:
        """Record a value as a credential."""
        if isinstance(value, str) and len(value) >= SHORTEST and value not in self._names:
            name = self._names[value] = f"$API_KEY_{len(self._names) + 1}"
            self._spellings |= dict.fromkeys(spellings(value), name)
            try:
                raw = key_bytes(value)
            except ValueError:
                return
            self._secrets[raw] = name
            self.seen.secrets.add(raw)

    @property
    def names(self) -> Mapping[str, str]:
        """The replacement of each credential: `$API_KEY_1`."""
        return self._names

    def found_in(self, text: str) -> bool:
        """Whether the text contains a credential in any spelling."""
        return any(spelling in text for spelling in self._spellings)

    def hide(self, text: str) -> str:
        """The text with `$API_KEY_1` for each credential, and marks for other keys and for texts that look like one.

        Halves of surrogate pairs, which JSON may hold and no file can, are written out.
        """
        for spelling in sorted(self._spellings, key=len, reverse=True):
            if spelling in text:
                text = text.replace(spelling, self._spellings[spelling])
        text = self._without_unspelled(text)
        text = _without_beginnings(self._spellings | self._leaked, text)
        return BY_NAME.sub(_unless_hidden, without_users(text)).encode("utf-8", "backslashreplace").decode()

    def hide_headers(self, headers: dict[str, str]) -> dict[str, str]:
        """The headers, redacted. Headers of credentials keep at most the scheme."""
        return {name: self._header(name, value) for name, value in headers.items()}

    def _header(self, name: str, value: str) -> str:
        hidden = self.hide(value)
        if name.lower() not in SECRET_HEADERS or "$API_KEY_" in hidden:
            return hidden
        scheme, space, _ = hidden.partition(" ")
        return f"{scheme if space else ''}{space}[redacted]"

    def _without_unspelled(self, text: str) -> str:
        """The text without keys that are recognised by the bytes they encode, also inside longer texts."""
        parts: list[str] = []
        end = 0
        for candidate, mark in self._keys_in(text):
            if candidate.start >= end:
                parts += [text[end : candidate.start], mark]
                end = candidate.end
        return "".join([*parts, text[end:]])

    def _keys_in(self, text: str) -> list[tuple[Candidate, str]]:
        marked = ((candidate, self._mark(candidate.secret)) for candidate in set(candidates(text[:SEARCHED])))
        return sorted((candidate, mark) for candidate, mark in marked if mark)

    def _mark(self, secret: bytes) -> str:
        """The replacement of 32 bytes that are a secret; empty for others."""
        if secret in self._secrets:
            return self._secrets[secret]
        if self.seen.addresses and _address(secret) in self.seen.addresses:
            self._leaked |= dict.fromkeys(spellings(secret.hex()), PRIVATE_KEY)  # another text may hold its beginning
            return PRIVATE_KEY
        return OTHER_KEY if secret in self.seen.secrets else ""


def without_users(text: str) -> str:
    """The text with no user and password in any of its URLs."""
    return USER.sub(r"\1", text)


@lru_cache(maxsize=65_536)
def _address(secret: bytes) -> str:
    """The address of a private key, in lower case without 0x; empty for bytes that are no private key."""
    if not 0 < int.from_bytes(secret) < CURVE_ORDER:
        return ""
    return PrivateKey(secret).public_key.to_address()[2:]


def _telling(spelling: str) -> int:
    """How many leading characters reveal a key: nobody can guess the other half."""
    return max(SHORTEST, len(spelling) // 2)


def _without_beginnings(marks: Mapping[str, str], text: str) -> str:
    """The text without beginnings of spellings that remain where a text was cut."""
    for spelling, mark in marks.items():
        while (start := text.find(spelling[: _telling(spelling)])) >= 0:
            end = start + max(_shared(other, text[start:]) for other in marks)
            text = text[:start] + mark + text[end:]
    return text


def _shared(spelling: str, text: str) -> int:
    """The length of the common prefix of two texts."""
    return len(list(takewhile(lambda pair: pair[0] == pair[1], zip(spelling, text, strict=False))))


def _unless_hidden(match: re.Match[str]) -> str:
    return match[0] if match[2].startswith(("$API_KEY_", "[")) else f"{match[1]}[redacted]{match[3]}"


def as_curl(method: str, url: str, headers: dict[str, str], body: str | None) -> str:
    """A redacted request as a shell command in which `$API_KEY_1` is a variable of the shell."""
    parts = ["curl", "-i", "-X", method, _quoted(url)]
    for name, value in headers.items():
        parts += ["-H", _quoted(f"{name}: {value}")]
    if body is not None:
        parts += ["--data-binary", _quoted(body)]
    return " ".join(parts)


def _quoted(text: str) -> str:
    return re.sub(r"\$(API_KEY_\d+)", lambda found: f"'\"${found[1]}\"'", shlex.quote(text))
