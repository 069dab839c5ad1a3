"""No credential leaves the suite in anything that it writes down."""

from __future__ import annotations

import base64
import gzip
import json
import shlex
import subprocess
import zlib
from collections.abc import Callable
from dataclasses import asdict, replace
from urllib.parse import quote

import pytest
from eth_utils.crypto import keccak

from conformance.endpoints.conversation import GroupMembers, conversation
from conformance.endpoints.log import ExchangeLog, RawExchange
from conformance.endpoints.redaction import (
    FRAGMENT,
    LONGEST_CREDENTIAL,
    MOST_OF_CREDENTIALS,
    Secrets,
    as_curl,
)
from conformance.problems import BeyondLimits
from conformance.service.envelopes import wallet_auth_header
from conformance.service.secrets_search import wallets_of_secrets_in
from conformance.values.json_text import written
from conformance.values.secret_text import EDGE, MOST_WALLETS, candidates, private_keys
from conformance.values.typed_data import Wallet

RAW = bytes(range(220, 252))
KEY = base64.b64encode(RAW).decode()
assert {"/", "+"} <= {*KEY}


def secrets(*values: object, addresses: str = "") -> Secrets:
    """Secrets that know these credentials, and the wallets whose addresses stand in a text."""
    made = Secrets()
    made.seen.note_addresses(addresses)
    for value in values:
        made.learn(value)
    return made


def asked(headers: dict[str, str], *, seconds: float = 0.1, began: float = 0.0) -> RawExchange:
    """A request with these headers, and an empty answer."""
    return RawExchange("GET", "http://node/x", headers, None, 200, {}, "{}", seconds, began=began)


@pytest.mark.parametrize(
    "spelling",
    [KEY, quote(KEY, safe=""), KEY.replace("/", "\\/"), KEY.rstrip("="), RAW.hex(), RAW.hex().upper(),
     base64.urlsafe_b64encode(RAW).decode(), base64.urlsafe_b64encode(RAW).decode().rstrip("="),
     quote(KEY, safe="").replace("%2B", "%2b").replace("%2F", "%2f").replace("%3D", "%3d"),
     str(int.from_bytes(RAW)), KEY[::-1], KEY.encode().hex(), RAW.hex(":"), RAW.hex(" "),
     base64.b32encode(RAW).decode()],
)  # fmt: skip
def test_credential_is_hidden_in_every_spelling(spelling: str) -> None:
    known = secrets(KEY)

    assert known.found_in(f"a {spelling} b")
    assert known.hide(f"a {spelling} b") == "a $API_KEY_1 b"


@pytest.mark.parametrize(
    ("spelling", "told"),
    [
        (KEY, "$API_KEY_1"),
        (KEY.swapcase(), "$API_KEY_1 (with the case of its letters swapped)"),
        (KEY.lower(), "$API_KEY_1 (in small letters)"),
        (KEY.upper(), "$API_KEY_1 (in capitals)"),
        (KEY[:9] + KEY[9:].lower(), "$API_KEY_1 (with another case of some letters)"),
        (KEY.rstrip("="), "$API_KEY_1 (with other padding)"),
        (KEY[::-1], "$API_KEY_1 (backwards)"),
        (KEY[:20], "$API_KEY_1 (20 of its 44 characters)"),
        (RAW.hex(), "$API_KEY_1 (in hex)"),
        (base64.urlsafe_b64encode(RAW).decode(), "$API_KEY_1 (in another encoding)"),
    ],
)
def test_departure_tells_how_a_credential_differs_from_the_one_that_was_given(spelling: str, told: str) -> None:
    assert secrets(KEY).tell_beginning(f'["{spelling}", 1]', 1_000) == f'["{told}", 1]'


def test_departure_tells_that_a_credential_is_another_one_written_otherwise() -> None:
    known = secrets(KEY, KEY.swapcase(), base64.b64encode(bytes(32)).decode())
    told = known.tell_beginning(f"{KEY.swapcase()}, {KEY}, {base64.b64encode(bytes(32)).decode()}.", 1_000)
    assert told == "$API_KEY_2 ($API_KEY_1 with the case of its letters swapped), $API_KEY_1, $API_KEY_3."


