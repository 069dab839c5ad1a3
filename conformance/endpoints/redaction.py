"""Nothing that the suite writes down shows a credential: each is replaced by the name of a shell variable."""

from __future__ import annotations

import base64
import re
import shlex
from urllib.parse import quote, quote_plus

from conformance.values.key_text import key_bytes

SECRET_MEMBERS = frozenset({"api_key", "usage_api_key", "client_secret"})
"""Canonical members whose values are credentials."""
SECRET_HEADERS = frozenset({"x-api-key", "authorization", "x-wallet-auth"})
SHORTEST = 16
"""Shorter values are no credentials: a test's `x` must not blacken every x of a report."""
BY_NAME = re.compile(
    r'("(?:[a-z_]*api_key|client_secret|private_key|secret|signature)"\s*:\s*")((?:[^"\\]|\\.){16,})(")'
)


class Secrets:
    """The credentials that a case has met, each under a name."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._spellings: dict[str, str] = {}

    def learn(self, value: object) -> None:
        """From now on this value is a credential."""
        if isinstance(value, str) and len(value) >= SHORTEST and value not in self._names:
            name = f"API_KEY_{len(self._names) + 1}"
            self._names[value] = name
            self._spellings |= dict.fromkeys(_spellings(value), name)

    def found_in(self, text: str) -> bool:
        """Whether any credential stands in the text, in any of its spellings."""
        return any(spelling in text for spelling in self._spellings)

    def hide(self, text: str) -> str:
        """The text with `$API_KEY_1` for each credential, and a mark for what merely looks like one.

        Halves of surrogate pairs, which JSON may hold and no file can, are written out.
        """
        for spelling in sorted(self._spellings, key=len, reverse=True):
            if spelling in text:
                text = text.replace(spelling, f"$API_KEY_{self._spellings[spelling].rpartition('_')[2]}")
        return BY_NAME.sub(_unless_hidden, text).encode("utf-8", "backslashreplace").decode()

    def hide_headers(self, headers: dict[str, str]) -> dict[str, str]:
        """Headers, redacted; those that carry credentials keep at most the word before them."""
        return {name: self._header(name, value) for name, value in headers.items()}

    def _header(self, name: str, value: str) -> str:
        hidden = self.hide(value)
        if name.lower() not in SECRET_HEADERS or "$API_KEY_" in hidden:
            return hidden
        scheme, space, _ = hidden.partition(" ")
        return f"{scheme if space else ''}{space}[redacted]"


def _spellings(value: str) -> set[str]:
    forms = {value, quote(value, safe=""), quote_plus(value), value.replace("/", "\\/")}
    try:
        raw = key_bytes(value)
    except ValueError:
        return forms
    urlsafe = base64.urlsafe_b64encode(raw).decode()
    standard = base64.b64encode(raw).decode()
    return forms | {
        raw.hex(),
        raw.hex().upper(),
        *(form for one in (urlsafe, standard) for form in (one, one.rstrip("="))),
    }


def _unless_hidden(found: re.Match[str]) -> str:
    return found[0] if found[2].startswith("$API_KEY_") else f"{found[1]}[redacted]{found[3]}"


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
