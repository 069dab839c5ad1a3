"""Redacts credentials and private keys, in every encoding, from all that the suite writes.

Credentials are replaced by the names of shell variables. A private key is known by the address of its wallet.
"""

from __future__ import annotations

import base64
import re
import shlex
import unicodedata
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Set
from contextlib import suppress
from itertools import takewhile
from typing import NamedTuple

from conformance.problems import BeyondLimits
from conformance.values.escapes import layers
from conformance.values.key_text import key_bytes, spellings
from conformance.values.readings import readings
from conformance.values.secret_text import Candidate, candidates, likely, wallet_of

SECRET_MEMBERS = frozenset({"api_key", "usage_api_key", "client_secret"})
"""Canonical members whose values are credentials."""
SECRET_HEADERS = frozenset({"x-api-key", "authorization", "x-wallet-auth"})
SHORTEST = 16
"""Shorter values are not redacted: a test's key `x` must not blacken every x of a report."""
LONGEST_CREDENTIAL = 16_384
"""Characters of a key that a node gives: no server takes a longer header, and a run remembers all keys."""
MOST_OF_CREDENTIALS = 300_000
"""Characters of all credentials that the answers of one case give: what discloses one takes 200 times its memory."""
SEARCHED = 100_000
"""The number of characters of a text that are searched for unknown keys. Reports show much less of a text."""
MOST_ADDRESSES = 100_000
"""Of wallets that a run notes."""
MOST_COMPUTED = 500_000
"""Of how many secrets a run computes the wallet, to know whether an answer named it; a minute of processor time."""
MOST_RESOLVED = 20_000_000
"""Characters of answers whose escapes a run resolves to find addresses; as much."""
MOST_LEAKED = 100
"""Private keys that a case looks for in all texts, once one of them held them."""
DIGIT, OTHER = b"h", b" "
CLASSES = bytes(ord(DIGIT if chr(octet) in "0123456789abcdefABCDEF" else OTHER) for octet in range(256))
"""Translates the digits of hex to `DIGIT`, and all else to `OTHER`."""
ADDRESS_DIGITS = 40
PADDING = "0" * 24
"""Before an address that fills a word of 32 bytes."""
BY_NAME = re.compile(
    r'("(?:[a-z_]*api_key|client_secret|private_key|secret|signature)"\s*:\s*")((?:[^"\\]|\\.){16,})(")'
)
LONGEST_SPELLING = 1_000
"""No key of 32 bytes takes more characters, its escapes included."""
FRAGMENT = 10
"""So many letters and digits of a credential in a row are hidden, in any case and whatever stands between them."""
NO_LETTERS = re.compile("[^A-Za-z0-9]+")
"""All but the letters and digits of a text in ASCII."""
LEAST_VARIED = 4
"""A fragment of fewer different characters, as ten zeros, stands in many a text; so do 32 bytes of fewer values."""
USER = re.compile(r"(https?://)[^/\s@'\"]+@")
PRIVATE_KEY, OTHER_KEY, WITHHELD = "[private key]", "[key of another case]", "[secret of the profile]"
"""The marks in place of keys that have no name."""


BLOT = "\0"
"""What stands meanwhile in place of a key that is found: no part of any other."""


class Anything(Container[bytes]):
    """Holds all there is."""

    def __contains__(self, _: object) -> bool:
        return True


class Place(NamedTuple):
    """Where a key stands in a text, and what is shown instead."""

    start: int
    end: int
    mark: str


class Forms(NamedTuple):
    """What discloses a credential."""

    spellings: frozenset[str]
    fragments: frozenset[str]
    """In lower case."""
    encoded: bytes | None
    """The bytes that it encodes."""


def forms_of(value: str) -> Forms:
    """What discloses this credential."""
    encoded: bytes | None = None
    texts = [value]
    with suppress(ValueError):
        encoded = key_bytes(value)
        texts += [encoded.hex(), base64.b64encode(encoded).decode()]
    fragments = frozenset(one for text in texts for one in _fragments(text[:LONGEST_SPELLING]))
    return Forms(spellings(value), fragments, encoded)


