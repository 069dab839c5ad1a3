"""The strict readers, where no shipped vector says what they do."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from cryptography.hazmat.primitives.serialization import Encoding
from made_evidence import ACCOUNT, MADE, observed

from conformance.verify import CaaAnswer, CaaRecord
from conformance.verify.caa import check_account
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


def answer(*values: str) -> CaaAnswer:
    return CaaAnswer("NOERROR", tuple(CaaRecord(0, "issue", value) for value in values))


MINE = f"ca.example; accounturi={ACCOUNT}"


def test_further_accounts_are_the_callers_choice() -> None:
    assert check_account(answer(MINE, f"{MINE}4"), ACCOUNT, allow_others=True) == 1
    with pytest.raises(Fault):
        check_account(answer(f"{MINE}4"), ACCOUNT, allow_others=True)


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


CERTIFICATE = MADE.platform.root_pem.encode()


@pytest.mark.parametrize(
    ("read", "body"),
    [
        (hex_bytes, "00_00"),
        (hex_bytes, "\uff10\uff10"),
        (unix_seconds, "2025-06-19T10:16:03+00:00"),
        (json_value, b"1" * 5000),
        (pem_certificates, CERTIFICATE + b" "),
        (pem_certificates, CERTIFICATE * 9),
        (read_checksums, f"\\{DIGEST}  file.txt".encode()),
        (read_acme_account, b'{"uri": "https://"}'),
        (read_acme_account, b'{"uri": "https://a b"}'),
    ],
)
def test_form_that_no_vector_has_is_refused(read: Callable[[Any], object], body: str | bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - each says something else
        read(body)


def test_forms_that_no_vector_has_are_read() -> None:
    assert json_value(b'"\\ud83d\\ude00"') == "\U0001f600"
    assert pem_of(pem_certificates(CERTIFICATE)) == CERTIFICATE.decode()
    assert read_checksums(f"{DIGEST}  ./file.txt\n".encode()) == {"file.txt": DIGEST}


@pytest.mark.parametrize(
    ("html", "names"),
    [
        ("<a href='a.txt'>a</a><A HREF=b.txt>", ("a.txt", "b.txt")),
        ("<a href='./a.txt?x#y'>", ("a.txt",)),
        ("<a href='cert-%2A.example.pem'>", ("cert-*.example.pem",)),
        ("<a href='../a.txt'><a href='/etc/passwd'><a href='x/y'><a href=''><a><a href='http://['>", ()),
        ("<![", ()),
        ("<a href='a.txt", ()),
        ("<a title='>' class=x href=a.txt>", ("a.txt",)),
        ("<script>'<a href=a.txt>'</script><style><a href=b></style><a href=c>", ("c",)),
        ("<abbr href=a.txt><a data-href=b.txt><a/href=c.txt>", ("c.txt",)),
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


def test_observed_is_read_as_it_is_written() -> None:
    for seen in (observed(), observed(caa=None, tls_certificate=None, allowed_compose_hash=None, gateway_domain=None)):
        assert read_observed(seen.as_json()) == seen


@pytest.mark.parametrize(
    "changes",
    [
        {"at": True}, {"at": 1 << 60}, {"base_url": None}, {"gateway_domain": 1}, {"tls_certificate": "AB=="},
        {"caa": {"status": "NOERROR"}}, {"caa": {"status": "NOERROR", "records": [[]]}},
        {"caa": {"status": "NOERROR", "records": [{"flags": 0, "tag": 1, "value": ""}]}}, {"more": 1},
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
