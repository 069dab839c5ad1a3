"""The strict readers: JSON, hex, PEM, times, checksums, listings, SGX extensions. The rest has shipped vectors."""

from __future__ import annotations

import json

import pytest
from cryptography.hazmat.primitives.serialization import Encoding
from made_evidence import ACCOUNT, AT, MADE, observed

from conformance.verify import CaaAnswer, CaaRecord
from conformance.verify.caa import check_account, parse_issue
from conformance.verify.certificates import read_certificate
from conformance.verify.compose import ComposeFault, pinned_images
from conformance.verify.documents import read_acme_account, read_checksums, read_observed
from conformance.verify.faults import Fault
from conformance.verify.listing import MOST_BYTES, read_listing
from conformance.verify.pck import parse_extension
from conformance.verify.reading import covers
from conformance.verify.strict import hex_bytes, json_value, pem_certificates, pem_of, unix_seconds

DIGEST = "0123456789abcdef" * 4
PIN = f"a.example/b:1@sha256:{DIGEST}"


def answer(*values: str, tag: str = "issue", flags: int = 0) -> CaaAnswer:
    return CaaAnswer("NOERROR", tuple(CaaRecord(flags, tag, value) for value in values))


MINE = f"ca.example; accounturi={ACCOUNT}"


def test_further_accounts_are_the_callers_choice() -> None:
    assert check_account(answer(MINE, f"{MINE}4"), ACCOUNT, allow_others=True) == 1
    with pytest.raises(Fault):
        check_account(answer(f"{MINE}4"), ACCOUNT, allow_others=True)


def test_value_that_forbids_permits_nobody() -> None:
    assert parse_issue(";") is parse_issue("") is parse_issue(" ; ") is None


def service(text: str) -> str:
    return f"services:\n  one:\n    {text}\n"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (f"x: &a {{image: bad}}\ny: &b {{image: '{PIN}'}}\nservices: {{one: {{<<: [*b, *a]}}}}", "image-unpinned"),
        (service(f"? [image]\n    : {PIN}"), "compose-ambiguous"),
        (service(f"image: {PIN}\n    <<: x"), "compose-ambiguous"),
        (service(f"image: {PIN}") + "#" * (1 << 20), "compose-ambiguous"),
    ],
    ids=["merged", "key that is a list", "merge of a text", "too long"],
)
def test_compose_file_of_a_form_that_no_vector_has_is_refused(text: str, code: str) -> None:
    with pytest.raises(ComposeFault) as caught:
        pinned_images(text)
    assert caught.value.code == code


def aliases_of_aliases() -> str:
    """Nine times nine times nine … nodes out of a few lines."""
    lines = [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9)]
    return "\n".join(["a0: &a0 [x]", *lines])


def test_yaml_that_nests_or_refers_without_end_is_refused_without_a_crash() -> None:
    for text in (aliases_of_aliases(), "[" * 500_000, "- " * 250_000, "{a: " * 100_000, "? " * 100_000):
        with pytest.raises(ComposeFault):
            pinned_images(text)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b'{"a":1,"a":1}',
        b"NaN",
        b"[Infinity]",
        b'"\\ud800"',
        b"\xff",
        b"\xef\xbb\xbf{}",
        b"[" * 300,
        b"{}x",
        b"1" * 5000,
    ],
)
def test_json_that_is_not_strict_is_refused(body: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - what it says is json's
        json_value(body)


def test_surrogate_pairs_are_json() -> None:
    assert json_value(b'"\\ud83d\\ude00"') == "\U0001f600"


@pytest.mark.parametrize("text", ["a", "0x0", "0X00", " 00", "00 ", "0g", "00_00", "0x 00", "\uff10\uff10", "0x0x00"])
def test_hex_in_another_form_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="hex digits"):
        hex_bytes(text)


CERTIFICATE = MADE.platform.root_pem.encode()


@pytest.mark.parametrize(
    "body",
    [CERTIFICATE, CERTIFICATE.replace(b"\n", b"\r\n"), CERTIFICATE + b"\n" + CERTIFICATE, CERTIFICATE.rstrip()],
)
def test_pem_is_read(body: bytes) -> None:
    assert {pem_of((certificate,)) for certificate in pem_certificates(body)} == {CERTIFICATE.decode()}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"x" + CERTIFICATE,
        b"\n" + CERTIFICATE,
        CERTIFICATE + b"x",
        CERTIFICATE + b" ",
        CERTIFICATE.replace(b"CERTIFICATE", b"PRIVATE KEY"),
        CERTIFICATE.replace(b"MII", b"M II", 1),
        CERTIFICATE.replace(b"-----BEGIN CERTIFICATE-----\n", b"-----BEGIN CERTIFICATE-----\nProc-Type: 4\n\n"),
        CERTIFICATE.replace(b"\n-----END", b"=\n-----END"),
        CERTIFICATE * 9,
        b"-----BEGIN CERTIFICATE-----\nAB==\n-----END CERTIFICATE-----\n",
    ],
)
def test_pem_in_another_form_is_refused(body: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - said by the reader or by base64
        pem_certificates(body)


@pytest.mark.parametrize(
    "text", ["2025-06-19", "2025-06-19T10:16:03", "2025-13-19T10:16:03Z", "2025-06-19T10:16:03+00:00"]
)
def test_time_in_another_form_is_refused(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - said by the reader or by datetime
        unix_seconds(text)


LINE = f"{DIGEST}  file.txt"


@pytest.mark.parametrize("text", [LINE, f"{LINE}\n", f"{DIGEST} *file.txt\n", f"{DIGEST}  ./file.txt\n"])
def test_checksums_are_read(text: str) -> None:
    assert read_checksums(text.encode()) == {"file.txt": DIGEST}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        LINE[1:],
        f"0{LINE}",
        f"{LINE}\n\n",
        f"{LINE}\n{LINE}",
        f"{LINE}\r\n",
        f"{DIGEST}  ../x",
        f"{DIGEST}  a/b",
        f"\\{LINE}",
    ],
)
def test_checksums_in_another_form_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"line [12]"):
        read_checksums(text.encode())