class Spellings(dict[str, str]):
    """The replacement of each spelling of a key, of `SHORTEST` characters or more."""

    FEW = 1_000
    """So many are looked for one by one in less time than all places of a text are looked at."""

    def __init__(self) -> None:
        super().__init__()
        self._alike: defaultdict[str, set[str]] = defaultdict(set)
        """The spellings with the same beginning."""

    def note(self, found: Iterable[str], mark: str) -> None:
        """Add these spellings, of one key."""
        for spelling in found:
            self[spelling] = mark
            self._alike[spelling[:SHORTEST]].add(spelling)

    def begun_in(self, text: str) -> Mapping[str, str]:
        """Those that may stand in the text, whole or cut."""
        if len(self) <= self.FEW:
            return self
        parts = {text[start : start + SHORTEST] for start in range(len(text) - SHORTEST + 1)}
        return {spelling: self[spelling] for part in self._alike.keys() & parts for spelling in self._alike[part]}


class SeenKeys:
    """The keys of all cases of a run: an answer may reveal the key of another case."""

    def __init__(self, withheld: str | None = None) -> None:
        """Hide this secret, too, which no case makes and any answer may reveal."""
        self.withheld = forms_of(withheld) if withheld and len(withheld) >= SHORTEST else None
        self.secrets: set[bytes] = set()
        """The 32 bytes that credentials encode."""
        self._addresses: set[str] = set()
        """Addresses of wallets, in lower case."""
        self._resolved = 0
        """Characters of texts whose escapes were resolved."""
        self._computed = 0
        """Of how many secrets the wallet was computed."""

    @property
    def addresses(self) -> Set[str]:
        """The addresses in texts so far, without 0x and in small letters; there may come more."""
        return self._addresses

    def note_addresses(self, text: str) -> None:
        """Treat the private keys of the addresses in this text as secrets."""
        for resolved, layer in enumerate(layers(text)):
            for address in addresses(layer.text):
                if self.are_many:
                    return
                self._addresses.add(address)
            self._resolved += len(text) if resolved else 0
            if self._resolved > MOST_RESOLVED:
                return

    @property
    def are_many(self) -> bool:
        """Whether there were so many that private keys are not told from other 32 bytes any more."""
        return len(self._addresses) >= MOST_ADDRESSES or self._computed >= MOST_COMPUTED

    def private(self, found: Iterable[Candidate]) -> Iterator[bytes]:
        """Those of these secrets that are private keys of wallets whose addresses some text held."""
        before = wallet_of.cache_info().misses
        for secret in likely(found):
            if not self._addresses or self.are_many:
                return
            if wallet_of(secret)[2:] in self._addresses:
                yield secret
            self._computed += wallet_of.cache_info().misses - before
            before = wallet_of.cache_info().misses


