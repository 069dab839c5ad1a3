"""The strict readers: CAA values, compose files, JSON, hex, PEM, times, checksums, listings, SGX extensions."""

from __future__ import annotations

import json

import pytest
from made_evidence import ACCOUNT, AT, Made, der, observed, pem, tls_certificate

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


@pytest.mark.parametrize(
    "given",
    [
        answer(MINE),
        answer(f"ca.example;validationmethods=dns-01;  accounturi = {ACCOUNT}  "),
        answer(MINE, ";"),
        answer(MINE, f"other.example; ACCOUNTURI={ACCOUNT}"),
        CaaAnswer(
            "NOERROR", (CaaRecord(128, "ISSUE", MINE), CaaRecord(0, "issuewild", ";"), CaaRecord(0, "iodef", "x"))
        ),
        CaaAnswer("NOERROR", (CaaRecord(0, "issue", MINE), CaaRecord(0, "unknown", "x"))),
    ],
)
def test_records_that_pin_the_account_are_accepted(given: CaaAnswer) -> None:
    assert check_account(given, ACCOUNT) >= 1


@pytest.mark.parametrize(
    ("given", "code"),
    [
        (CaaAnswer("SERVFAIL"), "caa-lookup-failed"),
        (CaaAnswer("SERVFAIL", answer(MINE).records), "caa-lookup-failed"),
        (CaaAnswer("NXDOMAIN"), "caa-domain-absent"),
        (CaaAnswer("NOERROR"), "caa-absent"),
        (answer("mailto:x", tag="iodef"), "caa-no-issue"),
        (answer(MINE, tag="issuewild"), "caa-no-issue"),
        (answer(";"), "caa-account-absent"),
        (answer("ca.example"), "caa-unpinned"),
        (answer(MINE, "ca.example"), "caa-unpinned"),
        (answer(MINE, "ca.example;"), "caa-unpinned"),
        (answer(MINE, "ca.example; policy=x"), "caa-unpinned"),
        (CaaAnswer("NOERROR", (CaaRecord(0, "issue", MINE), CaaRecord(0, "issuewild", "ca.example"))), "caa-unpinned"),
        (answer(f"{MINE}4"), "caa-account-absent"),
        (answer(MINE[:-1]), "caa-account-absent"),
        (answer(MINE.replace("acct", "ACCT")), "caa-account-absent"),
        (answer(MINE, f"{MINE}4"), "caa-other-account"),
        (answer(f"{MINE}; accounturi={ACCOUNT}"), "caa-malformed"),
        (answer(f"{MINE};"), "caa-malformed"),
        (answer(f'ca.example; accounturi="{ACCOUNT} "'), "caa-malformed"),
        (answer("ca example"), "caa-malformed"),
        (answer("-ca.example"), "caa-malformed"),
        (answer("ca.example; =x"), "caa-malformed"),
        (CaaAnswer("NOERROR", (CaaRecord(0, "issue", MINE), CaaRecord(128, "tbs", "x"))), "caa-critical-unknown"),
        (CaaAnswer("NOERROR", (CaaRecord(0, "issue", MINE), CaaRecord(255, "tbs", "x"))), "caa-critical-unknown"),
    ],
)
def test_records_that_let_others_issue_are_refused(given: CaaAnswer, code: str) -> None:
    with pytest.raises(Fault) as caught:
        check_account(given, ACCOUNT)
    assert caught.value.code == code


def test_further_accounts_are_the_callers_choice() -> None:
    assert check_account(answer(MINE, f"{MINE}4"), ACCOUNT, allow_others=True) == 1
    with pytest.raises(Fault):
        check_account(answer(f"{MINE}4"), ACCOUNT, allow_others=True)


def test_value_that_forbids_permits_nobody() -> None:
    assert parse_issue(";") is parse_issue("") is parse_issue(" ; ") is None


def service(text: str) -> str:
    return f"services:\n  one:\n    {text}\n"


@pytest.mark.parametrize(
    "text",
    [
        service(f"image: {PIN}"),
        service(f"image: '{PIN}'  # a comment"),
        service(f"image: &i {PIN}\n  two: {{image: *i}}"),
        service(f"image: >-\n      {PIN}"),
        f"x-base: &base\n  image: {PIN}\nservices:\n  one:\n    <<: *base\n    restart: always\n",
        service(f"image: {PIN}\n    environment: {{image: x}}"),
    ],
)
def test_pinned_images_are_accepted(text: str) -> None:
    assert {image.name for image in pinned_images(text)} == {PIN}