@pytest.mark.parametrize(
    ("html", "names"),
    [
        ("<a href='a.txt'>a</a><A HREF=b.txt>", ("a.txt", "b.txt")),
        ("<a href='./a.txt?x#y'>", ("a.txt",)),
        ("<a href='https://x.example/evidences/a.txt'>", ("a.txt",)),
        ("<a href='cert-%2A.example.pem'>", ("cert-*.example.pem",)),
        ("<a href='../a.txt'><a href='/etc/passwd'><a href='x/y'><a href=''><a><a href='http://['>", ()),
        ("<!-- <a href='a.txt'> --><p>a.txt", ()),
        ("<![", ()),
        ("<a href='a.txt", ()),
        ("<a title='>' class=x href=a.txt>", ("a.txt",)),
        ("<script>'<a href=a.txt>'</script><style><a href=b></style><a href=c>", ("c",)),
        ("<abbr href=a.txt><a data-href=b.txt><a/href=c.txt>", ("c.txt",)),
        ("<a href=&#97;.txt>", ("a.txt",)),
    ],
)
def test_links_of_a_listing(html: str, names: tuple[str, ...]) -> None:
    assert read_listing(html.encode()) == names


@pytest.mark.parametrize(
    "part",
    ["<", "<!--", "<a ", "<a href='", "&", "</", "<?", "<a href=x>", "<title>", "&#x", "<a b=", "<a>a ", "<a \"'"],
)
def test_hostile_listing_is_read_in_one_pass(part: str) -> None:
    read_listing((part * (MOST_BYTES // len(part))).encode())
    with pytest.raises(ValueError, match="at most"):
        read_listing(b"x" * (MOST_BYTES + 1))


@pytest.mark.parametrize(
    "members",
    [
        {},
        {"uri": 1},
        {"uri": "http://a"},
        {"uri": "https://"},
        {"uri": "https://a b"},
        {"uri": "https://a", "account_uri": "https://b"},
    ],
)
def test_account_in_another_form_is_refused(members: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"URI|no text"):
        read_acme_account(json.dumps(members).encode())


def test_observed_is_read_as_it_is_written() -> None:
    for seen in (observed(), observed(caa=None, tls_certificate=None, allowed_compose_hash=None, gateway_domain=None)):
        assert read_observed(seen.as_json()) == seen


@pytest.mark.parametrize(
    "changes",
    [
        {"at": -1}, {"at": True}, {"at": 1.5}, {"at": 1 << 60}, {"at": str(AT)}, {"base_url": None},
        {"gateway_domain": 1}, {"tls_certificate": "zz"}, {"tls_certificate": "AB=="}, {"caa": []},
        {"caa": {"status": "NOERROR"}},
        {"caa": {"status": "NOERROR", "records": [{"flags": 256, "tag": "", "value": ""}]}},
        {"caa": {"status": "NOERROR", "records": [{"flags": 0, "tag": 1, "value": ""}]}},
        {"caa": {"status": "NOERROR", "records": [[]]}}, {"allowed_compose_hash": "true"}, {"more": 1},
    ],
)  # fmt: skip
def test_observed_in_another_form_is_refused(changes: dict[str, object]) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - each says something else
        read_observed(json.dumps(json.loads(observed().as_json()) | changes).encode())


@pytest.mark.parametrize(
    ("domain", "name", "expected"),
    [
        ("a.example", "A.example.", True),
        ("*.example", "a.example", True),
        ("*.example", "a.b.example", False),
        ("*.example", "example", False),
        ("a.example", "b.a.example", False),
    ],
)
def test_domain_of_a_certificate(domain: str, name: str, expected: bool) -> None:
    assert covers(domain, name) is expected


def test_sgx_extension_in_another_form_is_refused() -> None:
    raw = read_certificate(MADE.platform.pck.public_bytes(Encoding.DER)).sgx_extension
    assert raw is not None
    assert parse_extension(raw).pcesvn == 11
    for size in range(len(raw)):
        with pytest.raises(ValueError):  # noqa: PT011 - each says something else
            parse_extension(raw[:size])