class Secrets:
    """The keys that a case has seen: its credentials by name, and private keys of wallets that any case has seen."""

    def __init__(self, seen: SeenKeys | None = None) -> None:
        self.seen = seen or SeenKeys()
        self._names: dict[str, str] = {}
        """The replacement of each credential."""
        self._given = 0
        """Characters of the credentials that answers gave."""
        self._spellings = Spellings()
        """The replacement of each spelling of a credential."""
        self._fragments: dict[str, str] = {}
        """The replacement of each fragment of a credential, in lower case."""
        self._secrets: dict[bytes, str] = {}
        """The replacement of the bytes that credentials encode."""
        self._private: set[bytes] = set()
        """Private keys of wallets that occurred in a text."""
        self._leaked = Spellings()
        """The replacement of spellings of private keys that occurred in a text."""
        if self.seen.withheld is not None:
            self._note(self.seen.withheld, WITHHELD)

    def learn(self, value: object) -> None:
        """Record a value as a credential."""
        if isinstance(value, str) and len(value) >= SHORTEST and value not in self._names:
            name = self._names[value] = f"$API_KEY_{len(self._names) + 1}"
            forms = forms_of(value)
            self._note(forms, name)
            if forms.encoded is not None and len({*forms.encoded}) >= LEAST_VARIED:
                self.seen.secrets.add(forms.encoded)

    def learn_members(self, answer: Mapping[str, object], exchange: int) -> None:
        """Record the credentials that an answer gives. BeyondLimits: one is longer than any header, or all are long."""
        for name in SECRET_MEMBERS & answer.keys():
            value = answer[name]
            if isinstance(value, str) and len(value) > LONGEST_CREDENTIAL:
                most = f"a credential of at most {LONGEST_CREDENTIAL} characters"
                raise BeyondLimits(most, f"{len(value)} characters", exchange)
            if isinstance(value, str) and value not in self._names:
                self._given += len(value)
            if self._given > MOST_OF_CREDENTIALS:
                most = f"credentials of at most {MOST_OF_CREDENTIALS} characters in the answers of one case"
                raise BeyondLimits(most, f"{self._given} characters", exchange)
            self.learn(value)

    def _note(self, forms: Forms, mark: str) -> None:
        self._spellings.note(forms.spellings, mark)
        self._fragments |= dict.fromkeys(forms.fragments, mark)
        if forms.encoded is not None:
            self._secrets[forms.encoded] = mark

    @property
    def names(self) -> Mapping[str, str]:
        """The replacement of each credential: `$API_KEY_1`."""
        return self._names

    def found_in(self, text: str) -> bool:
        """Whether the text contains a credential of the case in any spelling, escaped or not."""
        own = [spelling for spelling, mark in self._spellings.items() if mark != WITHHELD]
        return any(spelling in layer.text for layer in layers(text) for spelling in own)

    def hide(self, text: str) -> str:
        """The text with `$API_KEY_1` for each credential, and marks for other keys and for texts that look like one.

        Halves of surrogate pairs, which JSON may hold and no file can, are written out.
        """
        text = self._without_keys(text)
        return BY_NAME.sub(_unless_hidden, without_users(text)).encode("utf-8", "backslashreplace").decode()

    def hide_beginning(self, text: str, most: int, cut: int = 0) -> str:
        """The redacted text, of a long one at most so many characters and how long it is, with `cut` more.

        What follows is searched only as far as a key may reach that begins before the cut.
        """
        beginning = text[: most + LONGEST_SPELLING]
        hidden = self.hide(beginning)
        if len(beginning) < len(text):
            hidden = hidden[:-LONGEST_SPELLING]
        elif len(hidden) <= most:
            return hidden
        return f"{hidden[:most]}… ({len(text) + cut} characters)"

    def tell_beginning(self, text: str, most: int) -> str:
        """The same, and how what stands for a credential differs from the one that was given, where it does."""
        beginning = text[: most + LONGEST_SPELLING]
        return self.hide_beginning(self._without_keys(beginning, tells=True) + text[len(beginning) :], most)

    def _told(self, text: str, place: Place) -> str:
        """What is shown at a place instead of a credential, with what differs in it: never the credential."""
        found, mark = text[place.start : place.end], place.mark
        if not text[place.end :] or text.startswith(CUT_OFF, place.end) or len(found) > LONGEST_SPELLING:
            return mark
        given = [(value, name) for value, name in self._names.items() if len(value) <= LONGEST_SPELLING][:MOST_COMPARED]
        value = next((value for value, name in given if name == mark), found)
        if found != value:
            return f"{mark} ({variation(found, value)})"
        earlier = given[: next((at for at, (_, name) in enumerate(given) if name == mark), 0)]
        like = ((name, variation(found, other)) for other, name in earlier if len(other) == len(found))
        return next((f"{mark} ({name} {how})" for name, how in like if how != OTHERWISE), mark)

    def _without_keys(self, text: str, *, tells: bool = False) -> str:
        """The text without the keys that stand in it as it is, and those that its escapes hide."""
        places = (
            Place(layer.starts[start], layer.starts[end], mark)
            for layer in layers(text)
            for start, end, mark in self._places(layer.text)
        )
        parts: list[str] = []
        end = 0
        for place in sorted(places, key=lambda place: (place.start, -place.end)):
            if place.start >= end:
                whole = _with_padding(text, place) if tells else place
                parts += [text[end : place.start], self._told(text, whole) if tells else place.mark]
                end = whole.end
            end = max(end, place.end)
        return "".join([*parts, text[end:]])

    def _places(self, text: str) -> list[Place]:
        """Where keys stand in the text as it is: known spellings, the bytes of keys, and beginnings of spellings."""
        spelled = _spelled(self._spellings.begun_in(text), text)
        text = _blotted(text, spelled)
        unspelled = self._unspelled(text)
        text = _blotted(text, unspelled)
        beginnings = _beginnings({**self._spellings.begun_in(text), **self._leaked.begun_in(text)}, text)
        text = _blotted(text, beginnings)[:SEARCHED]
        return [*spelled, *unspelled, *beginnings, *self._in_fragments(text), *self._encoded(text)]

    def _encoded(self, text: str) -> Iterator[Place]:
        """The runs of a text that encode a text with a part of a credential in it."""
        if not self._fragments:
            return
        for start, end, read in readings(text):
            letters = NO_LETTERS.sub("", read).lower()
            parts = (letters[at : at + FRAGMENT] for at in range(len(letters) - FRAGMENT + 1))
            if found := next(filter(self._fragments.__contains__, parts), ""):
                yield Place(start, end, self._fragments[found])

    def _in_fragments(self, text: str) -> Iterator[Place]:
        """Where credentials stand in another case, with other characters between theirs, or in parts."""
        if not self._fragments:
            return
        letters, places = _letters(text)
        start = 0
        while start <= len(letters) - FRAGMENT:
            mark = self._fragments.get(letters[start : start + FRAGMENT])
            if mark is None:
                start += 1
                continue
            end = start + FRAGMENT
            while end < len(letters) and letters[end - FRAGMENT + 1 : end + 1] in self._fragments:
                end += 1
            yield Place(places[start], places[end - 1] + 1, mark)
            start = end

    def _unspelled(self, text: str) -> list[Place]:
        """Keys that are recognised by the bytes they encode, also inside longer texts."""
        text = text[:SEARCHED]
        self._note_leaks(sorted(set(candidates(text))))
        known = Anything() if self._are_many else self._secrets.keys() | self._private | self.seen.secrets
        marked = (Place(one.start, one.end, self._mark(one.secret)) for one in set(candidates(text, known)))
        return [place for place in marked if place.mark]

    def hide_headers(self, headers: dict[str, str]) -> dict[str, str]:
        """The headers, redacted. Headers of credentials keep at most the scheme."""
        return {self.hide(name): self.hide_header(name, value) for name, value in headers.items()}

    def hide_header(self, name: str, value: str) -> str:
        """The value of a header, redacted."""
        hidden = self.hide(value)
        if name.lower() not in SECRET_HEADERS or "$API_KEY_" in hidden:
            return hidden
        scheme, space, _ = hidden.partition(" ")
        return f"{scheme if space else ''}{space}[redacted]"

    def _note_leaks(self, found: Iterable[Candidate]) -> None:
        """Note the private keys of known wallets, of which another text may hold the beginning alone."""
        for secret in self.seen.private(found):
            if secret not in self._private and not self._are_many:
                self._private.add(secret)
                self._leaked.note(spellings(secret.hex()), PRIVATE_KEY)

    @property
    def _are_many(self) -> bool:
        """Whether any 32 bytes are hidden, since finding out what they are would take too long."""
        return self.seen.are_many or len(self._private) >= MOST_LEAKED

    def _mark(self, secret: bytes) -> str:
        """The replacement of 32 bytes that are a secret; empty for others."""
        if secret in self._secrets:
            return self._secrets[secret]
        if secret in self._private or self._are_many:
            return PRIVATE_KEY
        return OTHER_KEY if secret in self.seen.secrets else ""