def aliases_of_aliases() -> str:
    """Nine times nine times nine … nodes out of a few lines."""
    lines = [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9)]
    return "\n".join(["a0: &a0 [x]", *lines])


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "app-compose-malformed"),
        ("a: [", "app-compose-malformed"),
        ("- a", "app-compose-malformed"),
        ("\0", "app-compose-malformed"),
        ("services: {}", "image-absent"),
        ("services: []", "image-absent"),
        ("services: {one: }", "image-absent"),
        (service("restart: always"), "image-absent"),
        (service("image:"), "image-unpinned"),
        (f"x: &a {{image: bad}}\ny: &b {{image: '{PIN}'}}\nservices: {{one: {{<<: [*b, *a]}}}}", "image-unpinned"),
        (service("image: 5"), "image-unpinned"),
        (service(f"image: [{PIN}]"), "image-unpinned"),
        (service("image: nginx"), "image-unpinned"),
        (service("image: nginx:latest"), "image-unpinned"),
        (service(f"image: nginx # @sha256:{DIGEST}"), "image-unpinned"),
        (service(f"image: {PIN[:-1]}"), "image-unpinned"),
        (service(f"image: {PIN}0"), "image-unpinned"),
        (service(f"image: {PIN.upper()}"), "image-unpinned"),
        (service(f"image: '{PIN} '"), "image-unpinned"),
        (service(f"image: '{PIN}\n\n    nginx'"), "image-unpinned"),
        (service(f"image: '@sha256:{DIGEST}'"), "image-unpinned"),
        (service(f"image: a@sha256:{DIGEST}@sha256:{DIGEST}"), "image-unpinned"),
        (service(f"image: a@sha512:{DIGEST * 2}"), "image-unpinned"),
        (service(f"image: ${{X:-{PIN}}}"), "image-variable"),
        (service(f"image: $X@sha256:{DIGEST}"), "image-variable"),
        (service(f"image: {PIN}\n    build: ."), "compose-indirect"),
        (service(f"image: {PIN}\n    extends: other"), "compose-indirect"),
        (service(f"image: {PIN}") + "include: [other.yaml]", "compose-indirect"),
        (service(f"image: {PIN}\n    image: {PIN}"), "compose-ambiguous"),
        (service(f"image: {PIN}") * 2, "compose-ambiguous"),
        (service(f"image: !override {PIN}"), "compose-ambiguous"),
        (service(f"? [image]\n    : {PIN}"), "compose-ambiguous"),
        (service(f"image: {PIN}\n    <<: x"), "compose-ambiguous"),
        (service(f"image: {PIN}") + "---\n" + service("image: bad"), "compose-ambiguous"),
        ("services: &s {one: *s}", "compose-ambiguous"),
        (aliases_of_aliases(), "compose-ambiguous"),
        (service(f"image: {PIN}") + "#" * (1 << 20), "compose-ambiguous"),
        (service(f"image: {PIN}\n    x: " + "[" * 60 + "]" * 60), "compose-ambiguous"),
        (service(f"image: {PIN}") + "models: {m: {model: x}}", "image-unsupported"),
        (service(f"image: {PIN}\n    provider: {{type: x}}"), "image-unsupported"),
        (service(f"image: {PIN}\n    volumes: [{{type: image, source: nginx}}]"), "image-unsupported"),
    ],
)
def test_compose_file_with_anything_unpinned_is_refused(text: str, code: str) -> None:
    with pytest.raises(ComposeFault) as caught:
        pinned_images(text)
    assert caught.value.code == code


def test_deeply_nested_yaml_is_refused_without_a_crash() -> None:
    for text in ("[" * 500_000, "- " * 250_000, "{a: " * 100_000, "? " * 100_000):
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


CERTIFICATE = pem(tls_certificate())


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
    raw = read_certificate(der(Made().machine().pck)).sgx_extension
    assert raw is not None
    assert parse_extension(raw).pcesvn == 11
    for size in range(len(raw)):
        with pytest.raises(ValueError):  # noqa: PT011 - each says something else
            parse_extension(raw[:size])