def test_credential_that_the_suite_cuts_off_is_told_as_the_whole() -> None:
    assert secrets(KEY).tell_beginning(f"got {KEY[:20]}", 1_000) == "got $API_KEY_1"
    assert secrets(KEY).tell_beginning(f"got {KEY[:20]}… (44 characters)", 1_000) == "got $API_KEY_1… (44 characters)"


@pytest.mark.parametrize(
    "spelling",
    [RAW.hex()[:31] + RAW.hex()[31:].upper(), base64.b64encode(b"a key: " + RAW).decode(), f"ff{RAW.hex()}ff"],
)
def test_credential_is_hidden_inside_of_other_texts(spelling: str) -> None:
    hidden = secrets(KEY).hide(f"see {spelling}.")

    assert "$API_KEY_1" in hidden
    assert RAW not in {found.secret for found in candidates(hidden, {RAW})}


DISGUISED: dict[str, Callable[[str], str]] = {
    "upper case": str.upper,
    "lower case": str.lower,
    "the other case, backwards": lambda text: text[::-1].swapcase(),
    "upper case, escaped": lambda text: ESCAPED["of JSON"](text.upper()),
    "members of 15 characters": lambda text: json.dumps({"abc"[at]: text[at * 15 : at * 15 + 15] for at in range(3)}),
    "its second half first": lambda text: json.dumps([text[22:], text[:22]]),
    "4 characters each": lambda text: json.dumps([text[at : at + 4] for at in range(0, len(text), 4)]),
    "1 character each": lambda text: json.dumps([*text]),
    "lines": lambda text: "\n".join(text[at : at + 20] for at in range(0, len(text), 20)),
    "dashes": "-".join,
    "zero width": "\u200b".join,
    "zeros": "\0".join,
    "full width": lambda text: "".join(chr(ord(one) + 0xFEE0) for one in text),
    "without its beginning": lambda text: text[8:],
    "base64, backwards inside": lambda text: in_base64(text[::-1]),
    "hex, backwards inside": lambda text: (RAW[::-1] if text == KEY else text[::-1].encode()).hex(),
    "base64, with a name": lambda text: in_base64(f"user:{text}"),
    "base64, among JSON": lambda text: in_base64(json.dumps({"a": "x" * 70, "key": text, "z": 0})),
    "base64 of base64 of base64": lambda text: in_base64(in_base64(in_base64(text))),
    "base64 in lines": lambda text: base64.encodebytes(f"{'user ' * 9}{text}".encode()).decode(),
    "base64 in lines, as JSON": lambda text: json.dumps(base64.encodebytes(f"{'user ' * 9}{text}".encode()).decode()),
    "base64 of gzip": lambda text: base64.b64encode(gzip.compress(text.encode())).decode(),
    "base64 of zlib": lambda text: base64.b64encode(zlib.compress(text.encode())).decode(),
    "base64 of UTF-16": lambda text: base64.b64encode(text.encode("utf-16")).decode(),
    "hex of UTF-32": lambda text: text.encode("utf-32").hex(),
    "base64 of escapes of JSON": lambda text: in_base64(ESCAPED["of JSON"](text)),
    "base64 of escapes of URLs, upper case": lambda text: in_base64(ESCAPED["of URLs"](text.upper())),
    "list of bytes": lambda text: json.dumps([*text.encode()]),
    "bytes in hex of C": lambda text: ", ".join(f"0x{octet:02x}" for octet in text.encode()),
    "escapes of Python": lambda text: "".join(f"\\x{octet:02x}" for octet in text.encode()),
    "escapes of JavaScript": lambda text: "".join(f"\\u{{{octet:x}}}" for octet in text.encode()),
    "escapes of mail": lambda text: "".join(f"={octet:02X}" for octet in text.encode()),
}


def in_base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