OTHERWISE = "written otherwise"
CUT_OFF = "…"
MOST_COMPARED = 100
"""Credentials of a case with which one is compared."""


def variation(found: str, value: str) -> str:
    """What makes a spelling of a credential, or of a part of it, another than the credential, in words."""
    one, other = found.strip("="), value.strip("=")
    if one == other:
        return "with other padding"
    if one.lower() == other.lower():
        forms = {
            other.swapcase(): "with the case of its letters swapped",
            other.lower(): "in small letters",
            other.upper(): "in capitals",
        }
        return forms.get(one, "with another case of some letters")
    if one == other[::-1]:
        return "backwards"
    if one in other:
        return f"{len(one)} of its {len(value)} characters"
    with suppress(ValueError):
        if key_bytes(found) == key_bytes(value):
            return "in hex" if len(one) == 2 * len(key_bytes(value)) else "in another encoding"
    return OTHERWISE


def _with_padding(text: str, place: Place) -> Place:
    """A place with the padding behind it, of which base64 has two characters at most."""
    after = text[place.end : place.end + 2]
    return place._replace(end=place.end + len(after) - len(after.lstrip("=")))


def addresses(text: str) -> Iterator[str]:
    """The addresses of wallets in a text, without 0x and in small letters: 40 digits of hex, or 24 zeros and 40.

    It takes in whole answers, for which a regular expression, which tries each digit, is ten times as slow.
    """
    classes = text.encode("ascii", "replace").translate(CLASSES)
    end = 0
    while (start := classes.find(DIGIT * ADDRESS_DIGITS, end)) >= 0:
        end = classes.find(OTHER, start)
        run = text[start : end if end >= 0 else len(text)]
        if len(run) == ADDRESS_DIGITS or (len(run) == len(PADDING) + ADDRESS_DIGITS and run.startswith(PADDING)):
            yield run[-ADDRESS_DIGITS:].lower()
        if end < 0:
            return


def _spelled(marks: Mapping[str, str], text: str) -> list[Place]:
    """Where these spellings stand in a text, the longest of those that overlap."""
    places: list[Place] = []
    for spelling in sorted(marks, key=len, reverse=True):
        end = 0
        found: list[Place] = []
        while (start := text.find(spelling, end)) >= 0:
            end = start + len(spelling)
            found.append(Place(start, end, marks[spelling]))
        text = _blotted(text, found)
        places += found
    return places


def _blotted(text: str, places: Iterable[Place]) -> str:
    """The text with nothing readable at these places."""
    parts: list[str] = []
    done = 0
    for start, end, _ in sorted(places):
        parts += [text[done:start], BLOT * (end - max(start, done))]
        done = max(done, end)
    return "".join([*parts, text[done:]])


def _letters(text: str) -> tuple[str, list[int]]:
    """The letters and digits of a text in lower case, wide ones as ASCII's, and the place of each."""
    shown = [
        (letter, place)
        for place, character in enumerate(text)
        for letter in (character if character.isascii() else unicodedata.normalize("NFKC", character)).lower()
        if letter.isascii() and letter.isalnum()
    ]
    return "".join(letter for letter, _ in shown), [place for _, place in shown]


def _fragments(text: str) -> Iterator[str]:
    """The fragments of a text, forwards and backwards."""
    for letters in ((forwards := _letters(text)[0]), forwards[::-1]):
        for start in range(len(letters) - FRAGMENT + 1):
            if len(set(fragment := letters[start : start + FRAGMENT])) >= LEAST_VARIED:
                yield fragment


def without_users(text: str) -> str:
    """The text with no user and password in any of its URLs."""
    return USER.sub(r"\1", text)


def _telling(spelling: str) -> int:
    """How many leading characters reveal a key: nobody can guess the other half."""
    return max(SHORTEST, len(spelling) // 2)


def _beginnings(marks: Mapping[str, str], text: str) -> list[Place]:
    """Where beginnings of spellings stand that remain where a text was cut."""
    places: list[Place] = []
    for spelling, mark in marks.items():
        beginning = spelling[: _telling(spelling)]
        if beginning not in text:
            continue
        same = [other for other in marks if other.startswith(beginning)]
        found: list[Place] = []
        end = 0
        while (start := text.find(beginning, end)) >= 0:
            end = start + max(_shared(other, text[start : start + len(other)]) for other in same)
            found.append(Place(start, end, mark))
        text = _blotted(text, found)
        places += found
    return places


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