@pytest.mark.parametrize("key", [KEY, "tok_00dc572092e842b1703ed68c-Zq-live"])
@pytest.mark.parametrize("disguised", DISGUISED.values(), ids=DISGUISED)
def test_credential_is_hidden_in_disguise(disguised: Callable[[str], str], key: str) -> None:
    hidden = secrets(key).hide(f"before: {disguised(key)} :then")
    assert hidden.startswith("before: ")
    assert hidden.endswith("then")
    rest = "".join(hidden.replace("$API_KEY_1", " ").removeprefix("before: ").removesuffix("then").split())
    assert len([one for one in rest if one.isalnum()]) < FRAGMENT


def test_what_encodes_other_texts_stays_as_it_is() -> None:
    for text in (in_base64('{"user": "somebody else"}'), gzip.compress(b"sound" * 99).hex(), f"{[*range(60)]}"):
        assert secrets(KEY).hide(text) == text


def test_credentials_of_a_case_have_a_limit() -> None:
    made = secrets()
    long = "k" * LONGEST_CREDENTIAL
    for number in [*range(MOST_OF_CREDENTIALS // LONGEST_CREDENTIAL)] * 2:
        made.learn_members({"api_key": f"{number:02}{long[2:]}"}, 0)
    with pytest.raises(BeyondLimits, match="credentials of at most 300000 characters"):
        made.learn_members({"api_key": f"99{long[2:]}"}, 0)


def test_each_of_many_credentials_is_hidden_whole_and_cut() -> None:
    keys = [base64.b64encode(keccak(bytes([number]))).decode() for number in range(100)]
    known = secrets(*keys)
    assert known.hide(" ".join(keys[::9])) == " ".join(f"$API_KEY_{number + 1}" for number in range(0, 100, 9))
    assert known.hide(f"got {keys[70][:30]}") == "got $API_KEY_71"
    assert known.hide(f"got {base64.b64decode(keys[70]).hex()[:40]}: no such key") == "got $API_KEY_71: no such key"


def test_text_that_shares_little_with_a_credential_stays_as_it_is() -> None:
    known = secrets(KEY, "0" * 24 + RAW.hex()[:40], "a-key-of-a-vendor-without-chance")
    for text in ("0x" + "0" * 40, f"{KEY[:8]} is the beginning", "a vendor of a key", f"group {RAW.hex()[:8]}"):
        assert known.hide(text) == text


def test_key_of_another_case_is_hidden() -> None:
    assert Secrets(secrets(KEY).seen).hide(f"got {RAW.hex()}") == "got [key of another case]"


ESCAPED: dict[str, Callable[[str], str]] = {
    "of JSON": lambda text: "".join(f"\\u{ord(one):04x}" for one in text),
    "of JSON, some": lambda text: text.replace("+", "\\u002b").replace("/", "\\/").replace("=", "\\u003D"),
    "of JSON in JSON": lambda text: "".join(f"\\\\u{ord(one):04X}" for one in text),
    "of URLs": lambda text: "".join(f"%{ord(one):02x}" for one in text),
    "of URLs, some": lambda text: text.replace("/", "%2F"),
    "of HTML": lambda text: "".join(f"&#{ord(one)};" for one in text),
    "of HTML, in hex": lambda text: "".join(f"&#x{ord(one):x};" for one in text),
    "of HTML, by name": lambda text: text.replace("/", "&sol;").replace("+", "&plus;").replace("=", "&equals;"),
    "of HTML in JSON": lambda text: "".join(f"\\u0026#{ord(one)};" for one in text),
}


@pytest.mark.parametrize("escaped", ESCAPED.values(), ids=ESCAPED)
@pytest.mark.parametrize("spelling", [KEY, RAW.hex(), RAW.hex()[:31] + RAW.hex()[31:].upper()])
def test_credential_is_hidden_behind_escapes(escaped: Callable[[str], str], spelling: str) -> None:
    known = secrets(KEY)

    assert known.hide(f'{{"a": "\\u00e9 {escaped(spelling)}\\n"}}') == '{"a": "\\u00e9 $API_KEY_1\\n"}'


WALLET = Wallet("somebody")
PRIVATE = bytes.fromhex(WALLET.private_key.removeprefix("0x"))
WRITTEN = {
    "hex": PRIVATE.hex(),
    "hex with colons": PRIVATE.hex(":"),
    "hex with blanks": PRIVATE.hex(" ", 4),
    "hex in two lines": f"{PRIVATE.hex()[:32]}\\n{PRIVATE.hex()[32:]}",
    "base64": base64.b64encode(PRIVATE).decode().rstrip("="),
    "base64 of other bytes, too": base64.b64encode(b"key:" + PRIVATE).decode(),
    "base64 of hex": base64.b64encode(f"key: {PRIVATE.hex()}\n".encode()).decode().rstrip("="),
    "base64 of base64": base64.b64encode(base64.b64encode(PRIVATE)).decode().rstrip("="),
    "hex of base64": base64.b64encode(PRIVATE).hex(),
    "base32": base64.b32encode(PRIVATE).decode().rstrip("="),
    "decimal bytes": ",".join(map(str, PRIVATE)),
    "an array of bytes": str(list(PRIVATE)),
    "decimal digits": str(int.from_bytes(PRIVATE)),
}


@pytest.mark.parametrize("escaped", [lambda text: text, *ESCAPED.values()], ids=["none", *ESCAPED])
@pytest.mark.parametrize("spelling", WRITTEN.values(), ids=WRITTEN)
def test_private_key_is_found_and_hidden_however_it_is_written(escaped: Callable[[str], str], spelling: str) -> None:
    text = f"12, derived {escaped(spelling)}."
    known = secrets(addresses=f'{{"wallet_address": "0x{ESCAPED["of JSON"](WALLET.address[2:])}"}}')

    assert WALLET.address.lower() in wallets_of_secrets_in(text)
    hidden = known.hide(text)
    assert "[private key]" in hidden
    assert WALLET.address.lower() not in wallets_of_secrets_in(hidden)


def test_key_in_the_name_of_a_header_is_hidden() -> None:
    known = secrets(addresses=WALLET.address)
    assert known.hide_headers({f"x-{PRIVATE.hex()}": "1"}) == {"x-[private key]": "1"}


@pytest.mark.parametrize("place", [0, 3_900, 3_990, 4_100, 4_990])
def test_key_is_hidden_wherever_a_long_text_is_cut(place: int) -> None:
    text = f"{'-' * place}{PRIVATE.hex()}{'-' * 9_000}"
    known = secrets(addresses=WALLET.address)

    shown = known.hide_beginning(text, 4_000)
    assert PRIVATE.hex()[:8] not in shown
    assert shown.endswith(f"({len(text)} characters)")
    assert known.hide_beginning(PRIVATE.hex(), 4_000) == "[private key]"


def test_long_data_takes_no_long_search() -> None:
    data = base64.b64encode(b"".join(keccak(bytes([number % 256, number // 256])) for number in range(3_000))).decode()

    assert len(private_keys(data)) <= 4 * 2 * EDGE
    assert len(private_keys(" ".join(data[at : at + 400] for at in range(0, len(data), 400)))) <= MOST_WALLETS


@pytest.mark.parametrize("key", ["A" * 40 + "\ud800", "9" * 5_000, "A" * 5_000, "f" * 5_000, "=" * 20])
def test_odd_key_is_hidden_as_well(key: str) -> None:
    assert secrets(key).hide(f"got {key} here") == "got $API_KEY_1 here"


@pytest.mark.parametrize("answer", [f'{{"id": "{WALLET.address}"}}', f'["0x{WALLET.address[2:]:0>64}"]'])
def test_private_key_of_a_wallet_that_was_met_is_hidden(answer: str) -> None:
    key = PRIVATE.hex()
    assert key in secrets().hide(f"got {key}"), "of 32 bytes nobody knows what they are"

    for spelling in (key, key.upper(), WRITTEN["decimal digits"], WRITTEN["base64"]):
        assert secrets(addresses=answer).hide(f"got {spelling}.") == "got [private key]."


def test_credentials_are_told_apart_and_the_longest_is_hidden_first() -> None:
    known = secrets("a" * 20, "a" * 20 + "b" * 5, "a" * 20)

    assert known.hide(f"{'a' * 20}bbbbb {'a' * 20}") == "$API_KEY_2 $API_KEY_1"


@pytest.mark.parametrize("value", ["", "short", None, 5, True])
def test_value_too_short_to_be_a_credential_blackens_nothing(value: object) -> None:
    known = secrets(value)

    assert known.hide("short and 5 and None") == "short and 5 and None"
    assert not known.found_in("short")


def test_unknown_credential_is_hidden_by_the_name_of_its_member() -> None:
    text = json.dumps({"usage_api_key": "never met before, but long", "name": "a name that is long, too"})

    hidden = secrets().hide(text)

    assert "never met" not in hidden
    assert "a name that is long, too" in hidden


def test_headers_with_credentials_are_hidden_even_when_the_value_is_unknown() -> None:
    headers = {"X-Api-Key": "whatever", "authorization": "Bearer whatever", "X-Wallet-Auth": "x", "Accept": "whatever"}
    hidden = {"X-Api-Key": "[redacted]", "authorization": "Bearer [redacted]", "X-Wallet-Auth": "[redacted]"}

    assert secrets().hide_headers(headers) == {**hidden, "Accept": "whatever"}


@pytest.mark.parametrize("encoding", ["base64_json", "base64url_json", "json"])
def test_conversation_tells_whose_proof_a_header_holds_and_not_its_signature(encoding: str) -> None:
    typed_data, signature = {"message": {"address": "0x" + "a" * 40, "name": "ü ?>~"}}, "0x" + "5c" * 65
    proof = wallet_auth_header(written({"typed_data": typed_data, "signature": signature}), encoding)
    log = ExchangeLog(secrets())
    log.add(asked({"X-Wallet-Auth": proof}))

    (shown,) = conversation(log, secrets(), 0, GroupMembers()).exchanges

    assert shown.request_headers == {"X-Wallet-Auth": f"{written(typed_data)} [redacted]"}
    assert shown.unrepeatable


@pytest.mark.parametrize("proof", ["x", "{", "[1]", "e30=", '{"typed_data":"' + "a" * 2000 + '"}'])
def test_conversation_hides_a_header_that_holds_no_proof(proof: str) -> None:
    log = ExchangeLog(secrets())
    log.add(asked({"X-Wallet-Auth": proof}))

    (shown,) = conversation(log, secrets(), 0, GroupMembers()).exchanges

    assert shown.request_headers == {"X-Wallet-Auth": "[redacted]"}


def test_exchange_is_redacted_in_every_field() -> None:
    known = secrets(KEY)
    log = ExchangeLog(known)
    body = json.dumps({"usage_api_key": KEY})
    url = f"http://node/x?k={quote(KEY, safe='')}"
    log.add(RawExchange("POST", url, {"X-Api-Key": KEY}, body, 200, {"Set-Cookie": KEY}, body, 0.1))

    shown = log.redacted(0)

    text = json.dumps(asdict(shown))
    assert not known.found_in(text)
    assert not known.found_in(text.replace("\\\\", "\\"))
    assert text.count("API_KEY_1") >= 6


def test_credential_learnt_after_the_exchange_is_hidden_in_it_as_well() -> None:
    known = secrets()
    log = ExchangeLog(known)
    log.add(replace(asked({}), response_body=f'{{"k": "{KEY}"}}'))
    known.learn(KEY)

    assert KEY not in log.redacted(0).response_body


def test_curl_sends_the_same_with_the_credential_from_the_shell() -> None:
    known = secrets(KEY)
    body = known.hide(json.dumps({"usage_api_key": KEY, "name": "it's $HOME `id`"}))
    command = as_curl("POST", "http://node/x", known.hide_headers({"Authorization": f"Bearer {KEY}"}), body)

    printed = subprocess.run(  # noqa: S603 - our own words
        ["/bin/sh", "-c", command.replace("curl", "printf '%s\\n'", 1)],
        env={"API_KEY_1": KEY, "HOME": "/nowhere"}, capture_output=True, text=True, check=True,
    ).stdout.splitlines()  # fmt: skip

    assert KEY not in command
    assert printed[printed.index("-H") + 1] == f"Authorization: Bearer {KEY}"
    assert json.loads(printed[-1]) == {"usage_api_key": KEY, "name": "it's $HOME `id`"}
    assert shlex.split(command)[:4] == ["curl", "-i", "-X", "POST"]


def test_wallet_of_a_leaked_key_is_sought_within_a_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.endpoints.redaction.MOST_COMPUTED", 50)
    known = secrets(addresses=WALLET.address)
    others = [keccak(text=f"other {number}").hex() for number in range(60)]

    assert known.hide(others[0]) == others[0]
    known.hide(" ".join(others))

    assert known.hide(f"a {others[0]} b") == "a [private key] b"
    assert known.hide(f"a {PRIVATE.hex()} b") == "a [private key] b"


def test_addresses_of_a_run_are_bounded_and_any_32_bytes_are_hidden_then(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.endpoints.redaction.MOST_ADDRESSES", 3)
    known = secrets(addresses=" ".join(f"0x{number:040x}" for number in range(9)))

    assert known.hide(f"a {PRIVATE.hex()} b") == "a [private key] b"


def test_a_case_looks_for_few_leaked_keys_by_their_beginnings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.endpoints.redaction.MOST_LEAKED", 2)
    wallets = [Wallet(f"leaked {number}") for number in range(4)]
    known = secrets(addresses=" ".join(wallet.address for wallet in wallets))
    keys = [wallet.private_key.removeprefix("0x") for wallet in wallets]

    assert known.hide(" ".join(keys)) == " ".join(["[private key]"] * 4)
    assert known.hide(f"{keys[0][:40]} {keys[3][:40]}") == f"[private key] {keys[3][:40]}"


def test_escapes_of_answers_are_resolved_within_a_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.endpoints.redaction.MOST_RESOLVED", 100)
    known = secrets(addresses="%41" * 50)

    known.seen.note_addresses(ESCAPED["of URLs"](WALLET.address))
    assert known.hide(WALLET.private_key) == WALLET.private_key

    known.seen.note_addresses(WALLET.address)
    assert known.hide(WALLET.private_key) != WALLET.private_key


def test_values_that_may_be_keys_are_counted_before_their_wallets_are_computed() -> None:
    with pytest.raises(BeyondLimits, match="more than 20000 values of 32 bytes"):
        wallets_of_secrets_in([*range(1, 30_000)])


@pytest.mark.parametrize("key", ["\0" * 44, "k" * 30 + "\0" * 14, "$API_KEY_1" * 5, "[private key]" * 4])
def test_key_that_looks_like_what_stands_in_place_of_keys_is_hidden(key: str) -> None:
    known = secrets(key)

    for text in (key, key * 3, key[:30]):
        hidden = known.hide(f"a {text} b")
        assert hidden.startswith("a $API_KEY_1")
        assert hidden.endswith(" b")
        assert len(hidden) < 50


def test_conversation_marks_what_was_sent_at_once_and_what_follows_a_restart() -> None:
    log = ExchangeLog(secrets())
    for began, seconds in ((1, 2), (2, 2), (4.5, 0.5), (0, 9)):
        log.add(asked({}, seconds=seconds, began=began))
    log.note_restart()
    for began in (6, 7):
        log.add(asked({}, seconds=0.5, began=began))

    shown = conversation(log, secrets(), 5, GroupMembers()).exchanges

    assert [one.at_once for one in shown] == [True, True, False, False, False, False]
    assert [one.restarted for one in shown] == [False, False, False, False, True, False]
